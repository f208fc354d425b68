"""The graph of a model in operations that can be traced for any size: what an ONNX file holds.

The same as `GraphSR.prepare` and `Colour.prepare` compute for a source of one channel, edge to edge, but without
tables that are made for one size and without branches on the values. Sizes are tensors here.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate, pad
from torch.onnx.operators import shape_as_tensor

from graphsr.errors import InputError
from graphsr.features.channels import imagenet_normalised
from graphsr.graph import edge_weights, power_law_distance
from graphsr.measurements.noise import noise_confidence
from graphsr.models.base import Model
from graphsr.models.colour import Colour
from graphsr.models.first_target import first_graph
from graphsr.models.graphsr import LEAST_NOISE_FACTOR, GraphSR
from graphsr.models.local_scale import CELL, LocalScale, local_scale
from graphsr.models.restoration import LEAST_RESTORED
from graphsr.models.traced_noise import arange, average_matrix, from_median, predict_noise, seen_planes
from graphsr.scaling import mean_and_std, nonzero, smallest_std

# Holes are filled from images of half the resolution, so often: sources of up to 4096 pixels along a side as a whole.
_LEVELS = 12


def traced_graph(model: Model) -> TracedGraph | TracedColour:
    """Return the part of a model that makes the graph; raise an `InputError` if it has none.

    Args:
        model: One of `graphsr.load`.
    """
    if isinstance(model, GraphSR):
        return TracedGraph(model)
    if isinstance(model, Colour):
        return TracedColour(model)
    raise InputError(f"{type(model).__name__}: predicts no graph, so there is no network to export")


class TracedColour(nn.Module):
    """Edge weights from colours: guide (B, C, H, W), source (B, 1, h, w) -> down, right."""

    def __init__(self, model: Colour) -> None:
        super().__init__()
        self.model = model

    inputs = ("guide", "source")
    outputs = ("down", "right")

    def forward(self, guide: Tensor, source: Tensor) -> tuple[Tensor, ...]:
        """Return the edge weights down (B, H-1, W) and right (B, H, W-1)."""
        model = self.model
        colours, (mean, std) = _standardised_guide(guide), _scale(source)
        component = (_interpolated(guide, source) - mean) / std
        distance = power_law_distance(torch.cat([colours, component], 1), model.mu, model.power)
        edges = edge_weights(distance, weight=model.weight, floor=model.floor)
        return edges.down, edges.right


class TracedGraph(nn.Module):
    """The graph of a learned model: guide (B, 3, H, W), source (B, 1, h, w) -> down, right and more.

    A model of the reference implementation takes the guide in 0..1, and the interpolated source (B, 1, H, W) too. A
    model that looks at targets on the way to its graph takes them, (B, 1, H, W) in the units of the source, and their
    graphs are among the outputs, so whoever runs it runs it once for each graph.
    """

    def __init__(self, model: GraphSR) -> None:
        super().__init__()
        self.model = model

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of what it takes."""
        how = self.model.architecture
        first = ("first_target",) if how.first_target else ()
        second = ("second_target",) if how.reweighting else ()
        return ("guide", "source", *(("interpolated",) if how.published else ()), *first, *second)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of what it returns."""
        how = self.model.architecture
        offsets = ("offset_down", "offset_right") if how.offsets else ()
        first = ("first_down", "first_right") if how.first_target else ()
        second = ("second_down", "second_right") if how.reweighting else ()
        noise = ("confidence",) if how.confidence else ()
        restored = ("restored",) if how.restoration else ()
        return ("down", "right", *offsets, *noise, *restored, *first, *second)

    def forward(self, guide: Tensor, source: Tensor, *shown: Tensor) -> tuple[Tensor, ...]:
        """Return what `outputs` names.

        Edge weights down (B, H-1, W) and right (B, H, W-1); offsets shaped like them, in the units of the source;
        confidences (B, 1, h, w), 0 where the source is missing; the source without the noise that is removed, NaN where
        it is missing; the edge weights of the targets looked at.

        Args:
            guide: (B, 3, H, W).
            source: (B, 1, h, w), NaN is missing.
            shown: What else `inputs` names, each (B, 1, H, W).
        """
        model, how = self.model, self.model.architecture
        given = dict(zip(self.inputs[2:], shown, strict=True))
        colours = imagenet_normalised(guide) if how.published else _standardised_guide(guide)
        (mean, std), known = _scale(source), ~torch.isnan(source)
        if how.confidence:
            source, confidence = self._restored(guide, colours, source)
        measured = (source - mean) / std
        interpolated = given["interpolated"] if how.published else _interpolated(guide, source)
        component = (interpolated - mean) / std
        scale = self._local_scale(component) if how.local_scale else None

        def seen_by(plane: Tensor) -> Tensor:
            return plane if scale is None else scale.standardise(plane)

        component = seen_by(component)
        planes = [colours]
        if how.hints:
            seen = _of_source_pixels(known.to(source.dtype), guide)
            planes += [torch.zeros_like(seen) + _log_factor(guide, source), seen - 1.0]
        if how.detail:
            detail = _of_source_pixels(from_median(measured), guide)
            planes.append(detail if scale is None else detail / scale.std)
        looked_at = seen_by((given["first_target"] - mean) / std) if how.first_target else None
        if looked_at is not None:
            planes.append(looked_at)
        outputs = self._extract(torch.cat([*planes, component], 1))
        predicted, offsets = model.graph_of(outputs, colours, component, looked_at)
        edges = predicted
        if how.reweighting:
            second = seen_by((given["second_target"] - mean) / std)
            edges = model.reweighting(predicted, second, colours, component, _log_factor(guide, source))
        found = [edges.down, edges.right]
        if offsets is not None:
            found += [offsets.down[:, 0] * std[:, 0], offsets.right[:, 0] * std[:, 0]]
        if how.confidence:
            found.append(torch.where(known, confidence, torch.zeros_like(confidence)))
        if how.restoration:
            found.append(source)
        if how.first_target:
            first = first_graph(colours, component, how)
            found += [first.down, first.right]
        if how.reweighting:
            found += [predicted.down, predicted.right]
        return tuple(found)

    def _restored(self, guide: Tensor, colours: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the source without the noise that is removed, and the confidence of its pixels, (B, 1, h, w)."""
        model, factor, (mean, std) = self.model, _factor(guide, source), _scale(source)
        measured = (source - mean) / std
        averages = [average_matrix(shape_as_tensor(guide)[n], shape_as_tensor(source)[n]) for n in (2, 3)]
        planes = seen_planes(colours, measured, averages, _log_factor(guide, source))
        predicted = predict_noise(model.noise_network, planes, measured)
        noise = predicted.total
        trained = torch.minimum(*factor) >= LEAST_NOISE_FACTOR
        if model.architecture.restoration:
            restored, left = model.restoration(planes, measured, predicted)
            noisy = trained & (noise.amax((1, 2, 3), keepdim=True) > LEAST_RESTORED)
            source = torch.where(noisy, source + (restored - measured) * std, source)
            noise = torch.where(noisy, left, noise)
        confidence = noise_confidence(noise, model.log_noise_unit.exp(), factor)
        return source, torch.where(trained, confidence, torch.ones_like(confidence))

    def _local_scale(self, component: Tensor) -> LocalScale:
        """Return the scale around each pixel of the interpolated source (B, 1, H, W)."""
        size = shape_as_tensor(component)
        return local_scale(_padded(_padded(component, 2, CELL), 3, CELL), (size[2], size[3]))

    def _extract(self, seen: Tensor) -> Tensor:
        """Return the outputs (B, M, H, W) of the network for (B, C, H, W)."""
        extractor, size = self.model.feature_extractor, shape_as_tensor(seen)
        out: Tensor = extractor.extract(_padded(_padded(seen, 2, extractor.multiple), 3, extractor.multiple))
        return out[:, :, : size[2], : size[3]]


def _standardised_guide(guide: Tensor) -> Tensor:
    mean = guide.mean((-2, -1), keepdim=True)
    std = (guide - mean).square().mean((1, 2, 3), keepdim=True).sqrt()
    return (guide - mean) / nonzero(std)


def _scale(source: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of a source, each (B, 1, 1, 1)."""
    mean, std = mean_and_std(source, ~torch.isnan(source))
    return mean, torch.maximum(std, smallest_std(mean))


def _interpolated(guide: Tensor, source: Tensor) -> Tensor:
    known = ~torch.isnan(source)
    filled = _filled(torch.where(known, source, torch.zeros_like(source)), known.to(source.dtype), _LEVELS)
    return interpolate(filled, size=(guide.shape[2], guide.shape[3]), mode="bicubic", align_corners=False)


def _filled(source: Tensor, known: Tensor, levels: int) -> Tensor:
    """Fill unknown pixels as `sampling.fill_holes` does; unknown ones are 0."""
    if not levels:
        return source
    # One more row and column than an even size has: where they are too many, they are not averaged.
    odd = (0, 1, 0, 1)
    weight = avg_pool2d(pad(known, odd), 2)
    coarse = avg_pool2d(pad(source, odd), 2) / weight.clamp_min(1e-9)
    coarse = _filled(coarse, (weight > 0).to(source.dtype), levels - 1)
    finer = interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False)
    size = shape_as_tensor(source)
    return torch.where(known > 0, source, finer[:, :, : size[2], : size[3]])


def _of_source_pixels(values: Tensor, guide: Tensor) -> Tensor:
    """Return for every pixel of the guide the value (B, 1, h, w) of the source pixel it begins in."""
    coarse, fine = shape_as_tensor(values), shape_as_tensor(guide)
    for dim in (2, 3):
        values = values.index_select(dim, arange(fine[dim]) * coarse[dim] // fine[dim])
    return values


def _padded(image: Tensor, dim: int, multiple: int) -> Tensor:
    """Repeat the last row or column until the size is divisible."""
    size = shape_as_tensor(image)[dim]
    place = arange((size + multiple - 1) // multiple * multiple).minimum(size - 1)
    return image.index_select(dim, place)


def _factor(guide: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    fine, coarse = (shape_as_tensor(image).to(source.dtype) for image in (guide, source))
    return fine[2] / coarse[2], fine[3] / coarse[3]


def _log_factor(guide: Tensor, source: Tensor) -> Tensor:
    """Return the factor as networks read it: 0 at x8, 1 at x32."""
    down, right = _factor(guide, source)
    return 0.25 * torch.log2(down * right) - 1.5
