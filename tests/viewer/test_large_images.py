"""The work of a frame depends on the window, not on the image. Figures: python -m tests.viewer.frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.viewer.frames import GESTURES, LARGE, SMALL, Cost, WatchedPage, large_pair
from tests.viewer.shown_pair import serving

pytestmark = pytest.mark.slow
_FRAMES = 6
# A tile is drawn at least 362 pixels wide (512 / sqrt 2), and the window is 1280 x 800: five whole or cut tiles across
# and four down, and a column twice where the slider divides one. Measured: 12 at the most.
_MOST_TILES = 6 * 4
_MOST_BYTES = _MOST_TILES * 4 * 512**2  # in float32


@pytest.fixture(scope="module", params=[SMALL, LARGE], ids=["1 megapixel", "12 megapixels"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[WatchedPage]:
    browser.set_script_timeout(300)  # graphics in software, perhaps beside other work
    with serving(large_pair(request.param), solve=False) as client:
        found = WatchedPage(browser, client)
        yield found
        found.close()


def when_all_is_there(page: WatchedPage, gesture: str) -> Cost:
    """Repeat a gesture until nothing is fetched for it any more: frames may be too fast for the tiles to come."""
    for _ in range(6):
        cost = page.do(gesture, _FRAMES)
        if cost.tiles == cost.uploads == 0:
            return cost
    pytest.fail(f"{gesture}: tiles are fetched, or given to the graphics card, again and again")


def test_opening_an_image_fetches_what_the_window_shows(page: WatchedPage) -> None:
    tiles, size = page.fetched()
    assert 0 < tiles <= _MOST_TILES
    assert size <= _MOST_BYTES


def test_reading_values_does_not_draw_the_picture_anew(page: WatchedPage) -> None:
    cost = page.do("cursor", _FRAMES)
    assert cost.tiles > 0
    assert cost.most_draws == 0


@pytest.mark.parametrize("gesture", GESTURES)
def test_a_frame_draws_no_more_than_the_window_shows(page: WatchedPage, gesture: str) -> None:
    cost = when_all_is_there(page, gesture)
    assert cost.most_draws <= _MOST_TILES
    assert (cost.draws > 0) == (gesture != "cursor")
