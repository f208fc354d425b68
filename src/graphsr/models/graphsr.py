"""GraphSR: a network reads guide and source and predicts the graph; the target is the solve on it."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from os import PathLike

import torch
from torch import nn

from graphsr import features
from graphsr.features.channels import imagenet_normalised, three_channels, unit_range
from graphsr.features.padding import pad_to_multiple
from graphsr.graph import Edges, both_ways, edge_weights, means, power_law_distance, squared_distance
from graphsr.measurements.noise import noise_confidence
from graphsr.models.architecture import MOST_FLOOR_CHANGE, Architecture
from graphsr.models.base import Model, whole
from graphsr.models.first_target import LAMBDA as FIRST_LAMBDA
from graphsr.models.first_target import first_graph, sharpened
from graphsr.models.local_scale import CELL, REACH, LocalScale, local_scale
from graphsr.models.network_input import channels_last, hints, log_factor, of_source_pixels
from graphsr.models.noise import NoiseNetwork, from_median, seen_planes
from graphsr.models.prediction import Prediction, join_images, join_strips
from graphsr.models.published_interpolation import interpolate_published
from graphsr.models.restoration import LEAST_RESTORED, Restoration, Restored
from graphsr.models.reweighting import Reweighting
from graphsr.models.shown_target import shown_target
from graphsr.models.window import Locality, Window
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import Problem
from graphsr.solver.progress import part

# The network's raw outputs are near 1; this is the size that offsets begin with, in standard deviations of the source.
_OFFSET_SCALE = 0.01
# Colours further apart than this (in the exponent) count as so far: the network can then still connect them.
_FARTHEST = 10.0
# Before training: the standard deviation of a source pixel's error, in those of the source, at which the confidence
# is a half at x8.
_FIRST_NOISE_UNIT = 3e-3
# Noise is predicted from this factor on, and for sources of one channel, as in the training of the bundled model: at
# smaller factors it took detail for outliers, and scores of classes for noise.
LEAST_NOISE_FACTOR = 2.5
# Images of together so many pixels go through the network side by side, larger ones one after another.
_PIXELS_AT_ONCE = 2**20
# What the time until the target is spent on: the first target until here, the network, the second target between these.
_GRAPH, _FIRST_SHOWN, _SECOND_SHOWN = "graph", 0.15, (0.75, 0.9)


class GraphSR(Model):
    """The learned model: guide (B, C, H, W), source (B, K, h, w) -> target (B, K, H, W).

    Guide and source are standardised per image, so units, bit depth and brightness do not matter. A guide of one
    channel is read as grey; of more than three, the first three are read. NaN in the source is missing. The gradient
    with respect to the source takes the standardisation, and the first target if there is one, as constant.

    Example:
        >>> import torch, graphsr
        >>> model = graphsr.GraphSR(graphsr.Architecture(extractor="colour"))
        >>> model(torch.rand(1, 3, 16, 16), torch.rand(1, 1, 4, 4)).shape
        torch.Size([1, 1, 16, 16])
    """

    noise_unit = 5.2e-3  # fitted for the models of the package, docs/evidence/noise-and-outliers.md
    predicts_edges = True

    def __init__(self, architecture: Architecture, *, pretrained: bool | str | PathLike[str] = False) -> None:
        super().__init__()
        architecture.check()
        self.architecture = architecture
        self.log_lambda = nn.Parameter(torch.tensor([math.log(architecture.first_lambda)]))
        self.log_mu = nn.Parameter(torch.tensor([math.log(architecture.first_mu)]))
        if architecture.confidence:
            self.log_noise_unit = nn.Parameter(torch.tensor([math.log(_FIRST_NOISE_UNIT)]))
            self.noise_network = NoiseNetwork(architecture.noise_statistics)
        if architecture.restoration:
            self.restoration = Restoration(architecture.restoration)
        if architecture.reweighting:
            self.reweighting = Reweighting(architecture.reweighting)
        self.feature_extractor = features.build(
            architecture.extractor,
            guide_channels=3 + 2 * architecture.hints + architecture.detail + architecture.first_target,
            out_channels=architecture.features + len(architecture.extra_channels),
            pretrained=pretrained,
            decoder_channels=architecture.decoder_channels,
            sharp=architecture.sharp,
        )

    def bytes_per_pixel(self, channels: int) -> int:
        # The network runs once for all channels. Measured with the bundled model; wider decoders take more.
        return super().bytes_per_pixel(channels) + 480

    def without_reweighting(self) -> GraphSR:
        other = copy.copy(self)
        other.architecture = replace(self.architecture, reweighting=0)
        return other

    def without_restoration(self) -> GraphSR:
        other = copy.copy(self)
        other.architecture = replace(self.architecture, restoration=0)
        return other

    @property
    def corrects_shift(self) -> bool:
        return self.architecture.confidence  # a model that looks for what is wrong with the source

    @property
    def locality(self) -> Locality | None:
        reach, multiple = self.feature_extractor.reach, self.feature_extractor.multiple
        if reach is None or self.architecture.published:
            return None
        if self.architecture.local_scale:
            reach, multiple = max(reach, REACH), math.lcm(multiple, CELL)
        # Predicted floors may be lower, but never all around a tile: halos of the middle one were measured to do.
        weight = float(self.log_lambda.detach().exp())
        floor = self.architecture.floor
        first = [Locality(edge_weight=FIRST_LAMBDA, floor=floor)] if self.architecture.first_target else []
        second = [Locality(edge_weight=weight, floor=floor)] if self.architecture.reweighting else []
        return Locality(reach, multiple, weight, floor, (*first, *second))

    def select_channels(self, guide: torch.Tensor) -> torch.Tensor:
        return three_channels(guide)

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem:
        return self._prepared(guide, source, confidence, exact, window)[0]

    def _prepared(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        confidence: torch.Tensor | None,
        exact: bool,
        window: Window | None,
    ) -> tuple[Problem, torch.Tensor | None]:
        guide, known = self.select_channels(guide), known_pixels(source, confidence)
        window = window or whole(guide, source, confidence)
        sampling, scale = window.sampling, window.scale
        published = self.architecture.published
        colours = imagenet_normalised(unit_range(guide)) if published else scale.standardise_guide(guide)
        measured = torch.where(known, source, torch.nan)
        noise = None
        if self.architecture.confidence and (self.training or _noise_is_predicted(source, sampling)):
            # An exact target averages back to the source as it was measured.
            model = self.without_restoration() if exact else self
            measured, noise = model._restored(colours, measured, window)
            source = torch.where(known, measured, source)
            found = noise_confidence(noise, self.log_noise_unit.exp(), sampling.factor)
            confidence = found if confidence is None else found * confidence
        if published and sampling.edge_to_edge:
            interpolated = interpolate_published(source, sampling.size, known)
        else:
            interpolated = interpolate_source(source, sampling, known)
        predicted, shown = self._final_graph(colours, interpolated, measured, confidence, window)
        start = interpolated
        if shown is not None and source.shape[1] == 1:
            start = shown * scale.source_std + scale.source_mean
        problem = Problem(
            predicted.edges,
            sampling,
            measured,
            confidence,
            prior=interpolated,  # one array less: the default is another like it
            prior_weight=0.0,
            offsets=_in_source_units(predicted.offsets, scale),
            exact=exact,
            start=start,
        )
        return problem, noise

    def _final_graph(
        self,
        colours: torch.Tensor,
        interpolated: torch.Tensor,
        source: torch.Tensor,
        confidence: torch.Tensor | None,
        window: Window,
    ) -> tuple[Prediction, torch.Tensor | None]:
        """Return the graph, and the last target (B, 1, H, W) that was looked at on the way to it, standardised."""
        how, component = self.architecture, window.scale.first_component(interpolated)
        scale = self._local_scale(component)
        seen = _on_scale(component, scale)
        shown = None
        if how.first_target:
            edges = first_graph(colours, seen, how)
            with part(0.0, _FIRST_SHOWN, _GRAPH):
                shown = shown_target(edges, source, confidence, window, component, self.rtol)
        first = None if shown is None else _on_scale(shown, scale)
        predicted = self.predict(colours, seen, source, window, first, scale)
        if not how.reweighting:
            return predicted, shown
        edges, offsets = predicted
        start = component if shown is None else shown
        with part(*_SECOND_SHOWN, _GRAPH):
            shown = shown_target(edges, source, confidence, window, start, self.rtol, offsets)
        edges = self.reweighting(edges, _on_scale(shown, scale), colours, seen, log_factor(window.sampling))
        return Prediction(edges, offsets), shown

    def restored(self, guide: torch.Tensor, source: torch.Tensor, *, footprint: str = "box") -> Restored:
        """Predict the noise of a source and remove what can be removed of it, without its target.

        Args:
            guide: (B, C, H, W).
            source: (B, K, h, w), NaN is missing.
            footprint: What a source pixel averages over, one of `graphsr.footprints.FOOTPRINTS`.
        """
        guide, source = self.select_channels(self._converted("guide", guide)), self._converted("source", source)
        size, source_size = ((image.shape[-2], image.shape[-1]) for image in (guide, source))
        window = whole(guide, source, None, Sampling(size, source_size, footprint=footprint))
        measured = torch.where(window.known, source, torch.nan)
        return self._restored(window.scale.standardise_guide(guide), measured, window)

    def _restored(self, colours: torch.Tensor, source: torch.Tensor, window: Window) -> Restored:
        """Return a source (B, K, h, w), NaN is missing, without the noise that can be removed."""
        scale, sampling = window.scale, window.sampling
        measured = scale.standardise_source(source)
        # Noise spans decades, which half precision does not, and these convolutions are dilated
        # (models/reweighting.py).
        with torch.autocast(colours.device.type, enabled=False):
            planes = seen_planes(colours, measured, sampling, log_factor(sampling))
            noise = self.noise_network(planes, measured, stated=sampling.footprint != "box")
            noisy = noise.total.amax((1, 2, 3), keepdim=True) > LEAST_RESTORED
            restores = self.architecture.restoration > 0 and source.shape[1] == 1
            if not (restores and (torch.is_grad_enabled() or noisy.any())):
                return Restored(source, noise.total)
            restored, left = self.restoration(planes, measured, noise)
        # The correction alone is scaled: it is small, and values may be large.
        corrected = source + (restored - measured) * scale.source_std
        return Restored(torch.where(noisy, corrected, source), torch.where(noisy, left, noise.total))

    def predict(
        self,
        colours: torch.Tensor,
        component: torch.Tensor,
        source: torch.Tensor,
        window: Window,
        first: torch.Tensor | None = None,
        scale: LocalScale | None = None,
    ) -> Prediction:
        """Predict the graph. Channels of a source share one: the network sees their first principal component.

        Args:
            colours: The standardised guide (B, 3, H, W).
            component: That of the interpolated source (B, 1, H, W), standardised, on the scale that it is seen by.
            source: (B, K, h, w), NaN is missing.
            window: Where the source lies, its scale, and which pixels are known.
            first: The first target (B, 1, H, W), standardised like `component`, for a network that sees one.
            scale: That around each pixel, for a network that sees by it.
        """
        how, sampling = self.architecture, window.sampling
        known = window.known.all(1, keepdim=True)
        planes = [colours]
        if how.hints:
            planes += hints(known, sampling, component.dtype)
        if how.detail:
            detail = of_source_pixels(from_median(window.scale.first_component(source)), sampling)
            planes.append(detail if scale is None else detail / scale.std)
        if first is not None:
            planes.append(first)
        seen = channels_last([*planes, component])
        at_once = max(1, _PIXELS_AT_ONCE // (seen.shape[-2] * seen.shape[-1]))
        if torch.is_grad_enabled():
            at_once = seen.shape[0]
        compared = (colours, component) if first is None else (colours, component, first)
        batches = zip(*(torch.split(each, at_once) for each in (seen, *compared)), strict=True)
        predicted = join_images([self._graph(*images) for images in batches])
        return predicted if source.shape[1] == 1 else predicted._replace(offsets=None)

    def _local_scale(self, component: torch.Tensor) -> LocalScale | None:
        """Return the scale around each pixel of the interpolated source (B, 1, H, W), if the network sees by it."""
        if not self.architecture.local_scale:
            return None
        size = component.shape[-2], component.shape[-1]
        return local_scale(pad_to_multiple(component.detach(), CELL), size)

    def _graph(self, seen: torch.Tensor, *compared: torch.Tensor) -> Prediction:
        """Predict the graph of what the network sees (B, C, H, W), in strips of rows if the extractor works in such."""
        extractor = self.feature_extractor
        compiled = not isinstance(extractor, features.Extractor)  # by torch.compile, which knows of no strips
        parts, first = [], 0
        for outputs in [extractor(seen)] if compiled else extractor.in_strips(seen):
            strip = slice(first, first + outputs.shape[2])
            parts.append(self.graph_of(outputs, *(each[:, :, strip] for each in compared)))
            first += outputs.shape[2] - 1  # the last row is the next strip's
        return join_strips(parts)

    def graph_of(
        self, outputs: torch.Tensor, colours: torch.Tensor, component: torch.Tensor, first: torch.Tensor | None = None
    ) -> Prediction:
        """Return the graph of the network's outputs (B, M, H, W), and of what it saw: colours (B, 3, H, W), and the
        interpolated source and perhaps the first target (B, 1, H, W), all standardised.
        """
        how = self.architecture
        own = outputs.shape[1] - len(how.extra_channels)
        # Plane by plane, as functions of strided numbers are rounded differently, and take longer.
        outputs = outputs.to(colours.dtype).contiguous()
        extra = dict(zip(how.extra_channels, outputs[:, own:].unbind(1), strict=True))  # each (B, H, W)
        unit = 1e-6 + self.log_mu.exp().square()
        distance = both_ways(lambda each: each / unit, squared_distance(outputs[:, :own]))
        if how.colour_mu > 0:
            source = component if first is None else 0.5 * (component + first)
            colour = power_law_distance(torch.cat([colours, source], 1), how.colour_mu, how.colour_power)
            # How much colours count: 1 to begin with.
            share = means(2 * torch.sigmoid(extra["colour_share"]))
            distance = both_ways(lambda a, part, b: a + part * b.clamp_max(_FARTHEST), distance, share, colour)
        floor: float | Edges = how.floor
        if how.floors:
            change = MOST_FLOOR_CHANGE * torch.tanh(extra["floor"] / MOST_FLOOR_CHANGE)
            floor = means(how.floor * change.exp())
        edges = edge_weights(distance, weight=self.log_lambda.exp(), floor=floor)
        if first is not None:
            edges = sharpened(edges, first, means(2 * torch.sigmoid(extra["first_share"])))
        if not how.offsets:
            return Prediction(edges, None)
        down, right = (_OFFSET_SCALE * extra[name].unsqueeze(1) for name in ("offset_down", "offset_right"))
        return Prediction(edges, Edges(down[..., :-1, :], right[..., :-1]))


def _on_scale(plane: torch.Tensor, scale: LocalScale | None) -> torch.Tensor:
    return plane if scale is None else scale.standardise(plane)


def _in_source_units(offsets: Edges | None, scale: Scale) -> Edges | None:
    return None if offsets is None else both_ways(lambda each: each * scale.source_std, offsets)


def _noise_is_predicted(source: torch.Tensor, sampling: Sampling) -> bool:
    return source.shape[1] == 1 and min(sampling.factor) >= LEAST_NOISE_FACTOR
