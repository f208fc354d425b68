"""What is measured for the documentation: which models, on what, told what."""

from __future__ import annotations

from dataclasses import dataclass

ALL = ("default", "open", "colour", "bicubic")
LEARNED = ("default", "open")
VALIDATION = {
    "nyuv2-precise": "NYUv2", "hci": "HCI", "middlebury-views": "Middlebury", "gso": "GSO", "sintel": "Sintel",
}  # fmt: skip
UNSEEN = {
    "replica": "Replica", "flyingthings": "FlyingThings", "middlebury2014": "Middlebury 2014", "taskonomy": "Taskonomy",
}  # fmt: skip
# The folder of each kind of data under the root, where it is not called like the kind.
FOLDERS = {"nyuv2-precise": "nyuv2", "middlebury-views": "middlebury"}

NOISE = "noise=0.03"
# What is wrong with sources of the cards, at which factor, and what it is called.
DEGRADED = {
    (NOISE, 8.0): "noise of 3 % of the range",
    ("outliers=0.05", 8.0): "5 % outliers",
    ("flying=0.3", 8.0): "flying pixels: 30 % of those at edges",
    ("shift=2", 8.0): "2 target pixels aside",
    ("noise=0.01", 8.0): "noise of 1 %",
    ("noise=0.05", 8.0): "noise of 5 %",
    ("outliers=0.02", 8.0): "2 % outliers",
    ("shift=2", 4.0): "2 target pixels aside, x4",
    ("shift=4", 8.0): "4 target pixels aside",
    ("footprint=bicubic", 8.0): "reduced by a bicubic kernel",
    ("footprint=point", 8.0): "point samples",
}


@dataclass(frozen=True)
class Measurement:
    """Name one measurement.

    Attributes:
        models: that are measured.
        kinds: of data sets.
        factors: at which.
        split: of the data sets.
        pairs: at most so many of each data set; None: all.
        protocol: of `graphsr evaluate`.
        degradation: what is wrong with the sources.
        align, noise, footprint: what models are told.
    """

    models: tuple[str, ...]
    kinds: tuple[str, ...]
    factors: tuple[float, ...] = (4.0, 8.0, 16.0)
    split: str = "val"
    pairs: int | None = None
    protocol: str = "patches"
    degradation: str = ""
    align: str = ""
    noise: str = ""
    footprint: str = "box"


def plan() -> list[Measurement]:
    """Return all measurements that pages show."""
    sets, unseen = tuple(VALIDATION), tuple(UNSEEN)
    degraded = [
        Measurement((*LEARNED, "bicubic"), sets, (factor,), pairs=5, degradation=what) for what, factor in DEGRADED
    ]
    moved = [
        Measurement(("default",), sets, (8.0,), pairs=5, degradation=what, align=align)
        for what in ("shift=2", "shift=4")
        for align in ("none", "shift")
    ]
    return [
        Measurement(ALL, sets),
        Measurement(LEARNED, sets, align="none"),
        Measurement(("default", "open", "colour"), unseen, (4.0, 8.0), split="test", pairs=10),
        Measurement(LEARNED, unseen, (4.0, 8.0), split="test", pairs=10, align="none"),
        Measurement(ALL, ("nyuv2-precise",), protocol="successors", footprint="bicubic"),
        *degraded,
        *moved,
        Measurement(LEARNED, sets, (8.0,), pairs=5, degradation=NOISE, noise="auto"),
    ]
