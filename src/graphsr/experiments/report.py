"""What an experiment reports: tables, and the conditions of their figures; as Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graphsr.evaluation import tables
from graphsr.evaluation.tables import Record, Table
from graphsr.files.atomic import whole_file


@dataclass(frozen=True)
class Report:
    """Hold the results of an experiment.

    Attributes:
        name: Of the files.
        title: Of the whole.
        tables: The figures as text.
        conditions: Sentences on data, protocol, budget and weights.
        skipped: What was not measured, and why.
        records: The figures in full, one record a measurement.
        pictures: Files of pictures.
        appendix: Measured under other conditions; it goes into the same files, but for the CSV.
    """

    name: str
    title: str
    tables: tuple[Table, ...]
    conditions: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    records: tuple[Record, ...] = field(default=(), repr=False)
    pictures: tuple[Path, ...] = ()
    appendix: Report | None = None

    @property
    def empty(self) -> bool:
        return not self.tables and not self.pictures

    def parts(self) -> Iterator[Report]:
        """Yield the report and its appendix."""
        yield self
        if self.appendix is not None:
            yield from self.appendix.parts()


def as_markdown(report: Report) -> str:
    """Return the whole report, with links to its pictures."""
    return "\n".join(_section(part) for part in report.parts())


def _section(report: Report) -> str:
    parts = [f"# {report.title}\n"]
    parts += [f"## {table.title}\n\n{tables.as_markdown(table)}" for table in report.tables]
    parts += [f"![{path.stem}]({path.name})\n" for path in report.pictures]
    parts.append("".join(f"- {sentence}\n" for sentence in report.conditions))
    if report.skipped:
        parts.append("Not measured:\n\n" + "".join(f"- {sentence}\n" for sentence in report.skipped))
    return "\n".join(parts)


def as_latex(report: Report) -> str:
    """Return the tables, each with the conditions in its caption."""
    texts = []
    for part in report.parts():
        conditions = " ".join(f"{sentence.rstrip('.')}." for sentence in part.conditions)
        texts += [tables.as_latex(table, f"{part.title}: {table.title}. {conditions}") for table in part.tables]
        texts += ["".join(f"% not measured: {sentence}\n" for sentence in part.skipped)]
    return "\n\n".join(texts)


def write(report: Report, out: Path) -> list[Path]:
    """Write OUT/NAME.md, .csv and .tex, but for those that would be empty; return their paths."""
    files = [(out / f"{report.name}.md", as_markdown(report))]
    files += [(out / f"{part.name}.csv", tables.as_csv(part.records)) for part in report.parts() if part.records]
    if report.tables:
        files.append((out / f"{report.name}.tex", as_latex(report)))
    for path, text in files:
        with whole_file(path) as part:
            part.write_text(text)
    return [path for path, _ in files]


def counted(number: int, thing: str) -> str:
    """Return "1 pair", "2 pairs"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return each value once, in order."""
    return tuple(dict.fromkeys(values))
