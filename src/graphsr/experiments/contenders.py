"""Who takes part in an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphsr import features
from graphsr.baselines import METHODS
from graphsr.errors import InputError
from graphsr.suggestion import suggestion

# The configuration of the paper, whose model and samples are taken.
PAPER_PRESET = "paper-nyuv2"


@dataclass(frozen=True)
class Contender:
    """A method or model by the name it has in tables.

    preset     the configuration it is trained with; "": it is not trained
    extractor  of the graph model, instead of the preset's
    factors    those it exists for; empty: any
    patience   why it only takes part when asked for; "": it always does
    """

    name: str
    preset: str = ""
    extractor: str = ""
    factors: tuple[int, ...] = ()
    patience: str = ""


_PATIENCE = {"pixtransform": "trains a network for every single image, for about half an hour on one core"}


def _of_methods() -> list[Contender]:
    return [
        Contender(name, name if method.learned else "", factors=method.factors, patience=_PATIENCE.get(name, ""))
        for name, method in METHODS.items()
    ]


METHODS_AND_MODELS = (
    Contender("bicubic"),
    *_of_methods(),
    Contender("colour"),
    Contender("graph", PAPER_PRESET),
    Contender("graph-small", "bundled"),
    Contender("default"),
)
# The larger of the Lite encoders are left out: they differ in size alone.
_EXTRACTORS = tuple(name for name in features.names() if name not in ("unet-lite1", "unet-lite2"))
EXTRACTORS = tuple(Contender(f"graph-{name}", PAPER_PRESET, name) for name in _EXTRACTORS)


def chosen(names: Sequence[str], among: Sequence[Contender]) -> tuple[list[Contender], list[str]]:
    """Those named, or all who need no patience; and a word about each who is left out for that."""
    if not names:
        out = [f"{one.name}: {one.patience}; name it with --methods" for one in among if one.patience]
        return [one for one in among if not one.patience], out
    by_name = {one.name: one for one in among}
    for name in names:
        if name not in by_name:
            raise InputError(f"--methods {name!r}: nothing is called so here; {suggestion(name, by_name)}")
    return [by_name[name] for name in names], []
