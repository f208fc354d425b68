"""The gallery: every example has its command, its figures and a small picture on the page, and its pair is sound."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from graphsr.files import read_image

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs" / "pictures" / "gallery"))
import land  # type: ignore[import-not-found]  # noqa: E402
import rooms  # type: ignore[import-not-found]  # noqa: E402

EXAMPLES = {example.name: example for example in (*rooms.EXAMPLES, *land.EXAMPLES)}
PICTURES = ROOT / "docs" / "images" / "gallery"


def test_every_example_is_on_the_page() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    for example in EXAMPLES.values():
        assert f"## {example.title}\n" in page
        assert example.text in page.replace("\n", " ")
        assert f"```bash\n{example.command}\n```" in page
        assert f"(images/gallery/{example.name}.jpg)" in page
        assert f"| {example.words} | bicubic | graphsr |" in page


def test_pictures_are_there_and_small() -> None:
    sizes = {path.stem: path.stat().st_size for path in PICTURES.glob("*.jpg")}
    assert sizes.keys() == EXAMPLES.keys()
    assert max(sizes.values()) < 300_000
    assert sum(sizes.values()) < 2_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_files_of_an_example_are_its_pair(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    made = example.make(tmp_path)
    guide, source = (tmp_path / word for word in example.command.split()[2:4])
    assert read_image(guide).size == made.truth.shape[:2] == made.guide.shape[:2]
    stored = read_image(source).array
    assert stored.shape == made.source.shape
    known = np.isfinite(made.source)
    np.testing.assert_allclose(stored[known], made.source[known], rtol=1e-6, atol=0.5)  # whole numbers are rounded
    assert example.score(made.truth, made.truth) in (0, 1)
    assert np.isfinite(made.truth).all()
