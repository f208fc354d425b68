"""The source is restored before the solve: noisy pixels are corrected as far as their noise allows, others are kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import graphsr
from graphsr.errors import InputError
from graphsr.models.architecture import Architecture
from graphsr.models.graphsr import GraphSR
from graphsr.models.noise import LEAST, MOST, PredictedNoise
from graphsr.models.restoration import LEAST_RESTORED, Restored

HOW = Architecture(extractor="colour", confidence=True, restoration=8)


def images(channels: int, size: int, seed: int = 1) -> torch.Tensor:
    return torch.rand(1, channels, size, size, generator=torch.Generator().manual_seed(seed))


GUIDE, SOURCE = images(3, 64), images(1, 8, seed=2)


def network(noise: float, *, trained: bool = True, how: Architecture = HOW) -> GraphSR:
    """A model that predicts one noise everywhere, and corrections at random once it is "trained"."""
    torch.manual_seed(0)
    model = GraphSR(how).eval()
    level = math.log(noise / LEAST) / math.log(MOST / LEAST)
    torch.nn.init.zeros_(model.noise_network.last.weight)
    torch.nn.init.constant_(model.noise_network.last.bias, math.log(level / (1 - level)))
    if trained:
        torch.nn.init.normal_(model.restoration.last.weight)
    return model


def restored(model: GraphSR, source: torch.Tensor = SOURCE) -> Restored:
    with torch.no_grad():
        return model.restored(GUIDE, source)


def correction(model: GraphSR, source: torch.Tensor = SOURCE) -> torch.Tensor:
    """How far the source is corrected, in its standard deviations."""
    return (restored(model, source).source - source) / source.std(correction=0)


def test_before_it_is_trained_source_and_noise_stay() -> None:
    found = restored(network(0.1, trained=False))
    torch.testing.assert_close(found.source, SOURCE)
    torch.testing.assert_close(found.noise, torch.full_like(SOURCE, 0.1))


def test_it_is_the_source_that_is_solved_for() -> None:
    model = network(0.1)
    with torch.no_grad():
        result = model.run(GUIDE, SOURCE)
    source, noise = restored(model)
    assert not torch.equal(source, SOURCE)
    torch.testing.assert_close(result.problem.source, source)
    torch.testing.assert_close(result.noise, noise)


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_a_pixel_is_corrected_by_at_most_eight_times_its_noise(noise: float) -> None:
    change = correction(network(noise)).abs().max()
    assert 0.1 * noise < change <= 8 * noise * (1 + 1e-5)


def test_a_clean_source_is_kept_to_the_last_bit() -> None:
    found = restored(network(0.5 * LEAST_RESTORED))
    assert torch.equal(found.source, SOURCE)
    assert torch.equal(found.noise, restored(network(0.5 * LEAST_RESTORED, trained=False)).noise)


def test_clean_sources_of_a_batch_are_kept_beside_noisy_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network(0.1)
    sources = torch.cat([SOURCE, SOURCE])
    noise = torch.full_like(sources, 0.1)
    noise[0] = 0.5 * LEAST_RESTORED
    monkeypatch.setattr(model.noise_network, "forward", lambda *_, **__: PredictedNoise(noise, 0 * noise))
    with torch.no_grad():
        both = model.restored(GUIDE.expand(2, -1, -1, -1), sources)
    assert torch.equal(both.source[:1], SOURCE)
    assert torch.equal(both.noise[:1], noise[:1])
    assert not torch.isclose(both.source[1:], SOURCE).any()


def test_errors_at_the_steps_of_point_samples_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network(0.1, trained=False)
    last: Any = model.restoration.last
    last.bias.data[1] = -1.0  # 0.1 / e is left
    torch.testing.assert_close(restored(model).noise, torch.full_like(SOURCE, 0.1 / math.e), rtol=0.1, atol=0)
    noise = torch.full_like(SOURCE, 0.1)
    monkeypatch.setattr(model.noise_network, "forward", lambda *_, **__: PredictedNoise(noise, 0.8 * noise))
    torch.testing.assert_close(restored(model).noise, 0.8 * noise)


def test_missing_pixels_stay_missing_and_tell_nothing() -> None:
    source = SOURCE.clone()
    source[..., 3, 4] = torch.nan
    found = restored(network(0.1), source)
    assert torch.isnan(found.source[..., 3, 4]).all()
    assert torch.isfinite(found.source).sum() == source.numel() - 1
    assert torch.isfinite(found.noise).all()


def test_it_does_not_matter_where_zero_is_nor_the_unit() -> None:
    model = network(0.1)
    torch.testing.assert_close(correction(model, 5000 + 20 * SOURCE), correction(model), atol=1e-3, rtol=0)


def test_exact_targets_average_back_to_the_source_as_it_was_measured() -> None:
    model = network(0.1)
    with torch.no_grad():
        target = model.run(GUIDE, SOURCE, exact=True).target
    torch.testing.assert_close(graphsr.Sampling((64, 64), (8, 8))(target), SOURCE, atol=1e-5, rtol=0)


@pytest.mark.parametrize("stated", [{"noise": 0.01}, {"noise": "auto"}, {"robust": True}], ids=str)
def test_what_is_stated_of_the_errors_takes_its_place(stated: dict[str, Any]) -> None:
    guide, source = (each[0].permute(1, 2, 0).numpy() for each in (GUIDE, SOURCE))
    restoring, plain = (
        graphsr.upsample(guide, source[..., 0], model=model, **stated).target
        for model in (network(0.1), network(0.1).without_restoration())
    )
    np.testing.assert_array_equal(restoring, plain)


def test_several_channels_are_left_as_they_are() -> None:
    source = torch.cat([SOURCE, images(1, 8, seed=3)], 1)
    assert torch.equal(restored(network(0.1), source).source, source)


@pytest.mark.parametrize("how", [replace(HOW, restoration=-1), replace(HOW, confidence=False)], ids=str)
def test_it_is_so_many_channels_for_a_model_that_predicts_noise(how: Architecture) -> None:
    with pytest.raises(InputError, match="restoration is a number of channels, and needs confidence"):
        GraphSR(how)


def test_frames_whose_errors_are_stated_are_not_restored() -> None:
    frames = [(each[0].permute(1, 2, 0).numpy(), SOURCE[0, 0].numpy()) for each in (GUIDE, GUIDE)]
    runs = [
        [result.target for result in graphsr.upsample_frames(frames, model=model, steady=True, noise=0.01)]
        for model in (network(0.1), network(0.1).without_restoration())
    ]
    restoring, plain = runs
    np.testing.assert_array_equal(np.stack(restoring), np.stack(plain))
    assert not np.array_equal(plain[0], plain[1])  # the second begins at the first
