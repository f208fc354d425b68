"""Confidences: masks, fractions and weights, each read as what it means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphsr import InputError
from graphsr.files import read_confidence, write_image
from graphsr.files.confidence import confidence_number


@pytest.mark.parametrize(
    ("stored", "meant"),
    [
        (np.array([[0, 255, 51]], np.uint8), [[0, 1, 0.2]]),
        (np.array([[0, 65535, 13107]], np.uint16), [[0, 1, 0.2]]),
        (np.array([[0, 1, 1]], np.uint8), [[0, 1, 1]]),
        (np.array([[0.0, 0.25, 1.0]], np.float32), [[0, 0.25, 1]]),
        (np.array([[np.nan, 0.25, 1.0]], np.float64), [[0, 0.25, 1]]),
        (np.array([[[0.0], [0.5], [1.0]]], np.float32), [[0, 0.5, 1]]),
    ],
)
def test_a_confidence_is_read_as_what_it_means(tmp_path: Path, stored: np.ndarray, meant: list[list[float]]) -> None:
    write_image(tmp_path / "confidence.npy", stored)
    np.testing.assert_allclose(read_confidence(tmp_path / "confidence.npy", (1, 3)), meant, rtol=1e-6)


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        (np.array([[0, 1, 2]], np.uint8), "parts of 255, and the largest is 2; if that is meant to be full"),
        (np.array([[0, 100, 255]], np.uint16), "parts of 65535, and the largest is 255"),
        (np.array([[0.0, 0.5, 7.0]], np.float32), "lies between 0 and 1; the file holds 7"),
        (np.array([[0.0, -0.5, 1.0]], np.float32), "lies between 0 and 1; the file holds -0.5"),
    ],
)
def test_what_could_mean_two_things_is_refused(tmp_path: Path, stored: np.ndarray, says: str) -> None:
    write_image(tmp_path / "confidence.npy", stored)
    with pytest.raises(InputError, match=says):
        read_confidence(tmp_path / "confidence.npy", (1, 3))


def test_a_number_may_stand_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert confidence_number("1e-3") == 1e-3
    assert confidence_number("confidence.png") is None
    assert confidence_number(None) is None
    (tmp_path / "0.5").touch()
    assert confidence_number("0.5") is None


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "nan", "255"])
def test_a_number_that_is_no_confidence_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"--confidence {text}: one number for all source pixels must be above 0"):
        confidence_number(text)
