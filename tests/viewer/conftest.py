"""A browser without a window, where one is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.viewer.browser import chromium, programs


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Selenium; tests that need it are skipped where either is not installed."""
    pytest.importorskip("selenium.webdriver", reason="needs Selenium: pip install 'graphsr[dev]'")
    if None in programs():
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    with chromium() as found:
        yield found
