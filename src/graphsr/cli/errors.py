"""A user's mistake ends in one readable line, never in a traceback."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from graphsr.cli.console import complain
from graphsr.errors import GraphSRError, out_of_memory

MISTAKE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class ReportingGroup(TyperGroup):
    """A group of commands whose errors are told in one line on the standard error."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except GraphSRError as error:
            complain(str(error))
            raise typer.Exit(MISTAKE) from error
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            complain("not enough memory for images of this size; work on a part of them, or on a larger machine")
            raise typer.Exit(MISTAKE) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(INTERRUPTED) from error
