"""Training of the network that alignments use: samples are what they say, and a few steps learn from them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from graphsr.data import Pair
from graphsr.measurements.edge_likelihood import WEIGHTS
from graphsr.measurements.edge_network import EdgeNetwork
from graphsr.measurements.edge_patches import COLOURS, DESCRIPTION, LINES, REACH
from graphsr.training.alignment import draw_samples, losses, main, train
from graphsr.training.edge_samples import PreparedPair, draw_sample
from tests.data.layouts_on_disk import write_stored
from tests.measurements.shifted_pairs import rendered


@pytest.fixture(scope="module")
def pair() -> PreparedPair:
    scene = rendered(3, 160, 192)
    return PreparedPair.of(Pair("room", scene.guide, scene.depth, "m"))


@pytest.fixture(scope="module")
def a_disc_without_texture() -> PreparedPair:
    row, column = np.indices((160, 192)) + 0.5
    disc = np.clip(50.5 - np.hypot(column - 97, row - 81), 0, 1).astype(np.float32)
    return PreparedPair.of(Pair("disc", (200 * disc[..., None]).astype(np.uint8), 1 + disc, "m"))


def test_the_edge_is_where_the_sample_says(a_disc_without_texture: PreparedPair) -> None:
    rng = np.random.default_rng(0)
    found = [draw_sample(a_disc_without_texture, rng) for _ in range(12)]
    errors = []
    for sample in filter(None, found):
        middle = sample.patches[:, :COLOURS, LINES // 2].diff(dim=2).square().sum(1).argmax(1) - REACH + 0.5
        errors.append(float((middle - sample.offsets).abs().median()))
    # In guide pixels; sources of large factors know their edges less well.
    assert np.median(errors) < 1


def test_a_sample_has_the_shapes_that_the_network_takes(pair: PreparedPair) -> None:
    sample = next(draw_samples([pair], np.random.default_rng(1)))
    count = len(sample.offsets)
    assert sample.patches.shape == (count, COLOURS + 1, LINES, 2 * REACH + 1)
    assert sample.description.shape == (count, DESCRIPTION)
    torch.testing.assert_close(sample.across.norm(dim=1), torch.ones(count))
    assert all(torch.isfinite(tensor).all() for tensor in (sample.patches, sample.contrast, sample.description))


def test_a_pair_without_edges_gives_no_sample() -> None:
    flat = PreparedPair.of(Pair("flat", np.zeros((64, 64, 3), np.uint8), np.ones((64, 64), np.float32), "m"))
    assert draw_sample(flat, np.random.default_rng(0)) is None


def test_a_few_steps_learn(pair: PreparedPair) -> None:
    told = []
    network = train([pair], 12, update=lambda *figures: told.append(figures))
    assert [step for step, _, _ in told] == list(range(1, 13))
    samples = list(islice(draw_samples([pair], np.random.default_rng(2)), 4))
    with torch.no_grad():
        before, after = (torch.stack(losses(each, samples)) for each in (EdgeNetwork(), network))
    assert (after < before).all()


def test_the_weights_of_the_package_know_more_than_none(pair: PreparedPair) -> None:
    samples = list(islice(draw_samples([pair], np.random.default_rng(3)), 4))
    trained = EdgeNetwork()
    trained.load_state_dict({name: tensor.float() for name, tensor in load_file(WEIGHTS).items()})
    with torch.no_grad():
        before, after = (torch.stack(losses(each, samples)) for each in (EdgeNetwork(), trained))
    assert after[0] < before[0] - 0.5
    assert after[1] < 0.5 * before[1]


def test_the_command_writes_weights_that_load(tmp_path: Path) -> None:
    for kind in ("gso", "tartanair"):
        write_stored(tmp_path / kind)
    output = tmp_path / "edges.safetensors"
    main([str(tmp_path), str(output), "--steps", "1", "--scenes", "1"])
    EdgeNetwork().load_state_dict(load_file(output))
