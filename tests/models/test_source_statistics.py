"""What a source shows of its own errors: known samplings, shifts and noise of rendered scenes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphsr.data.degradation import Degradation, degrade
from graphsr.models.source_statistics import OF_ALL
from graphsr.models.source_statistics import source_statistics as statistics_of
from graphsr.sampling import Sampling
from graphsr.scenes import scene

SIDE, SOURCE = 256, 32
# Where the numbers are.
AT_ENDS, BETWEEN, ASIDE, APART, RESPONSE = 2, slice(4, 7), slice(9, 11), 11, 13


@pytest.fixture(scope="module")
def scenes():
    return [scene(seed, (SIDE, SIDE)) for seed in range(1_000_000, 1_000_004)]


def source_statistics(source: torch.Tensor, guide: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return statistics_of(source, guide, lambda values: values)


def standardised(values: torch.Tensor) -> torch.Tensor:
    return (values - values.nanmean()) / values[~torch.isnan(values)].std()


def numbers(drawn, how: str = "") -> np.ndarray:
    source = degrade(drawn.depth, (SOURCE, SOURCE), Degradation.parse(how), np.random.default_rng(1))
    guide = Sampling((SIDE, SIDE), (SOURCE, SOURCE))(torch.from_numpy(drawn.guide).permute(2, 0, 1)[None].float())
    found = source_statistics(standardised(torch.from_numpy(source)[None, None]), standardised(guide))[0]
    return found.flatten().numpy()


def test_shares_of_point_samples_lie_at_the_ends_and_those_of_means_between(scenes):
    for drawn in scenes:
        means, points = numbers(drawn), numbers(drawn, "footprint=point")
        assert points[AT_ENDS] > 1.5 * means[AT_ENDS]
        assert points[BETWEEN].sum() < 0.7 * means[BETWEEN].sum()


def test_a_source_that_lies_aside_differs_from_the_guide(scenes):
    clean, shifted = (np.mean([numbers(drawn, how) for drawn in scenes], 0) for how in ("", "shift=4"))
    assert np.hypot(*shifted[ASIDE]) > 1.5 * np.hypot(*clean[ASIDE])
    assert shifted[APART] > 1.2 * clean[APART]


def test_the_level_of_noise_shows(scenes):
    """Logarithms to the base 10 are multiplied by 0.2."""
    for drawn in scenes:
        levels = [numbers(drawn, f"noise={sigma}")[RESPONSE] for sigma in (0.01, 0.04)]
        assert levels[1] - levels[0] == pytest.approx(0.2 * np.log10(4), abs=0.04)


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (2, 3), (5, 4)])
@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
def test_sources_of_any_size_and_with_holes_have_finite_numbers(size, missing):
    generator = torch.Generator().manual_seed(1)
    source, guide = (torch.rand(2, channels, *size, generator=generator) for channels in (1, 3))
    source[torch.rand(source.shape, generator=generator) < missing] = torch.nan
    whole, sizes = source_statistics(source, guide)
    assert whole.shape == (2, OF_ALL, 1, 1)
    assert sizes.shape == (2, 2, *size)
    assert torch.isfinite(whole).all()
    assert torch.isfinite(sizes).all()


def test_rows_are_as_columns():
    generator = torch.Generator().manual_seed(2)
    source, guide = torch.randn(1, 1, 9, 12, generator=generator), torch.randn(1, 3, 9, 12, generator=generator)
    source[0, 0, 2, 3] = torch.nan
    whole, sizes = source_statistics(source, guide)
    turned, turned_sizes = source_statistics(source.mT.contiguous(), guide.mT.contiguous())
    swapped = [*range(9), 10, 9, *range(11, OF_ALL)]
    torch.testing.assert_close(whole[:, swapped], turned)
    torch.testing.assert_close(sizes.mT, turned_sizes)
