"""On a real local Dask cluster: the same file, to the bit, also when workers die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from graphsr import InputError
from graphsr.raster import upsample_files
from tests.raster.made_rasters import pair_of_files

pytestmark = pytest.mark.slow

TILE = 48
TILES = 12


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as running:
        yield running


@pytest.fixture(scope="module")
def expected(tmp_path_factory, cluster) -> tuple[Path, Path, bytes]:
    """A pair, and the bytes of its result on an undisturbed cluster."""
    folder = tmp_path_factory.mktemp("pair")
    guide, source = pair_of_files(folder, dtype="float32", bands=2)
    out = folder / "out.tif"
    report = upsample_files(guide, source, out, model="colour", tile=TILE, scheduler=cluster.scheduler_address)
    assert report.tiles_done == TILES
    return guide, source, out.read_bytes()


def test_a_cluster_of_its_own_gives_the_same_file(expected, tmp_path):
    guide, source, content = expected
    out = tmp_path / "out.tif"
    upsample_files(guide, source, out, model="colour", tile=TILE, workers=1)
    assert out.read_bytes() == content


def test_a_killed_worker_costs_its_tiles_only(expected, cluster, tmp_path):
    guide, source, content = expected
    out = tmp_path / "out.tif"
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed:
            with Client(cluster) as client:
                victim = next(iter(client.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    upsample_files(
        guide, source, out, model="colour", tile=TILE, scheduler=cluster.scheduler_address, progress=kill_one
    )
    assert killed
    assert out.read_bytes() == content


def test_a_stopped_run_can_go_on_elsewhere(expected, cluster, tmp_path):
    guide, source, content = expected
    out = tmp_path / "out.tif"

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise Stopped

    address = cluster.scheduler_address
    with pytest.raises(Stopped):
        upsample_files(guide, source, out, model="colour", tile=TILE, scheduler=address, progress=stop)
    assert not out.exists()
    report = upsample_files(guide, source, out, model="colour", tile=TILE, scheduler=address, resume=True)
    assert 0 < report.tiles_done <= TILES - 3
    assert out.read_bytes() == content


def test_a_scheduler_that_is_lost_keeps_what_is_finished(expected, tmp_path, capfd):
    guide, source, content = expected
    out, contact = tmp_path / "out.tif", tmp_path / "contact.json"
    with started("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", contact) as scheduler:
        while not contact.exists():
            assert scheduler.poll() is None
            time.sleep(0.1)
        address = json.loads(contact.read_text())["address"]
        with started("worker", address, "--nthreads", "1", "--no-dashboard"):

            def lose(done: int, total: int) -> None:
                if done == 2:
                    scheduler.kill()

            capfd.readouterr()
            with pytest.raises(
                InputError, match=rf"{address}: the scheduler was lost; .*out.tif.tiles: continue with --res"
            ):
                upsample_files(guide, source, out, model="colour", tile=TILE, scheduler=address, progress=lose)
            assert "Traceback" not in capfd.readouterr().err
    assert upsample_files(guide, source, out, model="colour", tile=TILE, workers=1, resume=True).tiles_done <= TILES - 2
    assert out.read_bytes() == content


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A part of Dask in a process of its own, silent."""
    program = [str(each) for each in (Path(sys.executable).with_name("dask"), *arguments)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_mistake_on_a_worker_is_reported_as_such(expected, cluster, tmp_path):
    guide, source, _ = expected
    broken = tmp_path / "guide.tif"
    broken.write_bytes(guide.read_bytes()[: guide.stat().st_size * 2 // 3])
    with pytest.raises(InputError, match=r"guide.tif: cannot be read"):
        upsample_files(broken, source, tmp_path / "out.tif", model="colour", scheduler=cluster.scheduler_address)
    assert not (tmp_path / "out.tif").exists()


def test_a_scheduler_that_is_not_there_is_named(expected, tmp_path, monkeypatch):
    guide, source, _ = expected
    monkeypatch.setattr("graphsr.raster.executor.TIMEOUT", "1s")
    with pytest.raises(InputError, match=r"--scheduler tcp://127.0.0.1:1: no Dask scheduler answers"):
        upsample_files(guide, source, tmp_path / "out.tif", model="colour", scheduler="tcp://127.0.0.1:1")
    assert not list(tmp_path.iterdir())


def test_a_scheduler_without_workers_is_reported(expected, tmp_path, caplog):
    guide, source, content = expected
    out = tmp_path / "out.tif"
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=True, dashboard_address=":0") as empty:
        join = threading.Timer(3.0, empty.scale, [1])
        join.start()
        upsample_files(guide, source, out, model="colour", tile=TILE, scheduler=empty.scheduler_address)
    assert f"{empty.scheduler_address}: no worker has joined it yet; waiting for one" in caplog.text
    assert out.read_bytes() == content


def test_lazy_arrays_run_there_too(cluster):
    import numpy as np

    import graphsr
    from tests.raster.made_rasters import picture, relief

    lazy = graphsr.raster.upsample(picture((96, 96)), relief((12, 12)), model="colour", tile=48)
    with Client(cluster):
        there = lazy.compute()
    np.testing.assert_array_equal(there, lazy.compute(scheduler="sync"))
