"""graphsr methods: the models, and the baselines they are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import results, say, show_at_width
from graphsr.errors import InputError

if TYPE_CHECKING:
    from torch import nn

    from graphsr.baselines import Method

_TABLE_WIDTH = 110  # a narrower terminal wraps lines; shortened names would be of no use
_NONE = "-"
_GRAPH_PAPER = "de Lutio et al., Learning Graph Regularisation for Guided Super-Resolution, CVPR 2022"
# Year and reference of the models that are no baselines.
_MODELS = {
    "default": (2022, _GRAPH_PAPER),
    "open": (2022, f"{_GRAPH_PAPER} (trained on data that allow any use)"),
    "colour": (2022, f"{_GRAPH_PAPER} (without a network)"),
    "bicubic": (1981, "Keys, Cubic Convolution Interpolation for Digital Image Processing, TASSP 1981"),
}


Name = Annotated[str | None, typer.Argument(metavar="NAME", help="Print all about this one.")]


def methods(name: Name = None) -> None:
    """List the models and the baselines they are compared with.

    All can be given as --model. Those that need weights are given with a file of them, as NAME:FILE; where the weights
    are for one factor, as NAME-xFACTOR:FILE.

    \b
    Examples:
      graphsr methods
      graphsr methods msg-net
      graphsr upsample photo.jpg depth.png -o fine.png --model guided-filter
      graphsr evaluate --data my-pairs --factor 8 --model default --model msg-net-x8:weights.pth
    """
    if name is None:
        _list()
    else:
        _describe(name)


def _list() -> None:
    from rich.table import Table

    from graphsr.baselines import METHODS

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "year", "learned", "parameters", "factors", "needs weights", "reference"):
        number = heading in ("year", "parameters")
        table.add_column(heading, justify="right" if number else "left", no_wrap=heading in ("name", "parameters"))
    for name in _models():
        table.add_row(*_model_cells(name))
    for method in METHODS.values():
        table.add_row(*_method_cells(method))
    show_at_width(table, _TABLE_WIDTH)
    results.print()
    say("more", "graphsr methods NAME prints all about one")
    say("your own", "a graph model that you trained is given as its FILE; networks it may have, and their parameters:")
    say("", *(f"{name} {count:,}" for name, count in _extractors()))


def _describe(name: str) -> None:
    from graphsr.baselines import METHODS
    from graphsr.baselines.weights import called_with, find, skeleton
    from graphsr.suggestion import suggestion

    if name.lower() in _models():
        for label, cell in zip(_LABELS, _model_cells(name.lower()), strict=True):
            say(label, cell)
        say("use", f"--model {name.lower()}")
        return
    method, _ = find(name)
    if method is None:
        raise InputError(f"{name!r}: no method is called so; {suggestion(name.lower(), [*_models(), *METHODS])}")
    for label, cell in zip(_LABELS, _method_cells(method), strict=True):
        if label != "parameters":
            say(label, cell)
    if method.learned:
        counts = [(called_with(method, each), _count(skeleton(method, each))) for each in method.factors or (None,)]
        say("parameters", *(f"{called} {count:,}" for called, count in counts))
        called, at = (f"{method.name}-x8", " --factor 8") if method.factors else (method.name, "")
        say("use", f"--model {called}:FILE, where FILE is {method.weight_files}")
        say("train", f"graphsr train {method.name}{at} --data DIR -o RUN")
    else:
        say("use", f"--model {method.name}")
    say("more", "docs/baselines.md")


_LABELS = ("name", "year", "learned", "parameters", "factors", "weights", "reference")


def _models() -> list[str]:
    """Return the names of the models that are no baselines."""
    from graphsr.baselines import METHODS
    from graphsr.models.registry import names as models

    return [name for name in models() if name not in METHODS]


def _extractors() -> list[tuple[str, int]]:
    import torch

    from graphsr import features

    with torch.device("meta"):
        return [(name, _count(features.build(name))) for name in features.names()]


def _model_cells(name: str) -> tuple[str, ...]:
    from graphsr.models.registry import load

    year, reference = _MODELS.get(name, _MODELS["default"])
    count = _count(load(name))
    return name, str(year), _yes(count > 0), f"{count:,}" if count else _NONE, "any", "no", reference


def _method_cells(method: Method) -> tuple[str, ...]:
    from graphsr.baselines.weights import skeleton

    count = _NONE
    if method.learned:
        counts = [_count(skeleton(method, factor)) for factor in method.factors or (None,)]
        count = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}\nto {counts[-1]:,}"
    factors = ", ".join(map(str, method.factors)) or "any"
    return method.name, str(method.year), _yes(method.learned), count, factors, _yes(method.learned), method.reference


def _count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
