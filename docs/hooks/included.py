"""Show files that live elsewhere in the repository as pages: the change log, the model card."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_MARKER = re.compile(r"<!-- include (\S+) -->")
_TO_DOCS = re.compile(r"\]\((?:\.\./)*docs/")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a file's text in place of its marker, with links into `docs/` made relative to the page."""
    return _MARKER.sub(lambda found: _TO_DOCS.sub("](", (_ROOT / found[1]).read_text("utf-8")), markdown)
