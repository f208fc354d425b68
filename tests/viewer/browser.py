"""Chromium without a window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_FLAGS = (
    "--headless=new",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",  # graphics without a graphics card
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--window-size=1280,800",
)


def programs() -> tuple[str | None, str | None]:
    """Return where the browser and its driver are, as far as they are installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return browser, shutil.which("chromedriver")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser, driven by Selenium; both have to be installed."""
    from selenium import webdriver

    program, driver = programs()
    assert program is not None
    assert driver is not None
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
