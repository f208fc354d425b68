"""graphsr export: a model file from a training checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import say
from graphsr.cli.options import Overwrite


def export(
    checkpoint: Annotated[Path, typer.Argument(help="best.ckpt or last.ckpt of a training run.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The model file to write, .safetensors.", show_default=False)],
    half: Annotated[bool, typer.Option("--half", help="Store in half precision: half the size.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the model of a training run as one file, which `--model` and graphsr.load take.

    \b
    Example:
      graphsr export run/best.ckpt mine.safetensors

    Of a run that trained another method it writes the method's weights, which are used as METHOD:FILE.
    """
    from graphsr.errors import InputError
    from graphsr.files import check_outputs
    from graphsr.training.export import export as write

    if output.suffix != ".safetensors":
        raise InputError(f"{output}: model files end in .safetensors")
    check_outputs({"OUTPUT": output}, inputs=(checkpoint,), overwrite=overwrite)
    name = write(checkpoint, output, half=half)
    say("model", f"{output}, {output.stat().st_size / 1e6:.1f} MB")
    say("use", f"--model {name}")
