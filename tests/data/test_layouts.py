"""Every kind of data set, read from tiny files in its layout on disk."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from graphsr.data import kinds, open_pairs
from graphsr.errors import InputError
from tests.data.layouts_on_disk import LAYOUTS, Layout, complaint, every_layout, every_layout_on_disk


def test_every_kind_is_tested_here() -> None:
    assert {layout.kind for layout in LAYOUTS.values()} == set(kinds())


@every_layout
def test_the_splits_have_their_lengths(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    assert {split: len(open_pairs(layout.kind, tmp_path, split)) for split in layout.lengths} == layout.lengths


@every_layout
def test_a_pair_has_guide_and_target_of_one_size_and_a_unit(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    pair = open_pairs(layout.kind, tmp_path, layout.split)[0]
    assert pair.guide.shape == (*layout.size, 3)
    assert pair.guide.dtype == np.uint8
    assert pair.target.dtype == np.float32
    assert pair.size == layout.size
    assert pair.unit == layout.unit


@every_layout
def test_pairs_can_be_sent_to_another_process(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    pairs = open_pairs(layout.kind, str(tmp_path), layout.split)
    before = pairs[-1]
    sent = pickle.dumps(pairs)
    assert len(sent) < 10_000  # paths, not pixels
    after = pickle.loads(sent)[-1]
    assert after.name == before.name
    np.testing.assert_array_equal(after.guide, before.guide)
    np.testing.assert_array_equal(after.target, before.target)


@every_layout_on_disk
def test_names_tell_the_pairs_apart(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    pairs = open_pairs(layout.kind, tmp_path, layout.split)
    assert len({pair.name for pair in pairs}) == len(pairs)
    with pytest.raises(IndexError):
        pairs[len(pairs)]


@every_layout_on_disk
def test_a_wrong_folder_is_named(layout: Layout, tmp_path: Path) -> None:
    missing = complaint(layout.kind, tmp_path / "absent")
    assert missing.startswith(f"{tmp_path / 'absent'}: no such folder; expected ")
    (tmp_path / "empty").mkdir()
    assert str(tmp_path / "empty") in complaint(layout.kind, tmp_path / "empty")


def test_an_unknown_kind_is_told_the_nearest(tmp_path: Path) -> None:
    assert "did you mean middlebury" in complaint("midlebury", tmp_path)
    assert "did you mean diml?" in complaint("dimll", tmp_path)
    assert "known are diml, flyingthings, folder, gso, hci" in complaint("xyz", tmp_path)


def test_synthetic_scenes_for_validation_are_not_those_for_training(tmp_path: Path) -> None:
    first = {split: open_pairs("synthetic", tmp_path, split)[0] for split in ("train", "val")}
    assert first["train"].name != first["val"].name
    assert not np.array_equal(first["train"].target, first["val"].target)
    assert np.isfinite(first["val"].target).all()


@pytest.mark.parametrize("kind", kinds())
def test_an_unknown_split_is_refused(kind: str, tmp_path: Path) -> None:
    assert "no split is called 'dev': use one of train, val, test" in complaint(kind, tmp_path, "dev")


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind != "folder"])
def test_only_a_folder_can_be_told_what_is_unknown_and_what_is_for_validation(kind: str, tmp_path: Path) -> None:
    for option in ({"missing": 0.0}, {"validation": ("a*",)}):
        with pytest.raises(InputError, match=f"{kind}: says itself what is unknown"):
            open_pairs(kind, tmp_path, "train", **option)


def test_a_set_without_test_pairs_says_so(tmp_path: Path) -> None:
    assert "hci has no split 'test'" in complaint("hci", tmp_path, "test")
