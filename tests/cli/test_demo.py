"""graphsr demo: one made-up pair, from source to figures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from graphsr.files import read_image
from tests.cli.files_and_runs import Run


@pytest.mark.slow
def test_the_demo_writes_its_files_and_beats_bicubic(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    outcome = run("demo", "-o", folder)
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in folder.iterdir()) == [
        *("guide.png", "picture.png", "source.png", "target.png", "truth.png")
    ]
    guide, source, target = (read_image(folder / f"{name}.png") for name in ("guide", "source", "target"))
    assert source.dtype == target.dtype == np.uint16
    assert target.size == guide.size == (8 * source.size[0], 8 * source.size[1])
    figures = {
        name: [float(number) for number in re.findall(r"[\d.]+", row)]
        for name, row in re.findall(r"(bicubic|graph) (.*)", outcome.out)
    }
    mse, mae, back = zip(figures["bicubic"], figures["graph"], strict=True)
    assert mse[1] < mse[0]
    assert mae[1] < mae[0]
    assert back[1] < back[0]


def test_a_folder_that_cannot_be_made_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = run("demo", "-o", tmp_path / "file")
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {tmp_path / 'file'}: the folder cannot be made")
