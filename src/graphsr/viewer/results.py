"""What comes out of a solve, as layers and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.files.pair import PairOptions
from graphsr.measurements.placement import EDGE_TO_EDGE, Alignment
from graphsr.models.base import Model
from graphsr.options import UpsamplingOptions
from graphsr.pictures import robust_range
from graphsr.upsampling import Report, Upsampled, upsample_with
from graphsr.viewer.layers import ColourScale, Layer, Placement, edge_weight_layer, value_layer
from graphsr.viewer.pair import ViewedPair

_DOUBTED = 0.95  # a mean confidence below this is worth a line
_SAMPLES = 500_000


@dataclass(frozen=True, eq=False)
class SolvedLayers:
    """The layers that depend on the options, and what is to be said of them.

    Attributes:
        layers: In the order of the page.
        lines: Pairs of a label and a text.
    """

    layers: tuple[Layer, ...]
    lines: tuple[tuple[str, str], ...] = ()

    def find(self, name: str) -> Layer | None:
        """Return the layer of this name, if there is one."""
        return next((layer for layer in self.layers if layer.name == name), None)


def source_layers(
    pair: ViewedPair, options: PairOptions, unit: str = "", alignment: Alignment = EDGE_TO_EDGE
) -> SolvedLayers:
    """Return what can be shown before anything is solved: the source, and its interpolation.

    Args:
        pair: Guide and source.
        options: What is missing of the source.
        unit: Of the values.
        alignment: How the source lies on the guide.

    Raises:
        InputError: Guide and source do not fit together.
    """
    values = pair.source_values(options.missing)
    bicubic = UpsamplingOptions(model="bicubic")
    interpolated = upsample_with(bicubic, pair.guide.array, values, alignment=alignment)
    placement = _placement(alignment.matrix)
    source = value_layer("source", "Source", values, pair.size)
    if placement is not None:
        source = Layer(source.name, source.title, source.scale, source.values, placement, source.offset)
    return SolvedLayers(
        (source, value_layer("interpolated", "Interpolated source", interpolated.target, pair.size)),
        _accuracy("interpolated", interpolated.target, pair, unit),
    )


def solve_pair(pair: ViewedPair, options: PairOptions, model: Model) -> Upsampled:
    """Solve a pair with a loaded model."""
    if options.confidence is None:
        options = replace(options, confidence=pair.confidence)
    return upsample_with(options, pair.guide.array, pair.source_values(options.missing), model)


def target_layers(pair: ViewedPair, options: PairOptions, result: Upsampled, unit: str = "") -> SolvedLayers:
    """Return the layers of a solve: target, error, uncertainty, edge weights."""
    lines = [("model", options.model), *_report(result.report, options, unit)]
    layers = list(_target_and_error(pair, result.target))
    if result.uncertainty is not None:
        layers.append(value_layer("uncertainty", "Uncertainty", result.uncertainty, pair.size, scale="uncertainty"))
    if result.edges is not None and result.edges.size == pair.size:
        layers.append(edge_weight_layer(result.edges))
    elif result.edges is not None:
        lines.append(("edges", "not shown, as the guide was rotated to align it"))
    return SolvedLayers(tuple(layers), (*lines, *_accuracy("target", result.target, pair, unit)))


def given_target_layers(pair: ViewedPair, unit: str = "") -> SolvedLayers:
    """Return the layers of a target that was read from a file."""
    assert pair.target is not None
    lines = (("target", "read from a file, nothing solved yet"), *_accuracy("target", pair.target, pair, unit))
    return SolvedLayers(_target_and_error(pair, pair.target), lines)


def colour_scales(layers: tuple[Layer, ...], unit: str, *, alike: bool = False) -> dict[str, ColourScale]:
    """Return the colour scales of layers by name, with ranges that fit all layers that use one.

    Args:
        layers: All that are shown.
        unit: That of the values.
        alike: Whether channels hold the same quantity, such as scores of labels, and have one range together.
    """
    scales: dict[str, ColourScale] = {}
    for name, title, palette in (
        ("values", "Values", "viridis"),
        ("error", "Error", "magma"),
        ("uncertainty", "Uncertainty (standard deviation)", "magma"),
        ("edges", "Edge weights, low where the target may jump", "grey"),
    ):
        used = [layer for layer in layers if layer.scale == name]
        if not used:
            continue
        channels: Sequence[int | None] = [None] if alike else range(max(layer.channels for layer in used))
        ranges = tuple(_range(name, used, channel) for channel in channels)
        scales[name] = ColourScale(title, "" if name == "edges" else unit, ranges, palette, name == "edges")
    return scales


def _range(scale: str, layers: list[Layer], channel: int | None) -> tuple[float, float]:
    base = layers[0].offset  # a small variation on a large offset is no constant
    low, high = (base + end for end in robust_range(*(_samples(layer, channel) - base for layer in layers)))
    if scale in ("error", "uncertainty"):
        low = 0.0
    if scale == "edges":
        low = max(low, 1e-6 * high)
    return low, high


def _samples(layer: Layer, channel: int | None) -> NDArray[np.float64]:
    """Return some values of a channel, or of all."""
    flat = (layer.values if channel is None else layer.plane(channel)).reshape(-1)
    return flat[:: max(1, flat.size // _SAMPLES)].astype(np.float64) + layer.offset


def _target_and_error(pair: ViewedPair, target: NDArray[Any]) -> tuple[Layer, ...]:
    layer = value_layer("target", "Target", target, pair.size)
    if pair.truth is None:
        return (layer,)
    error = np.abs(target.astype(np.float64) - pair.truth.reshape(target.shape)).astype(np.float32)
    return layer, value_layer("error", "Error of the target", error, pair.size, scale="error")


def _accuracy(name: str, values: NDArray[Any], pair: ViewedPair, unit: str) -> tuple[tuple[str, str], ...]:
    if pair.truth is None:
        return ()
    rmse = np.sqrt(np.nanmean((values.astype(np.float64) - pair.truth.reshape(values.shape)) ** 2))
    return ((f"RMSE, {name}", _with_unit(f"{rmse:.4g}", unit)),)


def _report(report: Report, options: PairOptions, unit: str) -> list[tuple[str, str]]:
    lines = [("time", f"{report.seconds:.1f} s")]
    if report.iterations:
        lines.append(("iterations", f"{report.iterations}"))
    lines.append(("fidelity", f"averages back within {_with_unit(f'{report.fidelity:.3g}', unit)} (RMS)"))
    if report.alignment:
        lines.append(("alignment", report.alignment))
    if report.noise is not None:
        estimated = ", estimated" if options.noise == "auto" else ""
        lines.append(("noise", f"{_with_unit(f'{report.noise:.3g}', unit)}{estimated}"))
    if options.robust:
        lines.append(("outliers", f"{report.switched_off:,} switched off"))
    if report.confidence < _DOUBTED:
        lines.append(("confidence", f"{report.confidence:.2g} in the mean"))
    return lines


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def _placement(alignment: NDArray[Any] | None) -> Placement | None:
    if alignment is None:
        return None
    a, b, c, d, e, f = (float(number) for number in alignment.reshape(6))
    return a, b, c, d, e, f
