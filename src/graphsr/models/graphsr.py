"""GraphSR: a network reads guide and source and predicts the graph; the target is the solve on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import torch
from torch import nn

from graphsr import features
from graphsr.errors import InputError
from graphsr.features.imagenet import MEAN, STD
from graphsr.graph import FLOOR, Edges, edge_weights, power_law_distance, squared_distance
from graphsr.models.base import GraphModel, Posed, whole
from graphsr.models.window import Locality, Part
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import known_pixels

# The network's raw outputs are near 1; these are the sizes that guesses and offsets begin with, in standard deviations
# of the source.
_GUESS_SCALE = 0.1
_OFFSET_SCALE = 0.01
# Trust in the guess, as a part of lambda: where it begins, and how far the network may turn it up or down (e^4 times).
_TRUST = 0.05
_MOST_TRUST_TURN = 4.0
# How far the network may turn the floor of a tie up or down (e^2.5 times).
_MOST_FLOOR_TURN = 2.5
# Colours further apart than this (in the exponent) count as so far: the network can then still tie them.
_FARTHEST = 10.0
# Images of together so many pixels go through the network side by side, larger ones one after another.
_PIXELS_AT_ONCE = 2**20


@dataclass(frozen=True)
class Architecture:
    """What a GraphSR is made of. The defaults are the paper's model; the rest goes beyond it."""

    extractor: str = "unet-resnet50"
    features: int = 64
    decoder_channels: tuple[int, ...] | None = None
    sharp: bool = False  # the last block of a U-Net's decoder sees the input
    first_lambda: float = 1.0
    first_mu: float = 0.1
    floor: float = FLOOR
    floors: bool = False  # predict how much is left of a tie that is cut, about `floor`
    guess: bool = False  # predict the prior z and its weight t too
    offsets: bool = False  # predict the offsets o too: slanted surfaces are not piecewise constant
    hints: bool = False  # tell the network the factor and which source pixels are known
    colour_mu: float = 0.0  # the mu of the colour graph to begin from, which the network turns up or down; 0: none
    colour_power: float = 1.25  # with which power of the difference (squared) ties of that colour graph fall
    published: bool = False  # guide scaling and interpolation of the reference implementation, for its checkpoints

    @property
    def extras(self) -> int:
        """Channels beyond the features: guess and trust, offsets down and right, how much colours count, floors."""
        return 2 * self.guess + 2 * self.offsets + (self.colour_mu > 0) + self.floors


@dataclass(frozen=True)
class Prediction:
    """All that a solve needs, in standard deviations of the source about its mean."""

    edges: Edges
    offsets: Edges | None = None
    guess: torch.Tensor | None = None  # (B, K, H, W)
    trust: torch.Tensor | None = None  # (B, H, W)


class GraphSR(GraphModel):
    """The learned model as an nn.Module: guide (B, C, H, W), source (B, K, h, w) -> target (B, K, H, W).

    Guide and source are scaled per image, so units, bit depth and brightness do not matter. A guide of one channel is
    read as grey; of more than three, the first three are read. NaN in the source is missing. The gradient with respect
    to the source takes that scaling as constant.
    """

    def __init__(self, architecture: Architecture, *, pretrained: bool | str | PathLike[str] = False) -> None:
        super().__init__()
        if architecture.extractor == "colour" and architecture.extras:
            raise InputError(
                "GraphSR: the extractor 'colour' predicts nothing; leave guess, offsets, floors and colour_mu out"
            )
        if not (architecture.first_lambda > 0 and architecture.first_mu > 0):
            raise InputError("GraphSR: first_lambda and first_mu must be positive")
        if not 0 <= architecture.floor < 1 or architecture.colour_mu < 0 or not architecture.colour_power > 0:
            raise InputError(
                "GraphSR: floor must lie in [0, 1), colour_mu must not be negative, colour_power be positive"
            )
        if architecture.floors and not 0 < architecture.floor * math.exp(_MOST_FLOOR_TURN) < 1:
            raise InputError(f"GraphSR: with floors, floor must be positive and below 0.08, not {architecture.floor}")
        self.architecture = architecture
        self.rtol = 1e-4
        self.log_lambda = nn.Parameter(torch.tensor([math.log(architecture.first_lambda)]))
        self.log_mu = nn.Parameter(torch.tensor([math.log(architecture.first_mu)]))
        self.feature_extractor = features.build(
            architecture.extractor,
            guide_channels=3 + 2 * architecture.hints,
            out_channels=architecture.features + architecture.extras,
            pretrained=pretrained,
            decoder_channels=architecture.decoder_channels,
            sharp=architecture.sharp,
        )

    def bytes_per_pixel(self, channels: int) -> int:
        # Channels go through the network one by one if they are large, and only what it says is kept of them all.
        # Measured with the bundled model; wider decoders take more.
        return super().bytes_per_pixel(channels) + 360 + 120 * channels

    def forward(
        self, guide: torch.Tensor, source: torch.Tensor, confidence: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.run(guide, source, confidence=confidence)[0]

    @property
    def locality(self) -> Locality | None:
        reach = self.feature_extractor.reach
        if reach is None or self.architecture.published:
            return None
        how, weight = self.architecture, float(self.log_lambda.detach().exp())
        # Predicted floors may be lower, but never all around a tile: halos of the middle one were measured to do.
        trust = _TRUST * math.exp(-_MOST_TRUST_TURN) if how.guess else 0.0
        return Locality(reach, self.feature_extractor.multiple, weight, how.floor, trust)

    def seen(self, guide: torch.Tensor) -> torch.Tensor:
        return _three_channels(guide)

    def pose(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        part: Part | None = None,
    ) -> Posed:
        guide, known = self.seen(guide), known_pixels(source, confidence)
        part = part or whole(guide, source, known, self.rtol)
        scaled = torch.where(known, part.scale.standardise_source(source), torch.full_like(source, torch.nan))
        interpolated = self._interpolated(scaled, part.sampling, known)
        colours = _imagenet_scaled(guide) if self.architecture.published else part.scale.standardise_guide(guide)
        predicted = self.predict(colours, interpolated, part.known, part.sampling)
        return Posed(
            predicted.edges,
            scaled,
            part.sampling,
            rtol=part.rtol,
            exact=exact,
            confidence=confidence,
            prior=predicted.guess,
            prior_weight=predicted.trust,
            offsets=predicted.offsets,
            scale=part.scale,
        )

    def _look(self, seen: torch.Tensor) -> tuple[Edges, torch.Tensor]:
        """How far neighbours are apart in their features, and what else the network says (N, E, H, W)."""
        at_once = max(1, _PIXELS_AT_ONCE // (seen.shape[-2] * seen.shape[-1]))
        if not torch.is_grad_enabled() and seen.shape[0] > at_once:
            found = [self._look(part) for part in seen.split(at_once)]
            downs, rights, extras = zip(*((apart.down, apart.right, extras) for apart, extras in found), strict=True)
            return Edges(torch.cat(downs), torch.cat(rights)), torch.cat(extras)
        out = self.feature_extractor(seen)
        own = out.shape[1] - self.architecture.extras
        return squared_distance(out[:, :own]), out[:, own:]

    def _interpolated(self, source: torch.Tensor, sampling: Sampling, known: torch.Tensor) -> torch.Tensor:
        if self.architecture.published:
            from graphsr.models.published_interpolation import interpolate_published

            return interpolate_published(source, sampling.size, known)
        return interpolate_source(source, sampling, known)

    def predict(
        self, colours: torch.Tensor, interpolated: torch.Tensor, known: torch.Tensor, sampling: Sampling
    ) -> Prediction:
        """The graph for a scaled guide (B, 3, H, W) and the scaled source interpolated to its size (B, K, H, W).

        known (B, 1 or K, h, w) says where the source has data. Channels of a source share one graph.
        """
        how = self.architecture
        batch, channels, *size = interpolated.shape
        planes = [colours.repeat_interleave(channels, 0)]
        if how.hints:
            planes += _hints(known.expand(-1, channels, -1, -1), sampling, interpolated.dtype)
        planes.append(interpolated.reshape(-1, 1, *size))
        seen = torch.cat(planes, 1)
        apart, extras = self._look(seen.contiguous(memory_format=torch.channels_last))
        down, right, extras = (each.unflatten(0, (batch, channels)) for each in (apart.down, apart.right, extras))
        weight = self.log_lambda.exp()
        floor: float | Edges = how.floor
        if how.floors:
            turn = _MOST_FLOOR_TURN * torch.tanh(extras[:, :, -1].mean(1) / _MOST_FLOOR_TURN)
            floor, extras = _between(how.floor * turn.exp()), extras[:, :, :-1]
        scale = 1e-6 + self.log_mu.exp().square()
        down, right = down.mean(1) / scale, right.mean(1) / scale
        if how.colour_mu > 0:
            plain = power_law_distance(torch.cat([colours, interpolated], 1), how.colour_mu, how.colour_power)
            share = 2 * torch.sigmoid(extras[:, :, -1].mean(1))  # how much colours count: 1 to begin with
            counts = _between(share)
            down = down + counts.down * plain.down.clamp_max(_FARTHEST)
            right = right + counts.right * plain.right.clamp_max(_FARTHEST)
            extras = extras[:, :, :-1]
        edges = edge_weights(Edges(down, right), weight=weight, floor=floor)
        guess = trust = offsets = None
        if how.guess:
            guess = interpolated + _GUESS_SCALE * extras[:, :, 0]
            turn = extras[:, :, 1].mean(1)
            trust = weight * _TRUST * (_MOST_TRUST_TURN * torch.tanh(turn / _MOST_TRUST_TURN)).exp()
        if how.offsets:
            down, right = extras[:, :, -2], extras[:, :, -1]
            offsets = Edges(_OFFSET_SCALE * down[..., :-1, :], _OFFSET_SCALE * right[..., :-1])
        return Prediction(edges, offsets, guess, trust)


def _three_channels(guide: torch.Tensor) -> torch.Tensor:
    channels = guide.shape[1]
    if channels < 1:
        raise InputError("guide: has no channels")
    if channels == 2:
        return torch.cat([guide, guide.mean(1, keepdim=True)], 1)
    return guide.expand(-1, 3, -1, -1) if channels == 1 else guide[:, :3]


def _imagenet_scaled(guide: torch.Tensor) -> torch.Tensor:
    """(x - mean) / std of x in 0..1. The range is told by the largest value: up to 1, to 255, or to 65535."""
    largest = float(guide.max())
    scaled = guide / (1.0 if largest <= 1 else 255.0 if largest <= 255 else 65535.0)
    mean, std = (guide.new_tensor(values).view(1, 3, 1, 1) for values in (MEAN, STD))
    return (scaled - mean) / std


def _between(values: torch.Tensor) -> Edges:
    """The mean of the two pixels of every edge, of (B, H, W)."""
    return Edges(0.5 * (values[..., :-1, :] + values[..., 1:, :]), 0.5 * (values[..., :-1] + values[..., 1:]))


def _hints(known: torch.Tensor, sampling: Sampling, dtype: torch.dtype) -> list[torch.Tensor]:
    """Two planes (B * K, 1, H, W): the factor (0 at x8, 1 at x32) and which pixels begin in a known cell."""
    down, right = sampling.factor
    factor = 0.25 * math.log2(down * right) - 1.5
    seen = known.to(dtype)
    for dim, along in ((-2, sampling.rows), (-1, sampling.columns)):
        seen = seen.index_select(dim, torch.as_tensor(along.owners[:, 0], device=known.device))
    seen = seen.reshape(-1, 1, *sampling.size)
    return [torch.full_like(seen, factor), seen - 1.0]
