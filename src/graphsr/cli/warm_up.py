"""graphsr warm-up: compile the kernels now, so that no later command has to."""

from __future__ import annotations

from graphsr.cli.console import progress_bar, say


def warm_up() -> None:
    """Compile the kernels now instead of on first use.

    They are cached, so this is worth doing once after an installation: in an image, or before a class. It takes a few
    minutes of processor time, shared out to processes on all cores; NUMBA_NUM_THREADS says on how many.
    """
    import time

    import numba

    from graphsr.cli.kernel_groups import GROUPS, compile_groups

    began = time.perf_counter()
    with progress_bar("compiling groups of kernels") as progress:
        compile_groups(GROUPS, numba.get_num_threads(), progress)
    say("compiled", f"in {time.perf_counter() - began:.0f} s, and cached for all later commands")
