"""Patches across the edges of a source: they show what they should, and look alike whichever way a pair is turned."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.measurements.edge_patches import COLOURS, REACH, descriptions, patches, standardised
from graphsr.measurements.edge_points import edge_points
from tests.measurements.discs import FACTOR, NOMINAL, a_disc, source_of
from tests.measurements.shifted_pairs import placed_pair


def test_colours_are_told_in_standard_deviations_of_the_guide() -> None:
    guide = placed_pair((0.0, 0.0)).guide
    colours = standardised(guide)
    assert colours.shape == (COLOURS, *guide.shape[:2])
    assert np.square(colours).sum(0).mean() == pytest.approx(1, rel=1e-3)
    np.testing.assert_allclose(standardised(guide.astype(np.uint16) * 256), colours, atol=1e-4)
    spread = colours.std((1, 2))
    assert spread[0] > spread[1] > spread[2]


@pytest.mark.parametrize("bands", [1, 2, 7])
def test_a_guide_may_have_any_number_of_bands(bands: int) -> None:
    guide = np.random.default_rng(0).random((12, 14, bands))
    colours = standardised(guide)
    assert colours.shape == (COLOURS, 12, 14)
    assert np.square(colours).sum(0).mean() == pytest.approx(1 if bands <= COLOURS else COLOURS / bands, rel=0.3)


def test_a_flat_guide_is_zero() -> None:
    np.testing.assert_array_equal(standardised(np.full((6, 7, 3), 9.0)), 0)


@pytest.mark.parametrize("ahead", [0.0, 3.0, -2.5])
def test_a_patch_shows_the_edge_where_it_is(ahead: float) -> None:
    disc = a_disc(30.0, 62.0, 47.0)
    points = edge_points(source_of(disc)[None])
    found, _ = patches(standardised(disc[..., None]), points, NOMINAL, np.full(len(points.weights), ahead))
    middle = np.abs(np.diff(found[:, 0, found.shape[2] // 2], axis=1)).argmax(1) - REACH + 0.5
    # The high side is ahead; the edge is behind the middle of a patch that lies ahead of the point. In guide pixels.
    assert np.median(middle) == pytest.approx(-ahead, abs=0.75)
    assert found[:, COLOURS].min() == 1  # all of it lies in the guide


def test_what_lies_outside_the_guide_is_marked() -> None:
    disc = a_disc(30.0, 62.0, 47.0)
    points = edge_points(source_of(disc)[None])
    far = NOMINAL + np.array([[0, 0, 1000.0], [0, 0, 0]])
    found, _ = patches(standardised(disc[..., None]), points, far, np.zeros(len(points.weights)))
    np.testing.assert_array_equal(found, 0)


MIRRORED_AND_TURNED = {
    "mirrored": lambda image: image[:, ::-1],
    "upside down": lambda image: image[::-1],
    "turned": lambda image: np.rot90(image),
    "transposed": lambda image: np.swapaxes(image, 0, 1),
}


@pytest.mark.parametrize("how", MIRRORED_AND_TURNED)
def test_edges_look_alike_whichever_way_the_pair_is_turned(how: str) -> None:
    pair = placed_pair((0.0, 0.0))
    seen = []
    for change in (np.asarray, MIRRORED_AND_TURNED[how]):
        guide, source = np.ascontiguousarray(change(pair.guide)), np.ascontiguousarray(change(pair.source))
        points = edge_points(source[None])
        found, contrast = patches(standardised(guide), points, NOMINAL, np.zeros(len(points.weights)))
        every = [found.reshape(len(found), -1), contrast[:, None], descriptions(points, FACTOR)]
        # In any order; the sign of a principal colour is anything.
        seen.append(np.sort(np.abs(np.concatenate(every, 1)), 0))
    np.testing.assert_allclose(seen[0], seen[1], atol=2e-3)


def test_units_of_the_source_do_not_matter() -> None:
    source = placed_pair((0.0, 0.0)).source
    one, other = (descriptions(edge_points(values[None]), FACTOR) for values in (source, 1e3 * source + 50))
    np.testing.assert_allclose(one, other, atol=1e-4)
