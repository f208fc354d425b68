"""Every error ends in one readable line, never in a traceback; -v shows where it came from."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from graphsr.cli.console import print_error
from graphsr.errors import GraphSRError, out_of_memory

FAULT = 1  # ours
MISTAKE = 2  # the user's
INTERRUPTED = 130  # 128 + SIGINT, as shells have it

_log = logging.getLogger("graphsr")


class ReportingGroup(TyperGroup):
    """A group of commands whose errors are printed in one line on the standard error."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "" in args:  # which would mean the current folder
            raise typer.BadParameter("an argument is empty; give a name (is a variable of the shell not set?)", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as error:
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:
            if hasattr(error, "exit_code"):  # typer's own, whichever copy of click it uses
                raise
            code, sentence = explain(error)
            if not isinstance(error, GraphSRError):
                _log.info("%s", "".join(traceback.format_exception(error)).rstrip())
            print_error(sentence)
            raise typer.Exit(code) from error


def explain(error: Exception) -> tuple[int, str]:
    """Return the exit code and the one line that an error ends in."""
    if isinstance(error, GraphSRError):
        return MISTAKE, str(error)
    if out_of_memory(error):
        return MISTAKE, "not enough memory for images of this size; crop them, or use a larger machine"
    if isinstance(error, OSError) and error.strerror:  # files and folders that nothing else has looked at
        names = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        return MISTAKE, f"{names}: {error.strerror}" if names else error.strerror
    if isinstance(error, UnicodeError):
        return (
            MISTAKE,
            "a file's name is no text in UTF-8, which some libraries cannot open; rename it",
        )
    first = (str(error).strip() or "no message").splitlines()[0]
    return FAULT, f"{type(error).__name__}: {first}; this is a fault of graphsr: please report it with the output of -v"
