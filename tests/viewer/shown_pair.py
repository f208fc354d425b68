"""A small pair whose values are known, and a server that shows it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.files import Image
from graphsr.files.pair import PairOptions
from graphsr.viewer import Session, ViewedPair, ViewServer

SIZE, FACTOR = (96, 128), 8


def guide() -> np.ndarray:
    """Blue on the left half, grey on the right."""
    picture = np.full((*SIZE, 3), 200, np.uint8)
    picture[:, : SIZE[1] // 2] = (30, 60, 190)
    return picture


def truth() -> np.ndarray:
    """Near on the left half, far on the right, a slope downwards."""
    depth = np.full(SIZE, 3000, np.float32)
    depth[:, : SIZE[1] // 2] = 1200
    return depth + np.arange(SIZE[0], dtype=np.float32)[:, None]


def source() -> np.ndarray:
    blocks = truth().reshape(SIZE[0] // FACTOR, FACTOR, SIZE[1] // FACTOR, FACTOR)
    return np.rint(blocks.mean((1, 3))).astype(np.uint16)


def pair(name: str = "source.png", **more: Any) -> ViewedPair:
    return ViewedPair(Image(guide(), Path("guide.png")), Image(source(), Path(name)), **more)


@dataclass
class Client:
    """Asks a server as a browser would; `host` and `headers` may lie."""

    server: ViewServer
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, path: str, *, token: str | None = None, method: str = "GET", body: Any = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        try:
            headers = {"Content-Type": "application/json", **self.headers}
            sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            chosen = self.server.token if token is None else token
            connection.request(method, f"/{chosen}/{path}", sent, headers)
            answer = connection.getresponse()
            self.answered = answer.headers
            return answer.status, answer.read()
        finally:
            connection.close()

    def state(self) -> dict[str, Any]:
        return json.loads(self.ask("state")[1])

    def layer(self, name: str) -> dict[str, Any]:
        return next(layer for layer in self.state()["layers"] if layer["name"] == name)

    def solve(self, **options: Any) -> tuple[int, dict[str, Any]]:
        status, body = self.ask("solve", method="POST", body={"model": "colour", **options})
        return status, json.loads(body)


@contextmanager
def serving(shown: ViewedPair, model: str = "bicubic", *, solve: bool = True, **more: Any) -> Iterator[Client]:
    """Serve a pair, solved with a model that takes no time, or with the target that it has."""
    session = Session(shown, PairOptions(model=model), unit="mm", **more)
    if solve:
        session.solve()
        assert session.wait(180)
    with ViewServer(session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield Client(server)
        finally:
            server.shutdown()
            thread.join()
