"""The server: who may ask, what is answered, and that solves come one after the other."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from graphsr.files.pair import PairOptions
from graphsr.viewer import Session, ViewServer
from tests.viewer.shown_pair import SIZE, Client, guide, pair, serving, source, truth


@pytest.fixture
def client() -> Iterator[Client]:
    with serving(pair(truth=truth())) as found:
        yield found


class TestWhoMayAsk:
    def test_the_page_comes_with_the_token_alone(self, client: Client) -> None:
        assert client.ask("")[0] == 200
        for wrong in ("x", client.server.token[:-1], client.server.token + "x", "", "%C3%A9"):
            status, body = client.ask("state", token=wrong)
            assert status == 403
            assert b"layers" not in body

    @pytest.mark.parametrize("path", ["", "state", "progress", "page/main.js", "tiles/1/0/0/0/0"])
    def test_nothing_is_there_without_it(self, client: Client, path: str) -> None:
        assert client.ask(path, token="wrong")[0] == 403
        assert client.ask("solve", token="wrong", method="POST", body={})[0] == 403

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "0.0.0.0"])
    def test_other_names_of_this_machine_are_refused(self, client: Client, host: str) -> None:
        client.headers = {"Host": f"{host}:{client.server.server_port}"}
        assert client.ask("state")[0] == 403

    def test_localhost_is_one_of_its_names(self, client: Client) -> None:
        client.headers = {"Host": f"localhost:{client.server.server_port}"}
        assert client.ask("state")[0] == 200

    @pytest.mark.parametrize(
        "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
    )
    def test_other_pages_are_refused(self, client: Client, headers: dict[str, str]) -> None:
        client.headers = headers
        assert client.ask("state")[0] == 403
        assert client.ask("solve", method="POST", body={"model": "colour"})[0] == 403

    def test_it_listens_on_the_loopback_address(self, client: Client) -> None:
        assert client.server.server_address[0] == "127.0.0.1"
        assert client.server.address.startswith("http://127.0.0.1:")

    def test_tokens_are_long_and_new(self) -> None:
        session = Session(pair(), PairOptions(model="bicubic"))
        with ViewServer(session) as one, ViewServer(session) as other:
            assert one.token != other.token
            assert len(one.token) >= 32

    @pytest.mark.parametrize(
        "path",
        ["page/../server.py", "page/%2e%2e/server.py", "page//etc/passwd", "page/vendored", "../state",
         "tiles/../state", "tiles/1/0/0/0", "tiles/1/0/0/0/-1", "tiles/1/9/0/0/0", "tiles/1/0/9/0/0", "tiles/1/0/0/9/9",
         "tiles/999999999/0/0/0/0", "samples/1/0/0", "tiles/%C2%B2/0/0/0/0"],
    )  # fmt: skip
    def test_there_is_nothing_else(self, client: Client, path: str) -> None:
        assert client.ask(path)[0] == 404


class TestAnswers:
    def test_the_page_may_load_nothing_from_elsewhere(self, client: Client) -> None:
        _, body = client.ask("")
        policy = client.answered["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self' 'nonce-")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert b"<!-- " not in body  # every place is filled
        assert client.answered["Referrer-Policy"] == "no-referrer"

    def test_tiles_hold_the_values(self, client: Client) -> None:
        number = client.layer("truth")["number"]
        tile = np.frombuffer(client.ask(f"tiles/{number}/0/0/0/0")[1], "<f4").reshape(SIZE)
        assert np.array_equal(tile, truth())
        number = client.layer("guide")["number"]
        assert client.ask(f"tiles/{number}/0/0/0/0")[1] == guide().tobytes()

    def test_samples_are_not_averaged(self, client: Client) -> None:
        number = client.layer("source")["number"]
        found = np.frombuffer(client.ask(f"samples/{number}/0/3")[1], "<f4").reshape(4, 6)
        assert np.array_equal(found, source()[::3, ::3])

    def test_the_state_says_what_is_shown(self, client: Client) -> None:
        state = client.state()
        names = [layer["name"] for layer in state["layers"]]
        assert names == ["guide", "source", "interpolated", "target", "truth", "error"]
        assert state["files"]["source"] == "source.png, 16 × 12, uint16"
        assert state["scales"]["values"]["unit"] == "mm"
        assert ["model", "bicubic"] in state["report"]


class TestSolves:
    def test_a_second_solve_appears(self, client: Client) -> None:
        before = client.layer("target")
        assert client.solve(uncertainty=True)[0] == 202
        assert client.server.session.wait(180)
        state = client.state()
        assert state["error"] == ""
        assert state["options"]["model"] == "colour"
        names = [layer["name"] for layer in state["layers"]]
        assert {"edges", "uncertainty", "previous"} <= set(names)
        assert client.layer("target")["number"] != before["number"]
        assert client.layer("previous")["number"] == before["number"]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"model": "defualt"}, "model 'defualt': no model of this name; did you mean default?"),
            ({"model": "/etc/passwd"}, "model '/etc/passwd': no model of this name"),
            ({"noise": "loud"}, "noise"),
            ({"noise": "-1"}, "noise"),
            ({"footprint": "boks"}, "footprint 'boks': unknown; known are box"),
            ({"align": "turn"}, "align 'turn': unknown"),
            ({"confidence": "2"}, "--confidence 2: one number for all source pixels must be above 0 and at most 1"),
            ({"confidence": "/etc/passwd"}, "--confidence /etc/passwd: one number"),
            ({"missing": "none"}, "--missing none: must be a number"),
            ({"exact": "yes"}, "options: exact must be bool"),
            ({"output": "elsewhere.png"}, "options: unknown key 'output'"),
            ({"noise": "9" * 1000}, "--noise: 1000 characters are too many"),
        ],
    )
    def test_options_are_checked_as_on_the_command_line(self, client: Client, options: dict, says: str) -> None:
        status, answer = client.solve(**options)
        assert status == 400
        assert says in answer["error"]
        assert "\n" not in answer["error"]
        assert client.server.session.progress()["solving"] is None

    @pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"[" * 10_000, b"\xff"])
    def test_what_is_no_request_is_refused(self, client: Client, body: bytes) -> None:
        assert client.ask("solve", method="POST", body=body)[0] == 400

    def test_a_request_is_small_and_json(self, client: Client) -> None:
        assert client.ask("solve", method="POST", body=b" " * 100_000)[0] == 400
        client.headers = {"Content-Type": "text/plain"}
        assert client.ask("solve", method="POST", body={"model": "colour"})[0] == 400

    def test_an_error_of_a_solve_is_one_line_and_the_next_one_works(self, client: Client) -> None:
        assert client.solve(model="bicubic", exact=True)[0] == 202
        assert client.server.session.wait(180)
        assert client.state()["error"].startswith("model 'bicubic' cannot be exact")
        assert client.layer("target")  # the last one is still shown
        client.solve()
        assert client.server.session.wait(180)
        assert client.state()["error"] == ""

    def test_the_newest_request_wins(self, client: Client) -> None:
        for noise in ("1", "2", "3", "4"):
            client.solve(noise=noise)
        assert client.server.session.wait(180)
        assert client.state()["options"]["noise"] == "4"

    def test_missing_pixels_change_the_source(self, client: Client) -> None:
        client.solve(missing=str(int(source()[0, 0])))
        assert client.server.session.wait(180)
        number = client.layer("source")["number"]
        found = np.frombuffer(client.ask(f"samples/{number}/0/1")[1], "<f4").reshape(source().shape)
        assert found[0, 0] < -1e38
        assert found[5, 5] == source()[5, 5]

    def test_pages_of_two_tabs_see_the_same(self, client: Client) -> None:
        other = Client(client.server)
        client.solve(robust=True)
        assert client.server.session.wait(180)
        assert other.state() == client.state()


def test_a_port_in_use_is_one_line() -> None:
    session = Session(pair(), PairOptions(model="bicubic"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ValueError, match=r"--port \d+: cannot be used \(.+\); leave it out for one that is free"):
            ViewServer(session, taken.getsockname()[1])


def test_a_name_that_is_no_text_can_be_sent() -> None:
    session = Session(pair(name="s\udcff.png"), PairOptions(model="bicubic"))
    assert json.dumps(session.state()["files"]).count("udcff") == 1
