"""A source of many channels: one graph for all, found by one run of the network on their first principal component."""

from __future__ import annotations

import pytest
import torch

from graphsr.models.architecture import Architecture
from graphsr.models.colour import Colour
from graphsr.models.graphsr import GraphSR
from graphsr.scaling import Scale
from tests.models.test_graphsr import FORMS, images, model


def source_of(channels: int, seed: int = 5) -> torch.Tensor:
    return images(1, channels, 10, 12, seed=seed)


def scale_of(source: torch.Tensor) -> Scale:
    return Scale.of(images(1, 3, 40, 48), source, torch.isfinite(source))


class TestFirstComponent:
    def test_of_one_channel_it_is_that_channel_standardised(self):
        source = source_of(1)
        scale = scale_of(source)
        assert torch.equal(scale.first_component(source), scale.standardise_source(source))
        assert torch.equal(scale.source_axis, torch.ones(1, 1, 1, 1))

    def test_has_mean_0_and_standard_deviation_1(self):
        source = source_of(6) * 1000 + 300
        plane = scale_of(source).first_component(source)
        assert plane.shape == (1, 1, 10, 12)
        assert float(plane.mean()) == pytest.approx(0, abs=1e-4)
        assert float(plane.std(correction=0)) == pytest.approx(1, abs=1e-4)

    def test_is_what_channels_have_in_common(self):
        common = source_of(1)
        source = torch.cat([common, 5 + 100 * common, -common], 1) + 1e-3 * source_of(3, seed=6)
        plane = scale_of(source).first_component(source)
        together = torch.stack([plane.flatten(), common.flatten()])
        assert abs(float(torch.corrcoef(together)[0, 1])) > 0.999

    def test_does_not_change_its_sign_with_rounding(self):
        one = source_of(1)
        source = torch.cat([one, 1 - one], 1)  # two classes: no component is larger than the other
        nudged = source * (1 + 1e-6 * source_of(2, seed=3))
        first, second = (scale_of(each).first_component(each) for each in (source, nudged))
        torch.testing.assert_close(first, second, rtol=0, atol=1e-3)

    def test_of_constant_channels_is_0(self):
        source = torch.full((1, 3, 10, 12), 4.0)
        assert float(scale_of(source).first_component(source).abs().max()) <= 1e-3


@pytest.mark.parametrize("form", FORMS)
def test_the_network_runs_once_for_all_channels(form):
    network, runs = model(FORMS[form]), []
    network.feature_extractor.register_forward_hook(lambda _, given, __: runs.append(given[0].shape[0]))
    with torch.no_grad():
        target = network(images(1, 3, 40, 48), source_of(9))
    assert target.shape == (1, 9, 40, 48)
    assert runs == [1]


@pytest.mark.parametrize("build", [Colour, model], ids=["colour", "network"])
class TestOneGraph:
    def test_units_and_order_of_channels_do_not_matter(self, build):
        network, guide, source = build(), images(1, 3, 40, 48), source_of(4)
        order, units = [2, 0, 3, 1], torch.tensor([1.0, 10.0, 1e3, 0.1]).reshape(1, 4, 1, 1)
        with torch.no_grad():
            target = network(guide, source)
            other = network(guide, (source * units + 3)[:, order])
        expected = (target * units + 3)[:, order]
        difference = (other - expected).square().mean((2, 3)).sqrt() / expected.std((2, 3))
        assert float(difference.max()) <= 5e-4  # solves are good to 1e-4; the sign of the plane may not turn

    def test_copies_of_a_channel_give_the_graph_of_one(self, build):
        network, guide, source = build(), images(1, 3, 40, 48), source_of(1)
        with torch.no_grad():
            one = network.run(guide, source).edges
            many = network.run(guide, torch.cat([source, 7 * source, source - 2], 1)).edges
        torch.testing.assert_close(many.down, one.down, rtol=1e-3, atol=0)

    def test_every_channel_averages_back_to_its_own_source(self, build):
        network, guide, source = build(), images(1, 3, 40, 48), source_of(5)
        with torch.no_grad():
            result = network.run(guide, source)
        assert result.problem is not None
        assert float((result.problem.sampling(result.target) - source).abs().max()) <= 0.05

    def test_a_channel_may_have_holes_of_its_own(self, build):
        network, guide, source = build(), images(1, 3, 40, 48), source_of(3)
        source[0, 1, 3:6, 3:6] = torch.nan
        with torch.no_grad():
            assert torch.isfinite(network(guide, source)).all()


def test_memory_that_is_planned_for_grows_little_with_channels():
    network = GraphSR(Architecture(extractor="unet-lite0", features=4))
    # Five numbers a pixel and channel, and once the factors of the matrix.
    assert network.bytes_per_pixel(65) - network.bytes_per_pixel(1) <= 20 * 64 + 500
