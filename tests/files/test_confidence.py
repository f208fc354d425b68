"""Confidences: masks, fractions and weights, each read as what it means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphsr.files import read_confidence, write_image


@pytest.mark.parametrize(
    ("stored", "meant"),
    [
        (np.array([[0, 255, 51]], np.uint8), [[0, 1, 0.2]]),
        (np.array([[0, 65535, 13107]], np.uint16), [[0, 1, 0.2]]),
        (np.array([[0, 1, 1]], np.uint8), [[0, 1, 1]]),
        (np.array([[0.0, 0.25, 7.0]], np.float32), [[0, 0.25, 7]]),
        (np.array([[np.nan, 0.25, 1.0]], np.float64), [[0, 0.25, 1]]),
        (np.array([[[0.0], [0.5], [1.0]]], np.float32), [[0, 0.5, 1]]),
    ],
)
def test_a_confidence_is_read_as_what_it_means(tmp_path: Path, stored: np.ndarray, meant: list[list[float]]) -> None:
    write_image(tmp_path / "confidence.npy", stored)
    np.testing.assert_allclose(read_confidence(tmp_path / "confidence.npy", (1, 3)), meant, rtol=1e-6)
