"""What an experiment says: tables, and all that made their figures; as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphsr.files.atomic import whole_file


@dataclass(frozen=True)
class Table:
    """Words in the first `words` columns, figures in the others."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


@dataclass(frozen=True)
class Report:
    """`made_by` are sentences on data, protocol, budget and weights; `skipped` says what is not there, and why.

    `also` is measured otherwise, and so has its own sentences; it goes into the same files, but for the CSV.
    """

    name: str
    title: str
    tables: tuple[Table, ...]
    made_by: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    records: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    pictures: tuple[Path, ...] = ()
    also: Report | None = None

    @property
    def empty(self) -> bool:
        return not self.tables and not self.pictures


def as_markdown(report: Report) -> str:
    text = _section(report)
    return text if report.also is None else f"{text}\n{as_markdown(report.also)}"


def _section(report: Report) -> str:
    parts = [f"# {report.title}\n"]
    for table in report.tables:
        rule = tuple("---" if n < table.words else "---:" for n in range(len(table.headings)))
        lines = "".join(
            f"| {' | '.join(_plain(cell) for cell in row)} |\n" for row in (table.headings, rule, *table.rows)
        )
        parts.append(f"## {table.title}\n\n{lines}")
    parts += [f"![{path.stem}]({path.name})\n" for path in report.pictures]
    parts.append("".join(f"- {sentence}\n" for sentence in report.made_by))
    if report.skipped:
        parts.append("Not measured:\n\n" + "".join(f"- {sentence}\n" for sentence in report.skipped))
    return "\n".join(parts)


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|")


def as_csv(report: Report) -> str:
    """One line for each figure's cell, everything in full."""
    text = io.StringIO()
    headings = list(dict.fromkeys(key for record in report.records for key in record))
    writer = csv.DictWriter(text, headings)
    writer.writeheader()
    writer.writerows(report.records)
    return text.getvalue()


def as_latex(report: Report) -> str:
    """Tables that need no package; what made them is in the caption of each."""
    made = " ".join(_escaped(sentence.rstrip(".") + ".") for sentence in report.made_by)
    parts = []
    for table in report.tables:
        columns = "".join("l" if n < table.words else "r" for n in range(len(table.headings)))
        head, *body = (" & ".join(_escaped(cell) for cell in row) + r" \\" for row in (table.headings, *table.rows))
        parts.append(
            "\n".join(
                [
                    r"\begin{table}",
                    rf"\caption{{{_escaped(report.title)}: {_escaped(table.title)}. {made}}}",
                    rf"\begin{{tabular}}{{{columns}}}",
                    r"\hline",
                    head,
                    r"\hline",
                    *body,
                    r"\hline",
                    r"\end{tabular}",
                    r"\end{table}",
                ]
            )
        )
    text = "\n\n".join([*parts, "".join(f"% not measured: {sentence}\n" for sentence in report.skipped)])
    return text if report.also is None else f"{text}\n{as_latex(report.also)}"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "²": r"$^2$",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def write(report: Report, out: Path) -> list[Path]:
    """OUT/NAME.md, .csv and .tex; those that would be empty are left out."""
    files = [(out / f"{report.name}.md", as_markdown(report))]
    for one in filter(None, (report, report.also)):
        if one.records:
            files.append((out / f"{one.name}.csv", as_csv(one)))
    if report.tables:
        files.append((out / f"{report.name}.tex", as_latex(report)))
    for path, text in files:
        with whole_file(path) as part:
            part.write_text(text)
    return [path for path, _ in files]


def counted(number: int, thing: str) -> str:
    """ "1 pair", "2 pairs"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def all_of(values: Sequence[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(values))
