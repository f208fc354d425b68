"""graphsr raster: a Cloud-Optimised GeoTIFF on the guide's grid that says of itself what the source said."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import tifffile
from click.testing import CliRunner
from rasterio.errors import NotGeoreferencedWarning
from rasterio.rio.main import main_group
from rasterio.transform import Affine, from_origin

from graphsr.raster.pair import open_pair
from tests.raster.made_rasters import averages, pair_of_files, picture, relief, write

COLOUR = ("--model", "colour")


def result_of(command, guide, source, out: Path, *more: object) -> rasterio.DatasetReader:
    code, _, err = command(guide, source, "-o", out, *COLOUR, *more)
    assert code == 0, err
    assert not out.with_name(out.name + ".tiles").exists()
    return rasterio.open(out)


class TestWhatIsCarriedOver:
    def test_grid_type_nodata_names_and_tags(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, bands=3, nodata=0)
        with rasterio.open(source, "r+") as raster:
            raster.descriptions = ("B5", "B6", "B7")
            raster.units = ("reflectance", "", "")
            raster.scales, raster.offsets = (1e-4,) * 3, (-0.1,) * 3
            raster.update_tags(SENSOR="MSI", STATISTICS_MEAN="7")
            raster.update_tags(2, wavelength="740", STATISTICS_MAXIMUM="9")
        with result_of(command, guide, source, tmp_path / "out.tif") as out, rasterio.open(guide) as fine:
            assert (out.crs, out.transform, out.shape) == (fine.crs, fine.transform, fine.shape)
            assert out.dtypes == ("uint16",) * 3
            assert out.nodata == 0
            assert out.descriptions == ("B5", "B6", "B7")
            assert out.units[0] == "reflectance"
            assert out.scales == (1e-4,) * 3
            assert out.offsets == (-0.1,) * 3
            assert out.tags()["SENSOR"] == "MSI"
            assert out.tags(2)["wavelength"] == "740"
            assert not [key for key in (*out.tags(), *out.tags(2)) if key.startswith("STATISTICS")]

    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
    def test_the_type_is_that_of_the_source(self, command, tmp_path, dtype):
        guide, source = pair_of_files(tmp_path, size=(64, 64), source_size=(8, 8), dtype=dtype)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            assert out.dtypes == (dtype,)

    @pytest.mark.parametrize("crs", ["EPSG:32633", "EPSG:3035", "EPSG:4326", None])
    def test_any_reference_system(self, command, tmp_path, crs):
        guide, source = pair_of_files(tmp_path, size=(64, 64), source_size=(8, 8), crs=crs)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            assert out.crs == crs

    @pytest.mark.parametrize("kind", ["uint8", "uint16", "float32"])
    def test_guides_of_any_depth_give_the_same(self, command, tmp_path, kind):
        guide, source = pair_of_files(tmp_path, dtype="float32")
        with result_of(command, guide, source, tmp_path / "plain.tif") as out:
            expected = out.read(1)
        with rasterio.open(guide) as fine:
            values, place = fine.read().astype(np.float64), fine.transform
        factor = {"uint8": 1, "uint16": 200, "float32": 1 / 255}[kind]
        write(guide, (values * factor).astype(kind), place)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            np.testing.assert_allclose(out.read(1), expected, rtol=0, atol=1e-3 * expected.std())


class TestTheFile:
    def test_is_a_valid_cloud_optimised_geotiff(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, size=(1100, 600), source_size=(138, 75))
        out = tmp_path / "out.tif"
        with result_of(command, guide, source, out) as raster:
            assert raster.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
            assert raster.block_shapes == [(512, 512)]
            assert raster.compression.name == "deflate"
            assert raster.overviews(1) == [2, 4]
        with tifffile.TiffFile(out) as file:
            # The rules of the format: directories first and in order of size, then data from the coarsest level on.
            pages = [page.aspage() for page in file.pages]
            sides = [page.imagelength for page in pages]
            directories = [page.offset for page in pages]
            data = [page.dataoffsets[0] for page in pages]
        assert sides == sorted(sides, reverse=True)
        assert directories == sorted(directories)
        assert data == sorted(data, reverse=True)
        assert max(directories) < min(data)

    def test_the_summary_says_what_was_done(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, bands=2)
        code, text, _ = command(guide, source, "-o", tmp_path / "out.tif", *COLOUR, "--tile", 64)
        assert code == 0
        assert f"{guide}, 150 x 120, 3 bands" in text
        assert f"{source}, 20 x 15, 2 bands, uint16" in text
        assert "8 x 8" in text
        assert "6 of about 64 pixels, 206 read around each" in text
        assert "megapixels a second" in text
        assert "switched off" not in text

    def test_the_summary_says_how_many_outliers_were_switched_off(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        with rasterio.open(source, "r+") as raster:
            values = raster.read()
            values[0, 7, 9] += 20_000
            raster.write(values)
        code, text, err = command(guide, source, "-o", tmp_path / "out.tif", *COLOUR, "--robust", "--tile", 64)
        assert code == 0, err
        assert "outliers   1 source pixel switched off" in text

    def test_bands_can_be_chosen(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, bands=3)
        more = ("--band", 3, "--band", 1, "--guide-band", 2)
        with result_of(command, guide, source, tmp_path / "out.tif", *more) as out:
            assert out.count == 2
            back = averages(out.read().astype(float), open_pair(guide, source).grid)
        expected = relief((15, 20), bands=3)[[2, 0]]
        assert np.abs(back - expected[..., :19]).max() < 0.05 * expected.std()


def height_at(place: Affine, size: tuple[int, int]) -> np.ndarray:
    """A plane in map coordinates, at the centres of the pixels."""
    x = place.c + place.a * (np.arange(size[1]) + 0.5)
    y = place.f + place.e * (np.arange(size[0]) + 0.5)
    return 0.01 * (x[None, :] - 5e5) - 0.02 * (y[:, None] - 4e6)


class TestWhereTheSourceLies:
    @pytest.mark.slow
    @pytest.mark.parametrize("metres", [20.0, 75.0, 80.0, 130.0])
    @pytest.mark.parametrize("shift", [(0.0, 0.0), (-33.0, 21.0), (-40.0, -80.0)])
    def test_by_the_two_geotransforms(self, command, tmp_path, metres, shift):
        """The source is a plane in map coordinates, so the target must be that plane, wherever the corners are."""
        guide = write(tmp_path / "guide.tif", picture((130, 150)).astype(np.uint8), from_origin(5e5, 4e6, 10, 10))
        count = int(1700 / metres) + 2
        place = from_origin(5e5 + shift[1], 4e6 - shift[0], metres, metres)
        plane = height_at(place, (count, count))
        source = write(tmp_path / "source.tif", plane[None].astype(np.float32), place)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            target = out.read(1, masked=True).filled(np.nan)
            expected = height_at(out.transform, (130, 150))
        inside = np.isfinite(target)
        assert inside.mean() > 0.9
        # Inside a field the graph prefers it flat, so it is the averages that tell.
        grid = open_pair(guide, source).grid
        found, wanted = (averages(values[None], grid) for values in (np.where(inside, target, expected), expected))
        assert np.abs(found - wanted)[:, 1:-1, 1:-1].max() < 1e-3 * metres

    def test_partial_overlap_gives_nodata_outside(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, source_size=(10, 10), shift=(160.0, -240.0), dtype="float32")
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            target = out.read(1)
            assert np.isnan(out.nodata)
        valid = np.zeros((120, 150), bool)
        valid[16:96, :56] = True
        assert (np.isfinite(target) == valid).all()


def test_bands_of_different_types_come_out_in_one_that_holds_both(command, tmp_path):
    guide, _ = pair_of_files(tmp_path, source_size=(15, 19), dtype="float32")
    write(tmp_path / "small.tif", relief((15, 19)).clip(0, 255).astype(np.uint8), from_origin(5e5, 4e6, 80, 80))
    both = tmp_path / "both.vrt"
    band = (
        '<VRTRasterBand dataType="{}" band="{}"><SimpleSource><SourceFilename relativeToVRT="1">{}</SourceFilename>'
        "<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>"
    )
    both.write_text(
        '<VRTDataset rasterXSize="19" rasterYSize="15"><GeoTransform>500000, 80, 0, 4000000, 0, -80</GeoTransform>'
        + band.format("Byte", 1, "small.tif") + band.format("Float32", 2, "source.tif") + "</VRTDataset>"
    )  # fmt: skip
    with result_of(command, guide, both, tmp_path / "out.tif") as out:
        assert out.dtypes == ("float32", "float32")
        assert np.isfinite(out.read()[:, :, :152]).all()


class TestHoles:
    def holed(self, tmp_path: Path, dtype: str = "uint16", **profile: Any) -> tuple[Path, Path]:
        guide, source = pair_of_files(tmp_path, source_size=(15, 19), dtype=dtype, **profile)
        with rasterio.open(source, "r+") as raster:
            values = raster.read(1)
            values[4:7, 5:9] = 0
            raster.write(values, 1)
        return guide, source

    def test_stay_holes(self, command, tmp_path):
        guide, source = self.holed(tmp_path, nodata=0)
        with result_of(command, guide, source, tmp_path / "out.tif", "--tile", 48) as out:
            hole = out.read_masks(1) == 0
        assert hole[32:56, 40:72].all()
        assert hole.sum() == 24 * 32

    @pytest.mark.parametrize("dtype", ["uint16", "float32"])
    def test_that_nobody_declared_are_suspected(self, command, tmp_path, dtype):
        guide, source = self.holed(tmp_path, dtype)
        wanted = guide, source, "-o", tmp_path / "out.tif", *COLOUR
        code, _, err = command(*wanted)
        assert code == 0
        assert "of the values are 0; if 0 means no measurement, add --nodata 0" in " ".join(err.split())
        code, _, err = command(*wanted, "--nodata", 0, "--overwrite")
        assert code == 0
        assert "of the values are 0" not in err

    def test_are_filled_when_asked(self, command, tmp_path):
        guide, source = self.holed(tmp_path, nodata=0)
        with result_of(command, guide, source, tmp_path / "out.tif", "--fill") as out:
            filled = out.read(1)[32:56, 40:72]
            assert (out.read_masks(1) > 0).all()
        around = relief((15, 19))[0, 3:8, 4:10]
        assert around.min() - 50 < filled.min() <= filled.max() < around.max() + 50

    def test_no_value_becomes_nodata_by_rounding(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, source_size=(15, 19), nodata=0)
        with rasterio.open(source, "r+") as raster:
            values = np.ones((15, 19), np.uint16)
            values[4:7, 5:9] = 3
            raster.write(values, 1)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            assert out.read(1).min() == 1

    def test_in_a_type_without_nodata_a_value_is_asked_for(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, source_size=(10, 10))
        out = tmp_path / "out.tif"
        code, _, err = command(guide, source, "-o", out, *COLOUR)
        assert code == 2
        assert "choose one by --nodata VALUE" in err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["guide.tif", "source.tif"]
        with result_of(command, guide, source, out, "--nodata", 65535) as raster:
            assert raster.nodata == 65535
            assert (raster.read(1)[80:] == 65535).all()

    @pytest.mark.parametrize(("dtype", "value"), [("uint16", 0), ("float32", -9999.0), ("float32", -3.4028235e38)])
    def test_a_value_named_as_nodata_is_one_in_the_source_too(self, command, tmp_path, dtype, value):
        guide, source = pair_of_files(tmp_path, source_size=(15, 19), dtype=dtype)
        with rasterio.open(source, "r+") as raster:
            values = raster.read(1)
            values[4:7, 5:9] = value
            raster.write(values, 1)
        with result_of(command, guide, source, tmp_path / "out.tif", "--nodata", value) as out:
            hole = out.read_masks(1) == 0
            assert out.read(1)[~hole].min() > 50
        assert hole[32:56, 40:72].all()
        assert hole.sum() == 24 * 32

    def test_a_nodata_value_that_the_type_cannot_hold_is_refused(self, command, tmp_path):
        guide, source = self.holed(tmp_path, dtype="float32")
        code, _, err = command(guide, source, "-o", tmp_path / "out.tif", *COLOUR, "--nodata", 1e40)
        assert code == 2
        assert "nodata 1e+40 does not fit float32" in err

    def test_nan_in_a_guide_needs_a_nodata_value_too(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, source_size=(15, 19), guide_type="float32")
        assert command(guide, source, "-o", tmp_path / "fine.tif", *COLOUR)[0] == 0
        with rasterio.open(guide, "r+") as raster:
            values = raster.read(1)
            values[50:60, 50:60] = np.nan
            raster.write(values, 1)
        code, _, err = command(guide, source, "-o", tmp_path / "out.tif", *COLOUR)
        assert code == 2
        assert "holds NaN" in err
        assert "choose one by --nodata VALUE" in err
        assert not (tmp_path / "out.tif").exists()

    def test_masked_guide_pixels_get_no_value(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, dtype="float32")
        with rasterio.open(guide, "r+") as raster:
            raster.nodata = 255
            values = raster.read()
            values[values == 255] = 254
            values[:, 10:20, 10:30] = 255
            raster.write(values)
        with result_of(command, guide, source, tmp_path / "out.tif") as out:
            missing = np.isnan(out.read(1))
        assert missing[10:20, 10:30].all()
        assert missing.sum() == 200


class TestMistakes:
    def complaint(self, command, tmp_path: Path, *arguments: object) -> str:
        before = sorted(path.name for path in tmp_path.iterdir())
        code, out, err = command(*arguments)
        assert code == 2
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return err

    def test_another_reference_system_is_refused_with_a_command_that_mends_it(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, dtype="float32", source_size=(20, 24), shift=(-160.0, -160.0))
        moved, out = tmp_path / "moved.tif", tmp_path / "out.tif"
        runner = CliRunner()
        made = runner.invoke(main_group, ["warp", str(source), str(moved), "--dst-crs", "EPSG:3035"])
        assert made.exit_code == 0, made.output
        err = self.complaint(command, tmp_path, guide, moved, "-o", out)
        assert "EPSG:3035" in err
        assert "EPSG:32633" in err
        words = err[err.index("rio warp") :].split()[1:]
        words[2] = str(tmp_path / words[2])
        mended = runner.invoke(main_group, words)
        assert mended.exit_code == 0, mended.output
        with result_of(command, guide, words[2], out) as raster:
            assert np.isfinite(raster.read(1)).mean() > 0.5

    def test_a_rotated_grid_is_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        write(source, relief((15, 20)), Affine(80, 5, 5e5, 5, -80, 4e6))
        assert "its grid is rotated" in self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif")

    def test_a_flipped_grid_is_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        write(source, relief((15, 20)), Affine(80, 0, 5e5, 0, 80, 4e6 - 1200))
        assert "runs the other way" in self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif")

    def test_rasters_that_do_not_overlap_are_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, shift=(1e5, 0.0))
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif")
        assert f"{guide}, {source}: guide and source do not overlap" in err

    def test_a_source_finer_than_the_guide_is_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        assert "swapped" in self.complaint(command, tmp_path, source, guide, "-o", tmp_path / "o.tif")

    def test_files_that_do_not_say_where_they_lie_are_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        values = relief((15, 20)).astype(np.uint16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            write(source, values, Affine.identity(), crs=None)
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif")
        assert f"{source}: does not say where it lies" in err

    @pytest.mark.parametrize("option", ["--band", "--guide-band"])
    def test_a_band_that_is_not_there_is_named(self, command, tmp_path, option):
        guide, source = pair_of_files(tmp_path)
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif", option, 7)
        assert "has no band 7" in err

    def test_missing_and_foreign_files_are_named(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        absent = tmp_path / "absent.tif"
        assert f"{absent}: no such file" in self.complaint(command, tmp_path, guide, absent, "-o", tmp_path / "o.tif")
        source.write_bytes(b"not a raster")
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif")
        assert f"{source}: cannot be read as a raster" in err

    def test_a_damaged_file_is_named(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        guide.write_bytes(guide.read_bytes()[: guide.stat().st_size // 2])
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif", *COLOUR)
        assert f"{guide}: cannot be read" in err

    def test_an_output_that_is_an_input_or_no_geotiff_is_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        assert "would overwrite an input" in self.complaint(command, tmp_path, guide, source, "-o", source)
        assert "suffix .tif" in self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "out.png")

    @pytest.mark.parametrize("option", ["-o", "--uncertainty"])
    def test_a_confidence_is_an_input_that_is_not_overwritten(self, command, tmp_path, option):
        guide, source = pair_of_files(tmp_path)
        confidence = tmp_path / "confidence.tif"
        confidence.write_bytes(source.read_bytes())
        outputs = [option, confidence] if option == "-o" else ["-o", tmp_path / "o.tif", option, confidence]
        err = self.complaint(command, tmp_path, guide, source, *outputs, "--confidence", confidence, "--overwrite")
        assert "would overwrite an input" in err
        assert confidence.read_bytes() == source.read_bytes()

    def test_a_model_that_needs_the_whole_image_is_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif", "--model", "guided-filter")
        assert "has to see the whole image" in err

    def test_undeclared_marks_of_missing_pixels_are_explained(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, dtype="float32")
        with rasterio.open(source, "r+") as raster:
            values = raster.read(1)
            values[3, 3] = -3.4e38
            raster.write(values, 1)
        err = self.complaint(command, tmp_path, guide, source, "-o", tmp_path / "o.tif", *COLOUR)
        assert f"rio edit-info {source} --nodata VALUE" in err

    def test_a_missing_extra_is_named(self, command, tmp_path, monkeypatch):
        guide, source = pair_of_files(tmp_path)
        out = tmp_path / "o.tif"
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "distributed", None)
            err = self.complaint(command, tmp_path, guide, source, "-o", out, "--workers", 1)
        assert "pip install 'graphsr[cluster]'" in err
        moved = source.rename(tmp_path / "moved.tif")
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "rasterio", None)
            assert "pip install 'graphsr[geo]'" in self.complaint(command, tmp_path, guide, moved, "-o", out)

    def test_two_clusters_at_once_are_refused(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        more = ("--workers", 2, "--scheduler", "tcp://127.0.0.1:1")
        assert "give one of the two" in self.complaint(
            command, tmp_path, guide, source, "-o", tmp_path / "o.tif", *more
        )
