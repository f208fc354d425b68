"""--verbose and --quiet, which every command has, and what all commands do before and after."""

from __future__ import annotations

import inspect
import logging
import re
import time
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from graphsr.cli.console import set_verbosity

Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Also print what happens inside and how long it takes.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors alone.")]

_log = logging.getLogger("graphsr")


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options --verbose and --quiet, which also says when kernels are compiled."""

    @wraps(command)
    def wrapped(*arguments: Any, verbose: bool, quiet: bool, **options: Any) -> None:
        # Imported here, as numba takes seconds that `graphsr --help` should not.
        from graphsr.cli.compilation import announced_compilation

        if verbose or quiet:  # else those given before the command hold
            set_verbosity(verbose=verbose, quiet=quiet)
        began = time.perf_counter()
        with announced_compilation():
            command(*arguments, **options)
        _log.info("%s took %.1f s", command.__name__.replace("_", "-"), time.perf_counter() - began)

    # typer reads the options from the signature, and their types from the annotations.
    signature = inspect.signature(command, eval_str=True)
    added = {"verbose": Verbose, "quiet": Quiet}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword, default=False, annotation=kind) for name, kind in added.items()]
    new = signature.replace(parameters=[*signature.parameters.values(), *parameters])
    wrapped.__dict__["__signature__"] = new
    wrapped.__doc__ = _whole_sentences(inspect.getdoc(command) or "")
    wrapped.__annotations__ = {name: one.annotation for name, one in new.parameters.items()} | {"return": None}
    return wrapped


def _whole_sentences(text: str) -> str:
    """Undo line breaks inside a sentence, so that a narrow terminal does not break its lines twice.

    Paragraphs that begin with a backspace are lists and examples: typer prints their lines as they are.
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else re.sub(r"(?<![.:])\n(?=\S)", " ", p) for p in paragraphs)
