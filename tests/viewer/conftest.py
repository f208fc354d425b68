"""A browser without a window, where one is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_FLAGS = (
    "--headless=new",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",  # graphics without a graphics card
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--window-size=1280,800",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Selenium; tests that need it are skipped where either is not installed."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs Selenium: pip install 'graphsr[dev]'")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in _FLAGS:
        options.add_argument(flag)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver)) as found:
        size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        found.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield found
