"""Raster runs beside each other, on damaged tiles, on files that are not what they are called."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
import rasterio
from rasterio.transform import from_origin

from graphsr import InputError
from graphsr.raster import executor, upsample_files
from graphsr.raster.drivers import drivers_for
from graphsr.raster.lock import locked
from graphsr.raster.pair import open_pair
from tests.raster.made_rasters import pair_of_files, picture, write
from tests.raster.test_resume import Stopped, stop_after, upsample


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return pair_of_files(tmp_path, dtype="float32")


@pytest.fixture
def stopped(pair, tmp_path: Path) -> Path:
    out = tmp_path / "out.tif"
    with pytest.raises(Stopped):
        upsample(pair, out, model="bicubic", progress=stop_after(4))
    return out


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
@pytest.mark.parametrize("resume", [False, True])
def test_a_second_run_is_told_of_the_first(stopped, pair, resume):
    with (
        locked(stopped.with_name("out.tif.tiles")),
        pytest.raises(InputError, match=r"out.tif.tiles: another run \(process \d+\) is at work on these tiles"),
    ):
        upsample(pair, stopped, model="bicubic", resume=resume)
    assert upsample(pair, stopped, model="bicubic", resume=True).tiles_done > 0


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path):
    program = f"""
        import os, signal
        from pathlib import Path
        from graphsr.raster.lock import locked
        with locked(Path({str(tmp_path)!r})):
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert (tmp_path / "lock").exists()
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("damage", [lambda data: data[:-7], lambda data: data[:200] + b"!" + data[201:], lambda _: b""])
def test_a_damaged_tile_is_done_again(stopped, pair, tmp_path, damage):
    whole = tmp_path / "whole.tif"
    upsample(pair, whole, model="bicubic")
    tiles = sorted(stopped.with_name("out.tif.tiles").glob("tile_*.tif"))
    tiles[1].write_bytes(damage(tiles[1].read_bytes()))
    assert upsample(pair, stopped, model="bicubic", resume=True).tiles_done == 12 - len(tiles) + 1
    assert stopped.read_bytes() == whole.read_bytes()


def test_damaged_statistics_are_measured_again(stopped, pair, tmp_path):
    statistics = stopped.with_name("out.tif.tiles") / "statistics.npz"
    statistics.write_bytes(statistics.read_bytes()[:100])
    upsample(pair, stopped, model="bicubic", resume=True)
    assert stopped.exists()


def test_what_killed_writers_left_is_removed(stopped, pair):
    left = stopped.with_name("out.tif.tiles") / ".graphsr-0123456789ab.tif"
    left.write_bytes(b"half a tile")

    def look(done: int, total: int) -> None:
        assert not left.exists()

    upsample(pair, stopped, model="bicubic", resume=True, progress=look)


class TestDrivers:
    def test_a_description_of_other_files_called_tif(self, pair, tmp_path):
        source = pair[1]
        secret = write(tmp_path / "secret.tif", picture((120, 150)).astype("uint8"), from_origin(5e5, 4e6, 10, 10))
        fake = tmp_path / "fake.tif"
        with rasterio.open(secret) as raster:
            transform = ", ".join(map(repr, raster.transform.to_gdal()))
        fake.write_text(
            f'<VRTDataset rasterXSize="150" rasterYSize="120"><GeoTransform>{transform}</GeoTransform>'
            f'<VRTRasterBand dataType="Byte" band="1"><SimpleSource><SourceFilename>{secret}</SourceFilename>'
            "<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>"
        )
        with pytest.raises(InputError, match=r"fake.tif: cannot be read as a raster"):
            open_pair(fake, source)
        honest = fake.rename(tmp_path / "honest.vrt")
        assert open_pair(honest, source).size == (120, 150)

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("a.TIF", "GTiff"),
            ("https://example.org/a.tif?key=1.vrt", "GTiff"),
            ("/vsicurl/https://example.org/a.tif", "GTiff"),
            ("a.vrt", "VRT"),
        ],
    )
    def test_the_suffix_decides(self, path, expected):
        assert drivers_for(path) == [expected]

    def test_parts_of_files_name_their_driver(self):
        assert drivers_for('netcdf:"a.nc":heights') == [None]

    def test_unknown_suffixes_are_refused(self, pair, tmp_path):
        other = (tmp_path / "guide.tif").rename(tmp_path / "guide.xml")
        with pytest.raises(InputError, match=r"guide.xml: .xml names no kind of raster; give one of .tif"):
            open_pair(other, pair[1])


def test_files_without_a_place_give_no_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = write(tmp_path / "plain.tif", picture((16, 16)).astype("uint8"), None, crs=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=r"plain.tif: does not say where it lies"):
            upsample_files(plain, plain, tmp_path / "out.tif")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_local_cluster_answers_on_this_machine_alone():
    psutil = pytest.importorskip("psutil")
    with executor.cluster(1, None) as client:
        assert client.scheduler.address.startswith("tcp://127.0.0.1")
        me = psutil.Process(os.getpid())
        listening = {
            connection.laddr.ip
            for process in (me, *me.children(recursive=True))
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
