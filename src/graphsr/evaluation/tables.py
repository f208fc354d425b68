"""Tables as Markdown, LaTeX, CSV and JSON: every table that a command writes is made here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from graphsr.errors import InputError
from graphsr.evaluation.evaluate import Evaluation
from graphsr.files.atomic import whole_file

HEADINGS = (
    "model", "data", "factor", "unit", "patches", "MSE", "MAE", "RMSE", "/ bicubic", "low-res. MSE", "edge MSE",
    "other MSE", "MSE by 8", "ms",
)  # fmt: skip
LEGEND = (
    "/ bicubic: RMSE as a part of that of bicubic interpolation, if it is measured too. Low-res. MSE: the target "
    "averaged back, against the source. Edge MSE: within 4 pixels of an edge of the true map; other MSE: elsewhere. "
    "MSE by 8: the mean over batches of 8 patches, as the reference implementation has it. All other figures are means "
    "over patches or images; errors in the unit, MSE in its square."
)

Record = Mapping[str, Any]
_SUFFIXES = (".csv", ".json", ".md")


class Measured(Protocol):
    """What is said of how a row was measured."""

    @property
    def protocol(self) -> str: ...

    @property
    def degradation(self) -> str: ...


@dataclass(frozen=True)
class Table:
    """Text in the first `text_columns` columns, numbers in the others."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1


def as_markdown(table: Table) -> str:
    """Return the table without its title."""
    rule = tuple("---" if n < table.text_columns else "---:" for n in range(len(table.headings)))
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in (table.headings, rule, *table.rows))
    return "".join(f"| {line} |\n" for line in lines)


def as_latex(table: Table, caption: str) -> str:
    """Return the table in an environment that needs no package; `caption` is plain text."""
    columns = "".join("l" if n < table.text_columns else "r" for n in range(len(table.headings)))
    head, *body = (" & ".join(_escape_latex(cell) for cell in row) + r" \\" for row in (table.headings, *table.rows))
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escape_latex(caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        *(r"\hline", head, r"\hline", *body, r"\hline"),
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "²": r"$^2$",
}  # fmt: skip


def _escape_latex(text: str) -> str:
    """Return the text with all characters escaped that mean something in LaTeX."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def as_csv(records: Sequence[Record]) -> str:
    """Return one line a record, with a column for every key of any of them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for record in records for key in record)))
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_json(records: Sequence[Record]) -> str:
    """Return a list of objects."""
    return json.dumps(list(records), indent=1) + "\n"


def cells(row: Evaluation) -> tuple[str, ...]:
    """Return what stands below `HEADINGS` of one evaluation."""
    f = row.figures
    ratio = row.rmse_against_bicubic
    errors = (f.low_resolution_mse, f.edge_mse, f.smooth_mse, row.mse_batches_of_8)
    head = (row.model, row.data, f"x{row.factor:g}", row.unit or "-", str(row.patches))
    first = (f"{f.mse:.3g}", f"{f.mae:.3g}", f"{f.rmse:.3g}", "-" if ratio is None else f"{ratio:.3f}")
    return (*head, *first, *(f"{value:.3g}" for value in errors), f"{1e3 * f.seconds:.0f}")


def check_table(path: Path) -> None:
    """Raise an error if no table is written with this suffix."""
    if path.suffix not in _SUFFIXES:
        raise InputError(f"{path}: a table is written as {', '.join(_SUFFIXES)}")


def write_table(path: Path, rows: Sequence[Evaluation]) -> None:
    """Write evaluations as .csv, .json or .md."""
    table = Table("", HEADINGS, tuple(cells(row) for row in rows), text_columns=2)
    write_rows(path, rows, table, LEGEND, [_record(row) for row in rows])


def write_rows(path: Path, rows: Sequence[Measured], table: Table, legend: str, records: Sequence[Record]) -> None:
    """Write what was measured as .csv, .json or .md.

    Args:
        path: The file.
        rows: What was measured, at least one; all in the same way.
        table: What Markdown shows of them.
        legend: What its headings mean.
        records: What the other formats hold of them.
    """
    check_table(path)
    if path.suffix == ".md":
        degraded = f", sources with {rows[0].degradation}" if rows[0].degradation else ""
        text = f"Protocol: {rows[0].protocol}{degraded}.\n\n{as_markdown(table)}\n{legend}\n"
    else:
        text = as_csv(records) if path.suffix == ".csv" else as_json(records)
    with whole_file(path) as part:
        part.write_text(text)


def _record(row: Evaluation) -> Record:
    plain = asdict(row)
    return {**{key: value for key, value in plain.items() if key != "figures"}, **plain["figures"]}
