"""What is shown of arrays."""

from __future__ import annotations

import numpy as np
import torch

from graphsr.graph import Edges
from graphsr.viewer.layers import edge_weight_layer, guide_layer, value_layer
from graphsr.viewer.results import colour_scales


def test_numbers_on_a_large_offset_keep_their_digits() -> None:
    heights = 4_000_000.0 + np.arange(12.0).reshape(3, 4) / 1000
    layer = value_layer("target", "Target", heights, (3, 4))
    assert np.abs(layer.values[..., 0].astype(np.float64) + layer.offset - heights).max() < 1e-6


def test_float32_is_shown_as_it_is() -> None:
    values = np.array([[1.25, np.nan], [np.inf, 3]], np.float32)
    layer = value_layer("target", "Target", values, (4, 4))
    assert layer.offset == 0
    assert np.array_equal(np.isnan(layer.values[..., 0]), ~np.isfinite(values))
    assert layer.placement == (2, 0, 0, 0, 2, 0)


def test_a_guide_of_any_channels_is_colours() -> None:
    assert guide_layer(np.zeros((4, 5), np.uint16)).values.shape == (4, 5, 3)
    assert guide_layer(np.zeros((4, 5, 2))).values.dtype == np.float32
    assert guide_layer(np.zeros((4, 5, 7), np.uint8)).values.dtype == np.uint8


def test_of_the_edges_below_and_right_of_a_pixel_the_weaker_one_is_shown() -> None:
    edges = Edges(torch.tensor([[2.0, 5.0, 6.0]]), torch.tensor([[4.0, 3.0], [7.0, 8.0]]))
    assert edge_weight_layer(edges).values[..., 0].tolist() == [[2, 3, 6], [7, 8, 6]]


def test_a_scale_fits_all_layers_that_use_it() -> None:
    low = value_layer("source", "Source", np.full((4, 4), 1e9) + np.eye(4), (4, 4))
    high = value_layer("target", "Target", np.full((4, 4), 1e9 + 5), (4, 4))
    scale = colour_scales((low, high), "mm")["values"]
    ((lowest, highest),) = scale.ranges
    assert 1e9 <= lowest < 1e9 + 1
    assert abs(highest - 1e9 - 5) < 0.1


def test_channels_of_different_quantities_have_ranges_of_their_own() -> None:
    bands = np.stack([np.linspace(0, 1, 16), np.linspace(4000, 5000, 16)], -1).reshape(4, 4, 2)
    layer = value_layer("target", "Target", bands, (4, 4))
    (low, near_one), (near_4000, high) = colour_scales((layer,), "")["values"].ranges
    assert (low < 0.1, near_one < 1.1) == (True, True)
    assert (near_4000 > 3990, high < 5010) == (True, True)
    (together,) = colour_scales((layer,), "", alike=True)["values"].ranges
    assert together[0] < 0.1
    assert together[1] > 4900
