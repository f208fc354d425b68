"""Pairs of every kind, and solves that are given up."""

from __future__ import annotations

import json
import threading
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphsr
from graphsr.files import Image
from graphsr.files.pair import PairOptions
from graphsr.solver.progress import notify, part
from graphsr.viewer import Session, ViewedPair, write_page
from graphsr.viewer.solving import SolveQueue
from tests.measurements.shifted_pairs import placed_pair

_rng = np.random.default_rng(0)


def solved(guide: np.ndarray, source: np.ndarray, **options: Any) -> Session:
    shown = ViewedPair(Image(guide, Path("guide.npy")), Image(source, Path("source.npy")))
    session = Session(shown, PairOptions(**{"model": "colour", **options}))
    session.solve()
    assert session.wait(180)
    assert session.error == ""
    return session


@pytest.mark.parametrize(
    ("guide", "source", "options"),
    [
        (_rng.random((20, 30)), _rng.random((5, 6)), {}),
        (_rng.random((20, 30, 2)), _rng.random((5, 6, 3)), {}),
        (_rng.integers(0, 60_000, (21, 31, 4), np.uint16), np.full((4, 5), 7, np.int16), {}),
        (_rng.random((20, 30, 3)), np.where(np.eye(4, 5) > 0, np.nan, 3e6 + _rng.random((4, 5))), {}),
        (_rng.random((16, 16, 3)), _rng.random((4, 4)), {"uncertainty": True, "noise": 0.1, "robust": True}),
        (_rng.random((64, 64, 3)), _rng.random((16, 16)), {"align": "affine"}),
        (np.zeros((1, 1)), np.ones((1, 1)), {}),
    ],
    ids=["grey", "channels", "constant", "holes", "sensor", "aligned", "pixel"],
)
def test_any_pair_can_be_shown(guide: np.ndarray, source: np.ndarray, options: dict[str, Any], tmp_path: Path) -> None:
    session = solved(guide, source, **options)
    state = json.loads(json.dumps(session.state(), allow_nan=False))
    assert {layer["name"] for layer in state["layers"]} >= {"guide", "source", "interpolated", "target"}
    for scale in state["scales"].values():
        for low, high in scale["ranges"]:
            assert low < high
            assert low > 0 or not scale["logarithmic"]
    for layer in session.layers():
        assert all(layer.tile(channel, 0, 0, 0) for channel in range(layer.channels))
    assert write_page(session, tmp_path / "page.html") > 100_000


def test_a_target_on_a_large_offset_keeps_its_digits() -> None:
    heights = 4e6 + _rng.random((6, 8))
    session = solved(_rng.random((24, 32, 3)), heights)
    source = next(layer for layer in session.layers() if layer.name == "source")
    assert np.abs(source.values[..., 0].astype(np.float64) + source.offset - heights).max() < 1e-6
    ((low, high),) = session.state()["scales"]["values"]["ranges"]
    assert 4e6 - 1 < low < high < 4e6 + 2


def test_what_a_page_has_no_field_for_stays_as_the_command_said() -> None:
    guide, source = _rng.random((24, 32, 3)), _rng.random((6, 8))
    session = solved(guide, source, rtol=1e-6)
    for model in ("bicubic", "colour"):  # another one, and the first again
        session.solve_from_page({"model": model})
        assert session.wait(180)
    target = next(layer for layer in session.layers() if layer.name == "target").values[..., 0]
    fine, usual = (graphsr.upsample(guide, source, model="colour", rtol=rtol).target for rtol in (1e-6, None))
    assert np.array_equal(target, fine)
    assert not np.array_equal(target, usual)


def test_a_source_that_was_moved_is_shown_where_it_lies() -> None:
    pair = placed_pair((3.0, -2.0), source_size=(48, 56))
    session = solved(pair.guide, pair.source, model="default")
    moved = next(layer for layer in session.layers() if layer.name == "source").placement
    session.solve_from_page({"model": "default", "align": "none"})
    assert session.wait(180)
    left = next(layer for layer in session.layers() if layer.name == "source").placement
    assert (moved[2] - left[2], moved[5] - left[5]) == pytest.approx((3.0, -2.0), abs=0.5)


class TestQueue:
    def test_a_new_solve_ends_the_one_that_runs(self) -> None:
        began, done, failures = threading.Event(), [], []

        def solve(options: PairOptions) -> None:
            if options.noise is None:
                began.set()
                for iterations in count(8, 8):  # for ever, unless it is ended
                    notify(iterations, 10.0)
            done.append(options.noise)

        queue = SolveQueue(solve, failures.append)
        queue.submit(PairOptions())
        assert began.wait(10)
        queue.submit(PairOptions(noise=1.0))
        assert queue.wait(10)
        assert done == [1.0]
        assert failures == []
        assert queue.progress is None

    def test_a_solve_can_be_given_up(self) -> None:
        began, failures = threading.Event(), []

        def solve(options: PairOptions) -> None:
            began.set()
            for iterations in count(8, 8):
                notify(iterations, 10.0)

        queue = SolveQueue(solve, failures.append)
        queue.submit(PairOptions())
        assert began.wait(10)
        queue.cancel()
        assert queue.wait(10)
        assert failures == []


def test_the_page_hears_of_an_uncertainty_how_far_all_of_it_is() -> None:
    told: list[dict[str, Any]] = []

    def solve(options: PairOptions) -> None:
        with part(0.5, 1.0, "uncertainty"):
            for iterations, error in ((8, 100.0), (16, 10.0)):
                notify(iterations, error)
                assert queue.progress is not None
                told.append(queue.progress.as_json())

    queue = SolveQueue(solve, lambda error: told.append({"error": error}))
    queue.submit(PairOptions())
    assert queue.wait(10)
    assert [(one["message"], one["fraction"]) for one in told] == [
        ("uncertainty: iteration 8", 0.5),
        ("uncertainty: iteration 16", 0.75),
    ]
