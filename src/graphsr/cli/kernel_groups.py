"""All kernels of the package in groups that are compiled independently of each other, in several processes."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial

from graphsr.cli.compilation import compile_kernels
from graphsr.errors import GraphSRError
from graphsr.threads import use_threads

Group = Callable[[], None]


def _compile_renderer() -> None:
    from graphsr.scenes import scene

    scene(0, (32, 32))


# Those that take longest come first, so that no process is left with one of them at the end.
GROUPS: tuple[Group, ...] = (
    partial(compile_kernels, "colour", exact=False),
    _compile_renderer,
    partial(compile_kernels, "colour", exact=True),  # in double precision
    partial(compile_kernels, "colour", exact=False, channels=16),  # so many share a factorisation
    # Footprints that share target pixels, as factors below 2 do; the latter in double precision.
    partial(compile_kernels, "colour", exact=False, footprint="bicubic"),
    partial(compile_kernels, "colour", exact=False, footprint="gaussian:0.8"),
)


def compile_groups(groups: Sequence[Group], processes: int, progress: Callable[[int, int], None]) -> None:
    """Compile groups of kernels into the cache.

    Args:
        groups: What runs the kernels of each.
        processes: How many at a time; 1 for this process, which saves to start another.
        progress: Called with how many groups are done, of how many.

    Raises:
        GraphSRError: If a process died.
    """
    progress(0, len(groups))
    for done, _ in enumerate(_one_by_one(groups) if processes == 1 else _side_by_side(groups, processes), 1):
        progress(done, len(groups))


def _one_by_one(groups: Sequence[Group]) -> Iterator[None]:
    for group in groups:
        yield group()


def _side_by_side(groups: Sequence[Group], processes: int) -> Iterator[None]:
    # Not forked: the threads of torch and numba do not survive that. One thread each, as there are as many processes.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(groups)), context, initializer=use_threads, initargs=(1,)) as pool:
        try:
            with _ignored_interrupts():
                tasks = [pool.submit(group) for group in groups]
            for task in as_completed(tasks):
                yield task.result()
        except BrokenProcessPool:
            raise GraphSRError(
                "a process that compiled kernels was ended by the system, perhaps for its memory; "
                "NUMBA_NUM_THREADS=1 compiles in one process"
            ) from None
        except BaseException:  # an error of one, or Ctrl-C: nobody waits for the others
            for child in multiprocessing.active_children():
                child.terminate()
            raise


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Start processes inside a `with` block that do not hear Ctrl-C: this one does, and ends them quietly."""
    if threading.current_thread() is not threading.main_thread():  # the only one that may change it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
