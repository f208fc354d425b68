"""How threads wait for each other: by sleeping, where a program of ours runs beside other work.

OpenMP's threads spin while they wait, some milliseconds each time. Alone on a machine that saves the time to wake them;
beside other programs a thread that spins takes the core from the one that it waits for. What is set here is read once,
when torch and numba load the library, so it has to be set before.
"""

from __future__ import annotations

from collections.abc import MutableMapping

# OpenMP's own setting; how often GNU's library looks before it sleeps (docs/choosing.md); the milliseconds of LLVM's.
PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "5000", "KMP_BLOCKTIME": "0"}


def wait_passively(environment: MutableMapping[str, str]) -> None:
    """Let threads sleep while they wait, in programs with this environment and those that they start.

    Args:
        environment: `os.environ`, or one for another process. If it says how to wait already, nothing is changed.
    """
    if not any(name in environment for name in PASSIVE):
        environment.update(PASSIVE)
