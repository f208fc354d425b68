"""What stood still between two frames: where the target of the one before may be believed."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import avg_pool2d, pad

from graphsr.sampling import Sampling, fill_holes
from graphsr.scaling import nonzero

# Changes of the guide are mean squares over 7 x 7 pixels. Their noise is what a fifth of the image stays below, and
# pixels with so many times the noise are 1 / e still.
_GUIDE_WINDOW = 7
_GUIDE_NOISE_QUANTILE = 0.2
_GUIDE_CHANGE = 6.0
# What may be noise of a guide, in its standard deviations: one without any counts as this noisy, and one that changed
# everywhere is not all noise.
_LEAST_GUIDE_NOISE, _MOST_GUIDE_NOISE = 0.01, 0.1
# Changes of the source, in standard deviations of its noise: of means over 5 x 5 of its pixels, and of each pixel.
_SOURCE_WINDOW = 5
_SOURCE_MEAN_CHANGE, _SOURCE_CHANGE = 0.6, 3.0
# A source without noise: what counts as noise then, in standard deviations of the source.
_LEAST_NOISE = 1e-3
# The noise of the source is judged by the quarter of its pixels that changed least, as the others may have moved: this
# is the quartile of the magnitudes of normal numbers.
_NOISE_QUANTILE, _NORMAL_QUANTILE = 0.25, 0.3186
_MOST_SORTED = 1_000_000


def still_pixels(
    guides: tuple[torch.Tensor, torch.Tensor],
    source: torch.Tensor,
    known: torch.Tensor,
    before: torch.Tensor,
    sampling: Sampling,
) -> torch.Tensor:
    """Return how still every target pixel stood, from 0 (it changed) to 1, (B, 1, H, W).

    Both must say so: the guide, and the source, which has to be what the target before would give.

    Args:
        guides: This frame's and the one before's (B, C, H, W).
        source: (B, K, h, w) of this frame.
        known: (B, K, h, w) which of its pixels have a value.
        before: The target of the frame before (B, K, H, W).
        sampling: Where the source pixels lie.
    """
    # What moved in one channel moved in all.
    same_source = _same_source(source, known, sampling(before)).amin(1, keepdim=True)
    # All pixels of a source pixel are alike: one that is held beside one that is free would leave it all that changed.
    still = same_source * _least_of_cells(_same_guide(*guides), sampling).to(same_source.dtype)
    for dim, along in ((-2, sampling.rows), (-1, sampling.columns)):
        still = still.index_select(dim, torch.as_tensor(along.home, device=still.device))
    return still


def _least_of_cells(values: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return the least value (B, K, h, w) of the pixels (B, K, H, W) of each source pixel."""
    for dim, along in ((-2, sampling.rows), (-1, sampling.columns)):
        least = None
        for tap in range(int(along.count.max())):
            pixel = np.clip(along.first + np.minimum(tap, along.count - 1), 0, along.size - 1)
            value = values.index_select(dim, torch.as_tensor(pixel, device=values.device))
            least = value if least is None else torch.minimum(least, value)
        assert least is not None
        values = least
    return values


def _same_guide(guide: torch.Tensor, earlier: torch.Tensor) -> torch.Tensor:
    """Return (B, 1, H, W) how little a guide (B, C, H, W) changed, from 0 to 1."""
    variance = nonzero((guide - guide.mean((-2, -1), keepdim=True)).square().mean((1, 2, 3)))[:, None, None, None]
    change = _mean_around((guide - earlier).square().mean(1, keepdim=True) / variance, _GUIDE_WINDOW)
    noise = _quantile(change, _GUIDE_NOISE_QUANTILE).clamp(_LEAST_GUIDE_NOISE**2, _MOST_GUIDE_NOISE**2)
    return torch.exp(-(change / (_GUIDE_CHANGE * noise)).square())


def _same_source(source: torch.Tensor, known: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return (B, K, h, w) how well a source agrees with what was expected, from 0 to 1."""
    difference = torch.where(known, source - expected, 0.0)
    difference = fill_holes(difference, known)
    mean = _mean_around(difference, _SOURCE_WINDOW)
    noise = _quantile((difference - mean).abs(), _NOISE_QUANTILE) / _NORMAL_QUANTILE
    least = _LEAST_NOISE * expected.flatten(2).std(2, correction=0)[..., None, None]
    scale = nonzero(torch.maximum(noise, least))
    return torch.exp(
        -(mean / (_SOURCE_MEAN_CHANGE * scale)).square() - (difference / (_SOURCE_CHANGE * scale)).square()
    )


def _mean_around(values: torch.Tensor, window: int) -> torch.Tensor:
    """Return means over `window` x `window` pixels of (B, K, H, W)."""
    reach = window // 2
    return avg_pool2d(pad(values, (reach,) * 4, mode="replicate"), window, 1)


def _quantile(values: torch.Tensor, share: float) -> torch.Tensor:
    """Return a quantile (B, K, 1, 1) of (B, K, H, W), of about a million of its pixels if there are more."""
    flat = values.flatten(2)
    return flat[..., :: flat.shape[-1] // _MOST_SORTED + 1].quantile(share, 2)[..., None, None]
