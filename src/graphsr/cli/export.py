"""graphsr export: a model file from a training checkpoint, or a model for programs without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import say, spinner
from graphsr.cli.options import Overwrite
from graphsr.errors import InputError

_CHECKPOINT = ".ckpt"


def export(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="best.ckpt or last.ckpt of a training run; for .onnx also any graph model's name or file.",
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, .safetensors or .onnx.")],
    half: Annotated[bool, typer.Option("--half", help="Store .safetensors in half precision: half the size.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the model of a training run as one file, or any graph model as ONNX.

    A .safetensors file is what `--model` and graphsr.load take. Of a run that trained another method it holds the
    method's weights, which are used as METHOD:FILE.

    An .onnx file takes a guide and a source of any size and returns the edge weights that the target is solved with,
    so that programs without PyTorch can have them. Needs the extra graphsr\\[export].

    \b
    Examples:
      graphsr export run/best.ckpt mine.safetensors
      graphsr export default default.onnx
      graphsr export run/best.ckpt mine.onnx
    """
    from graphsr.files import check_outputs

    check_outputs({"OUT": output}, inputs=(model,), overwrite=overwrite)
    if output.suffix not in (".safetensors", ".onnx"):
        raise InputError(f"{output}: model files end in .safetensors or .onnx")
    if output.suffix == ".onnx":
        _export_onnx(model, output, half)
        return
    if not Path(model).exists():
        raise InputError(
            f"{model}: no such file; a .safetensors file is made of a training run's checkpoint, best.ckpt"
        )
    from graphsr.training.export import export as write

    name = write(model, output, half=half)
    say("model", f"{output}, {output.stat().st_size / 1e6:.1f} MB")
    say("use", f"--model {name}")


def _export_onnx(model: str, output: Path, half: bool) -> None:
    from graphsr.models.onnx_files import OPSET, check_onnx, write_onnx
    from graphsr.models.registry import load

    if half:
        raise InputError("--half is for .safetensors files; ONNX files hold single precision")
    check_onnx()
    with spinner(f"exporting {model}"):
        if Path(model).suffix == _CHECKPOINT:
            from graphsr.training.export import read_trained

            found = read_trained(model)
        else:
            found = load(model)
        outputs = write_onnx(found, output)
    say("model", f"{output}, {output.stat().st_size / 1e6:.1f} MB, opset {OPSET}")
    say("outputs", ", ".join(outputs))
