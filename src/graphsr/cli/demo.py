"""graphsr demo: one rendered scene whose true depth is known, from source to figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import results, say, spinner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SEED = 7
_SIZE = (384, 512)
_FACTOR = 8
_MODEL = "default"


@dataclass(frozen=True, eq=False)
class _Pair:
    """A scene as a camera and a coarse depth sensor measure it, and its true depth.

    guide (H, W, 3), source_mm (h, w), truth_mm (H, W).
    """

    guide: NDArray[np.uint8]
    source_mm: NDArray[np.uint16]
    truth_mm: NDArray[np.float32]


@dataclass(frozen=True)
class _Score:
    """Errors against the truth, and of the averages over source pixels against the source."""

    mse_cm2: float
    mae_cm: float
    back_mm: float


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to; created if need be.")
    ] = Path("graphsr-demo"),
) -> None:
    """Upsample the depth map of a rendered scene by 8 and compare with the truth.

    Writes the guide, the source and the target (depth in 16-bit millimetres), and a picture of all. Files of an earlier
    demo in that folder are replaced.

    \b
    Example:
      graphsr demo -o demo
    """
    import numpy as np

    import graphsr
    from graphsr.files import make_folder, write_image

    make_folder(output)
    with spinner("rendering a scene"):
        pair = _pair()
    source = pair.source_mm.astype(np.float32)
    with spinner("upsampling"):
        graph = graphsr.upsample(pair.guide, source, model=_MODEL).target
        bicubic = graphsr.upsample(pair.guide, source, model="bicubic").target

    write_image(output / "guide.png", pair.guide)
    write_image(output / "source.png", pair.source_mm)
    write_image(output / "truth.png", pair.truth_mm, like=pair.source_mm.dtype)
    report = write_image(output / "target.png", graph, like=pair.source_mm.dtype)
    write_image(output / "picture.png", _picture(pair, bicubic, graph))

    _print_table({"bicubic": _score(bicubic, pair), "graph": _score(graph, pair)})
    say("picture", str(output / "picture.png"))
    say("target", str(output / "target.png"), *report.notes())
    say("try it", f"graphsr upsample {output / 'guide.png'} {output / 'source.png'} -o target.png")


def _pair() -> _Pair:
    import numpy as np

    from graphsr.scenes import scene

    rendered = scene(_SEED, _SIZE)
    truth_mm = rendered.depth * np.float32(1000)
    return _Pair(rendered.guide, np.rint(_averaged(truth_mm)).astype(np.uint16), truth_mm)


def _averaged(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means (h, w) over blocks of depth (H, W): what a sensor with such large pixels would measure."""
    height, width = depth.shape
    blocks = depth.reshape(height // _FACTOR, _FACTOR, width // _FACTOR, _FACTOR)
    means: NDArray[np.float32] = blocks.mean(axis=(1, 3), dtype="float64").astype("float32")
    return means


def _score(target_mm: NDArray[np.float32], pair: _Pair) -> _Score:
    import numpy as np

    error_cm = (target_mm - pair.truth_mm) / 10
    back_mm = _averaged(target_mm) - pair.source_mm
    return _Score(
        mse_cm2=float(np.mean(error_cm**2)),
        mae_cm=float(np.mean(np.abs(error_cm))),
        back_mm=float(np.sqrt(np.mean(back_mm**2))),
    )


def _print_table(scores: dict[str, _Score]) -> None:
    from rich.table import Table

    table = Table("", title=f"x{_FACTOR}, {_SIZE[1]} x {_SIZE[0]} pixels")
    for heading in ("MSE (cm²)", "MAE (cm)", "averages back (mm, RMS)"):
        table.add_column(heading, justify="right")
    for name, score in scores.items():
        table.add_row(name, f"{score.mse_cm2:.2f}", f"{score.mae_cm:.2f}", f"{score.back_mm:.3f}")
    results.print(table)


def _picture(pair: _Pair, bicubic: NDArray[np.float32], graph: NDArray[np.float32]) -> NDArray[np.uint8]:
    import numpy as np

    from graphsr.pictures import ERRORS, Panel, Scale, as_picture, colourise, robust_range, sheet

    truth = pair.truth_mm / 1000
    depth = Scale(*robust_range(truth), units="m")
    errors = {name: np.abs(target - pair.truth_mm) / 10 for name, target in (("bicubic", bicubic), ("graph", graph))}
    error = Scale(0.0, robust_range(errors["bicubic"])[1], units="error, cm", palette=ERRORS)

    def depth_panel(values_m: NDArray[np.floating], caption: str) -> Panel:
        return Panel(colourise(values_m, depth.low, depth.high), caption)

    def error_panel(name: str) -> Panel:
        caption = f"error of {name}, mean {errors[name].mean():.2f} cm"
        return Panel(colourise(errors[name], error.low, error.high, ERRORS), caption)

    coarse = (pair.source_mm / np.float32(1000)).repeat(_FACTOR, axis=0).repeat(_FACTOR, axis=1)
    rows = [
        [
            Panel(as_picture(pair.guide), "guide"),
            depth_panel(coarse, "source"),
            depth_panel(graph / 1000, "target"),
        ],
        [depth_panel(truth, "truth"), error_panel("bicubic"), error_panel("graph")],
    ]
    return sheet(rows, scales=(depth, error))
