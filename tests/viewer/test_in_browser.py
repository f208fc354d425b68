"""The page in a real browser."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from graphsr.files import Image
from graphsr.files.pair import PairOptions
from graphsr.viewer import Session, ViewedPair, write_page
from tests.viewer.shown_pair import SIZE, Client, guide, pair, serving, source, truth

pytestmark = pytest.mark.slow
SECONDS = 120.0  # kernels may have to be compiled first


class Tab:
    """A page, and what a person would do in it."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.switch_to.new_window("tab")
        self.handle = browser.current_window_handle
        browser.get(address)

    def close(self) -> None:
        self.browser.switch_to.window(self.handle)
        self.browser.close()
        self.browser.switch_to.window(self.browser.window_handles[0])

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def wait(self, condition: str) -> None:
        """Wait until an expression of the page is true."""
        from selenium.webdriver.support.wait import WebDriverWait

        script = f"return Boolean({condition})"
        WebDriverWait(self.browser, SECONDS, poll_frequency=0.05).until(lambda _: self.run(script), message=condition)

    def settle(self) -> None:
        """Wait until all that is seen has been loaded and drawn."""
        self.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.wait("document.documentElement.dataset.settled === 'yes'")

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def press(self, key: str) -> None:
        from selenium.webdriver.common.by import By

        self.browser.find_element(By.TAG_NAME, "body").send_keys(key)

    def drag(self, selector: str, start: tuple[float, float], by: tuple[float, float]) -> None:
        """Drag with the mouse, from a place of the window."""
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.browser, duration=50).w3c_actions
        mouse = chain.pointer_action
        mouse.move_to_location(round(start[0]), round(start[1]))
        mouse.pointer_down()
        mouse.move_to_location(round(start[0] + by[0]), round(start[1] + by[1]))
        mouse.pointer_up()
        chain.perform()

    def hover(self, at: tuple[float, float]) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.browser, duration=50).w3c_actions
        chain.pointer_action.move_to_location(round(at[0]), round(at[1]))
        chain.perform()

    def place(self, row: float, column: float) -> tuple[float, float]:
        """Return where a pixel of the guide is in the window, while the whole image fits."""
        left, top, width, height = self.run(
            "const box = document.getElementById('image').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]"
        )
        zoom = 0.96 * min(width / SIZE[1], height / SIZE[0])
        return left + width / 2 + (column - SIZE[1] / 2) * zoom, top + height / 2 + (row - SIZE[0] / 2) * zoom

    def colour(self, row: float, column: float) -> tuple[int, ...]:
        """Return the colour that is seen at a pixel of the guide."""
        shown = Picture.open(io.BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
        x, y = self.place(row, column)
        return tuple(np.asarray(shown)[round(y), round(x)].tolist())

    def warnings(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def client() -> Iterator[Client]:
    with serving(pair(truth=truth())) as found:
        yield found


@pytest.fixture
def tab(browser: Any, client: Client) -> Iterator[Tab]:
    found = Tab(browser, client.server.address)
    found.wait("document.querySelectorAll('#layers tbody tr').length")
    found.settle()
    yield found
    assert found.warnings() == []
    found.close()


def show(tab: Tab, side: str, layer: str) -> None:
    tab.run("document.querySelector(`input[name=${arguments[0]}][value=${arguments[1]}]`).click()", side, layer)
    tab.settle()


def test_the_slider_moves_pixels(tab: Tab) -> None:
    show(tab, "left", "guide")
    show(tab, "right", "truth")
    row, column = 20, 30  # in the left half: the guide is blue there, the truth is at the low end of viridis
    assert tab.colour(row, column) == tuple(guide()[row, column])
    x, y = tab.place(row, 64)
    tab.drag("#slider", (x, y), (-400, 0))
    tab.settle()
    assert tab.colour(row, column) != tuple(guide()[row, column])
    assert tab.colour(row, column)[0] < 90  # dark violet: near
    assert tab.colour(row, 100)[0] > 150  # yellow: far


def test_pixels_stay_sharp_when_zoomed(tab: Tab) -> None:
    show(tab, "left", "guide")
    show(tab, "right", "guide")
    for _ in range(8):
        tab.press("+")
    tab.settle()
    shown = np.asarray(Picture.open(io.BytesIO(tab.browser.get_screenshot_as_png())).convert("RGB"))[300, 100:400]
    colours = {tuple(pixel) for pixel in shown.tolist()}
    assert colours <= {(30, 60, 190), (200, 200, 200)}  # nothing between the two of the guide


@pytest.mark.parametrize(("row", "column"), [(0, 0), (40, 20), (50, 100), (95, 127)])
def test_values_under_the_cursor_are_right(tab: Tab, client: Client, row: int, column: int) -> None:
    number = client.layer("target")["number"]
    target = np.frombuffer(client.ask(f"tiles/{number}/0/0/0/0")[1], "<f4").reshape(SIZE)
    tab.hover(tab.place(row + 0.5, column + 0.5))
    tab.wait(f"document.getElementById('place').textContent === 'x {column}, y {row}'")
    tab.wait("document.querySelector('[data-layer=target]').textContent")
    seen = {name: tab.text(f"[data-layer={name}]") for name in ("guide", "source", "target", "truth")}
    assert seen["guide"] == " ".join(map(str, guide()[row, column]))
    assert seen["source"] == f"{source()[row // 8, column // 8]:.1f} mm"
    assert seen["target"] == f"{target[row, column]:.1f} mm"
    assert seen["truth"] == f"{truth()[row, column]:.1f} mm"


def test_values_that_come_and_go_move_nothing_beside_them(tab: Tab) -> None:
    places = (
        "return [...document.querySelectorAll('#layers input, #layers td:nth-child(3)')]"
        ".map(cell => cell.getBoundingClientRect().left)"
    )
    before = tab.run(places)
    tab.hover(tab.place(40.5, 20.5))
    tab.wait("document.querySelector('[data-layer=target]').textContent")
    assert tab.run(places) == before


def test_values_of_a_16_bit_guide_are_exact(browser: Any) -> None:
    deep = guide().astype(np.uint16) * 257 + 1
    with serving(ViewedPair(Image(deep, Path("guide.png")), Image(source(), Path("source.png")))) as client:
        tab = Tab(browser, client.server.address)
        tab.wait("document.querySelectorAll('#layers tbody tr').length")
        tab.settle()
        tab.hover(tab.place(40.5, 100.5))
        tab.wait("document.querySelector('[data-layer=guide]').textContent")
        assert tab.text("[data-layer=guide]") == "51401 51401 51401"
        tab.close()


def test_a_touch_reads_the_values_until_the_next(tab: Tab) -> None:
    x, y = tab.place(40.5, 20.5)
    touch = {"type": "touchStart", "touchPoints": [{"x": round(x), "y": round(y)}]}
    tab.browser.execute_cdp_cmd("Input.dispatchTouchEvent", touch)
    tab.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    tab.wait("document.getElementById('place').textContent === 'x 20, y 40'")
    tab.wait("document.querySelector('[data-layer=truth]').textContent")
    assert tab.text("[data-layer=truth]") == f"{truth()[40, 20]:.1f} mm"


def test_arrow_keys_choose_among_radio_buttons_and_pan_elsewhere(tab: Tab) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    show(tab, "left", "guide")
    tab.browser.find_element(By.CSS_SELECTOR, "input[name=left]:checked").send_keys(Keys.ARROW_DOWN)
    tab.wait("document.getElementById('left-title').textContent === 'Source'")
    tab.run("document.activeElement.blur()")
    tab.press(Keys.ARROW_LEFT)
    tab.settle()
    assert tab.text("#left-title") == "Source"
    tab.hover(tab.place(40.5, 60.5))
    tab.wait("/^x 5[0-9], y 40$/.test(document.getElementById('place').textContent)")


def test_a_second_solve_appears(tab: Tab) -> None:
    tab.run("document.querySelector('[name=model]').value = 'colour'")
    tab.run("document.querySelector('[name=uncertainty]').click()")
    tab.run("document.getElementById('solve').click()")
    tab.wait("document.querySelector('[data-layer=uncertainty]') && document.querySelector('[data-layer=edges]')")
    tab.wait("!document.body.classList.contains('solving')")
    tab.settle()
    assert "colour" in tab.text("#report")
    assert "mm (RMS)" in tab.text("#report")
    assert tab.text("[value=previous]") == ""
    assert "Previous target" in tab.text("#layers")


def test_a_mistake_is_said_in_one_line(tab: Tab) -> None:
    tab.run("document.querySelector('[name=footprint]').value = 'boks'")
    tab.run("document.getElementById('solve').click()")
    tab.wait("document.getElementById('error').textContent")
    assert tab.text("#error").startswith("footprint 'boks': unknown")
    tab.warnings()  # the browser logs the answer 400


def test_two_tabs_show_the_same_pair(tab: Tab, client: Client) -> None:
    other = Tab(tab.browser, client.server.address)
    other.wait("document.querySelectorAll('#layers tbody tr').length")
    other.run("document.querySelector('[name=model]').value = 'colour'")
    other.run("document.getElementById('solve').click()")
    other.wait("document.querySelector('[data-layer=edges]')")
    other.close()
    tab.browser.switch_to.window(tab.handle)
    tab.wait("document.querySelector('[data-layer=edges]')")  # the first one has heard of it


def test_a_profile_has_the_values_of_the_line(tab: Tab) -> None:
    tab.press("p")
    start, end = tab.place(30.5, 20.5), tab.place(30.5, 110.5)
    tab.drag("#image", start, (end[0] - start[0], 0))
    tab.wait("document.querySelectorAll('#plot .u-series').length > 3")
    assert tab.text("#profile-title") == "Profile from (20, 30) to (110, 30): 90 pixels"
    tab.hover((end[0], tab.run("return document.querySelector('#plot .u-over').getBoundingClientRect().top + 20")))
    tab.wait("[...document.querySelectorAll('#plot .u-series')].at(-1).textContent.includes('3030')")


def test_a_profile_does_not_cover_the_line(tab: Tab) -> None:
    for row in (20.5, 80.5):
        tab.press("p")
        start, end = tab.place(row, 20.5), tab.place(row, 110.5)
        tab.drag("#image", start, (end[0] - start[0], 0))
        tab.wait(f"document.getElementById('profile-title').textContent.startsWith('Profile from (20, {row:.0f})')")
        top, bottom = tab.run(
            "const box = document.getElementById('profile').getBoundingClientRect(); return [box.top, box.bottom]"
        )
        assert not top <= start[1] <= bottom
        tab.press("p")


def test_labels_of_the_colour_bar_are_complete(tab: Tab) -> None:
    tab.run(
        "for (const [name, value] of [['lowest', -5200000], ['highest', 5200000]]) {"
        "const field = document.querySelector(`[name=${name}]`); field.value = value;"
        "field.dispatchEvent(new Event('change')); }"
    )
    tab.wait("document.querySelector('.ticks').textContent === '0'")  # -5000000 and 5000000 would stick out


def test_the_range_of_the_colours_can_be_set(tab: Tab) -> None:
    show(tab, "left", "truth")
    before = tab.colour(40, 20)
    tab.run(
        "const field = document.querySelector('[name=lowest]'); field.value = '-1800';"
        "field.dispatchEvent(new Event('change'))"
    )
    tab.settle()
    assert tab.colour(40, 20) != before
    tab.run("document.querySelector('[name=auto]').click()")
    tab.settle()
    assert tab.colour(40, 20) == before


def test_the_point_cloud_can_be_turned(tab: Tab) -> None:
    from selenium.webdriver.common.keys import Keys

    tab.press("c")
    tab.settle()
    tab.wait("document.getElementById('cloud-note').textContent === '12,288 points.'")
    assert tab.text("#focal-note").startswith("64° across, guessed: 0.8 of the longer side")
    before = tab.browser.get_screenshot_as_png()
    tab.drag("#cloud", (400, 400), (150, 40))
    tab.settle()
    dragged = tab.browser.get_screenshot_as_png()
    assert dragged != before
    tab.press(Keys.ARROW_UP)
    tab.settle()
    assert tab.browser.get_screenshot_as_png() != dragged


def test_layers_that_are_no_place_in_space_cannot_be_chosen_for_the_point_cloud(tab: Tab) -> None:
    tab.press("c")
    tab.settle()
    chosen = "return [...document.querySelectorAll('input[name=right]:enabled')].map(button => button.value)"
    assert tab.run(chosen) == ["source", "interpolated", "target", "truth"]
    tab.press("c")
    tab.settle()
    assert len(tab.run(chosen)) == tab.run("return document.querySelectorAll('input[name=right]').length")


def test_values_that_are_no_depths_become_a_relief(browser: Any) -> None:
    degrees = source().astype(np.float32) - 3010  # most of them below zero
    shown = ViewedPair(Image(guide(), Path("guide.png")), Image(degrees, Path("degrees.npy")))
    with serving(shown) as client:
        tab = Tab(browser, client.server.address)
        tab.wait("document.querySelectorAll('#layers tbody tr').length")
        tab.press("c")
        tab.wait("document.getElementById('cloud-note').textContent === '12,288 points.'")
        assert tab.run("return document.getElementById('cloud-shape').value") == "relief"
        tab.run(
            "const field = document.getElementById('cloud-shape'); field.value = 'depth';"
            "field.dispatchEvent(new Event('change'))"
        )
        assert "without a positive value left out." in tab.text("#cloud-note")
        assert tab.warnings() == []
        tab.close()


def test_a_channel_is_drawn_in_its_own_range_while_the_cursor_reads_it(browser: Any) -> None:
    two = np.stack([source(), source() / 1000 - 5], -1).astype(np.float32)
    with serving(ViewedPair(Image(guide(), Path("guide.png")), Image(two, Path("bands.npy")))) as client:
        tab = Tab(browser, client.server.address)
        tab.wait("document.querySelectorAll('#layers tbody tr').length")
        tab.settle()
        show(tab, "left", "target")
        before = tab.colour(40, 20)
        tab.hover(tab.place(40.5, 20.5))
        tab.wait("document.querySelector('[data-layer=target]').textContent")
        tab.run(
            "const field = document.getElementById('channel'); field.value = '1';"
            "field.dispatchEvent(new Event('change'))"
        )
        tab.wait("Number(document.querySelector('[name=highest]').value) < 0")
        tab.settle()
        assert np.abs(np.subtract(tab.colour(40, 20), before)).max() <= 1  # the same share of another range
        assert tab.warnings() == []
        tab.close()


def test_a_wrong_token_is_refused(browser: Any, client: Client) -> None:
    tab = Tab(browser, client.server.address.replace(client.server.token, "wrong"))
    assert "the token is wrong" in tab.text("body")
    assert tab.run("return document.querySelectorAll('canvas').length") == 0
    tab.warnings()
    tab.close()


@pytest.mark.parametrize("kind", ["served", "one file"])
def test_a_hostile_name_does_not_become_markup(browser: Any, tmp_path: Path, kind: str) -> None:
    name = '"><img src=x onerror="document.body.dataset.taken=1"><script>document.body.dataset.taken=1<.png'
    shown = pair(name=name)
    with serving(shown) as client:
        address = client.server.address
        if kind == "one file":
            write_page(client.server.session, tmp_path / "page.html")
            address = (tmp_path / "page.html").as_uri()
        tab = Tab(browser, address)
        tab.wait("document.querySelectorAll('#layers tbody tr').length")
        tab.settle()
        assert name in tab.text("#files")
        assert tab.run("return document.querySelectorAll('img').length") == 0
        assert tab.run("return document.body.dataset.taken ?? ''") == ""
        assert tab.warnings() == []
        tab.close()


def test_a_page_in_one_file_shows_the_same(browser: Any, tmp_path: Path) -> None:
    session = Session(pair(truth=truth()), PairOptions(model="bicubic"), unit="mm")
    session.solve()
    assert session.wait(180)
    write_page(session, tmp_path / "page.html")
    tab = Tab(browser, (tmp_path / "page.html").as_uri())
    tab.wait("document.querySelectorAll('#layers tbody tr').length")
    tab.settle()
    show(tab, "left", "guide")
    assert tab.colour(20, 30) == tuple(guide()[20, 30])
    tab.hover(tab.place(40.5, 20.5))
    tab.wait("document.querySelector('[data-layer=truth]').textContent")
    assert tab.text("[data-layer=truth]") == f"{truth()[40, 20]:.1f} mm"
    assert tab.run("return document.getElementById('solving').hidden")
    assert tab.warnings() == []
    tab.close()


def test_a_server_that_has_ended_is_said(browser: Any) -> None:
    with serving(pair()) as client:
        tab = Tab(browser, client.server.address)
        tab.wait("document.querySelectorAll('#layers tbody tr').length")
        tab.settle()
    tab.wait("document.getElementById('banner-text').textContent.startsWith('graphsr view has ended')")
    tab.warnings()
    tab.close()


def test_nothing_is_loaded_from_elsewhere(tab: Tab, client: Client) -> None:
    loaded = json.loads(tab.run("return JSON.stringify(performance.getEntriesByType('resource').map(one => one.name))"))
    assert loaded
    assert all(name.startswith((client.server.address, "data:")) for name in loaded)
