"""graphsr methods: what there is to choose from, and to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsr.cli.console import results

if TYPE_CHECKING:
    from graphsr.baselines import Method

_TABLE_WIDTH = 110  # a narrower terminal wraps lines; shortened names would be of no use
_NONE = "-"
_GRAPH_PAPER = "de Lutio et al., Learning Graph Regularisation for Guided Super-Resolution, CVPR 2022"
# Year and reference of the models that are no methods of others.
_MODELS = {
    "default": (2022, _GRAPH_PAPER),
    "colour": (2022, f"{_GRAPH_PAPER} (without a network)"),
    "bicubic": (1981, "Keys, Cubic Convolution Interpolation for Digital Image Processing, TASSP 1981"),
}


def methods() -> None:
    """List the models and the methods they are compared with.

    All can be given as --model. Those that need weights are given with a file of them, as NAME:FILE; where the weights
    are for one factor, as NAME-xFACTOR:FILE.

    \b
    Examples:
      graphsr methods
      graphsr upsample photo.jpg depth.png -o fine.png --model guided-filter
      graphsr evaluate --data my-pairs --factor 8 --model default --model msg-net-x8:weights.pth
    """
    from rich.console import Console
    from rich.table import Table

    from graphsr.baselines import METHODS
    from graphsr.model import models

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "year", "learned", "parameters", "factors", "needs weights", "reference"):
        number = heading in ("year", "parameters")
        table.add_column(heading, justify="right" if number else "left", no_wrap=heading in ("name", "parameters"))
    for name in models():
        if name not in METHODS:
            table.add_row(*_model_cells(name))
    for method in METHODS.values():
        table.add_row(*_method_cells(method))
    Console(width=max(results.width, _TABLE_WIDTH), highlight=False).print(table, soft_wrap=True)


def _model_cells(name: str) -> tuple[str, ...]:
    from graphsr.model import load

    year, reference = _MODELS.get(name, _MODELS["default"])
    count = sum(p.numel() for p in load(name).parameters())
    return name, str(year), _yes(count > 0), f"{count:,}" if count else _NONE, "any", "no", reference


def _method_cells(method: Method) -> tuple[str, ...]:
    from graphsr.baselines.weights import skeleton

    count = _NONE
    if method.learned:
        first = method.factors[0] if method.factors else None
        count = f"{sum(p.numel() for p in skeleton(method, first).parameters()):,}"
        if len(method.factors) > 1:
            count += f" (x{first})"
    factors = ", ".join(map(str, method.factors)) or "any"
    return method.name, str(method.year), _yes(method.learned), count, factors, _yes(method.learned), method.reference


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
