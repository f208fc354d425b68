"""Measured cells on disk, so that an experiment that was stopped goes on, and measures anew only what has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphsr.errors import InputError
from graphsr.files.atomic import whole_file


class Store:
    """One JSON file of cells, each with all that made it; it is written whole after every cell."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cells: dict[str, dict[str, Any]] = {}
        if path.exists():
            try:
                cells = json.loads(path.read_text())["cells"]
                self._cells = {_key(cell["made by"]): cell for cell in cells}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}: cannot be read as measured cells; remove it to measure anew") from error

    def get(self, made_by: dict[str, Any]) -> dict[str, Any] | None:
        """The figures of a cell, if it was measured with just these settings."""
        cell = self._cells.get(_key(made_by))
        return None if cell is None else cell["figures"]

    def put(self, made_by: dict[str, Any], figures: dict[str, Any]) -> None:
        self._cells[_key(made_by)] = {"made by": made_by, "figures": figures}
        with whole_file(self.path) as part:
            part.write_text(json.dumps({"cells": list(self._cells.values())}, indent=1) + "\n")


def _key(made_by: dict[str, Any]) -> str:
    return json.dumps(made_by, sort_keys=True)
