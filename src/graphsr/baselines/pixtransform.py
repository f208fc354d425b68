"""PixTransform: a network for one pair alone, trained so that its means over source pixels are the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from graphsr.baselines.method import Baseline, Method
from graphsr.errors import InputError
from graphsr.sampling import Sampling

STEPS = 32_768  # published: as many batches, whatever the size
_BATCH = 32  # source pixels
_LEARNING_RATE = 1e-3
_DECAY = {"spatial": 1e-4, "colour": 1e-3, "head": 1e-4}
_HIDDEN, _WIDE = 32, 2048
_TRAINED_AT_ONCE = 1024  # pixels; more leave the cache, and a step at x16 takes 2.6 times as long
_PIXELS_AT_ONCE = 16_384  # of the finished network; its widest layer then takes 134 MB


class PixTransform(Baseline):
    """Trains a network for every image and channel, always from the same seed.

    The published number of steps is the default. They take half an hour an image at x8 on one core, a quarter of that
    at x4 and four times that at x16: give fewer `steps` where that is too long. Missing source pixels are left out of
    the training, others count by their confidence. A pixel that straddles two source pixels counts in both, by area.
    """

    def __init__(self, steps: int = STEPS, seed: int = 0) -> None:
        super().__init__()
        if steps < 1:
            raise InputError(f"PixTransform: needs at least one step, not {steps}")
        self.steps, self.seed = steps, seed

    def estimate(
        self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor, trust: torch.Tensor
    ) -> torch.Tensor:
        # Callers forbid gradients, being done with training; this method begins with it.
        with torch.inference_mode(False), torch.enable_grad():
            images = zip(guide.clone(), source.clone(), trust.clone(), strict=True)
            targets = [self.fit(colours, values[0], weights[0]) for colours, values, weights in images]
        return torch.stack(targets).unsqueeze(1)

    def fit(self, guide: torch.Tensor, source: torch.Tensor, trust: torch.Tensor) -> torch.Tensor:
        """guide (C, H, W), source (h, w), trust (h, w) -> target (H, W)."""
        known = trust > 0
        values = source[known] if bool(known.any()) else source.flatten()
        mean, spread = values.mean(), values.std(correction=0)
        if spread == 0:
            return mean.expand(guide.shape[-2:])
        pixels = with_coordinates(guide)
        cells = footprints((guide.shape[-2], guide.shape[-1]), known)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = PixelNetwork(guide.shape[0]).to(guide)
            self._train(network, pixels, cells, (values - mean) / spread, trust[known])
        with torch.no_grad():
            target = torch.cat([network(part) for part in pixels.split(_PIXELS_AT_ONCE)])
        return (mean + spread * target).reshape(guide.shape[-2:])

    def _train(
        self,
        network: PixelNetwork,
        pixels: torch.Tensor,
        cells: Footprints,
        wanted: torch.Tensor,
        trust: torch.Tensor,
    ) -> None:
        parts = network.named_children()
        optimiser = torch.optim.Adam(
            [{"params": part.parameters(), "weight_decay": _DECAY[name]} for name, part in parts], lr=_LEARNING_RATE
        )
        batches = shuffled(len(wanted))
        at_once = max(1, _TRAINED_AT_ONCE // cells.pixels.shape[1])
        for _ in range(self.steps):
            batch = next(batches).to(pixels.device)
            optimiser.zero_grad()
            for part in batch.split(at_once):
                outputs = network(pixels[cells.pixels[part]])
                errors = ((outputs * cells.shares[part]).sum(1) - wanted[part]).abs()
                ((errors * trust[part]).sum() / len(batch)).backward()
            optimiser.step()


class PixelNetwork(nn.Module):
    """(..., C + 2) standardised colours, then row and column -> (...). Each pixel for itself: 1 x 1 convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.spatial = nn.Sequential(nn.Linear(2, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _WIDE))
        self.colour = nn.Sequential(nn.Linear(channels, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _WIDE))
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(_WIDE, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, 1))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        hidden = self.spatial(pixels[..., -2:]) + self.colour(pixels[..., :-2])
        return torch.as_tensor(self.head(hidden).squeeze(-1))


@dataclass(frozen=True)
class Footprints:
    """The pixels below each of n known source pixels: (n, most) their indices and their shares in its mean."""

    pixels: torch.Tensor
    shares: torch.Tensor


def footprints(size: tuple[int, int], known: torch.Tensor) -> Footprints:
    """Of a target of `size` (H, W) below the source pixels that are known (h, w)."""
    sampling = Sampling(size, (known.shape[0], known.shape[1]))
    index, shares = [], []
    for along in (sampling.rows, sampling.columns):
        taps = torch.as_tensor(along.taps, dtype=torch.float32, device=known.device)
        first = torch.as_tensor(along.first, device=known.device)
        place = first[:, None] + torch.arange(taps.shape[1], device=known.device)
        index.append(place.clamp_max(along.size - 1))
        shares.append(taps)
    row, column = torch.nonzero(known, as_tuple=True)
    pixels = index[0][row][:, :, None] * size[1] + index[1][column][:, None, :]
    return Footprints(pixels.flatten(1), (shares[0][row][:, :, None] * shares[1][column][:, None, :]).flatten(1))


def with_coordinates(guide: torch.Tensor) -> torch.Tensor:
    """(C, H, W) -> (H W, C + 2): every channel with mean 0 and deviation 1, then row and column in -0.5..0.5."""
    centred = guide - guide.mean((-2, -1), keepdim=True)
    spread = centred.square().mean((-2, -1), keepdim=True).sqrt()
    colours = centred / torch.where(spread > 0, spread, torch.ones_like(spread))
    row, column = (torch.linspace(-0.5, 0.5, n, dtype=guide.dtype, device=guide.device) for n in guide.shape[-2:])
    place = torch.stack(torch.meshgrid(row, column, indexing="ij"))
    return torch.cat([colours, place]).flatten(1).T.contiguous()


def shuffled(count: int) -> Iterator[torch.Tensor]:
    """Batches of the numbers below `count` for ever, each number once before any comes again."""
    while True:
        yield from torch.randperm(count).split(_BATCH)


METHOD = Method(
    name="pixtransform",
    title="PixTransform",
    year=2019,
    reference="de Lutio et al., Guided Super-Resolution as Pixel-to-Pixel Transformation, ICCV 2019",
    build=lambda factor: PixTransform(),
)
