"""Stopped, resumed, out of space: finished tiles are not done twice, and an unfinished output never looks finished."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio

import graphsr
from graphsr import Architecture, GraphSR, InputError
from graphsr.raster import RasterReport, executor, upsample_files
from tests.raster.made_rasters import pair_of_files

TILE = 48
TILES = 12  # of a guide of 120 x 150


class Stopped(Exception):
    pass


def upsample(pair: tuple[Path, Path], out: Path, **how: Any) -> RasterReport:
    """By the colour model in tiles of `TILE`, unless something else is said."""
    guide, source = pair
    return upsample_files(guide, source, out, **{"model": "colour", "tile": TILE, **how})


def stop_after(count: int):
    def progress(done: int, total: int) -> None:
        if done == count:
            raise Stopped

    return progress


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return pair_of_files(tmp_path, dtype="float32")


@pytest.fixture
def stopped(pair, tmp_path: Path) -> Path:
    """The output of a run that was stopped after four tiles or so."""
    out = tmp_path / "out.tif"
    with pytest.raises(Stopped):
        upsample(pair, out, progress=stop_after(4))
    return out


def pixels(path: Path) -> np.ndarray:
    with rasterio.open(path) as raster:
        return raster.read()


def test_an_unfinished_run_leaves_no_output_but_its_tiles(stopped):
    assert not stopped.exists()
    tiles = list(stopped.with_name("out.tif.tiles").glob("tile_*.tif"))
    assert 3 <= len(tiles) <= 5
    with rasterio.open(tiles[0]) as tile:
        assert tile.read().size


def test_resumed_it_does_the_rest_and_gives_the_same_file(stopped, pair, tmp_path):
    whole = tmp_path / "whole.tif"
    upsample(pair, whole)
    finished = {path: path.stat().st_mtime_ns for path in stopped.with_name("out.tif.tiles").glob("tile_*.tif")}
    later = {}

    def progress(done: int, total: int) -> None:
        later.update({path: path.stat().st_mtime_ns for path in finished})

    report = upsample(pair, stopped, resume=True, progress=progress)
    assert later == finished
    assert report.tiles_done == TILES - len(finished)
    assert stopped.read_bytes() == whole.read_bytes()
    assert not stopped.with_name("out.tif.tiles").exists()


def test_without_resume_finished_tiles_are_not_thrown_away(stopped, pair):
    with pytest.raises(
        InputError, match=r"out.tif.tiles: holds the tiles of a run that did not finish; continue it with --resume"
    ):
        upsample(pair, stopped)


def test_resume_without_anything_to_resume_begins(pair, tmp_path):
    out = tmp_path / "out.tif"
    assert upsample(pair, out, resume=True).tiles_done == TILES


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tile": 60}, "--tile"),
        ({"exact": True}, "--exact"),
        ({"model": "bicubic"}, "model"),
        ({"nodata": -9999.0}, "--nodata"),
    ],
)
def test_a_run_with_other_settings_is_not_continued(stopped, pair, change, says):
    with pytest.raises(InputError, match=f"was started with another .*{says}"):
        upsample(pair, stopped, **change, resume=True)


def test_a_run_whose_files_have_changed_is_not_continued(stopped, pair):
    os.utime(pair[1])
    with pytest.raises(InputError, match="was started with another guide or source"):
        upsample(pair, stopped, resume=True)


def test_a_run_whose_model_has_changed_is_not_continued(pair, tmp_path):
    model, out = tmp_path / "model.safetensors", tmp_path / "out.tif"
    small = GraphSR(Architecture(extractor="unet-lite0", decoder_channels=(8, 8, 8, 8, 8)))
    graphsr.save(small, model)
    with pytest.raises(Stopped):
        upsample(pair, out, model=model, progress=stop_after(2))
    small.log_mu.data += 0.1
    graphsr.save(small, model)
    with pytest.raises(InputError, match="was started with another model"):
        upsample(pair, out, model=model, resume=True)


def test_workers_with_other_weights_refuse(pair, tmp_path):
    out = tmp_path / "out.tif"
    with pytest.raises(Stopped):
        upsample(pair, out, progress=stop_after(2))
    elsewhere = shutil.copytree(tmp_path / "out.tif.tiles", tmp_path / "elsewhere")
    plan = elsewhere / "plan.json"
    plan.write_text(re.sub('"weights": "[^"]*"', '"weights": "of another version"', plan.read_text()))
    with pytest.raises(InputError, match="model colour: has other weights here"):
        executor.run_tile(str(elsewhere), 0)


def test_an_output_that_is_a_link_is_made_where_the_link_leads(pair, tmp_path):
    other = tmp_path / "other disk"
    other.mkdir()
    out = tmp_path / "out.tif"
    out.symlink_to(other / "real.tif")
    with pytest.raises(Stopped):
        upsample(pair, out, progress=stop_after(2))
    assert (other / "real.tif.tiles").is_dir()
    upsample(pair, out, resume=True)
    assert out.is_symlink()
    assert np.isfinite(pixels(other / "real.tif")).all()


def test_an_older_output_stays_until_the_new_one_is_finished(stopped, pair):
    stopped.write_bytes(b"the old one")
    with pytest.raises(Stopped):
        upsample(pair, stopped, resume=True, progress=stop_after(2))
    assert stopped.read_bytes() == b"the old one"
    upsample(pair, stopped, resume=True)
    assert np.isfinite(pixels(stopped)).all()


@pytest.mark.slow
class TestFullDisk:
    @pytest.fixture
    def disk(self, tmp_path: Path):
        """A disk of 300 kB."""
        folder = tmp_path / "disk"
        folder.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], capture_output=True)
        if made.returncode:
            pytest.skip("only root can make a small disk")
        yield folder
        subprocess.run(["umount", "-l", folder], check=True)

    def noisy_pair(self, tmp_path: Path) -> tuple[Path, Path]:
        """One whose target does not compress: 512 x 512 floats are a megabyte."""
        return pair_of_files(tmp_path, size=(512, 512), source_size=(256, 256), metres=20.0, dtype="float32")

    def test_while_tiles_are_written_ends_in_one_line_and_no_output(self, disk, tmp_path):
        guide, source = self.noisy_pair(tmp_path)
        arguments = ["raster", guide, source, "-o", disk / "out.tif", "--model", "colour", "--tile", "128"]
        done = subprocess.run([sys.executable, "-m", "graphsr", *arguments], capture_output=True, text=True)
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (disk / "out.tif").exists()
        assert not [path for path in disk.rglob("*") if ".graphsr-" in path.name]

    def test_while_the_whole_is_written_keeps_the_tiles(self, disk, tmp_path):
        guide, source = pair_of_files(tmp_path, size=(256, 256), source_size=(32, 32), dtype="float32")
        out = disk / "out.tif"
        with pytest.raises(Stopped):
            upsample_files(guide, source, out, model="colour", tile=64, progress=stop_after(15))
        free = shutil.disk_usage(disk).free
        (disk / "ballast").write_bytes(b"x" * max(free - 40_000, 0))
        with pytest.raises(InputError, match="make room and continue with --resume"):
            upsample_files(guide, source, out, model="colour", tile=64, resume=True)
        assert not out.exists()
        (disk / "ballast").unlink()
        # Now there is room for the tiles, and for the whole once the tiles have been made.
        moved = tmp_path / "out.tif"
        shutil.move(disk / "out.tif.tiles", tmp_path / "out.tif.tiles")
        assert upsample_files(guide, source, moved, model="colour", tile=64, resume=True).tiles_done == 0
        assert np.isfinite(pixels(moved)).all()
