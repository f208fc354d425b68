"""How far an extractor looks: beyond its reach the features of a window are those of the whole image."""

from __future__ import annotations

import pytest
import torch

from graphsr import features

LENGTH = 1280


@pytest.mark.slow
@pytest.mark.parametrize("name", ["colour", "fdsr", "unet-resnet18", "unet-lite0"])
def test_features_of_a_window_are_those_of_the_whole_beyond_the_reach(name):
    torch.manual_seed(0)
    extractor = features.build(name, out_channels=4).eval()
    assert extractor.reach is not None
    image = torch.rand(1, 4, 64, LENGTH)
    first = -(-256 // extractor.multiple) * extractor.multiple
    with torch.no_grad():
        whole, part = extractor(image), extractor(image[..., first:])
    inner = slice(extractor.reach, None)
    # Lite networks look further, but see next to nothing there; measured 2e-6 of the standard deviation.
    difference = (part[..., inner] - whole[..., first:][..., inner]).abs().max() / whole.std()
    assert float(difference) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gdpt", "unet-efficientnet-b2"])
def test_extractors_that_look_at_all_of_an_image_say_so(name):
    assert features.build(name, out_channels=4).reach is None
