"""Figures of the pages: all that pages show was measured, with the weights of the package, and is what they show."""

from __future__ import annotations

import re
import sys
from importlib import util
from pathlib import Path

import pytest

import graphsr

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures"
sys.path.append(str(FIGURES))
import blocks  # type: ignore[import-not-found]  # noqa: E402
import measure  # type: ignore[import-not-found]  # noqa: E402

_SPEC = util.spec_from_file_location("figures", FIGURES / "__main__.py")
assert _SPEC is not None
assert _SPEC.loader is not None
figures = util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(figures)
MEASURED = measure.read_measured()


def test_everything_that_is_planned_was_measured():
    assert list(MEASURED) == list(measure.planned())


@pytest.mark.parametrize("name", ["default", "open", "colour", "bicubic"])
def test_figures_are_of_the_weights_in_the_package(name):
    found = {one.digest for what, one in MEASURED.items() if what.model == name}
    assert found == {graphsr.load(name).digest()}, "the weights changed: python docs/figures DATA measures them anew"


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_pages_show_what_was_measured(page):
    text = page.read_text("utf-8")
    assert figures.with_figures(text, MEASURED) == text, "python docs/figures writes them"


def test_every_block_is_on_some_page():
    text = "".join(page.read_text("utf-8") for page in figures.PAGES)
    assert set(re.findall(r"<!-- figures (\S+) -->", text)) == set(blocks.BLOCKS)
