"""graphsr calibrate: fit how sure a model is to its true errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import say, status_line
from graphsr.cli.evaluate import open_data
from graphsr.cli.options import Overwrite


def calibrate(
    model: Annotated[
        list[str],
        typer.Argument(metavar="MODEL", help="A model's name or file; of several, common constants are fitted."),
    ],
    data: Annotated[
        list[str],
        typer.Option("--data", help="KIND:FOLDER of a data set, or a FOLDER of guides/ and targets/; repeatable."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="JSON",
            help="The file to write; found by itself beside the model's file, as NAME.uncertainty.json.",
            show_default="beside the model's file",
        ),
    ] = None,
    factor: Annotated[list[float], typer.Option("--factor", min=1.0, help="Repeatable.")] = [4.0, 8.0, 16.0],  # noqa: B006 (typer reads it)
    split: Annotated[str, typer.Option(help="train, val or test; not what the model was trained on.")] = "val",
    missing: Annotated[
        float | None, typer.Option(metavar="VALUE", help="The value that marks an unknown pixel in a FOLDER's targets.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="At most so many pairs of each data set.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Fit the uncertainty of a model to its errors on pairs whose true map is known.

    \b
    Examples:
      graphsr calibrate mine.safetensors --data my-pairs
      graphsr calibrate mine.safetensors --data hci:"HCI" --data my-pairs --factor 8 --pairs 20
    """
    from graphsr.errors import InputError
    from graphsr.evaluation.calibration import fit_calibration
    from graphsr.files import check_outputs
    from graphsr.models.calibration import beside, write_calibration
    from graphsr.models.registry import load

    if output is None:
        if len(model) != 1 or not Path(model[0]).is_file():
            raise InputError(f"{', '.join(model)}: is not one model file; say by -o where to write the constants")
        output = beside(Path(model[0]))
    if output.suffix != ".json":
        raise InputError(f"{output}: the constants are written as .json")
    check_outputs({"--output": output}, overwrite=overwrite)
    sets = [open_data(name, split, missing) for name in data]
    with status_line("reading") as update:
        found = fit_calibration([load(name) for name in model], sets, factor, most=pairs, progress=update)
    write_calibration(output, found)
    say("constants", str(output))
