"""The page in one file, with all its pixels: to be sent to somebody, or kept beside a result."""

from __future__ import annotations

import base64
import hashlib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.viewer.layers import Layer
from graphsr.viewer.page_files import filled, import_map, index_html, page_files, script_json
from graphsr.viewer.session import Session

_STEPS = 65534  # of values; 0 is missing


def check_page(path: Path) -> None:
    """Check, before anything is computed, that a page can be written there."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a page is an HTML file; give it the suffix .html")
    check_folder(path)


def write_page(session: Session, path: Path) -> int:
    """Write a page that needs nothing else, and return its size in bytes.

    Values are rounded to one of 65,534 steps between the lowest and the highest of their layer.
    Colours are kept; those of guides that are not 8-bit are rounded likewise.

    Args:
        session: What is shown; nothing may be being solved.
        path: The file to write, whole or not at all.
    """
    check_page(path)
    html = _page(session).encode()
    with whole_file(path) as temporary:
        temporary.write_bytes(html)
    return len(html)


def _page(session: Session) -> str:
    files = page_files()
    scripts = {name: content for name, (_, content) in files.items() if name.endswith(".js")}
    styles = sorted((name for name in files if name.endswith(".css")), reverse=True)
    style = "\n".join(files[name][1].decode() for name in styles)
    modules = import_map({name: _data_address(content) for name, content in scripts.items()})
    start = 'import "viewer/main.js";'
    policy = (
        f"default-src 'none'; script-src '{_digest(modules)}' '{_digest(start)}' data:; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    state = session.state()
    state["solving"] = None
    blocks = [f'<script type="application/json" id="embedded">{script_json(state)}</script>']
    for layer in session.layers():
        blocks += _layer_blocks(layer)
    parts = {
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "styles": f"<style>{style}</style>",
        "modules": f'<script type="importmap">{modules}</script>',
        "data": "\n".join(blocks),
        "start": f'<script type="module">{start}</script>',
    }
    return filled(index_html(), parts)


def _data_address(script: bytes) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(script).decode()}"


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _layer_blocks(layer: Layer) -> list[str]:
    """Return one element for each channel: differences of neighbours, deflated, in base64."""
    blocks = []
    for channel in range(layer.channels):
        plane = layer.plane(channel)
        low, step = 0.0, 1.0
        if plane.dtype == np.uint8:
            whole: NDArray[Any] = plane
        else:
            whole, low, step = quantised(plane)
        about = {"low": low, "step": step, "bits": whole.dtype.itemsize * 8}
        text = base64.b64encode(zlib.compress(_differences(whole).tobytes(), 6)).decode()
        name = f"layer-{layer.number}-{channel}"
        blocks.append(f'<script type="application/json" id="{name}-about">{script_json(about)}</script>')
        blocks.append(f'<script type="application/octet-stream" id="{name}">{text}</script>')
    return blocks


def quantised(values: NDArray[Any]) -> tuple[NDArray[np.uint16], float, float]:
    """Return values as whole numbers from 1 on, 0 for missing, with the value of 1 and the step between two.

    Args:
        values: Floats of any shape, NaN is missing.
    """
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(values.shape, np.uint16), 0.0, 1.0
    low, high = float(values[known].min()), float(values[known].max())
    step = (high - low) / _STEPS or 1.0
    if np.array_equal(values[known], np.rint(values[known])) and high - low <= _STEPS:
        step = 1.0  # whole numbers stay what they are
    steps = np.rint((np.where(known, values, low).astype(np.float64) - low) / step)
    return np.where(known, steps + 1, 0).astype("<u2"), low, step


def _differences(whole: NDArray[Any]) -> NDArray[Any]:
    """Return the differences to the pixel on the left, wrapping round; bytes of 16 bits apart, low ones first."""
    change = whole.copy()
    change[:, 1:] -= whole[:, :-1]
    if change.dtype == np.uint8:
        return change
    return np.stack([change & 0xFF, change >> 8]).astype(np.uint8)
