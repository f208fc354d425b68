"""Compiled kernels: where they are kept, what a damaged file does, forked processes and threads."""

from __future__ import annotations

import logging
import multiprocessing
import os
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import graphsr
from graphsr.checked_cache import CheckedCacheFile, check_cache, check_caches
from graphsr.kernel_cache import choose_folder

CONFIG: Any = numba.config
GUIDE = np.random.default_rng(0).random((16, 16, 3))
SOURCE = np.random.default_rng(1).random((4, 4))


class TestFolder:
    @pytest.fixture(autouse=True)
    def untouched(self, monkeypatch):
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        monkeypatch.setattr(CONFIG, "CACHE_DIR", CONFIG.CACHE_DIR)

    @pytest.fixture
    def nowhere(self, tmp_path) -> Path:
        """A folder that cannot be made, not even by root."""
        (tmp_path / "file").write_text("")
        return tmp_path / "file" / "folder"

    def test_nothing_changes_where_there_is_one(self, tmp_path, nowhere):
        assert choose_folder(tmp_path, nowhere) is None
        assert choose_folder(nowhere, tmp_path) is None
        assert "NUMBA_CACHE_DIR" not in os.environ

    def test_that_of_the_user_holds(self, nowhere, tmp_path, monkeypatch):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        assert choose_folder(nowhere, nowhere) is None

    def test_a_temporary_one_else(self, nowhere, caplog):
        with caplog.at_level(logging.WARNING, "graphsr"):
            folder = choose_folder(nowhere, nowhere)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert CONFIG.CACHE_DIR == os.environ["NUMBA_CACHE_DIR"] == str(folder)
        assert "compiled anew in every run" in caplog.text

        @numba.njit(cache=True)
        def twice(x):
            return 2 * x

        assert twice(3) == 6
        assert list(folder.rglob("*.nbc"))


KERNEL = """
    import sys
    import numba
    from graphsr.checked_cache import check_caches

    @numba.njit(cache=True)
    def twice(x):
        return 2 * x

    check_caches(sys.modules[__name__])
    print(twice(21), twice.stats.cache_hits[next(iter(twice.stats.cache_hits))] if twice.stats.cache_hits else 0)
"""


class TestDamage:
    @pytest.fixture
    def kernel(self, tmp_path):
        """A program with one cached kernel; what it prints: the result, and how often the cache served."""
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(KERNEL))

        def run() -> str:
            done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, cwd=tmp_path)
            return done.stdout.strip()

        return run

    @pytest.mark.slow
    def test_damaged_files_are_compiled_anew(self, kernel, tmp_path):
        assert kernel() == "42 0"
        assert kernel() == "42 1"
        folder = tmp_path / "__pycache__"
        for pattern in ("*.nbc", "*.nbi"):
            for damage in (lambda data: data[: len(data) // 2], lambda data: data[:300] + b"!" + data[301:]):
                for path in folder.glob(pattern):
                    path.write_bytes(damage(path.read_bytes()))
                assert kernel().startswith("42")
                assert kernel() == "42 1"

    def test_the_kernels_of_the_solver_are_checked(self):
        from graphsr.solver.backends import lattice, sweeps

        graphsr.upsample(GUIDE, SOURCE, model="colour")
        check_caches(lattice)
        for kernel in (lattice.fit, sweeps.iterate_all):
            assert type(kernel._cache._cache_file) is CheckedCacheFile

    def test_the_kernels_of_the_renderer_are_checked(self):
        from graphsr.scenes import render, sensor

        for kernel in (render._cast_rays, sensor._expose):
            assert type(kernel._cache._cache_file) is CheckedCacheFile


def kernel_of(folder: Path, sources: str) -> Any:
    """Make a kernel with a cache in a folder, as another process, or one with changed sources, would."""
    module = folder / "kernels.py"
    if not module.exists():
        module.write_text("def twice(x):\n    return 2 * x\n")
    kernel = numba.njit(cache=True)(runpy.run_path(str(module))["twice"])
    check_cache(kernel, sources)
    return kernel


class TestProcessesAtOnce:
    @pytest.fixture(autouse=True)
    def beside_the_module(self, monkeypatch):
        """A folder for kernels that the user has chosen would hold those of the test too."""
        monkeypatch.setattr(CONFIG, "CACHE_DIR", "")

    def test_a_list_never_names_the_file_of_another_signature(self, tmp_path, monkeypatch):
        kernel_of(tmp_path, "the same")(1)
        with monkeypatch.context() as patch:
            patch.setattr(CheckedCacheFile, "_load_index", lambda _: {})  # read before the other one was written
            kernel_of(tmp_path, "the same")(1.0)
        assert len(list(tmp_path.rglob("*.nbc"))) == 2  # numba would call both number 1
        again = kernel_of(tmp_path, "the same")
        assert again(3.5) == 7.0
        assert sum(again.stats.cache_hits.values()) == 1
        assert again(3) == 6

    def test_data_are_there_before_the_list_names_them(self, tmp_path, monkeypatch):
        found = []
        original = CheckedCacheFile._save_index

        def save_index(self, stored):
            found.extend(Path(self._data_path(name)).is_file() for name in stored.values())
            original(self, stored)

        monkeypatch.setattr(CheckedCacheFile, "_save_index", save_index)
        assert kernel_of(tmp_path, "the same")(1) == 2
        assert found == [True]

    def test_a_changed_module_compiles_all_that_were_checked_with_it(self, tmp_path):
        kernel_of(tmp_path, "before")(1)
        after = kernel_of(tmp_path, "after")
        assert after(1) == 2
        assert not after.stats.cache_hits

    def test_the_files_of_earlier_sources_are_removed(self, tmp_path):
        kernel_of(tmp_path, "before")(1)
        (old,) = tmp_path.rglob("*.nbc")
        os.utime(old, (0, 0))
        kernel_of(tmp_path, "after")(1)
        (new,) = tmp_path.rglob("*.nbc")
        assert new != old


def _upsample_in_child(queue) -> None:
    try:
        graphsr.upsample(GUIDE, SOURCE, model="colour")
        queue.put("done")
    except graphsr.GraphSRError as error:
        queue.put(str(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_is_told_to_spawn():
    graphsr.upsample(GUIDE, SOURCE, model="colour")
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_upsample_in_child, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert "forked from one that has used graphsr before" in (text := queue.get())
    assert "multiprocessing_context='spawn'" in text


@pytest.mark.slow
def test_threads_under_the_last_resort_of_numba():
    program = """
        import numpy as np, graphsr, numba
        from concurrent.futures import ThreadPoolExecutor
        rng = np.random.default_rng(0)
        guide, source = rng.random((48, 48, 3)), rng.random((6, 6))
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: graphsr.upsample(guide, source, model="colour").target, range(12)))
        assert numba.threading_layer() == "workqueue"
        assert all(np.array_equal(each, found[0]) for each in found)
    """
    environment = {**os.environ, "NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
