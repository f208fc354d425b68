"""How much memory there is: of the machine, of the container, and of what the user allows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from graphsr.errors import InputError

_UNLIMITED = 1 << 60  # control groups of version 1 write nearly 2^63 for "no limit"

# Less than the libraries of this process take: not worth a millisecond of reading files about control groups.
_LITTLE = 64e6


def total_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process can ever have; None where the system does not tell.

    Args:
        root: Where `proc` and `sys` are.

    Returns:
        The least of the machine's memory, the limits of the control groups (containers) that the process is in, and
        the limit of its address space (`ulimit -v`).
    """
    limits = [*_machine(), *_control_groups(root), *_address_space()]
    return min(limits) if limits else None


def require_memory(what: str, needed: float, advice: str) -> None:
    """Raise InputError if something surely does not fit into memory.

    Args:
        what: The beginning of the message: which file or argument needs it.
        needed: Bytes.
        advice: The end of the message: what to do instead.
    """
    if needed < _LITTLE:
        return
    total = total_memory()
    # Memory that caches hold can be had back, so only what exceeds all there is at all is surely too much.
    if total is not None and needed > 0.9 * total:
        raise InputError(
            f"{what} need about {needed / 1e9:.1f} GB of memory, and there are {total / 1e9:.1f} GB; {advice}"
        )


def _machine() -> Iterator[int]:
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return  # not told on this system


def _address_space() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        yield limit


def _control_groups(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of this process and of all above them, of version 1 and 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            top, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        folder = top / path.lstrip("/")
        # Inside a container its own group may be mounted as the top, and the path be that of the machine.
        for place in (folder, *folder.parents):
            yield from _limit(place / name)
            if place == top:
                break


def _limit(path: Path) -> Iterator[int]:
    try:
        value = int(path.read_text())
    except (OSError, ValueError):  # "max", or no such group
        return
    if value < _UNLIMITED:
        yield value
