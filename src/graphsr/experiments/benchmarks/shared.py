"""Upsampling beside other work: what it costs that the threads wait by sleeping, and what it saves.

Every way to wait has a process of its own, since it is read when libraries load. They take turns, first on the machine
as it is and then with a busy process on every core.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO

from graphsr.experiments.benchmarks.whole_call import call_seconds, make_pair
from graphsr.models.registry import load
from graphsr.wait_policy import PASSIVE, wait_passively

FACTOR = 8
_BUSY = "while True: pass"


@dataclass(frozen=True)
class SharedRow:
    """Seconds of one call, the median of several."""

    model: str
    side: int
    free: float  # waiting passively, on the machine as it is
    free_spinning: float  # the same as libraries have it by default
    loaded: float  # waiting passively, with a busy process on every core
    loaded_spinning: float

    @property
    def slowdown(self) -> float:
        """How many times as long it takes beside other work."""
        return self.loaded / self.free

    @property
    def cost(self) -> float:
        """What waiting passively costs on a free machine, as a part of the time."""
        return self.free / self.free_spinning - 1


def measure(
    models: Sequence[str], sides: Sequence[int], repeats: int, progress: Callable[[str], None]
) -> Iterator[SharedRow]:
    """Measure models on rendered scenes, x8, of some sides in pixels."""
    for model in models:
        load(model)  # what is wrong with it is said here
        for side in sides:
            progress(f"{model}, {side} x {side}: loading")
            with ExitStack() as stack:
                passive, spinning = (stack.enter_context(_worker(model, side, way)) for way in (True, False))
                progress(f"{model}, {side} x {side}: on the machine as it is")
                free = _medians(repeats, passive, spinning)
                progress(f"{model}, {side} x {side}: beside other work")
                with _busy_cores():
                    loaded = _medians(repeats, passive, spinning)
            yield SharedRow(model, side, *free, *loaded)


def _medians(repeats: int, *workers: Callable[[], float]) -> list[float]:
    seconds = [[worker() for worker in workers] for _ in range(repeats)]
    return [statistics.median(each) for each in zip(*seconds, strict=True)]


@contextmanager
def _worker(model: str, side: int, passive: bool) -> Iterator[Callable[[], float]]:
    """Start a process that upsamples when asked; yield what asks it and returns the seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in PASSIVE}
    if passive:
        wait_passively(environment)
    command = [sys.executable, "-m", "graphsr.experiments.benchmarks.shared", model, str(side)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask() -> float:
            requests.write("\n")
            return float(answers.readline())

        try:
            ask()  # loads and compiles
            yield ask
        finally:
            process.kill()


@contextmanager
def _busy_cores() -> Iterator[None]:
    """Keep a process busy on every core."""
    processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _answer(model: str, side: int, requests: IO[str]) -> None:
    """Upsample once for each line that is read, and print the seconds."""
    pair, loaded = make_pair(side, FACTOR), load(model)
    for _ in requests:
        print(call_seconds(pair, loaded), flush=True)


if __name__ == "__main__":
    _answer(sys.argv[1], int(sys.argv[2]), sys.stdin)
