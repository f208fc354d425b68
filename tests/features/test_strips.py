"""What is computed in strips of rows is what the whole gives."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from graphsr import features
from graphsr.features import strips
from graphsr.features.upsampled_convolution import add_upsampled_convolution, coarse_weights


@pytest.mark.parametrize("halo", [0, 1, 3])
@pytest.mark.parametrize("units", [1, 2, 7, 40, 101])
def test_strips_cover_every_row_once(units, halo, monkeypatch):
    monkeypatch.setattr(strips, "_STRIP_BYTES", 5)
    found = list(strips.strips(units, halo, 1))
    assert [row for strip in found for row in range(strip.first, strip.last)] == list(range(units))
    for strip in found:
        assert strip.begin == max(strip.first - halo, 0)
        assert strip.end == min(strip.last + halo, units)


def test_a_halo_makes_bands_the_whole(monkeypatch):
    monkeypatch.setattr(strips, "_STRIP_BYTES", 1)
    x, weight = torch.rand(1, 3, 20, 9), torch.rand(2, 3, 5, 5)
    calls = []

    def compute(part):
        calls.append(part.shape[2])
        return F.conv2d(part, weight, padding=2)

    with torch.no_grad():
        found = strips.in_strips(compute, (x,), 20, halo=2, bytes_per_unit=1)
    assert len(calls) > 2
    assert torch.allclose(found, F.conv2d(x, weight, padding=2), atol=1e-6)


@pytest.mark.parametrize("batch", [1, 2])
def test_gradients_and_batches_see_the_whole(batch, monkeypatch):
    monkeypatch.setattr(strips, "_STRIP_BYTES", 1)
    calls = []

    def compute(part):
        calls.append(part.shape)
        return part

    with torch.set_grad_enabled(batch == 1):
        strips.in_strips(compute, (torch.rand(batch, 1, 8, 8),), 8, halo=1, bytes_per_unit=1)
    assert calls == [(batch, 1, 8, 8)]


@pytest.mark.parametrize("size", [(131, 70), (64, 96), (97, 33)])
@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("name", ["unet-lite0", "unet-resnet18"])
def test_an_extractor_in_bands_gives_what_it_gives_with_gradients(name, sharp, size, monkeypatch):
    monkeypatch.setattr(strips, "_STRIP_BYTES", 2**14)
    torch.manual_seed(0)
    extractor = features.build(name, out_channels=5, sharp=sharp, decoder_channels=(24, 16, 16, 16, 8)).eval()
    for key, tensor in extractor.state_dict().items():
        if key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
    x = torch.randn(1, 4, *size)
    expected = extractor(x).detach()
    with torch.no_grad():
        parts = list(extractor.in_strips(x))
        assert torch.allclose(extractor(x), expected, atol=1e-5 * float(expected.abs().max()))
    assert len(parts) > 3
    for above, below in pairwise(parts):
        assert torch.allclose(above[:, :, -1], below[:, :, 0], atol=1e-5)  # the row that both have
    joined = torch.cat([*(part[:, :, :-1] for part in parts[:-1]), parts[-1]], 2)
    # Folded weights and other sums round differently.
    assert torch.allclose(joined, expected, atol=1e-5 * float(expected.abs().max()))


@pytest.mark.parametrize("size", [(1, 1), (4, 7)])
def test_an_upsampled_map_need_not_be_made(size):
    x, y, weight = torch.rand(2, 3, *size), torch.rand(2, 5, 2 * size[0], 2 * size[1]), torch.randn(5, 3, 3, 3)
    expected = y + F.conv2d(F.interpolate(x, scale_factor=2.0, mode="nearest"), weight, padding=1)
    assert torch.allclose(add_upsampled_convolution(y.clone(), x, coarse_weights(weight)), expected, atol=1e-5)
