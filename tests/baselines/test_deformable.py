"""Kernels whose taps move: ours equal the published way of sampling, in all its conventions."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines.deformable import CONVENTIONS, sample_taps
from graphsr.baselines.dkn import DKN, Kernel
from graphsr.baselines.fdkn import FDKN
from graphsr.errors import InputError
from tests.baselines.networks_to_test import unsettle


def taps_of_patches(depth: Tensor, offsets: Tensor, convention: str) -> Tensor:
    """What the published code does: cut out every 15x15 patch, then `grid_sample` in each. (B, 9, H, W)"""
    batch, _, height, width = depth.shape
    patches = F.unfold(depth, 15, padding=7).transpose(1, 2).reshape(-1, 1, 15, 15)
    moves = offsets.permute(0, 2, 3, 1).reshape(-1, 9, 2)
    tap = torch.arange(9)
    coordinates = moves + torch.stack([7 + tap // 3, 7 + tap % 3], -1)
    grid = (coordinates - 1) / 14 * 2 - 1 if convention == "centred" else coordinates / 15 * 2 - 1
    values = F.grid_sample(patches, grid.unsqueeze(1), align_corners=convention != "torch13")
    return values.reshape(batch, height, width, 9).permute(0, 3, 1, 2)


class TestDeformableKernels:
    @pytest.mark.parametrize("reach", [0.5, 6.0])
    @pytest.mark.parametrize("convention", CONVENTIONS)
    def test_taps_equal_those_of_patches(self, convention: str, reach: float) -> None:
        depth, offsets = torch.rand(2, 1, 13, 19).double(), reach * torch.randn(2, 18, 13, 19).double()
        expected = taps_of_patches(depth, offsets, convention)
        torch.testing.assert_close(sample_taps(depth, offsets, convention), expected)

    @pytest.mark.parametrize("convention", CONVENTIONS)
    def test_gradients_equal_those_of_patches(self, convention: str) -> None:
        depth = torch.rand(1, 1, 6, 5, dtype=torch.float64, requires_grad=True)
        offsets = (5 * torch.randn(1, 18, 6, 5, dtype=torch.float64)).requires_grad_()
        weights = torch.randn(1, 9, 6, 5, dtype=torch.float64)
        ours, theirs = (
            torch.autograd.grad((weights * sample(depth, offsets, convention)).sum(), (depth, offsets))
            for sample in (sample_taps, taps_of_patches)
        )
        torch.testing.assert_close(ours, theirs)

    @pytest.mark.parametrize(
        ("convention", "steps"),
        [("legacy", (-7 / 15, 7 / 15, 1.4)), ("torch13", (-0.5, 0.5, 1.5)), ("centred", (-1.0, 0.0, 1.0))],
    )
    def test_taps_at_rest(self, convention: str, steps: tuple[float, ...]) -> None:
        ramp = torch.arange(9.0).expand(1, 1, 9, 9)
        taps = sample_taps(ramp, torch.zeros(1, 18, 9, 9), convention)
        torch.testing.assert_close(taps[0, ::3, 4, 4] - 4, torch.tensor(steps))

    @pytest.mark.parametrize("network", [DKN, FDKN])
    def test_unknown_convention(self, network: type[DKN] | type[FDKN]) -> None:
        with pytest.raises(InputError, match=r"'newest': use one of legacy, torch13, centred"):
            network("newest")

    def test_conventions_differ_and_keep_what_is_flat(self) -> None:
        net = FDKN().eval()
        guide, depth = torch.rand(1, 1, 32, 32), torch.rand(1, 1, 32, 32)
        results = []
        for net.convention in CONVENTIONS:
            with torch.no_grad():
                results.append(net(guide, depth))
                flat = net(guide, torch.ones_like(depth))
            torch.testing.assert_close(flat[..., 8:-8, 8:-8], torch.ones(1, 1, 16, 16))
        assert not torch.allclose(results[0], results[1])
        assert not torch.allclose(results[1], results[2])


def strided(kernel: Kernel, x: Tensor) -> tuple[Tensor, Tensor]:
    """The published form of DKN's sub-network: strides of 2 where ours dilates."""

    def layer(number: int, x: Tensor) -> Tensor:
        own = kernel.get_submodule(f"conv{number}")
        assert isinstance(own, nn.Conv2d)
        return F.conv2d(x, own.weight, own.bias, stride=2 if number in (2, 4) else 1)

    for number in range(1, 8):
        x = layer(number, x)
        x = F.relu(kernel.get_submodule(f"conv{number}_bn")(x) if number in (1, 3, 5) else x)
    return torch.sigmoid(kernel.conv_weight(x)), kernel.conv_offset(x)


@torch.no_grad()
def test_dkn_in_one_pass_equals_sixteen_shifted_ones() -> None:
    kernel = Kernel(3).eval()
    unsettle(kernel)
    image = torch.rand(1, 3, 8, 12)
    weights, offsets = kernel(image)
    for i in range(4):
        for j in range(4):
            shifted = strided(kernel, F.pad(image, (25 - j, 22 + j, 25 - i, 22 + i)))
            # Measured 1e-7.
            torch.testing.assert_close(weights[..., i::4, j::4], shifted[0], rtol=0, atol=2e-6)
            torch.testing.assert_close(offsets[..., i::4, j::4], shifted[1], rtol=0, atol=2e-6)
