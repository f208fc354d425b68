"""Plain folders, HCI scenes and single Middlebury views."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphsr.data import open_pairs
from graphsr.errors import InputError
from tests.data.layouts_on_disk import (
    DISPARITY,
    SIZE,
    UNKNOWN,
    complaint,
    depth_mm,
    picture,
    write,
    write_folder,
    write_hci,
    write_middlebury_views,
    write_split_folder,
    write_stored,
)


class TestFolder:
    def test_a_target_is_as_stored_and_only_nan_is_unknown(self, tmp_path: Path) -> None:
        target = DISPARITY.astype(np.float32)
        target[1, 2], target[3, 4] = np.nan, np.inf
        write(tmp_path / "guides" / "a.png", picture())
        write(tmp_path / "targets" / "a.tif", target)
        target[3, 4] = np.nan  # no measurement either
        np.testing.assert_array_equal(open_pairs("folder", tmp_path, "test")[0].target, target)

    def test_every_tenth_pair_is_for_validation(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        names = [pair.name.split("/")[1] for pair in open_pairs("folder", tmp_path, "val")]
        assert names == ["00", "10"]
        assert open_pairs("folder", tmp_path, "train")[0].name == f"{tmp_path.name}/01"

    def test_guides_of_any_depth_become_8_bit_colour(self, tmp_path: Path) -> None:
        as_bytes = picture()
        guides = {
            "a.png": as_bytes,
            "b.tif": as_bytes.astype(np.uint16) * 257,
            "c.npy": as_bytes / 255.0,
            "d.png": as_bytes[..., 0],
        }
        for name, guide in guides.items():
            write(tmp_path / "guides" / name, guide)
            write(tmp_path / "targets" / f"{name[0]}.pfm", DISPARITY.astype(np.float32))
        *colour, grey = open_pairs("folder", tmp_path, "test")
        for pair in colour:
            np.testing.assert_array_equal(pair.guide, as_bytes)
        np.testing.assert_array_equal(grey.guide, np.repeat(as_bytes[..., :1], 3, 2))

    def test_a_guide_that_is_not_finite_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "guides" / "a.npy", np.full(SIZE, np.nan))
        write(tmp_path / "targets" / "a.png", DISPARITY)
        with pytest.raises(InputError, match=r"a\.npy: holds values that are not finite"):
            open_pairs("folder", tmp_path, "test")[0]

    def test_a_colour_target_is_refused_and_a_grey_one_stored_as_colour_is_not(self, tmp_path: Path) -> None:
        for name, target in (("a", picture()), ("b", np.repeat(DISPARITY[..., None], 3, 2))):
            write(tmp_path / "guides" / f"{name}.png", picture())
            write(tmp_path / "targets" / f"{name}.png", target)
        pairs = open_pairs("folder", tmp_path, "test")
        with pytest.raises(InputError, match="3 different channels"):
            pairs[0]
        np.testing.assert_array_equal(pairs[1].target, DISPARITY)

    def test_the_first_few_missing_halves_are_named(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        for n in range(5):
            (tmp_path / "targets" / f"{n:02}.npy").unlink()
        message = complaint("folder", tmp_path)
        assert message.startswith(f"no target of the same name for {tmp_path / 'guides' / '00.png'}, ")
        assert message.endswith("02.png and 2 more")
        write(tmp_path / "targets" / "extra.npy", DISPARITY)
        for n in range(5):
            (tmp_path / "guides" / f"{n:02}.png").unlink()
        target = tmp_path / "targets" / "extra.npy"
        assert complaint("folder", tmp_path) == f"no guide of the same name for {target}"

    def test_a_name_that_occurs_twice_is_refused(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        write(tmp_path / "guides" / "03.jpg", picture())
        assert "03.png: there is also 03.jpg" in complaint("folder", tmp_path)

    def test_one_pair_is_for_training_and_for_validation_and_says_so(self, tmp_path: Path) -> None:
        write_folder(tmp_path, 1)
        assert [len(open_pairs("folder", tmp_path, split)) for split in ("train", "val", "test")] == [1, 1, 1]
        assert open_pairs("folder", tmp_path, "train").notes == ()
        (note,) = open_pairs("folder", tmp_path, "val").notes
        assert note == f"{tmp_path}: there is one pair, so it is used for training and for validation"

    def test_patterns_say_what_is_for_validation(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        names = {
            split: [pair.name[-2:] for pair in open_pairs("folder", tmp_path, split, validation=("1?", "03"))]
            for split in ("train", "val")
        }
        assert names == {"train": ["00", "01", "02", "04", "05", "06", "07", "08", "09"], "val": ["03", "10", "11"]}

    def test_without_a_pattern_nothing_is_for_validation(self, tmp_path: Path) -> None:
        write_folder(tmp_path)
        assert len(open_pairs("folder", tmp_path, "train", validation=())) == 12
        with pytest.raises(InputError, match=r"no pairs of split 'val'$"):
            open_pairs("folder", tmp_path, "val", validation=())

    def test_patterns_beside_folders_for_the_splits_are_refused(self, tmp_path: Path) -> None:
        write_split_folder(tmp_path)
        with pytest.raises(InputError, match="has folders for the splits"):
            open_pairs("folder", tmp_path, "val", validation=("a*",))

    def test_what_is_missing_can_be_said(self, tmp_path: Path) -> None:
        write(tmp_path / "guides" / "a.png", picture())
        write(tmp_path / "targets" / "a.png", DISPARITY)
        pair = open_pairs("folder", tmp_path, "test", missing=0)[0]
        np.testing.assert_array_equal(pair.target, np.where(UNKNOWN, np.nan, DISPARITY))
        assert pair.notes == ()

    def test_zeros_that_look_like_holes_are_noted(self, tmp_path: Path) -> None:
        depth = np.where(UNKNOWN, 0, 5000 + DISPARITY.astype(np.uint16)).astype(np.uint16)
        write(tmp_path / "guides" / "a.png", picture())
        write(tmp_path / "targets" / "a.png", depth)
        (note,) = open_pairs("folder", tmp_path, "test")[0].notes
        assert note.endswith(
            "a.png: 2.1% of the values are 0; if 0 means no measurement, say so with --missing 0 or missing = 0"
        )
        assert open_pairs("folder", tmp_path, "test", missing=0)[0].notes == ()

    def test_sources_of_a_sensor_are_read_beside_the_targets(self, tmp_path: Path) -> None:
        write_folder(tmp_path, 2)
        for name in ("00", "01"):
            write(tmp_path / "sources" / f"{name}.png", np.array([[0, 2, 3]], np.uint16))
        pair = open_pairs("folder", tmp_path, "test", missing=0)[1]
        assert pair.source is not None
        np.testing.assert_array_equal(pair.source, [[np.nan, 2, 3]])
        (tmp_path / "sources" / "01.png").unlink()
        with pytest.raises(InputError, match=r"no source of the same name for .*01\.npy"):
            open_pairs("folder", tmp_path, "test")

    def test_sizes_that_disagree_are_told(self, tmp_path: Path) -> None:
        write(tmp_path / "guides" / "a.png", picture())
        write(tmp_path / "targets" / "a.npy", np.zeros((3, 4)))
        with pytest.raises(InputError, match=r"/a: the guide is 8 pixels wide and 6 high, but its map 4 and 3"):
            open_pairs("folder", tmp_path, "test")[0]


class TestPublicFolders:
    @pytest.mark.parametrize(("kind", "divisor"), [("gso", 2000), ("sintel", 64), ("taskonomy", 512), ("replica", 1)])
    def test_values_are_divided_by_what_they_are_stored_times(self, tmp_path: Path, kind: str, divisor: int) -> None:
        write_stored(tmp_path)
        expected = (depth_mm(1) / divisor).astype(np.float32)
        if kind in ("taskonomy", "replica"):
            expected[0, 0] = np.nan
        pair = open_pairs(kind, tmp_path, "test")[0]
        np.testing.assert_allclose(pair.target, expected, rtol=1e-6)
        assert pair.notes == ()

    def test_scenes_left_out_of_training_are_named(self, tmp_path: Path) -> None:
        write_stored(tmp_path)
        names = [pair.name.split("/")[1] for pair in open_pairs("sintel", tmp_path, "val")]
        assert names == ["alley_1_0001", "cave_4_0001"]
        for kind in ("taskonomy", "replica", "middlebury2014", "flyingthings"):
            assert complaint(kind, tmp_path) == f"{tmp_path}: no pairs of split 'train'"
        assert complaint("tartanair", tmp_path, "val") == f"{tmp_path}: no pairs of split 'val'"


class TestHCI:
    def test_disparity_is_as_stored_and_patterns_are_left_out(self, tmp_path: Path) -> None:
        write_hci(tmp_path)
        pairs = open_pairs("hci", tmp_path, "train")
        assert [pair.name for pair in pairs] == ["hci/antinous", "hci/cotton"]
        np.testing.assert_array_equal(pairs[0].target, DISPARITY - 20.0)
        assert [pair.name for pair in open_pairs("hci", tmp_path, "val")] == ["hci/dishes"]

    def test_a_missing_picture_is_named(self, tmp_path: Path) -> None:
        write_hci(tmp_path)
        (tmp_path / "dishes" / "color.png").unlink()
        with pytest.raises(InputError, match=r"color\.png: no such file"):
            open_pairs("hci", tmp_path, "val")[0]


class TestMiddleburyViews:
    @pytest.mark.parametrize(("split", "number", "times"), [("train", 0, 8), ("val", 0, 4), ("train", 4, 1)])
    def test_disparity_is_divided_by_what_it_is_stored_times(
        self, tmp_path: Path, split: str, number: int, times: int
    ) -> None:
        write_middlebury_views(tmp_path)
        pair = open_pairs("middlebury-views", tmp_path, split)[number]
        assert pair.step == 1 / times
        np.testing.assert_array_equal(pair.target, np.where(UNKNOWN, np.nan, DISPARITY / times))

    def test_a_map_without_its_view_is_named_at_once(self, tmp_path: Path) -> None:
        write_middlebury_views(tmp_path)
        (tmp_path / "2001_bull" / "view6.png").unlink()
        assert complaint("middlebury-views", tmp_path).startswith(f"{tmp_path / '2001_bull' / 'disp6.png'}: has no")

    def test_sizes_that_disagree_are_told(self, tmp_path: Path) -> None:
        write_middlebury_views(tmp_path)
        write(tmp_path / "2003_teddy" / "disp2.png", DISPARITY[:4])
        with pytest.raises(InputError, match="2003_teddy/disp2: the guide is 8 pixels wide and 6 high, but its map 8"):
            open_pairs("middlebury-views", tmp_path, "val")[0]
