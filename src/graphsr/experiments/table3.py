"""Table 3: the graph model with one feature extractor or another."""

from __future__ import annotations

import torch

from graphsr.experiments.cells import Bench, Cell
from graphsr.experiments.contenders import EXTRACTORS, Contender, chosen
from graphsr.experiments.error_tables import PUBLISHED_HEADING, error_report, published_pair
from graphsr.experiments.plan import Plan
from graphsr.experiments.published import shown
from graphsr.experiments.report import Report, Table
from graphsr.experiments.sets import FoundSet, find_sets
from graphsr.experiments.table1 import BY_8, of_sets

FACTORS = (8,)


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "table3")
    extractors, _ = chosen(plan.methods, EXTRACTORS)
    cells = [
        cell
        for on in sets
        for who in extractors
        for factor in plan.factors or FACTORS
        if (cell := bench.cell(who, on, factor)) is not None
    ]
    counts = {who.name: _parameters(bench, who) for who in extractors}
    tables = [_table(on, some, counts) for on, some in of_sets(cells, sets)]
    return error_report(bench, "Table 3: feature extractors", tables, cells, sets, missing, BY_8)


def _parameters(bench: Bench, who: Contender) -> int:
    """Counted on a model without numbers, which costs nothing."""
    with torch.device("meta"):
        return sum(p.numel() for p in bench.workshop.skeleton(who, FACTORS[0]).parameters())


def _table(on: FoundSet, cells: list[Cell], counts: dict[str, int]) -> Table:
    unit = cells[0].errors.unit or "own unit"
    headings = ("extractor", "weights", "factor", "parameters", "MSE", "MAE", PUBLISHED_HEADING)
    rows = []
    for cell in cells:
        e = cell.errors
        rows.append(
            (
                *(cell.method.removeprefix("graph-"), cell.weights, f"x{cell.factor}", f"{counts[cell.method]:,}"),
                *(shown(e.mse_batches_of_8), shown(e.mae_batches_of_8), published_pair(cell)),
            )
        )
    return Table(f"{on.name}, MSE in {unit}², MAE in {unit}", headings, tuple(rows), words=3)
