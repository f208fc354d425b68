"""What the commands print: results on the standard output, everything else on the standard error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.measure import Measurement
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

results = Console(highlight=False)
messages = Console(stderr=True, highlight=False)

_LABEL_WIDTH = 11
_ANY_WIDTH = 10_000


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
