"""What pages say of errors: as parts of those of other models, and beside published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from measure import Figures, Measured, What
from plan import UNSEEN, VALIDATION

from graphsr.experiments.published import find_published

FACTORS = (4.0, 8.0, 16.0)


def mse(figures: Figures) -> float:
    """Return the squared error."""
    return figures.mse


def mae(figures: Figures) -> float:
    """Return the absolute error."""
    return figures.mae


def bicubic_part(measured: Measured, model: str, kind: str, factor: float, error: Callable[[Figures], float]) -> float:
    """Return an error of clean sources as a part of bicubic's."""
    return error(measured[What(model, kind, factor)]) / error(measured[What("bicubic", kind, factor)])


def successors_rmse(measured: Measured, model: str) -> list[float]:
    """Return the RMSE on NYUv2 in the field's protocol, in cm."""
    return [measured[What(model, "nyuv2-precise", factor, protocol="successors")].rmse for factor in FACTORS]


def published_rmse(method: str) -> list[float]:
    """Return the published RMSE on NYUv2 in the field's protocol, in cm."""
    found = (
        find_published("successors", method, data="nyuv2-1000-1448", factor=factor, protocol="successors", unit="cm")
        for factor in FACTORS
    )
    return [one.rmse for one in found if one is not None and one.rmse is not None]


def degraded_parts(
    measured: Measured, model: str, what: str, factor: float = 8.0, align: str = "", noise: str = ""
) -> list[float]:
    """Return RMSE as a part of bicubic's for each validation set."""
    return [
        measured[What(model, kind, factor, degradation=what, align=align, noise=noise)].rmse
        / measured[What("bicubic", kind, factor, degradation=what)].rmse
        for kind in VALIDATION
    ]


def colour_parts(
    measured: Measured, model: str, sets: Mapping[str, str], factor: float = 8.0, align: str = ""
) -> dict[str, float]:
    """Return the squared error as a part of that of `colour`, for each set."""
    split = "test" if sets is UNSEEN else "val"
    return {
        kind: measured[What(model, kind, factor, split, align=align)].mse
        / measured[What("colour", kind, factor, split)].mse
        for kind in sets
    }
