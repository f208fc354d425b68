"""The server of the page: for this machine alone, and there for those who know the token alone.

Every address begins with a random token, so that neither cookies nor headers are needed and each tab stands for itself.
Requests have to name a loopback address as their host, as a foreign page could otherwise reach the server under a name
of its own (DNS rebinding). The page can send options, which are checked, and no names of files.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from graphsr.errors import GraphSRError, InputError
from graphsr.viewer.page_files import filled, import_map, index_html, page_files
from graphsr.viewer.session import Session

_HOST = "127.0.0.1"
_MOST_BYTES = 64 * 1024  # of a request
_IDLE_SECONDS = 60
_log = logging.getLogger("graphsr")


class ViewServer(ThreadingHTTPServer):
    """Serves the page of a session.

    Args:
        session: What is shown.
        port: 0 for any that is free.

    Raises:
        InputError: The port cannot be had.
    """

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session = session
        self.ended = False
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        try:
            super().__init__((_HOST, port), _Handler)
        except OSError as error:
            raise InputError(
                f"--port {port}: cannot be used ({error.strerror}); leave it out for one that is free"
            ) from error
        self.hosts = {f"{name}:{self.server_port}" for name in (_HOST, "localhost")}

    @property
    def address(self) -> str:
        """Return the address of the page, with its token."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def shutdown(self) -> None:
        """End; connections that are still open get no more answers."""
        self.ended = True
        super().shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about connections that a browser has closed."""
        _log.debug("a connection of %s ended", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    protocol_version = "HTTP/1.1"  # one connection for many tiles
    timeout = _IDLE_SECONDS
    server_version = "graphsr"
    sys_version = ""

    def do_GET(self) -> None:
        path = self._allowed_path()
        if path is None:
            return
        match path.split("/"):
            case [""]:
                self._send_page()
            case ["page", *parts] if (found := self.server.files.get("/".join(parts))) is not None:
                self._send(HTTPStatus.OK, *found)
            case ["state"]:
                self._send_json(HTTPStatus.OK, self.server.session.state())
            case ["progress"]:
                self._send_json(HTTPStatus.OK, self.server.session.progress())
            case ["tiles", *parts] if (numbers := _whole_numbers(parts, 5)) is not None:
                layer = self.server.session.layer(numbers[0])
                self._send_pixels(None if layer is None else layer.tile(*numbers[1:]))
            case ["samples", *parts] if (numbers := _whole_numbers(parts, 3)) is not None:
                layer = self.server.session.layer(numbers[0])
                self._send_pixels(None if layer is None else layer.samples(*numbers[1:]))
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")

    def do_POST(self) -> None:
        path = self._allowed_path()
        if path is None:
            return
        try:
            content = self._content()
            if path == "solve":
                self.server.session.solve_from_page(content)
            elif path == "cancel":
                self.server.session.cancel()
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
                return
        except GraphSRError as error:
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        self._send_json(HTTPStatus.ACCEPTED, self.server.session.progress())

    def _allowed_path(self) -> str | None:
        """Return what follows the token; None if the request was refused."""
        token, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        own = [f"http://{host}" for host in self.server.hosts]
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.server.ended:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "graphsr view has ended")
        elif self.headers.get("Host") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "only pages of this machine are served")
        elif self.headers.get("Origin", own[0]) not in own or (rest and site not in ("none", "same-origin")):
            self._refuse(HTTPStatus.FORBIDDEN, "requests of other pages are refused")
        elif not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(
                HTTPStatus.FORBIDDEN, "the token is wrong; open the address that the running graphsr view printed"
            )
        else:
            return rest
        return None

    def _content(self) -> Any:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= _MOST_BYTES:
            self.close_connection = True
            raise InputError(f"a request has to say its length, at most {_MOST_BYTES} bytes")
        body = self.rfile.read(length)
        if self.headers.get_content_type() != "application/json":
            raise InputError("a request has to be of type application/json")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise InputError("the request is no JSON") from None

    def _send_page(self) -> None:
        nonce = secrets.token_urlsafe(16)
        addresses = {name: f"./page/{name}" for name in self.server.files if name.endswith(".js")}
        styles = [name for name in self.server.files if name.endswith(".css")]
        parts = {
            "policy": "",
            "styles": "\n".join(
                f'<link rel="stylesheet" href="./page/{name}">' for name in sorted(styles, reverse=True)
            ),
            "modules": f'<script type="importmap" nonce="{nonce}">{import_map(addresses)}</script>',
            "data": "",
            "start": '<script type="module" src="./page/main.js"></script>',
        }
        policy = (
            f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", filled(index_html(), parts).encode(), policy)

    def _send_pixels(self, pixels: bytes | None) -> None:
        if pixels is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there are no such pixels")
        else:
            self._send(HTTPStatus.OK, "application/octet-stream", pixels)

    def _send_json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(content).encode())

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self.close_connection = True  # what else was sent is not read
        self._send(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes, policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write requests to the log alone, without the token."""
        _log.debug("view: %s", (format % arguments).replace(self.server.token, "TOKEN"))


def _whole_numbers(parts: list[str], count: int) -> list[int] | None:
    """Return the parts of an address as numbers, if they are so many and short."""
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    return [int(part) for part in parts]
