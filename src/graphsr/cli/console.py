"""What the commands print: results on the standard output, everything else on the standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

results = Console(highlight=False)
messages = Console(stderr=True, highlight=False)

_LABEL_WIDTH = 11
_ANY_WIDTH = 10_000
_LINE_EVERY = 30.0  # seconds


def say(label: str, *sentences: str) -> None:
    """One fact of a summary; further sentences go on lines of their own."""
    for i, sentence in enumerate(sentences):
        line = Text(f"{label if i == 0 else '':<{_LABEL_WIDTH}}", style="bold").append(sentence, style="not bold")
        results.print(line, soft_wrap=True)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, words: int, title: str = "") -> None:
    """A table whose first `words` columns are words, and the others figures."""
    grid = Table(title=Text(title) if title else None, title_justify="left", title_style="bold", box=None)
    grid.pad_edge, grid.header_style = False, "bold"
    for n, heading in enumerate(headings):
        grid.add_column(heading, justify="left" if n < words else "right")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))  # brackets may be part of a name
    show(grid)


def show(grid: Table) -> None:
    """A table in full. In a narrow terminal whole lines are wrapped: shortened figures would be of no use."""
    needed = Measurement.get(results, results.options.update(width=_ANY_WIDTH), grid).maximum
    Console(width=max(results.width, needed), highlight=False).print(grid, soft_wrap=True)


def note(sentence: str) -> None:
    """Something the user may want to know or do differently."""
    messages.print(Text("note: ", style="yellow").append(sentence, style="default"), soft_wrap=True)


def complain(sentence: str) -> None:
    """The one line that an error ends in. A Text, so that brackets in a file's name are no markup."""
    messages.print(Text("error: ", style="bold red").append(sentence, style="not bold default"), soft_wrap=True)


@contextmanager
def working(on: str) -> Iterator[None]:
    """A spinner with the time so far, where there is a terminal to show it."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal) as progress:
        progress.add_task(on, total=None)
        yield


@contextmanager
def telling(first: str, *, every: float = _LINE_EVERY) -> Iterator[Callable[[str], None]]:
    """A line that says what is being done; yields what changes it.

    Without a terminal (in a log file) it is a line whenever what stands before the colon changes, or so many seconds
    have passed.
    """
    if not messages.is_terminal:
        tell = _sentences(every)
        tell(first)
        yield tell
        return
    with messages.status(first) as status:
        yield lambda sentence: status.update(escape(sentence))


def _sentences(every: float) -> Callable[[str], None]:
    last, subject = -every, ""

    def tell(sentence: str) -> None:
        nonlocal last, subject
        now, about = time.monotonic(), sentence.partition(":")[0]
        if now - last >= every or about != subject:
            last, subject = now, about
            messages.print(sentence, markup=False, soft_wrap=True)

    return tell


@contextmanager
def counting(on: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left; yields what is called with how many are done, of how many.

    Without a terminal (in a log file) it is a line every half minute.
    """
    if not messages.is_terminal:
        yield _lines(on)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=messages, transient=True) as progress:
        task = progress.add_task(on, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _lines(on: str) -> Callable[[int, int], None]:
    began = last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY and done:
            last = now
            left = (now - began) / done * (total - done)
            messages.print(
                f"{on}: {done} of {total}, {_duration(now - began)} so far, {_duration(left)} left", markup=False
            )

    return tell


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
