"""Reductions of images, and what a page gets of them."""

from __future__ import annotations

import re

import numpy as np

from graphsr.viewer.page_files import page_files
from graphsr.viewer.pyramid import MISSING, TILE, Pyramid, halved, level_count, packed

_rng = np.random.default_rng(0)


def test_a_level_has_the_means_of_four_pixels() -> None:
    values = _rng.random((6, 8)).astype(np.float32)
    assert np.allclose(halved(values), values.reshape(3, 2, 4, 2).mean((1, 3)))


def test_at_odd_edges_the_mean_is_of_what_is_there() -> None:
    values = np.array([[1, 3, 5], [5, 7, 9], [2, 4, 6]], np.float32)
    assert halved(values).tolist() == [[4, 7], [3, 6]]


def test_missing_values_are_left_out() -> None:
    values = np.array([[1, np.nan, np.nan, np.nan], [3, 5, np.nan, np.nan]], np.float32)
    assert halved(values)[0, 0] == 3
    assert np.isnan(halved(values)[0, 1])


def test_bytes_are_rounded() -> None:
    colours = np.array([[[255, 0, 1], [255, 0, 2]], [[255, 0, 2], [254, 1, 2]]], np.uint8)
    assert halved(colours).tolist() == [[[255, 0, 2]]]


def test_levels_end_with_one_tile() -> None:
    assert level_count((TILE, TILE)) == 1
    assert level_count((TILE + 1, 3)) == 2
    image = Pyramid(np.zeros((3 * TILE, TILE + 5), np.float32))
    assert image.tile(image.count - 1, 0, 0) is not None
    assert image.tile(0, 1, 2).shape == (TILE, 5)
    assert image.tile(0, 2, 0) is None
    assert image.tile(image.count, 0, 0) is None


def test_missing_values_have_a_number_of_their_own() -> None:
    sent = np.frombuffer(packed(np.array([1.5, np.nan], np.float32)), "<f4")
    assert sent.tolist() == [1.5, MISSING]


def test_the_page_reckons_with_the_same_tiles() -> None:
    script = page_files()["pyramid.js"][1].decode()
    assert re.search(r"TILE = (\d+);", script)[1] == str(TILE)
