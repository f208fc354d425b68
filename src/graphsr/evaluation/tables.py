"""Evaluations as tables: for the terminal, and as CSV, JSON and Markdown files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from graphsr.errors import InputError
from graphsr.evaluation.evaluate import Evaluation
from graphsr.files.atomic import whole_file

HEADINGS = (
    "model", "data", "factor", "unit", "patches", "MSE", "MAE", "RMSE", "low-res. MSE", "edge MSE", "other MSE",
    "MSE by 8", "ms",
)  # fmt: skip
LEGEND = (
    "Low-res. MSE: the target averaged back, against the source. Edge MSE: within 4 pixels of an edge of the true map; "
    "other MSE: elsewhere. MSE by 8: the mean over batches of 8 patches, as the reference implementation has it. All "
    "other figures are means over patches; errors in the unit, MSE in its square."
)


def cells(row: Evaluation) -> tuple[str, ...]:
    f = row.figures
    errors = (f.mse, f.mae, f.rmse, f.low_resolution_mse, f.edge_mse, f.smooth_mse, row.mse_batches_of_8)
    head = (row.model, row.data, f"x{row.factor:g}", row.unit or "-", str(row.patches))
    return (*head, *(f"{value:.3g}" for value in errors), f"{1e3 * f.seconds:.0f}")


def as_markdown(rows: Sequence[Evaluation]) -> str:
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *(cells(row) for row in rows)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"Protocol: {rows[0].protocol}.\n\n{table}\n{LEGEND}\n"


def as_csv(rows: Sequence[Evaluation]) -> str:
    flat = [_flat(row) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(flat[0]))
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def as_json(rows: Sequence[Evaluation]) -> str:
    return json.dumps([_flat(row) for row in rows], indent=1) + "\n"


def _flat(row: Evaluation) -> dict[str, object]:
    plain = asdict(row)
    return {**{key: value for key, value in plain.items() if key != "figures"}, **plain["figures"]}


_WRITERS = {".csv": as_csv, ".json": as_json, ".md": as_markdown}


def check_table(path: Path) -> None:
    if path.suffix not in _WRITERS:
        raise InputError(f"{path}: a table is written as {', '.join(_WRITERS)}")


def write_table(path: Path, rows: Sequence[Evaluation]) -> None:
    check_table(path)
    with whole_file(path) as part:
        part.write_text(_WRITERS[path.suffix](rows))
