"""Guides of any range and number of channels."""

from __future__ import annotations

import pytest
import torch

from graphsr.errors import InputError
from graphsr.features.channels import imagenet_normalised, three_channels, unit_range
from graphsr.features.imagenet import MEAN, STD


class TestUnitRange:
    @pytest.mark.parametrize("bits", [8, 10, 12, 14, 16])
    def test_whole_numbers_are_of_the_bits_that_hold_them(self, bits):
        white = 2**bits - 1
        guide = torch.tensor([[0.0, white // 2 + 1, white]]).view(1, 1, 1, 3)
        assert torch.equal(unit_range(guide), guide / white)

    def test_what_is_in_0_to_1_stays(self):
        guide = torch.rand(1, 3, 4, 5)
        assert unit_range(guide) is guide

    def test_other_ranges_are_stretched(self):
        assert unit_range(torch.tensor([[[[-2.0, 0.5, 3.0]]]])).flatten().tolist() == [0.0, 0.5, 1.0]


class TestThreeChannels:
    def test_grey_is_repeated(self):
        grey = torch.rand(2, 1, 3, 4)
        assert torch.equal(three_channels(grey), torch.cat([grey, grey, grey], 1))

    def test_two_get_their_mean_as_third(self):
        pair = torch.rand(2, 2, 3, 4)
        assert torch.equal(three_channels(pair), torch.cat([pair, pair.mean(1, keepdim=True)], 1))

    def test_of_more_the_first_three_stay(self):
        bands = torch.rand(2, 5, 3, 4)
        assert torch.equal(three_channels(bands), bands[:, :3])

    def test_none_are_refused(self):
        with pytest.raises(InputError, match="no channels"):
            three_channels(torch.rand(2, 0, 3, 4))


def test_imagenets_mean_and_deviation_become_0_and_1():
    colours = torch.tensor([MEAN, STD]).sum(0).view(1, 3, 1, 1)
    assert torch.allclose(imagenet_normalised(colours), torch.ones(1, 3, 1, 1))
