"""What the frames of the page cost: counted in the browser, for tests and for the figures of docs/viewing.md.

    python -m tests.viewer.frames

opens pairs of 1 and 12 megapixels in headless Chromium, and prints a table.
"""

from __future__ import annotations

import json
import math
import os
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.files import Image
from graphsr.viewer import ViewedPair
from tests.viewer.browser import chromium
from tests.viewer.shown_pair import Client, serving

SMALL, LARGE = (864, 1152), (3000, 4000)
GESTURES = ("slider", "pan", "zoom", "cursor")
_FACTOR = 8
_FRAMES = 12

# Counts draws, uploads and the time of the page's own work in every frame; runs before the scripts of the page.
_COUNTER = """
window.counted = {draws: 0, uploads: 0, script: 0};
const count = (name, kind) => {
  const before = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) { counted[kind]++; return before.apply(this, given); };
};
count("drawArrays", "draws");
count("texImage2D", "uploads");
const request = window.requestAnimationFrame.bind(window);
window.uncounted = request;
window.requestAnimationFrame = callback => request(now => {
  const began = performance.now();
  callback(now);
  counted.script += performance.now() - began;
});
performance.setResourceTimingBufferSize(10000);
"""

# Does one gesture, a step a frame, as a mouse would; returns what each frame cost.
_GESTURE = """
const [gesture, frames, done] = arguments;
const image = document.getElementById("image"), slider = document.getElementById("slider");
const box = image.getBoundingClientRect(), middle = {x: box.left + box.width / 2, y: box.top + box.height / 2};
const send = (element, kind, x, y, more = {}) => {
  const Kind = kind === "wheel" ? WheelEvent : PointerEvent;
  const about = {bubbles: true, cancelable: true, pointerId: 1, clientX: x, clientY: y, ...more};
  element.dispatchEvent(new Kind(kind, about));
};
HTMLElement.prototype.setPointerCapture = () => {};
HTMLElement.prototype.hasPointerCapture = () => true;
const wave = n => Math.sin(2 * Math.PI * n / frames);
const place = (n, far) => [middle.x + far * box.width * wave(n), middle.y + far * box.height * wave(2 * n)];
const steps = {
  slider: n => send(slider, "pointermove", middle.x + 0.4 * box.width * wave(n), middle.y),
  pan: n => send(image, "pointermove", ...place(n, 0.3)),
  zoom: n => send(image, "wheel", middle.x, middle.y, {deltaY: n < frames / 2 ? -120 : 120}),
  cursor: n => send(image, "pointermove", ...place(n, 0.4)),
};
const drags = gesture === "pan";
if (drags) send(image, "pointerdown", middle.x, middle.y);
const found = [];
let n = 0, before = null;
const step = () => {
  if (before) {
    found.push(Object.fromEntries(Object.keys(counted).map(kind => [kind, counted[kind] - before[kind]])));
  }
  before = {...counted};
  if (n++ < frames) {
    steps[gesture](n);
    uncounted(step);
    return;
  }
  if (drags) send(image, "pointerup", middle.x, middle.y);
  if (gesture === "cursor") send(image, "pointerleave", middle.x, middle.y);
  done(JSON.stringify(found));
};
uncounted(step);
"""

_FETCHED = """
const tiles = performance.getEntriesByType("resource").filter(one => one.name.includes("/tiles/"));
return [tiles.length, tiles.reduce((sum, one) => sum + one.decodedBodySize, 0)]
"""


@dataclass(frozen=True)
class Cost:
    """What a gesture costs: medians of its frames, and what was fetched for it.

    Attributes:
        script_ms: Of the page's scripts in a frame, as a clock has it.
        processor_ms: Of all processes of the browser in a frame, WebGL in software included; the mean.
        draws: Tiles drawn in a frame.
        most_draws: Those of the worst frame.
        uploads: Tiles given to the graphics card in all frames.
        tiles: Fetched in all.
        megabytes: Of them.
    """

    script_ms: float
    processor_ms: float
    draws: float
    most_draws: int
    uploads: int
    tiles: int
    megabytes: float


def large_pair(size: tuple[int, int]) -> ViewedPair:
    """Return a pair (H, W) with slopes, steps and texture, and its target, so that nothing has to be solved."""
    rows, columns = np.mgrid[: size[0], : size[1]].astype(np.float32)
    target = 1500 + rows / size[0] * 400 + 800 * ((columns // 200 + rows // 200) % 2)
    texture = np.random.default_rng(0).integers(0, 60, (*size, 3), np.uint8)
    guide = texture + (120 * ((columns // 200 + rows // 200) % 2)).astype(np.uint8)[..., None]
    blocks = target.reshape(size[0] // _FACTOR, _FACTOR, size[1] // _FACTOR, _FACTOR)
    coarse = Image(blocks.mean((1, 3)), Path("source.npy"))
    return ViewedPair(Image(guide, Path("guide.png")), coarse, target=target, truth=target + 5)


class WatchedPage:
    """A page whose frames are counted."""

    def __init__(self, browser: Any, client: Client) -> None:
        self._browser = browser
        browser.switch_to.new_window("tab")
        self._script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _COUNTER})
        size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(client.server.address)
        self._wait("document.querySelectorAll('#layers tbody tr').length")
        self.settle()

    def settle(self) -> None:
        """Wait until all that is seen has been loaded and drawn, and nothing more is being fetched."""
        self._browser.execute_async_script("const done = arguments[0]; uncounted(() => uncounted(done))")
        self._wait("document.documentElement.dataset.settled === 'yes'")

    def fetched(self) -> tuple[int, int]:
        """Return how many tiles were fetched so far, and how many bytes they have."""
        tiles, size = self._browser.execute_script(_FETCHED)
        return tiles, size

    def do(self, gesture: str, frames: int = _FRAMES) -> Cost:
        """Do a gesture, a pan at 1:1 and the others from the whole image, and return what it cost."""
        self._press("actual" if gesture == "pan" else "fit")
        self.settle()
        tiles, size = self.fetched()
        began = processor_seconds(self._browser.service.process.pid)
        found = json.loads(self._browser.execute_async_script(_GESTURE, gesture, frames))
        spent = processor_seconds(self._browser.service.process.pid) - began
        self.settle()
        more_tiles, more_size = self.fetched()
        return Cost(
            statistics.median(one["script"] for one in found),
            1000 * spent / len(found),
            statistics.median(one["draws"] for one in found),
            max(one["draws"] for one in found),
            sum(one["uploads"] for one in found),
            more_tiles - tiles,
            (more_size - size) / 1e6,
        )

    def close(self) -> None:
        """Close it."""
        self._browser.close()
        self._browser.switch_to.window(self._browser.window_handles[0])

    def _press(self, button: str) -> None:
        self._browser.execute_script("document.getElementById(arguments[0]).click()", button)

    def _wait(self, condition: str) -> None:
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self._browser, 120, poll_frequency=0.05).until(
            lambda _: self._browser.execute_script(f"return Boolean({condition})"), message=condition
        )


def processor_seconds(process: int) -> float:
    """Return the processor time of all processes that one has started, and those started in turn; NaN without /proc."""
    parents, times = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        number = int(file.parent.name)
        parents[number], times[number] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {process}
    while more := {number for number, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(times[number] for number in family) / os.sysconf("SC_CLK_TCK") if times else math.nan


def main() -> None:
    """Print the table."""
    print("gesture          megapixels  script ms  processor ms  tiles drawn (most)  uploads  tiles fetched (MB)")
    with chromium() as browser:
        browser.set_script_timeout(300)
        for size in (SMALL, LARGE):
            with serving(large_pair(size), solve=False) as client:
                page = WatchedPage(browser, client)
                tiles, fetched = page.fetched()
                print(f"{'opened':15} {size[0] * size[1] / 1e6:11.0f} {tiles:66d} ({fetched / 1e6:.1f})")
                for gesture in GESTURES:
                    for turn in ("", "again"):
                        cost = page.do(gesture)
                        print(
                            f"{gesture:9} {turn:5} {size[0] * size[1] / 1e6:11.0f} {cost.script_ms:10.2f} "
                            f"{cost.processor_ms:13.0f} {cost.draws:14.0f} ({cost.most_draws:2d}) {cost.uploads:8d} "
                            f"{cost.tiles:12d} ({cost.megabytes:.1f})",
                            flush=True,
                        )
                page.close()


if __name__ == "__main__":
    main()
