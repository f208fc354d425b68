"""The files of the page: its text, style, scripts, and the library it comes with."""

from __future__ import annotations

import json
from importlib import resources

_FOLDER = resources.files("graphsr.viewer") / "page"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
SCRIPT_PREFIX = "viewer/"  # how modules name each other, whatever they are loaded from


def page_files() -> dict[str, tuple[str, bytes]]:
    """Return type and content of every script and style by its path in the page's folder."""
    found = {}
    for prefix, folder in (("", _FOLDER), ("vendored/", _FOLDER / "vendored")):
        for file in folder.iterdir():
            suffix = f".{file.name.rpartition('.')[2]}"
            if suffix in _TYPES:
                found[f"{prefix}{file.name}"] = _TYPES[suffix], file.read_bytes()
    return found


def index_html() -> str:
    """Return the page with its places for what differs between a served page and one in a file."""
    return (_FOLDER / "index.html").read_text("utf-8")


def filled(template: str, parts: dict[str, str]) -> str:
    """Return the page with each `<!-- NAME -->` replaced, every one exactly once."""
    for name, part in parts.items():
        marker = f"<!-- {name} -->"
        assert template.count(marker) == 1, name
        template = template.replace(marker, part)
    return template


def import_map(addresses: dict[str, str]) -> str:
    """Return the JSON that says where modules are, by their paths in the page's folder."""
    return script_json({"imports": {f"{SCRIPT_PREFIX}{name}": address for name, address in addresses.items()}})


def script_json(content: object) -> str:
    """Return JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
