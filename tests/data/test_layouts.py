"""Every kind of data set, read from tiny files in its layout on disk."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

from graphsr import io
from graphsr.data import kinds, open_pairs
from graphsr.errors import InputError

SIZE = (6, 8)
DISPARITY = np.arange(48, dtype=np.uint8).reshape(SIZE)  # one 0, which is unknown
UNKNOWN = DISPARITY == 0
CALIBRATION = "cam0=[3997.684 0 1176.728; 0 3997.684 1011.728; 0 0 1]\ndoffs=131.111\nbaseline=193.001\n"


def picture(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def write(path: Path, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write(path, array)


def write_scene(scene: Path) -> None:
    """A Middlebury scene in the files of its year."""
    new = scene.parent.name == "2014"
    with_infinity = np.where(UNKNOWN, np.inf, DISPARITY).astype(np.float32)
    for place, view in enumerate((0, 1) if new else (1, 5)):
        write(scene / (f"im{view}.png" if new else f"view{view}.png"), picture(place))
        write(scene / (f"disp{view}.pfm" if new else f"disp{view}.png"), with_infinity if new else DISPARITY)
    (scene / ("calib.txt" if new else "dmin.txt")).write_text(CALIBRATION if new else "100\n")


def write_middlebury(root: Path) -> None:
    for name in (
        *("2005/Art", "2005/Moebius", "2005/Reindeer", "2006/Aloe", "2006/Lampshade1", "2006/Bowling2"),
        *("2014/Pipes-perfect", "2014/Pipes-imperfect", "2014/Shelves-perfect", "2014/Motorcycle-perfect"),
    ):
        write_scene(root / name)
    write(root / "2005" / "Dwarves" / "view1.png", picture())  # given out without maps
    (root / "2006" / "readme.txt").write_text("not a scene")


def depth_mm(seed: int) -> np.ndarray:
    depth = np.random.default_rng(seed).integers(1, 9000, SIZE).astype(np.uint16)
    depth[0, 0] = 0
    return depth


def write_diml(root: Path) -> None:
    for scene, count in (("train/HR/cafe", 11), ("train/HR/office", 5), ("test/HR/library", 2)):
        for n in range(count):
            write(root / scene / "color" / f"{n:04}_c.png", picture(n))
            write(root / scene / "depth_filled" / f"{n:04}_depth_filled.png", depth_mm(n))
        (root / scene / "color" / ".hidden").touch()


def write_packed_diml(root: Path) -> None:
    (root / "npy").mkdir(parents=True)
    for split, count in (("train", 3), ("val", 2), ("test", 1)):
        images = np.stack([picture(n).transpose(2, 0, 1) for n in range(count)])
        np.save(root / "npy" / f"images_{split}_HR.npy", images)
        np.save(root / "npy" / f"depth_{split}_HR.npy", np.stack([depth_mm(n) for n in range(count)]))


def write_folder(root: Path, count: int = 12) -> None:
    for n in range(count):
        write(root / "guides" / f"{n:02}.png", picture(n))
        write(root / "targets" / f"{n:02}.npy", DISPARITY.astype(np.float64) + n)


def write_split_folder(root: Path) -> None:
    for split, count in (("train", 3), ("val", 2), ("test", 1)):
        write_folder(root / split, count)


def write_nyuv2(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "split_idc.json").write_text(json.dumps({"train": [4, 0, 2], "val": [1], "test": [3, 3]}))
    with h5py.File(root / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = np.stack([picture(n).transpose(2, 1, 0) for n in range(5)])
        file["depths"] = np.stack([DISPARITY.T / 8.0 + n for n in range(5)]).astype(np.float32)


def write_nyuv2_frames(root: Path) -> None:
    for frame in (7, 11, 12):
        write(root / "rgb" / f"{frame}.jpg", picture(frame))
        write(root / "depth8" / f"{frame}.png", DISPARITY)
    (root / "split.json").write_text(json.dumps({"train": [12, 7], "val": [11], "test": [11]}))


def write_hci(root: Path) -> None:
    for scene in ("antinous", "cotton", "dishes", "dots"):
        write(root / scene / "color.png", picture())
        write(root / scene / "disparity.pfm", (DISPARITY - 20.0).astype(np.float32))


def write_middlebury_views(root: Path) -> None:
    for scene, views in (("2001_bull", (2, 6)), ("2003_teddy", (2,)), ("2003_cones", (2,)), ("2006_Aloe_half", (1, 5))):
        for view in views:
            write(root / scene / f"view{view}.png", picture(view))
            write(root / scene / f"disp{view}.png", DISPARITY)


@dataclass(frozen=True)
class Layout:
    kind: str
    write: Callable[[Path], None]
    lengths: dict[str, int]
    unit: str
    size: tuple[int, int] = SIZE


LAYOUTS = {
    "middlebury": Layout("middlebury", write_middlebury, {"train": 6, "val": 6, "test": 6}, "mm"),
    "diml": Layout("diml", write_diml, {"train": 9 + 4, "val": 2 + 1, "test": 2}, "mm"),
    "diml, packed": Layout("diml", write_packed_diml, {"train": 3, "val": 2, "test": 1}, "mm"),
    "folder": Layout("folder", write_folder, {"train": 10, "val": 2, "test": 12}, ""),
    "folder, split": Layout("folder", write_split_folder, {"train": 3, "val": 2, "test": 1}, ""),
    "nyuv2": Layout("nyuv2", write_nyuv2, {"train": 3, "val": 1, "test": 2}, "m"),
    "nyuv2-frames": Layout("nyuv2-frames", write_nyuv2_frames, {"train": 2, "val": 1, "test": 1}, "m"),
    "hci": Layout("hci", write_hci, {"train": 2, "val": 1}, "px"),
    "middlebury-views": Layout("middlebury-views", write_middlebury_views, {"train": 5, "val": 1}, "px"),
    "synthetic": Layout("synthetic", lambda _: None, {"train": 1_000_000, "val": 100}, "m", (256, 256)),
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
every_layout_on_disk = pytest.mark.parametrize("layout", list(LAYOUTS.values())[:-1], ids=list(LAYOUTS)[:-1])


def complaint(kind: str, root: Path, split: str = "train") -> str:
    with pytest.raises(InputError) as caught:
        open_pairs(kind, root, split)
    return str(caught.value)


def test_every_kind_is_tested_here() -> None:
    assert {layout.kind for layout in LAYOUTS.values()} == set(kinds())


@every_layout
def test_the_splits_have_their_lengths(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    assert {split: len(open_pairs(layout.kind, tmp_path, split)) for split in layout.lengths} == layout.lengths


@every_layout
def test_a_pair_has_guide_and_target_of_one_size_and_a_unit(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    pair = open_pairs(layout.kind, tmp_path, "val")[0]
    assert pair.guide.shape == (*layout.size, 3)
    assert pair.guide.dtype == np.uint8
    assert pair.target.dtype == np.float32
    assert pair.size == layout.size
    assert pair.unit == layout.unit


@every_layout
def test_pairs_can_be_sent_to_another_process(layout: Layout, tmp_path: Path) -> None:
    layout.write(tmp_path)
    pairs = open_pairs(layout.kind, str(tmp_path), "val")
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
    pairs = open_pairs(layout.kind, tmp_path, "train")
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
    assert "known are diml, folder, hci" in complaint("kitti", tmp_path)


class TestMiddlebury:
    def test_depth_of_2006_is_that_of_its_rig(self, tmp_path: Path) -> None:
        write_middlebury(tmp_path)
        pair = open_pairs("middlebury", tmp_path, "train")[3]
        assert pair.name == "middlebury/2006/Aloe/disp5"
        np.testing.assert_array_equal(pair.guide, picture(1))
        np.testing.assert_array_equal(np.isnan(pair.target), UNKNOWN)
        expected = (160 * 3740 / (DISPARITY[~UNKNOWN] + 100.0)).astype(np.float32)
        np.testing.assert_array_equal(pair.target[~UNKNOWN], expected)

    def test_depth_of_2014_is_that_of_its_calibration(self, tmp_path: Path) -> None:
        write_middlebury(tmp_path)
        pair = open_pairs("middlebury", tmp_path, "test")[-2]
        assert pair.name == "middlebury/2014/Motorcycle-perfect/disp0"
        np.testing.assert_array_equal(np.isnan(pair.target), UNKNOWN)
        expected = (3997.684 * 193.001 / (DISPARITY[~UNKNOWN] + 131.111)).astype(np.float32)
        np.testing.assert_array_equal(pair.target[~UNKNOWN], expected)

    @pytest.mark.parametrize(
        "file", ["2005/Art/disp5.png", "2006/Aloe/view1.png", "2006/Aloe/dmin.txt", "2014/Pipes-perfect/calib.txt"]
    )
    def test_a_missing_file_is_named_at_once(self, tmp_path: Path, file: str) -> None:
        write_middlebury(tmp_path)
        (tmp_path / file).unlink()
        assert complaint("middlebury", tmp_path).startswith(f"{tmp_path / file}: no such file")

    def test_a_broken_camera_file_is_named_with_what_it_lacks(self, tmp_path: Path) -> None:
        write_middlebury(tmp_path)
        calibration = tmp_path / "2014" / "Pipes-perfect" / "calib.txt"
        calibration.write_text(CALIBRATION.replace("doffs", "dofs"))
        assert complaint("middlebury", tmp_path).startswith(f"{calibration}: expected a line doffs=NUMBER")
        dmin = tmp_path / "2006" / "Aloe" / "dmin.txt"
        dmin.write_text("many")
        assert complaint("middlebury", tmp_path).startswith(f"{dmin}: expected one whole number")


class TestDIML:
    @pytest.mark.parametrize("layout", ["diml", "diml, packed"])
    def test_depth_is_as_stored_and_0_is_unknown(self, tmp_path: Path, layout: str) -> None:
        LAYOUTS[layout].write(tmp_path)
        pair = open_pairs("diml", tmp_path, "train")[2]
        np.testing.assert_array_equal(pair.guide, picture(2))
        expected = depth_mm(2).astype(np.float32)
        expected[0, 0] = np.nan
        np.testing.assert_array_equal(pair.target, expected)

    def test_the_first_nine_tenths_of_a_scene_are_for_training(self, tmp_path: Path) -> None:
        write_diml(tmp_path)
        assert [pair.name for pair in open_pairs("diml", tmp_path, "val")] == [
            *("diml/cafe/0009", "diml/cafe/0010", "diml/office/0004")
        ]

    @pytest.mark.parametrize("file", ["color/0003_c.png", "depth_filled/0003_depth_filled.png"])
    def test_half_a_pair_is_named_at_once(self, tmp_path: Path, file: str) -> None:
        write_diml(tmp_path)
        (tmp_path / "train" / "HR" / "cafe" / file).unlink()
        assert "0003_depth_filled.png" in complaint("diml", tmp_path)

    def test_packed_arrays_have_to_agree(self, tmp_path: Path) -> None:
        write_packed_diml(tmp_path)
        depths = tmp_path / "npy" / "depth_val_HR.npy"
        np.save(depths, np.zeros((2, 5, 5), np.uint16))
        assert complaint("diml", tmp_path, "val").startswith(f"{depths}: is (2, 5, 5); expected (2, 6, 8)")
        depths.write_bytes(b"no array")
        assert complaint("diml", tmp_path, "val").startswith(f"{depths}: cannot be read")
        depths.unlink()
        assert complaint("diml", tmp_path, "val").startswith(f"{depths}: no such file")


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

    @pytest.mark.parametrize(
        ("guide", "reason"),
        [
            (np.full(SIZE, 7.0), "from 0 to 1"),
            (np.full(SIZE, np.nan), "from 0 to 1"),
            (np.zeros((*SIZE, 2), np.uint8), "has 2 channels"),
        ],
    )
    def test_a_guide_that_is_no_picture_is_refused(self, tmp_path: Path, guide: np.ndarray, reason: str) -> None:
        write(tmp_path / "guides" / "a.npy", guide)
        write(tmp_path / "targets" / "a.png", DISPARITY)
        with pytest.raises(InputError, match=reason):
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

    def test_a_split_without_pairs_is_refused(self, tmp_path: Path) -> None:
        write_folder(tmp_path, 1)
        assert "no pairs of split 'train'" in complaint("folder", tmp_path)

    def test_sizes_that_disagree_are_told(self, tmp_path: Path) -> None:
        write(tmp_path / "guides" / "a.png", picture())
        write(tmp_path / "targets" / "a.npy", np.zeros((3, 4)))
        with pytest.raises(InputError, match=r"/a: the guide is 6 x 8 pixels, but its map 3 x 4"):
            open_pairs("folder", tmp_path, "test")[0]


class TestNYUv2:
    def test_frames_are_turned_upright_in_the_order_of_the_split(self, tmp_path: Path) -> None:
        write_nyuv2(tmp_path)
        pairs = open_pairs("nyuv2", tmp_path, "train")
        assert [pair.name for pair in pairs] == ["nyuv2/4", "nyuv2/0", "nyuv2/2"]
        np.testing.assert_array_equal(pairs[2].guide, picture(2))
        np.testing.assert_array_equal(pairs[2].target, DISPARITY / 8 + 2)

    @pytest.mark.parametrize("content", ["{", "[1, 2]", '{"val": [1]}', '{"train": 3}', '{"train": "12"}'])
    def test_a_broken_split_file_is_named(self, tmp_path: Path, content: str) -> None:
        write_nyuv2(tmp_path)
        write_nyuv2_frames(tmp_path)
        for kind, name in (("nyuv2", "split_idc.json"), ("nyuv2-frames", "split.json")):
            (tmp_path / name).write_text(content)
            assert complaint(kind, tmp_path).startswith(f"{tmp_path / name}: ")

    def test_a_frame_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        write_nyuv2(tmp_path)
        (tmp_path / "split_idc.json").write_text('{"train": [0, 5]}')
        assert complaint("nyuv2", tmp_path).endswith("frame 5 of 'train'; there are 0 to 4")

    def test_another_file_in_its_place_is_named(self, tmp_path: Path) -> None:
        write_nyuv2(tmp_path)
        mat = tmp_path / "nyu_depth_v2_labeled.mat"
        with h5py.File(mat, "a") as file:
            del file["depths"]
            file["depths"] = np.zeros((5, 6, 8))
        assert "expected images (N, 3, W, H) and depths (N, W, H)" in complaint("nyuv2", tmp_path)
        mat.write_bytes(b"MATLAB 5.0 MAT-file")
        assert complaint("nyuv2", tmp_path).startswith(f"{mat}: is not the labelled NYUv2 file")
        mat.unlink()
        assert complaint("nyuv2", tmp_path) == f"{mat}: no such file"

    def test_8_bit_frames_are_metres_in_steps(self, tmp_path: Path) -> None:
        write_nyuv2_frames(tmp_path)
        pair = open_pairs("nyuv2-frames", tmp_path, "train")[0]
        assert pair.name == "nyuv2/12"
        assert pair.step == 9.9955 / 255
        np.testing.assert_allclose(pair.target, (DISPARITY + 0.5) * 9.9955 / 255, rtol=1e-6)

    def test_a_frame_without_its_picture_is_named(self, tmp_path: Path) -> None:
        write_nyuv2_frames(tmp_path)
        (tmp_path / "rgb" / "11.jpg").unlink()
        with pytest.raises(InputError, match=r"11\.jpg: no such file"):
            open_pairs("nyuv2-frames", tmp_path, "val")[0]


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
        with pytest.raises(InputError, match="2003_teddy/disp2: the guide is 6 x 8 pixels, but its map 4 x 8"):
            open_pairs("middlebury-views", tmp_path, "val")[0]


def test_synthetic_scenes_for_validation_are_not_those_for_training(tmp_path: Path) -> None:
    first = {split: open_pairs("synthetic", tmp_path, split)[0] for split in ("train", "val")}
    assert first["train"].name != first["val"].name
    assert not np.array_equal(first["train"].target, first["val"].target)
    assert np.isfinite(first["val"].target).all()


@pytest.mark.parametrize("kind", kinds())
def test_an_unknown_split_is_refused(kind: str, tmp_path: Path) -> None:
    assert "no split is called 'dev': use one of train, val, test" in complaint(kind, tmp_path, "dev")


def test_a_set_without_test_pairs_says_so(tmp_path: Path) -> None:
    assert "hci has no split 'test'" in complaint("hci", tmp_path, "test")
