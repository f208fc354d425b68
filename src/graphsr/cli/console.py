"""What the commands print: results on the standard output, everything else on the standard error."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

results = Console(highlight=False)
messages = Console(stderr=True, highlight=False)
_errors = Console(stderr=True, highlight=False)  # never quiet

_LABEL_WIDTH = 11
_ANY_WIDTH = 10_000
_LINE_EVERY = 30.0  # seconds


class _LogHandler(logging.Handler):
    """Prints log records on the console of the messages, so that they do not break a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        origin = "" if record.name == "graphsr" else f"{record.name}: "
        messages.print(f"{record.levelname.lower()}: {origin}{record.getMessage()}", markup=False, soft_wrap=True)


_log_handler = _LogHandler()


def print_any_name() -> None:
    """Let names of files be printed that are no valid text, as Linux allows them: with escapes for what is not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def set_verbosity(*, verbose: bool = False, quiet: bool = False) -> None:
    """Choose what is printed from now on: with `quiet` errors alone, with `verbose` also log records from INFO on."""
    results.quiet = messages.quiet = quiet
    logging.captureWarnings(quiet)
    logging.disable(logging.WARNING if quiet else logging.NOTSET)
    root = logging.getLogger()
    root.removeHandler(_log_handler)
    if verbose:
        root.addHandler(_log_handler)
    root.setLevel(logging.INFO if verbose else logging.WARNING)


def say(label: str, *sentences: str) -> None:
    """Print one fact of a summary; further sentences go on lines of their own."""
    for i, sentence in enumerate(sentences):
        line = Text(f"{label if i == 0 else '':<{_LABEL_WIDTH}}", style="bold").append(sentence, style="not bold")
        results.print(line, soft_wrap=True)


def switched_off(count: int) -> str:
    """Return how many source pixels were taken for outliers, in words."""
    return f"{'1 source pixel' if count == 1 else f'{count:,} source pixels'} switched off"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, words: int, title: str = "") -> None:
    """Print a table whose first `words` columns are words, and the others figures."""
    grid = new_table(headings, words=words, title=title)
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))  # brackets may be part of a name
    show(grid)


def new_table(headings: Sequence[str], *, words: int, title: str = "") -> Table:
    """Return an empty table whose first `words` columns are words, and the others figures."""
    grid = Table(title=Text(title) if title else None, title_justify="left", title_style="bold", box=None)
    grid.pad_edge, grid.header_style = False, "bold"
    for n, heading in enumerate(headings):
        grid.add_column(heading, justify="left" if n < words else "right")
    return grid


def show(grid: Table) -> None:
    """Print a table in full. In a narrow terminal whole lines are wrapped: shortened figures would be of no use."""
    needed = Measurement.get(results, results.options.update(width=_ANY_WIDTH), grid).maximum
    show_at_width(grid, needed)


def show_at_width(grid: Table, least: int) -> None:
    """Print a table at the width of the terminal, or at the least width given."""
    Console(width=max(results.width, least), highlight=False, quiet=results.quiet).print(grid, soft_wrap=True)


def note(sentence: str) -> None:
    """Print something that the user may want to know or do differently."""
    messages.print(Text("note: ", style="yellow").append(sentence, style="default"), soft_wrap=True)


def print_error(sentence: str) -> None:
    """Print the one line that an error ends in, also when quiet."""
    # A Text, so that brackets in a file's name are no markup.
    _errors.print(Text("error: ", style="bold red").append(sentence, style="not bold default"), soft_wrap=True)


@contextmanager
def spinner(description: str) -> Iterator[None]:
    """Show a spinner with the time so far, where there is a terminal to show it."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=messages, transient=True, disable=not _live()) as progress:
        progress.add_task(escape(description), total=None)
        yield


@contextmanager
def solve_bar(description: str) -> Iterator[None]:
    """Show how far the solves inside a `with` block are, all together, as `share_bar` does."""
    from graphsr.solver.progress import Meter, Part, observed  # here, as torch takes seconds

    meter = Meter()
    with share_bar(description) as show:

        def observer(iterations: int, error: float, part: Part) -> None:
            meter.update(iterations, error, part)
            show(meter.words, meter.fraction or 0.0)

        with observed(observer):
            yield


@contextmanager
def share_bar(description: str) -> Iterator[Callable[[str, float], None]]:
    """Show a bar with the time so far; yield the function that is called with what is being done, and how far all is.

    Without a terminal (in a log file) a line is printed every half minute.
    """
    if not _live():
        yield _share_printer(description)
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task(escape(description), total=None)
        yield lambda words, share: progress.update(
            task, description=escape(f"{description}, {words}"), completed=share, total=1.0
        )


def _share_printer(description: str) -> Callable[[str, float], None]:
    began = last = time.monotonic()

    def update(words: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY:
            last = now
            line = f"{description}, {words}: {share:.0%} in all, {_duration(now - began)} so far"
            messages.print(line, markup=False, soft_wrap=True)

    return update


@contextmanager
def status_line(first: str, *, every: float = _LINE_EVERY) -> Iterator[Callable[[str], None]]:
    """Show a line that says what is being done; yield the function that changes it.

    Without a terminal (in a log file) a line is printed whenever what stands before the colon changes, or so many
    seconds have passed.
    """
    if not _live():
        update = _line_printer(every)
        update(first)
        yield update
        return
    with messages.status(first) as status:
        yield lambda sentence: status.update(escape(sentence))


def _line_printer(every: float) -> Callable[[str], None]:
    last, subject = -every, ""

    def update(sentence: str) -> None:
        nonlocal last, subject
        now, about = time.monotonic(), sentence.partition(":")[0]
        if now - last >= every or about != subject:
            last, subject = now, about
            messages.print(sentence, markup=False, soft_wrap=True)

    return update


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left; yield the function that is called with how many are done, of how many.

    Without a terminal (in a log file) a line is printed every half minute.
    """
    if not _live():
        yield _progress_printer(description)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=messages, transient=True) as progress:
        task = progress.add_task(escape(description), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _progress_printer(description: str) -> Callable[[int, int], None]:
    began = last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY and done:
            last = now
            left = (now - began) / done * (total - done)
            line = f"{description}: {done} of {total}, {_duration(now - began)} so far, {_duration(left)} left"
            messages.print(line, markup=False)

    return update


def _live() -> bool:
    return messages.is_terminal and not messages.quiet


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
