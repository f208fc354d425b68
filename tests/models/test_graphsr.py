"""GraphSR: the learned model as a module, whatever the size, the factor and the units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import graphsr
from graphsr import Sampling
from graphsr.errors import InputError
from graphsr.features import strips
from graphsr.graph import Edges
from graphsr.models.architecture import Architecture
from graphsr.models.colour import Colour
from graphsr.models.graphsr import GraphSR

SMALL = Architecture(
    extractor="unet-lite0", features=4, decoder_channels=(8, 8, 8, 8, 8), first_lambda=1e-3, sharp=True,
    offsets=True, hints=True,
)  # fmt: skip
FORMS = {
    "paper": replace(SMALL, offsets=False, hints=False, sharp=False),
    "offsets": SMALL,
    "refined colours": replace(SMALL, colour_mu=0.08),
    "confidence": replace(SMALL, confidence=True),
    "first target": replace(SMALL, colour_mu=0.08, floor=1e-2, first_target=True),
    "re-weighting": replace(SMALL, reweighting=4),
    "bundled": replace(
        SMALL,
        colour_mu=0.08,
        floors=True,
        floor=1e-2,
        confidence=True,
        detail=True,
        first_target=True,
        offsets=False,
        local_scale=True,
        reweighting=8,
    ),
}


def model(how: Architecture = SMALL) -> GraphSR:
    torch.manual_seed(0)
    return GraphSR(how).eval()


def head_of(network: GraphSR) -> Any:
    """The last convolution of the network."""
    head: Any = network.feature_extractor.segmentation_head
    return head[0]


def images(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("how", FORMS.values(), ids=FORMS)
class TestForms:
    @pytest.mark.parametrize(
        ("size", "source_size"), [((40, 48), (10, 12)), ((37, 51), (9, 8)), ((30, 45), (4, 6)), ((33, 33), (33, 33))]
    )
    def test_any_size_and_factor(self, how, size, source_size):
        with torch.no_grad():
            target = model(how)(images(1, 3, *size), images(1, 1, *source_size, seed=2))
        assert target.shape == (1, 1, *size)
        assert bool(torch.isfinite(target).all())

    def test_without_gradients_bands_of_rows_predict_the_same(self, how, monkeypatch):
        monkeypatch.setattr(strips, "_STRIP_BYTES", 2**12)
        network, guide, source = model(how), images(1, 3, 75, 66), images(1, 1, 10, 9, seed=2)
        expected = network.prepare(guide, source)
        with torch.no_grad():
            found = network.prepare(guide, source)
        pairs = [(found.edges, expected.edges), (found.offsets, expected.offsets)]
        for one, other in pairs[: 2 if how.offsets else 1]:
            for a, b in ((one.down, other.down), (one.right, other.right)):
                assert not a.requires_grad
                # In parts of the largest: other sums round differently.
                torch.testing.assert_close(a, b.detach(), rtol=0, atol=2e-5 * float(b.detach().abs().max()))

    @pytest.mark.slow
    def test_gradients_reach_every_parameter_that_is_run(self, how):
        network = model(how).train()
        target = network(images(2, 3, 64, 64), images(2, 1, 8, 8, seed=2))
        target.square().mean().backward()
        idle = [name for name, p in network.named_parameters() if p.grad is None or not bool(p.grad.abs().sum() > 0)]
        assert not [name for name in idle if "decoder" in name or "head" in name or name.startswith("log_")]

    def test_the_target_averages_back_to_the_source(self, how):
        source = images(1, 1, 8, 8, seed=2)
        with torch.no_grad():
            target = model(how)(images(1, 3, 64, 64), source)
        back = Sampling((64, 64), (8, 8))(target)
        # At lambda 1e-3 the data term is a thousand times stronger than the graph; measured 1e-4 at the most. A
        # confidence that was never trained is about 1e-2.
        within = 0.3 if how.confidence else 1e-2
        assert float((back - source).square().mean().sqrt()) < within * float(source.std())


class TestUnits:
    def test_the_target_has_the_units_of_the_source(self):
        network, guide, source = model(), images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)
        with torch.no_grad():
            plain, scaled = network(guide, source), network(guide, 1000 * source - 300)
        # The solves stop at 1e-4 of the standard deviation.
        torch.testing.assert_close(scaled, 1000 * plain - 300, rtol=0, atol=0.3)

    def test_brightness_and_bit_depth_of_the_guide_do_not_matter(self):
        network, guide, source = model(), images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)
        with torch.no_grad():
            torch.testing.assert_close(network(guide, source), network(65535 * guide, source), rtol=0, atol=1e-3)

    def test_a_constant_source_gives_a_constant_target(self):
        with torch.no_grad():
            target = model(replace(SMALL, offsets=False))(images(1, 3, 40, 40), torch.full((1, 1, 10, 10), 7.0))
        torch.testing.assert_close(target, torch.full_like(target, 7.0))


class TestChannels:
    @pytest.mark.parametrize("channels", [1, 2, 3, 5])
    def test_guides_of_any_number_of_channels(self, channels):
        with torch.no_grad():
            target = model()(images(1, channels, 40, 40), images(1, 1, 10, 10, seed=2))
        assert bool(torch.isfinite(target).all())

    def test_channels_of_a_source_share_one_graph(self):
        with torch.no_grad():
            result = model().run(images(2, 3, 40, 40), images(2, 3, 10, 10, seed=2))
        assert result.target.shape == (2, 3, 40, 40)
        assert result.edges.down.shape == (2, 39, 40)

    def test_missing_pixels_are_filled(self):
        source = images(1, 1, 10, 10, seed=2)
        source[..., 3:6, 3:6] = torch.nan
        with torch.no_grad():
            target = model()(images(1, 3, 40, 40), source)
        assert bool(torch.isfinite(target).all())

    def test_exact_fidelity(self):
        source = images(1, 1, 10, 10, seed=2)
        with torch.no_grad():
            target = model().run(images(1, 3, 40, 40), source, exact=True).target
        torch.testing.assert_close(Sampling((40, 40), (10, 10))(target.double()).float(), source, rtol=0, atol=2e-6)


def test_begins_at_the_colour_graph_where_the_features_say_nothing():
    how = replace(SMALL, offsets=False, colour_mu=0.08, colour_power=1.75, floor=1e-2, first_lambda=9e-4)
    network = model(how)
    torch.nn.init.zeros_(head_of(network).weight)
    guide, source = images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)
    with torch.no_grad():
        edges = network.run(guide, source).edges
        expected = Colour(weight=9e-4, mu=0.08, power=1.75, floor=1e-2, prior_weight=0.0).run(guide, source).edges
    # Colours that are far apart count as e^-10 at most, which is 0.45 % of the floor.
    torch.testing.assert_close(edges.down, expected.down, rtol=5e-3, atol=0)
    torch.testing.assert_close(edges.right, expected.right, rtol=5e-3, atol=0)


def test_the_network_can_connect_what_colours_part():
    how = replace(SMALL, offsets=False, colour_mu=0.08, floor=1e-2, first_lambda=9e-4)
    network = model(how)
    torch.nn.init.zeros_(head_of(network).weight)
    head_of(network).bias.data[-1] = -10.0  # colours count for nothing
    with torch.no_grad():
        edges = network.run(images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)).edges
    torch.testing.assert_close(edges.down, torch.full_like(edges.down, 9e-4), rtol=2e-3, atol=0)


def test_the_network_can_say_how_low_an_edge_weight_may_be():
    how = replace(SMALL, offsets=False, floors=True, floor=1e-2, first_mu=1e-3, first_lambda=1.0)
    network = model(how)
    head = head_of(network)
    head.weight.data[-1] = 0.0
    least = []
    for turn in (-10.0, 0.0, 10.0):
        head.bias.data[-1] = turn
        with torch.no_grad():
            least.append(float(network.run(images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)).edges.down.min()))
    assert least[0] < 1.2e-3
    assert least[1] == pytest.approx(1e-2, rel=1e-3)
    assert least[2] > 0.1


def test_steps_of_the_first_target_lower_edge_weights_as_far_as_the_network_says():
    network = model(replace(SMALL, offsets=False, colour_mu=0.08, floor=1e-2, first_target=True))
    head = head_of(network)
    torch.nn.init.zeros_(head.weight)
    guide, source = images(1, 3, 40, 40), torch.arange(2.0).repeat_interleave(5).expand(1, 1, 10, 10).contiguous()
    lowest = []
    with torch.no_grad():
        for share in (-20.0, -2.0, 20.0):  # of the sigmoid: not at all, a quarter, twice
            head.bias[-1] = share
            problem = network.prepare(guide, source)
            lowest.append(float(problem.edges.right[0, :, 19].mean()))
        step = problem.start.diff(dim=-1)[0, 0, :, 19].abs().min()
    assert step > 0.1  # the first target has the step of the source
    assert lowest[1] < 0.7 * lowest[0]
    assert lowest[2] == pytest.approx(lowest[0] / math.e**3, rel=1e-4)  # never lower than that


def test_a_first_target_needs_a_colour_graph():
    with pytest.raises(InputError, match="first_target is that of the colour graph: it needs colour_mu"):
        model(replace(SMALL, first_target=True))


class TestReweighting:
    HOW = replace(SMALL, offsets=False, reweighting=8)
    STEP = torch.arange(2.0).repeat_interleave(5).expand(1, 1, 10, 10).contiguous()

    def test_before_training_it_changes_nothing(self):
        guide = images(1, 3, 40, 40)
        network = model(self.HOW).with_rtol(1e-6)
        plain = model(replace(self.HOW, reweighting=0)).with_rtol(1e-6)
        missing = plain.load_state_dict(network.state_dict(), strict=False)
        assert all(key.startswith("reweighting.") for key in missing.unexpected_keys)
        with torch.no_grad():
            found, expected = network.run(guide, self.STEP), plain.run(guide, self.STEP)
        torch.testing.assert_close(found.edges.down, expected.edges.down, rtol=0, atol=0)
        torch.testing.assert_close(found.target, expected.target, rtol=0, atol=1e-5)

    def test_it_sees_the_target_on_the_graph_before(self):
        network = model(self.HOW)
        small: Any = network.reweighting
        for layer in (small.first, small.wide, small.last):
            torch.nn.init.zeros_(layer.weight)
            torch.nn.init.zeros_(layer.bias)
        small.first.weight.data[0, -1, 1, 1] = 1.0  # the first feature: the step to the right
        small.last.weight.data[1, 0, 1, 1] = -1e3  # an edge with any step is as weak as can be
        with torch.no_grad():
            edges = network.prepare(images(1, 3, 40, 40), self.STEP).edges
            network.reweighting.last.weight.zero_()
            before = network.prepare(images(1, 3, 40, 40), self.STEP).edges
        change = (edges.right / before.right)[0, :, 19]  # where the source has its step
        assert float(change.min()) == pytest.approx(math.exp(-4), rel=1e-4)  # never weaker than that
        assert float(change.max()) < 1.1 * math.exp(-4)
        torch.testing.assert_close(edges.down, before.down, rtol=0, atol=0)

    @pytest.mark.parametrize("rows", [3, 12, 75])
    def test_strips_of_rows_are_changed_alike(self, rows, monkeypatch):
        monkeypatch.setattr(strips, "_STRIP_BYTES", rows * 4 * 8 * 66)
        small: Any = model(self.HOW).reweighting
        torch.nn.init.normal_(small.last.weight, std=0.3)
        edges = Edges(images(1, 74, 66, seed=3) + 0.01, images(1, 75, 65, seed=4) + 0.01)
        given = (edges, images(1, 1, 75, 66), images(1, 3, 75, 66, seed=2), images(1, 1, 75, 66, seed=5), 0.5)
        expected = small(*given)
        with torch.no_grad():
            found = small(*given)
        assert float((expected.down.detach() / edges.down).log().abs().mean()) > 0.1
        for name in ("down", "right"):
            # The same bits where it was measured; with one row less around a strip it is off by 0.1 and more.
            torch.testing.assert_close(getattr(found, name), getattr(expected, name).detach(), rtol=1e-4, atol=0)

    def test_points_are_completed_without_it(self):
        network = model(self.HOW)
        torch.nn.init.normal_(network.reweighting.last.weight, std=0.1)
        plain = model(replace(self.HOW, reweighting=0))
        plain.load_state_dict(network.state_dict(), strict=False)
        points = [(3.5, 4.5, 1.2), (20.5, 9.5, 3.1), (27.0, 14.0, 3.0), (9.0, 28.0, 2.0)]
        guide = images(32, 32, 3).numpy()
        found, expected = (graphsr.complete(guide, points, model=each) for each in (network, plain))
        np.testing.assert_array_equal(found.target, expected.target)
        assert network.architecture.reweighting == 8  # the model itself stays as it was

    def test_published_models_have_none(self):
        with pytest.raises(InputError, match="reweighting is a number of channels, and not for `published`"):
            GraphSR(replace(SMALL, reweighting=8, published=True, offsets=False, hints=False))


def test_floors_that_could_exceed_a_whole_edge_weight_are_refused():
    with pytest.raises(InputError, match="floor must be positive and below"):
        GraphSR(replace(SMALL, floors=True, floor=0.2))


def test_an_unknown_extractor_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean unet-lite"):
        GraphSR(Architecture(extractor="unet-lite"))


class TestConfidence:
    HOW = replace(SMALL, confidence=True, detail=True)

    def network(self, level: float) -> GraphSR:
        """A model whose network calls every source pixel equally noisy."""
        network = model(self.HOW)
        last: Any = network.noise_network.last
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.constant_(last.bias, level)
        return network

    def fidelity(self, level: float, confidence: torch.Tensor | None = None) -> float:
        guide, source = images(1, 3, 64, 64), images(1, 1, 8, 8, seed=2)
        with torch.no_grad():
            target = self.network(level).run(guide, source, confidence=confidence).target
        return float((Sampling((64, 64), (8, 8))(target) - source).square().mean().sqrt() / source.std())

    def test_a_source_called_clean_is_kept_and_a_noisy_one_is_not(self):
        assert self.fidelity(-10.0) < 1e-2
        assert self.fidelity(10.0) > 0.5

    def test_is_multiplied_with_that_of_the_user(self):
        guide, source, given = images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2), torch.full((1, 1, 10, 10), 0.25)
        with torch.no_grad():
            alone, both = (self.network(0.0).run(guide, source, confidence=each).problem for each in (None, given))
        torch.testing.assert_close(both.confidence, 0.25 * alone.confidence)

    def test_noise_is_told(self):
        with torch.no_grad():
            noise = self.network(0.0).run(images(2, 3, 40, 40), images(2, 1, 10, 10, seed=2)).noise
        assert noise.shape == (2, 1, 10, 10)
        torch.testing.assert_close(noise, torch.full_like(noise, 1e-2), rtol=1e-4, atol=0)

    @pytest.mark.parametrize("source", [(1, 2, 10, 10), (1, 1, 20, 20)], ids=["two channels", "x2"])
    def test_none_is_predicted_for_what_was_not_trained(self, source):
        with torch.no_grad():
            result = self.network(10.0).run(images(1, 3, 40, 40), images(*source, seed=2))
        assert result.noise is None
        assert (result.problem.confidence == 1).all()

    def test_statistics_of_the_source_change_hardly_anything_before_they_are_trained(self):
        network, plain = model(replace(self.HOW, noise_statistics=True)), model(self.HOW)
        missing = plain.load_state_dict(network.state_dict(), strict=False)
        assert all(key.startswith("noise_network.statistics.") for key in missing.unexpected_keys)
        pair = images(2, 3, 40, 40), images(2, 1, 10, 10, seed=2)
        with torch.no_grad():
            before = network.restored(*pair).noise
            torch.testing.assert_close(before, plain.restored(*pair).noise, atol=1e-3, rtol=0)
            for parameter in network.noise_network.statistics.parameters():
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
            assert not torch.allclose(before, network.restored(*pair).noise)

    def test_steps_are_no_errors_of_a_source_whose_footprint_is_stated(self):
        network = model(replace(self.HOW, noise_statistics=True))
        network.noise_network.statistics.last.bias.data = torch.tensor([-1.0, -30.0])  # a third of a step, no noise
        pair = images(1, 3, 40, 40), images(1, 1, 10, 10, seed=2)
        with torch.no_grad():
            assert network.restored(*pair).noise.median() > 0.1
            assert network.restored(*pair, footprint="point").noise.median() < 0.01

    def test_statistics_without_predicted_noise_are_refused(self):
        with pytest.raises(InputError, match="noise_statistics are for the network of the noise: they need confidence"):
            GraphSR(replace(SMALL, noise_statistics=True))

    @pytest.mark.parametrize("statistics", [False, True])
    def test_noise_alone_is_that_of_the_whole_run(self, statistics):
        network = model(replace(self.HOW, noise_statistics=statistics))
        guide, source = images(2, 3, 40, 40), images(2, 1, 10, 10, seed=2)
        source[:, :, 3, 4] = torch.nan
        with torch.no_grad():
            torch.testing.assert_close(network.restored(guide, source).noise, network.run(guide, source).noise)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float64, torch.float16, torch.int16])
def test_guides_of_any_real_type(dtype):
    guide, source = (images(1, 3, 40, 40) * 200).to(dtype), images(1, 1, 10, 10, seed=2)
    with torch.no_grad():
        found, expected = model()(guide, source), model()(guide.float(), source)
    torch.testing.assert_close(found, expected)


def test_tensors_without_a_batch_axis_are_refused():
    with pytest.raises(InputError, match=r"guide: must be \(B, channels, rows, columns\)"):
        model()(images(3, 40, 40), images(1, 1, 10, 10))
