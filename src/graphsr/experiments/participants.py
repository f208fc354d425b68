"""The methods and models that take part in an experiment."""

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
class Participant:
    """Describe a method or model.

    Attributes:
        name: As in tables and options.
        preset: The configuration it is trained with; "": it is not trained.
        extractor: Feature extractor of the graph model, instead of the preset's.
        factors: Those it exists for; empty: any.
        slow: Why it takes part only if it is named; "": it always does.
    """

    name: str
    preset: str = ""
    extractor: str = ""
    factors: tuple[int, ...] = ()
    slow: str = ""

    def exists_at(self, factor: int) -> bool:
        return not self.factors or factor in self.factors


_SLOW = {"pixtransform": "trains a network for every single image, for about half an hour on one core"}

METHODS_AND_MODELS = (
    Participant("bicubic"),
    *(
        Participant(name, name if method.learned else "", factors=method.factors, slow=_SLOW.get(name, ""))
        for name, method in METHODS.items()
    ),
    Participant("colour"),
    Participant("graph", PAPER_PRESET),
    Participant("graph-small", "bundled"),
    Participant("default"),
)
# The larger of the Lite encoders are left out: they differ in size alone.
_EXTRACTORS = tuple(name for name in features.names() if name not in ("unet-lite1", "unet-lite2"))
EXTRACTORS = tuple(Participant(f"graph-{name}", PAPER_PRESET, name) for name in _EXTRACTORS)


def select_participants(
    names: Sequence[str], among: Sequence[Participant] = METHODS_AND_MODELS
) -> tuple[list[Participant], list[str]]:
    """Select participants by name.

    Args:
        names: Their names; empty: all that are not slow.
        among: The participants to choose from.

    Returns:
        The participants, and a sentence on each that is left out because it is slow.
    """
    if not names:
        left_out = [f"{one.name}: {one.slow}; name it with --methods" for one in among if one.slow]
        return [one for one in among if not one.slow], left_out
    by_name = {one.name: one for one in among}
    for name in names:
        if name not in by_name:
            raise InputError(f"--methods {name!r}: no method is called so here; {suggestion(name, by_name)}")
    return [by_name[name] for name in names], []
