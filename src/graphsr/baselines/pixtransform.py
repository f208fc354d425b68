"""PixTransform: a network for one pair alone, trained so that its target averages back to the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from graphsr.baselines.base import Baseline, Method
from graphsr.errors import InputError
from graphsr.sampling import Sampling
from graphsr.scaling import nonzero

STEPS = 32_768  # published: as many batches, whatever the size
_BATCH = 32  # source pixels
_LEARNING_RATE = 1e-3
_DECAY = {"spatial": 1e-4, "colour": 1e-3, "head": 1e-4}
_HIDDEN, _WIDE = 32, 2048
_TRAINED_AT_ONCE = 1024  # pixels; more leave the cache, and a step at x16 takes 2.6 times as long
_PIXELS_AT_ONCE = 16_384  # of the finished network; its widest layer then takes 134 MB


class PixTransform(Baseline):
    """Train a network for every image and channel.

    Missing source pixels are left out of the training, others are weighted by their confidence. A pixel that straddles
    two source pixels counts in both, by area.

    Args:
        steps: Of training. The published number, the default, takes half an hour an image at x8 on one core, a quarter
            of that at x4 and four times that at x16.
        seed: Of the network and of its batches: the same pair gives the same target.
    """

    method = "pixtransform"

    def __init__(self, steps: int = STEPS, seed: int = 0) -> None:
        super().__init__()
        if steps < 1:
            raise InputError(f"PixTransform: needs at least one step, not {steps}")
        self.steps, self.seed = steps, seed

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        # Callers that are done with training turn gradients off; here it only begins.
        with torch.inference_mode(False), torch.enable_grad():
            images = zip(guide.clone(), source.clone(), confidence.clone(), strict=True)
            targets = [self.fit(colours, values[0], weights[0]) for colours, values, weights in images]
        return torch.stack(targets).unsqueeze(1)

    def fit(self, guide: Tensor, source: Tensor, confidence: Tensor) -> Tensor:
        """Train on a guide (C, H, W), source (h, w) and confidence (h, w); return the target (H, W)."""
        known = confidence > 0
        values = source[known] if bool(known.any()) else source.flatten()
        mean, std = values.mean(), values.std(correction=0)
        if std == 0:
            return mean.expand(guide.shape[-2:])
        pixels = with_coordinates(guide)
        covered = footprints((guide.shape[-2], guide.shape[-1]), known)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = PixelNetwork(guide.shape[0]).to(guide)
            self._train(network, pixels, covered, (values - mean) / std, confidence[known])
        with torch.no_grad():
            target = torch.cat([network(some) for some in torch.split(pixels, _PIXELS_AT_ONCE)])
        return (mean + std * target).reshape(guide.shape[-2:])

    def _train(
        self, network: PixelNetwork, pixels: Tensor, covered: Footprints, source: Tensor, confidence: Tensor
    ) -> None:
        """Fit a network to pixels (H W, C + 2), known source pixels (n,) and their confidence (n,)."""
        branches = network.named_children()
        optimiser = torch.optim.Adam(
            [{"params": branch.parameters(), "weight_decay": _DECAY[name]} for name, branch in branches],
            lr=_LEARNING_RATE,
        )
        batches = shuffled(len(source))
        at_once = max(1, _TRAINED_AT_ONCE // covered.pixels.shape[1])
        for _ in range(self.steps):
            batch = next(batches).to(pixels.device)
            optimiser.zero_grad()
            for some in torch.split(batch, at_once):
                outputs = network(pixels[covered.pixels[some]])
                errors = ((outputs * covered.shares[some]).sum(1) - source[some]).abs()
                ((errors * confidence[some]).sum() / len(batch)).backward()
            optimiser.step()


class PixelNetwork(nn.Module):
    """Map (..., C + 2), standardised colours, then row and column, to (...); each pixel by itself."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.spatial = nn.Sequential(nn.Linear(2, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _WIDE))
        self.colour = nn.Sequential(nn.Linear(channels, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _WIDE))
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(_WIDE, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, 1))

    def forward(self, pixels: Tensor) -> Tensor:
        hidden = self.spatial(pixels[..., -2:]) + self.colour(pixels[..., :-2])
        return torch.as_tensor(self.head(hidden).squeeze(-1))


@dataclass(frozen=True)
class Footprints:
    """The pixels below each of n known source pixels: (n, most) their indices and their shares in its mean."""

    pixels: Tensor
    shares: Tensor


def footprints(size: tuple[int, int], known: Tensor) -> Footprints:
    """Return the pixels of a target of `size` (H, W) below the source pixels that are known (h, w)."""
    sampling = Sampling(size, (known.shape[0], known.shape[1]))
    index, shares = [], []
    for along in (sampling.rows, sampling.columns):
        taps = torch.as_tensor(along.taps, dtype=torch.float32, device=known.device)
        first = torch.as_tensor(along.first, device=known.device)
        position = first[:, None] + torch.arange(taps.shape[1], device=known.device)
        index.append(position.clamp_max(along.size - 1))
        shares.append(taps)
    row, column = torch.nonzero(known, as_tuple=True)
    pixels = index[0][row][:, :, None] * size[1] + index[1][column][:, None, :]
    return Footprints(pixels.flatten(1), (shares[0][row][:, :, None] * shares[1][column][:, None, :]).flatten(1))


def with_coordinates(guide: Tensor) -> Tensor:
    """Standardise every channel of (C, H, W) and append row and column in -0.5..0.5: (H W, C + 2)."""
    centred = guide - guide.mean((-2, -1), keepdim=True)
    colours = centred / nonzero(centred.square().mean((-2, -1), keepdim=True).sqrt())
    row, column = (torch.linspace(-0.5, 0.5, n, dtype=guide.dtype, device=guide.device) for n in guide.shape[-2:])
    position = torch.stack(torch.meshgrid(row, column, indexing="ij"))
    return torch.cat([colours, position]).flatten(1).T.contiguous()


def shuffled(count: int) -> Iterator[Tensor]:
    """Yield batches of the numbers below `count` for ever, each number once before any comes again."""
    while True:
        yield from torch.split(torch.randperm(count), _BATCH)


METHOD = Method(
    name="pixtransform",
    title="PixTransform",
    year=2019,
    reference="de Lutio et al., Guided Super-Resolution as Pixel-to-Pixel Transformation, ICCV 2019",
    build=lambda factor: PixTransform(),
)
