"""The page in one file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from graphsr import InputError
from graphsr.files.pair import PairOptions
from graphsr.viewer import Session, write_page
from graphsr.viewer.export import quantised
from tests.viewer.shown_pair import pair, truth

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2).png"


@pytest.fixture
def page(tmp_path: Path) -> str:
    session = Session(pair(name=HOSTILE, truth=truth()), PairOptions(model="bicubic"), unit="</script>")
    session.solve()
    assert session.wait(180)
    size = write_page(session, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert len(text.encode()) == size
    return text


def test_it_needs_nothing_else(page: str) -> None:
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "<!-- " not in page
    policy = re.search(r'Content-Security-Policy" content="(.+?)"', page)[1]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "connect-src" not in policy  # and so nothing may be sent


def test_names_are_no_markup(page: str) -> None:
    assert "<img" not in page
    assert "<script>alert" not in page
    assert "\\u003cimg" in page


def test_values_are_within_half_a_step() -> None:
    values = np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32)
    values[3, 4] = np.nan
    whole, low, step = quantised(values)
    assert whole[3, 4] == 0
    known = np.isfinite(values)
    assert np.abs(low + (whole[known] - 1.0) * step - values[known]).max() <= 0.51 * step
    assert step < 2e-4


@pytest.mark.parametrize("values", [np.arange(60_000.0), np.full((3, 3), 7.0), np.array([-5.0, np.nan])])
def test_whole_numbers_stay_what_they_are(values: np.ndarray) -> None:
    whole, low, step = quantised(values)
    known = np.isfinite(values)
    assert np.array_equal(low + (whole[known] - 1.0) * step, values[known])


def test_nothing_known_is_nothing_shown() -> None:
    assert not quantised(np.full((2, 2), np.nan))[0].any()


def test_a_page_ends_in_html(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"page.png: a page is an HTML file; give it the suffix .html"):
        write_page(Session(pair(), PairOptions(model="bicubic")), tmp_path / "page.png")
