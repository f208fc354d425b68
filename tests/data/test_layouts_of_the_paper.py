"""The three data sets of the paper: depth, splits, and what is said when a file is wrong."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from graphsr.data import open_pairs
from graphsr.errors import InputError
from tests.data.layouts_on_disk import (
    CALIBRATION,
    DISPARITY,
    LAYOUTS,
    UNKNOWN,
    complaint,
    depth_mm,
    picture,
    write_diml,
    write_middlebury,
    write_nyuv2,
    write_nyuv2_frames,
    write_packed_diml,
    write_precise_nyuv2_frames,
)


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

    def test_depth_in_millimetres_is_taken_where_it_is_there(self, tmp_path: Path) -> None:
        write_precise_nyuv2_frames(tmp_path)
        pairs = {pair.name: pair for pair in open_pairs("nyuv2-frames", tmp_path, "train")}
        assert pairs["nyuv2/12"].step > 0
        assert pairs["nyuv2/7"].step == 0
        np.testing.assert_allclose(pairs["nyuv2/7"].target, (depth_mm(7) + 1) / 1000, rtol=1e-6)
        assert [pair.name for pair in open_pairs("nyuv2-precise", tmp_path, "train")] == ["nyuv2/7"]

    def test_precise_frames_that_are_not_there_are_said(self, tmp_path: Path) -> None:
        write_nyuv2_frames(tmp_path)
        assert complaint("nyuv2-precise", tmp_path).startswith(f"{tmp_path / 'depth16'}: no frames of split 'train'")

    def test_a_frame_without_its_picture_is_named(self, tmp_path: Path) -> None:
        write_nyuv2_frames(tmp_path)
        (tmp_path / "rgb" / "11.jpg").unlink()
        with pytest.raises(InputError, match=r"11\.jpg: no such file"):
            open_pairs("nyuv2-frames", tmp_path, "val")[0]
