"""Sentences of the pages, made of what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from measure import Measured, What
from plan import DEGRADED, NOISE, UNSEEN, VALIDATION
from ratios import FACTORS, bicubic_part, colour_parts, degraded_parts, mse, published_rmse, successors_rmse
from table import table


def compared(measured: Measured) -> str:
    """How `default` stands beside the paper's model, in one sentence."""
    own = [
        ours / bicubic
        for ours, bicubic in zip(*(successors_rmse(measured, model) for model in ("default", "bicubic")), strict=True)
    ]
    theirs = [ours / bicubic for ours, bicubic in zip(*map(published_rmse, ("graph", "bicubic")), strict=True)]
    patches = " / ".join(f"{measured[What('default', 'nyuv2-precise', factor)].mse:.3g}" for factor in FACTORS)
    return (
        "The frames are not the same, as the two rows of bicubic show. As a part of the RMSE of bicubic on its own "
        f"frames, at x4 / x8 / x16, `default` has {_slashed(own)} and the paper's model {_slashed(theirs)}. In the "
        f"paper's own protocol (patches, box means) `default` has {patches} cm² here, and 6.45 / 19.6 / 67.5 cm² "
        "are published of the paper's model, on other frames."
    )


def with_wrong_sources(measured: Measured) -> str:
    """What `default` makes of sources as sensors give them, in one sentence."""
    return (
        "As a part of bicubic's on the same source, RMSE of `default` at x8 is "
        f"{_range(degraded_parts(measured, 'default', 'outliers=0.05'))} with 5 % of the source pixels wrong, "
        f"{_range(degraded_parts(measured, 'default', NOISE))} with noise of 3 % of the range, "
        f"{_range(degraded_parts(measured, 'default', 'footprint=point'))} with point samples, and "
        f"{_range(degraded_parts(measured, 'default', 'shift=2'))} with a shift of 2 pixels between guide and source, "
        "which is corrected where it is certain."
    )


def with_clean_sources(measured: Measured) -> str:
    """What models gain over bicubic interpolation, in one sentence."""
    gains = {
        model: [100 * (1 - bicubic_part(measured, model, kind, 8.0, mse)) for kind in VALIDATION]
        for model in ("default", "open", "colour")
    }
    said = [f"{min(gain):.0f} to {max(gain):.0f} % with `{model}`" for model, gain in gains.items()]
    gained = ", ".join(said)
    return f"At x8 the squared error is lower than that of bicubic interpolation by {gained}, over five sets."


def goals(measured: Measured) -> str:
    """What was asked of `default`, and what was measured."""
    unseen, seen = (colour_parts(measured, "default", sets) for sets in (UNSEEN, VALIDATION))
    unmoved = {
        **colour_parts(measured, "default", VALIDATION, align="none"),
        **colour_parts(measured, "default", UNSEEN, align="none"),
    }
    names = {**VALIDATION, **UNSEEN}
    colour = ", ".join(
        f"{part:.2f} ({names[kind]})" for kind, part in sorted({**seen, **unseen}.items(), key=lambda x: x[1])
    )
    still = ", ".join(f"{part:.2f} ({names[kind]})" for kind, part in sorted(unmoved.items(), key=lambda x: x[1]))
    worst = max(max(degraded_parts(measured, "default", what, factor)) for what, factor in DEGRADED)
    patches = [measured[What("default", "nyuv2-precise", factor)].mse for factor in FACTORS]
    asked: list[tuple[str, str]] = [
        (
            "NYUv2, the field's protocol, RMSE 1.6 / 2.9 / 5.6 cm at x4 / x8 / x16",
            _slashed(successors_rmse(measured, "default")),
        ),
        ("NYUv2, patches, MSE 6 / 19 / 66 cm²", " / ".join(f"{error:.3g}" for error in patches)),
        ("MSE at x8 at most 0.5 of `colour`'s", f"{colour}. With `--align none` {still}"),
        ("noise of 3 %, RMSE at x8 at most 0.55 of bicubic's", _each(measured, NOISE)),
        ("5 % outliers: 0.55", _each(measured, "outliers=0.05")),
        ("a shift of 2 target pixels: 0.65", _each(measured, "shift=2")),
        ("no imperfection drawn in training above 1", f"at most {worst:.2f} of what the [card](model-card.md) lists"),
    ]
    return table(("goal", "measured"), asked, 2)


def _each(measured: Measured, what: str) -> str:
    parts = zip(VALIDATION.values(), degraded_parts(measured, "default", what), strict=True)
    return ", ".join(f"{part:.2f} ({name})" for name, part in sorted(parts, key=lambda pair: pair[1]))


def _slashed(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.2f}" for value in values)


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"
