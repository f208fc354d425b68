"""A user's mistake ends in one readable line, never in a traceback."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from graphsr.cli.console import print_error
from graphsr.errors import GraphSRError, out_of_memory

MISTAKE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class ReportingGroup(TyperGroup):
    """A group of commands whose errors are printed in one line on the standard error."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except GraphSRError as error:
            print_error(str(error))
            raise typer.Exit(MISTAKE) from error
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            print_error("not enough memory for images of this size; crop them, or use a larger machine")
            raise typer.Exit(MISTAKE) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(INTERRUPTED) from error
