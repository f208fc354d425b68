"""Table 1: errors by data set and factor, of all methods."""

from __future__ import annotations

from graphsr.experiments.cells import Bench, Cell
from graphsr.experiments.contenders import METHODS_AND_MODELS, chosen
from graphsr.experiments.error_tables import by_factor, error_report
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report
from graphsr.experiments.sets import FoundSet, find_sets

FACTORS = (4, 8, 16)
BY_8 = "Errors are means over batches of 8 patches, as published; '-' is not known (published) or not measured"


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "table1")
    cells, left_out = measured(bench, sets)
    tables = [by_factor(some, on, with_published=True) for on, some in of_sets(cells, sets)]
    title = "Table 1: errors by data set and factor"
    return error_report(bench, title, tables, cells, sets, [*missing, *left_out], BY_8)


def measured(bench: Bench, sets: list[FoundSet]) -> tuple[list[Cell], list[str]]:
    """All cells that can be had, and a word about who was left out."""
    methods, left_out = chosen(bench.plan.methods, METHODS_AND_MODELS)
    found = [
        bench.cell(who, on, factor)
        for on in sets
        for who in methods
        for factor in bench.plan.factors or FACTORS
    ]  # fmt: skip
    return [cell for cell in found if cell is not None], left_out


def of_sets(cells: list[Cell], sets: list[FoundSet]) -> list[tuple[FoundSet, list[Cell]]]:
    """The cells of each data set that has some."""
    parts = [(on, [cell for cell in cells if cell.data == on.name]) for on in sets]
    return [(on, part) for on, part in parts if part]
