"""A wider network begins as the same function as the narrower one that it starts from, and can learn more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import graphsr
from graphsr.errors import InputError
from graphsr.models.architecture import Architecture
from graphsr.models.graphsr import GraphSR
from graphsr.training.config import Config
from graphsr.training.network import initial_network
from graphsr.training.sections import Data, DataSet

NARROW = Architecture(
    extractor="unet-lite0",
    features=4,
    decoder_channels=(8, 8, 8, 8, 8),
    sharp=True,
    first_lambda=1e-3,
    colour_mu=0.04,
    floor=5e-3,
    floors=True,
    reweighting=4,
)
WIDER: dict[str, dict[str, Any]] = {
    "everywhere": {"decoder_channels": (16, 9, 12, 10, 20), "reweighting": 9},
    "decoder": {"decoder_channels": (8, 8, 8, 8, 12)},
    "re-weighting": {"reweighting": 6},
}


@pytest.fixture
def start(tmp_path):
    torch.manual_seed(0)
    model = GraphSR(NARROW)
    for name, value in model.state_dict().items():
        if "running_var" in name or "norm" in name:
            value.uniform_(0.5, 2)
    torch.nn.init.normal_(model.reweighting.last.weight, std=0.1)
    graphsr.save(model, tmp_path / "narrow.safetensors")
    return str(tmp_path / "narrow.safetensors")


def started(start, **widths):
    how = replace(NARROW, **widths)
    return initial_network(Config(start=start, model=how, data=Data(sets=(DataSet("synthetic"),)))).eval()


@pytest.mark.parametrize("widths", WIDER.values(), ids=WIDER)
def test_it_predicts_the_same_graph(start, widths):
    guide, source = (torch.rand(1, *shape, dtype=torch.float64) for shape in ((3, 64, 64), (1, 8, 8)))
    narrow, wide = graphsr.load(start).double(), started(start, **widths).double()
    narrow.rtol = wide.rtol  # of the target that is looked at on the way
    with torch.no_grad():
        expected, found = (model.prepare(guide, source).edges for model in (narrow, wide))
    assert torch.allclose(found.down, expected.down, rtol=1e-9, atol=0)
    assert torch.allclose(found.right, expected.right, rtol=1e-9, atol=0)


def test_all_of_its_new_channels_learn(start):
    model = started(start, **WIDER["everywhere"])
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    guide, source = torch.rand(1, 3, 64, 64), torch.rand(1, 1, 8, 8)
    for _ in range(2):  # at first nothing reads them, so only what will read them learns
        optimiser.zero_grad()
        model(guide, source).square().mean().backward()
        optimiser.step()
    block = model.feature_extractor.decoder.blocks[-1]
    for convolution in (block.conv1[0], model.reweighting.first):
        assert (convolution.weight.grad[8:].flatten(1).abs().amax(1) > 0).any()


@pytest.mark.parametrize("widths", [{"decoder_channels": (8, 8, 8, 8, 4)}, {"features": 6}, {"reweighting": 0}])
def test_what_is_not_wider_is_another_network(start, widths):
    with pytest.raises(InputError, match="another network than that to be trained"):
        started(start, **widths)
