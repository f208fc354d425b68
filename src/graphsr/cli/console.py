"""What the commands print: results on the standard output, everything else on the standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

results = Console(highlight=False)
messages = Console(stderr=True, highlight=False)

_LABEL_WIDTH = 11


def say(label: str, *sentences: str) -> None:
    """One fact of a summary; further sentences go on lines of their own."""
    for i, sentence in enumerate(sentences):
        line = Text(f"{label if i == 0 else '':<{_LABEL_WIDTH}}", style="bold").append(sentence, style="not bold")
        results.print(line, soft_wrap=True)


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
