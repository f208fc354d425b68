"""Help is quick, complete and carries examples."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from graphsr.cli import versions
from tests.cli.files_and_runs import Run


def test_graphsr_alone_prints_help(run: Run) -> None:
    alone, asked = run(), run("--help")
    assert alone.code == asked.code == 0
    assert alone.out.strip() == asked.out.strip()
    assert all(command in alone.out for command in ("upsample", "demo", "benchmark"))


def test_the_version_comes_with_those_of_what_matters(run: Run) -> None:
    lines = run("--version").out.splitlines()
    assert lines[:2] == [f"graphsr {version('graphsr')}", f"Python {platform.python_version()}"]
    assert [line.split()[0] for line in lines[2:]] == ["torch", "numba", "numpy", "rasterio", "dask"]
    assert f"numpy {version('numpy')}" in lines


def test_packages_of_extras_are_left_out_where_they_are_not_installed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_rasterio(name: str) -> str:
        if name == "rasterio":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(versions, "version", without_rasterio)
    assert "rasterio" not in run("--version").out


@pytest.mark.parametrize("command", [(), ("upsample",), ("demo",)])
def test_every_help_has_an_example(run: Run, command: tuple[str, ...]) -> None:
    outcome = run(*command, "--help")
    assert outcome.code == 0
    assert "Example" in outcome.out
    assert "  graphsr " in outcome.out


def test_upsample_lists_its_options(run: Run) -> None:
    text = run("upsample", "-h").out
    for option in (
        "--output",
        "--model",
        "--confidence",
        "--noise",
        "--robust",
        "--exact",
        "--missing",
        "--preview",
        "--overwrite",
    ):
        assert option in text


COMMANDS = [
    *(
        "upsample",
        "raster",
        "demo",
        "train",
        "export",
        "evaluate",
        "calibrate",
        "methods",
        "reproduce",
        "warm-up",
        "view",
    ),
    *("benchmark solver", "benchmark raster", "benchmark alignment"),
    *("benchmark channels", "benchmark footprints", "benchmark holes"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_verbose_or_quiet(run: Run, command: str) -> None:
    text = run(*command.split(), "--help").out
    assert "--verbose" in text
    assert "--quiet" in text


def test_sentences_fill_the_lines_of_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in run("upsample", "--help").out.splitlines()]
    assert "files; OUT is then a folder, and so are the other files named. A pair that" in lines
    assert "graphsr upsample photo.jpg lidar.png -o depth.png --preview look.png" in lines


def test_experiments_are_listed_a_line_each(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in run("reproduce", "--help").out.splitlines()]
    assert "table2          trained on one data set, measured on another" in lines


@pytest.mark.parametrize("command", ["upsample", "raster", "export", "evaluate", "calibrate", "benchmark solver"])
def test_commands_that_write_a_result_have_overwrite(run: Run, command: str) -> None:
    assert "--overwrite" in run(*command.split(), "--help").out


def test_what_is_read_around_a_tile_is_its_halo(run: Run) -> None:
    text = run("raster", "--help").out
    assert "--halo" in text
    assert "--around" not in text


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (("upsampel",), "upsample"),
        (("upsample", "a.png", "b.png", "-o", "c.png", "--previw", "d.png"), "--preview"),
    ],
)
def test_a_typing_error_gets_a_suggestion(run: Run, arguments: tuple[str, ...], suggestion: str) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert suggestion in outcome.err


def test_help_does_not_wait_for_the_heavy_libraries() -> None:
    script = (
        "import sys; from graphsr.cli import app; app(['upsample', '--help'], standalone_mode=False); "
        "print('LOADED', [name for name in ('torch', 'numba', 'scipy', 'PIL') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "LOADED []" in result.stdout
