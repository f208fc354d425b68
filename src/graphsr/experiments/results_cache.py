"""Measured figures on disk, so that an experiment that was stopped can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphsr.errors import InputError
from graphsr.files.atomic import whole_file


class ResultsCache:
    """One JSON file of results, each with all the settings it depends on; it is rewritten after every result."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[str, dict[str, Any]] = {}
        if path.exists():
            try:
                results = json.loads(path.read_text())["results"]
                self._results = {_key(result["settings"]): result for result in results}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}: cannot be read as measured results; remove it to measure anew") from error

    def get(self, settings: dict[str, Any]) -> dict[str, Any] | None:
        """Return the figures that were measured with exactly these settings."""
        result = self._results.get(_key(settings))
        return None if result is None else result["figures"]

    def put(self, settings: dict[str, Any], figures: dict[str, Any]) -> None:
        """Add figures, and write all to disk."""
        self._results[_key(settings)] = {"settings": settings, "figures": figures}
        with whole_file(self.path) as part:
            part.write_text(json.dumps({"results": list(self._results.values())}, indent=1) + "\n")


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
