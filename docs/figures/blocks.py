"""The blocks of the pages: tables of what was measured, and the names of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from measure import Figures, Measured, What
from plan import ALL, DEGRADED, LEARNED, NOISE, UNSEEN, VALIDATION
from ratios import FACTORS, bicubic_part, colour_parts, degraded_parts, mae, mse, published_rmse, successors_rmse
from sentences import compared, goals, with_clean_sources, with_wrong_sources
from table import table


def patches(measured: Measured) -> str:
    """All errors of clean sources: models, sets, factors."""
    headings = (
        "model", "data", "factor", "unit", "patches", "MSE", "MAE", "RMSE", "low-res. MSE", "edge MSE", "other MSE",
    )  # fmt: skip
    rows = []
    for kind in VALIDATION:
        for factor in FACTORS:
            for model in ALL:
                f = measured[What(model, kind, factor)]
                errors = (f.mse, f.mae, f.rmse, f.low_resolution_mse, f.edge_mse, f.smooth_mse)
                rows.append(
                    [model, kind, f"x{factor:g}", f.unit, str(f.patches), *(f"{error:.3g}" for error in errors)]
                )
    return table(headings, rows, 4)


def successors(measured: Measured) -> str:
    """RMSE in the field's protocol, measured and published."""
    frames = measured[What("bicubic", "nyuv2-precise", 8.0, protocol="successors")].patches
    words = {
        "bicubic": f"bicubic, measured ({frames} frames)", "colour": "`colour`: no training, no network",
        "open": "`open`: trained on data that allow any use", "default": "**`default`**: the bundled model",
    }  # fmt: skip
    rows = [(said, successors_rmse(measured, model)) for model, said in words.items()]
    rows += [("bicubic, published (449 frames)", published_rmse("bicubic"))]
    rows += [("the paper's model, published", published_rmse("graph"))]
    return table(("RMSE in cm", "x4", "x8", "x16"), [[said, *(f"{e:.2f}" for e in errors)] for said, errors in rows])


def against_bicubic(measured: Measured, error: Callable[[Figures], float], models: Sequence[str]) -> str:
    """Errors of clean sources as parts of bicubic's, for the cards."""
    rows = [
        [f"{name}, `{model}`", *(f"{bicubic_part(measured, model, kind, factor, error):.2f}" for factor in FACTORS)]
        for model in models
        for kind, name in VALIDATION.items()
    ]
    what = "MAE" if error is mae else "MSE"
    return table((f"{what} against bicubic's, clean sources", "x4", "x8", "x16"), rows)


def degraded(measured: Measured, model: str) -> str:
    """RMSE as a part of bicubic's, of sources as sensors give them."""
    rows = [
        [words, *(f"{part:.2f}" for part in degraded_parts(measured, model, what, factor))]
        for (what, factor), words in DEGRADED.items()
    ]
    return table(("wrong with the source", *VALIDATION.values()), rows)


def moved(measured: Measured) -> str:
    """What alignment does for sources that lie aside."""
    rows = [
        [f"{pixels} pixels{words}", *(f"{part:.2f}" for part in degraded_parts(measured, "default", what, align=align))]
        for pixels, what in ((2, "shift=2"), (4, "shift=4"))
        for align, words in (("none", ", `--align none`"), ("", ""), ("shift", ", `--align shift`"))
    ]
    return table(("", *VALIDATION.values()), rows)


def against_colour(measured: Measured) -> str:
    """Squared error as a part of that of `colour`, on pairs and on whole sets that were not trained on."""
    columns = [(model, align, factor) for model in LEARNED for align in ("", "none") for factor in (4.0, 8.0)]
    rows = [
        [name, *(f"{colour_parts(measured, model, sets, factor, align)[kind]:.2f}" for model, align, factor in columns)]
        for sets in (VALIDATION, UNSEEN)
        for kind, name in sets.items()
    ]
    headings = [f"`{model}`{' `--align none`' if align else ''} x{factor:g}" for model, align, factor in columns]
    return table(("", *headings), rows)


def noise_said(measured: Measured) -> str:
    """RMSE as a part of bicubic's with noise of 3 %, without an option and with `auto`."""
    rows = [
        [f"`{model}`{words}", *(f"{part:.2f}" for part in degraded_parts(measured, model, NOISE, noise=noise))]
        for model in LEARNED
        for noise, words in (("", ""), ("auto", ", `--noise auto`"))
    ]
    return table(("noise of 3 %, x8", *VALIDATION.values()), rows)


BLOCKS: dict[str, Callable[[Measured], str]] = {
    "patches": patches,
    "successors": successors,
    "compared": compared,
    "clean": with_clean_sources,
    "wrong": with_wrong_sources,
    "goals": goals,
    "default-mse": lambda m: against_bicubic(m, mse, ("default", "colour")),
    "default-mae": lambda m: against_bicubic(m, mae, ("default", "colour")),
    "open-mse": lambda m: against_bicubic(m, mse, ("default", "open", "colour")),
    "default-degraded": lambda m: degraded(m, "default"),
    "open-degraded": lambda m: degraded(m, "open"),
    "moved": moved,
    "against-colour": against_colour,
    "noise-said": noise_said,
}
