"""Whatever goes wrong ends in one line and never in a traceback."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError
from graphsr.cli.errors import FAULT, MISTAKE, explain
from graphsr.errors import GraphSRError
from graphsr.files import read_image, write_image
from graphsr.training import checkpoint as checkpoints
from graphsr.training.checkpoint import Checkpoint
from tests.cli.files_and_runs import Pair, Run

resource = pytest.importorskip("resource")  # not on Windows
BICUBIC = ("--model", "bicubic")


@contextmanager
def files_of_at_most(size: int):
    """A disk that is full after so many bytes: the system refuses what is beyond."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def one_line(run: Run, *arguments: object) -> str:
    outcome = run(*arguments)
    assert outcome.code == MISTAKE, outcome
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    return outcome.err


class TestFullDisk:
    @pytest.mark.parametrize("name", ["out.exr", "out.tif", "out.npy", "out.npz", "out.pfm"])
    def test_images(self, tmp_path, name):
        if name.endswith("exr"):
            pytest.importorskip("OpenEXR")
        noise = np.random.default_rng(0).random((200, 200)).astype(np.float32)
        with files_of_at_most(20_000), pytest.raises(InputError, match=rf"{name}: cannot be written \("):
            write_image(tmp_path / name, noise)
        assert list(tmp_path.iterdir()) == []

    def test_models(self, tmp_path):
        model = graphsr.GraphSR(graphsr.Architecture(extractor="unet-lite0", decoder_channels=(8, 8, 8, 8, 8)))
        with files_of_at_most(20_000), pytest.raises(InputError, match=r"m.safetensors: cannot be written \("):
            graphsr.save(model, tmp_path / "m.safetensors")
        assert list(tmp_path.iterdir()) == []

    def test_checkpoints(self, tmp_path):
        state = Checkpoint(1, {"a": torch.zeros(100, 100)}, {}, {}, best=0.5, config={"model": {}})
        with files_of_at_most(20_000), pytest.raises(InputError, match=r"last.ckpt: cannot be written \("):
            checkpoints.write(tmp_path / "last.ckpt", state)
        assert list(tmp_path.iterdir()) == []


class TestNames:
    def test_a_link_to_itself(self, run: Run, pair: Pair) -> None:
        loop = pair.folder / "loop.png"
        loop.symlink_to(loop)
        text = one_line(run, "upsample", loop, pair.source, "-o", pair.folder / "out.png", *BICUBIC)
        assert "loop.png: cannot be opened (Too many levels of symbolic links)" in text
        text = one_line(run, "upsample", pair.guide, pair.source, "-o", loop, *BICUBIC)
        assert "loop.png: is a link to itself" in text

    def test_a_name_of_300_characters(self, run: Run, pair: Pair) -> None:
        long = pair.folder / f"{300 * 'a'}.png"
        assert "File name too long" in one_line(run, "upsample", long, pair.source, "-o", pair.folder / "o.png")
        assert "File name too long" in one_line(run, "upsample", pair.guide, pair.source, "-o", long, *BICUBIC)
        assert "File name too long" in one_line(
            run, "upsample", pair.guide, pair.source, "-o", pair.folder / "o.png", "--model", long
        )

    def test_empty_names(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        outcome = run("upsample", "", "", "-o", "")
        assert outcome.code == MISTAKE
        assert "an argument is empty" in outcome.err
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
    def test_names_that_are_no_text(self, pair: Pair) -> None:
        folder = os.fsencode(pair.folder)
        os.rename(pair.source, folder + b"/s\xff.png")
        absent = subprocess.run(
            [sys.executable, "-m", "graphsr", "upsample", folder + b"/no\xfe.png", folder + b"/s\xff.png", "-o",
             folder + b"/out\xfd.png"],
            capture_output=True,
        )  # fmt: skip
        assert absent.returncode == MISTAKE
        assert absent.stderr.endswith(b"/no\\udcfe.png: no such file\n")
        assert absent.stderr.count(b"\n") == 1
        write_image(os.fsdecode(folder + b"/out\xfd.tif"), read_image(pair.guide).array)
        assert read_image(os.fsdecode(folder + b"/out\xfd.tif")).channels == 3


def test_a_failed_preview_says_where_the_target_is(run: Run, pair: Pair) -> None:
    out, preview = pair.folder / "out.png", pair.folder / "look.png"
    with files_of_at_most(600):
        text = one_line(run, "upsample", pair.guide, pair.source, "-o", out, "--preview", preview, *BICUBIC)
    assert text.startswith(f"error: {preview}: cannot be written (File too large); the target is in {out}")
    assert stat.S_ISREG(out.stat().st_mode)


def test_libraries_print_nothing_of_their_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("OpenEXR")
    path = tmp_path / "cut.exr"
    write_image(path, np.random.default_rng(0).random((64, 64)).astype(np.float32))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"cut.exr: cannot be read as EXR"):
        read_image(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (InputError("a.png: no such file"), MISTAKE, "a.png: no such file"),
        (GraphSRError("it did not work"), MISTAKE, "it did not work"),
        (MemoryError(), MISTAKE, "not enough memory for images of this size; crop them, or use a larger machine"),
        (OSError(28, "No space left on device", "a.png"), MISTAKE, "a.png: No space left on device"),
        (OSError(5, "Input/output error"), MISTAKE, "Input/output error"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), MISTAKE,
         "a file's name is no text in UTF-8, which some libraries cannot open; rename it"),
        (KeyError("x"), FAULT, "KeyError: 'x'; this is a fault of graphsr: please report it with the output of -v"),
        (RecursionError(), FAULT, "RecursionError: no message; this is a fault of graphsr: "
         "please report it with the output of -v"),
    ],
)  # fmt: skip
def test_every_error_has_its_line(error: Exception, code: int, says: str) -> None:
    assert explain(error) == (code, says)
