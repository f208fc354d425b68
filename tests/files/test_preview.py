"""The preview as a file: any model, several channels, sparse sources, sources that lie beside their guide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphsr
from graphsr.files import read_image
from graphsr.files.image import Image
from graphsr.files.preview import write_preview

GUIDE = np.random.default_rng(0).integers(0, 256, (40, 60, 3)).astype(np.uint8)


@pytest.mark.parametrize("model", ["colour", "bicubic"])
@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 3), (5, 6, 2)])
def test_every_result_has_a_preview(tmp_path: Path, model: str, shape: tuple[int, ...]) -> None:
    source = np.random.default_rng(1).uniform(1, 2, shape)
    source[0, 0] = np.nan
    result = graphsr.upsample(GUIDE, source, model=model)
    write_preview(tmp_path / "look.png", Image(GUIDE, Path("guide.png")), source, result)
    assert read_image(tmp_path / "look.png").array.shape[2] == 3


def test_a_graph_model_shows_more_than_interpolation(tmp_path: Path) -> None:
    source = np.random.default_rng(1).uniform(1, 2, (5, 6))
    sizes = {}
    for model in ("colour", "bicubic"):
        path = tmp_path / f"{model}.png"
        result = graphsr.upsample(GUIDE, source, model=model)
        write_preview(path, Image(GUIDE, Path("guide.png")), source, result)
        sizes[model] = read_image(path).size
    assert sizes["colour"][0] > 1.5 * sizes["bicubic"][0]  # a second row: the graph, and a closer look
