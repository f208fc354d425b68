"""graphsr train: options change the configuration, and mistakes end in one line before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphsr.training import checkpoint
from tests.cli.files_and_runs import Run

TINY = """
method = "fdkn"
pretrained = false
[data]
size = 32
sets = [{ kind = "synthetic" }]
[optimisation]
steps = 100
batch = 1
[schedule]
every = 50
times = 0.1
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_factor_and_steps_take_the_place_of_what_the_file_says(run: Run, config: Path, tmp_path: Path) -> None:
    more = ("--factor", 4, "--steps", 2, "--workers", 0, "--accelerator", "cpu", "--precision", "32-true")
    outcome = run("train", config, "-o", tmp_path / "run", *more)
    assert outcome.code == 0, outcome.err
    state = checkpoint.read(tmp_path / "run" / "last.ckpt")
    assert state.step == 2
    assert state.config["factors"]["least"] == state.config["factors"]["most"] == 4.0
    assert state.config["schedule"]["every"] == 1


def test_what_it_trained_is_exported_with_a_word_how_to_use_it(run: Run, config: Path, tmp_path: Path) -> None:
    run("train", config, "-o", tmp_path / "run", "--steps", 1, "--workers", 0, "--accelerator", "cpu")
    outcome = run("export", tmp_path / "run" / "last.ckpt", tmp_path / "a.safetensors")
    assert outcome.code == 0, outcome.err
    assert f"--model fdkn:{tmp_path / 'a.safetensors'}" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("msg-net", "--factor", 3), "msg-net is trained for one factor, 2, 4, 8, 16, but factors are 3 to 3"),
        (("fdsr", "--precision", "many"), "precision 'many'"),
        (("fdsr", "--data", "nowhere"), "nowhere"),
        (("fdrs",), "did you mean fdsr"),
    ],
)
def test_mistakes_are_named(run: Run, tmp_path: Path, arguments: tuple[object, ...], says: str) -> None:
    outcome = run("train", *arguments, "-o", tmp_path / "run", "--workers", 0, "--accelerator", "cpu")
    assert outcome.code == 2
    assert says in outcome.err
    assert not (tmp_path / "run").exists()


def test_figures_before_the_first_step_show_whether_training_helps(run: Run, config: Path, tmp_path: Path) -> None:
    with config.open("a") as file:
        file.write('[validation]\nevery = 1\npairs = 1\nsize = 32\nfactors = [4.0]\nsets = [{ kind = "synthetic" }]\n')
    outcome = run("train", config, "-o", tmp_path / "run", "--steps", 1, "--workers", 0, "--accelerator", "cpu")
    assert outcome.code == 0, outcome.err
    lines = [line for line in outcome.err.splitlines() if line.startswith("step ")]
    assert lines[0].startswith("step 0: before training; squared error against bicubic ")
    assert lines[1].startswith("step 1: loss ")
    assert "nan" not in outcome.err
