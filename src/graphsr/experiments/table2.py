"""Table 2: trained on one data set, measured on another; and how well the result averages back to the source."""

from __future__ import annotations

from graphsr.experiments.cells import Bench, Cell
from graphsr.experiments.contenders import METHODS_AND_MODELS, Contender, chosen
from graphsr.experiments.error_tables import PUBLISHED_HEADING, error_report, published_pair
from graphsr.experiments.plan import Plan
from graphsr.experiments.published import UNKNOWN, shown
from graphsr.experiments.report import Report, Table
from graphsr.experiments.sets import FoundSet, find_sets
from graphsr.experiments.table1 import BY_8, of_sets

FACTORS = (8,)


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "table2")
    methods, left_out = chosen(plan.methods, METHODS_AND_MODELS)
    cells = [
        cell
        for factor in plan.factors or FACTORS
        for who in methods
        for source, on in _crossings(who, sets)
        if (cell := bench.cell(who, on, factor, source)) is not None
    ]
    cells = list(dict.fromkeys(cells))  # weights of a file are the same whatever they might have been trained on
    if len(sets) < 2:
        missing.append("crossings: there is one data set only, so nothing learned was measured on another than its own")
    tables = [_table(on, some) for on, some in of_sets(cells, sets)]
    title = "Table 2: from one data set to another"
    return error_report(bench, title, tables, cells, sets, [*missing, *left_out], BY_8)


def _crossings(who: Contender, sets: list[FoundSet]) -> list[tuple[FoundSet, FoundSet]]:
    """(trained on, measured on); what is not trained is measured on each once. Training sets in turn, models kept."""
    if not who.preset:
        return [(on, on) for on in sets]
    return [(source, on) for source in sets for on in sets]


def _table(on: FoundSet, cells: list[Cell]) -> Table:
    unit = cells[0].errors.unit or "own unit"
    headings = (
        *("method", "trained on", "weights", "factor", "MSE", "MAE", PUBLISHED_HEADING, "low-res. MSE"),
        PUBLISHED_HEADING,
    )
    rows = []
    for cell in cells:
        e, known = cell.errors, cell.published
        back = UNKNOWN if known is None else shown(known.low_resolution_mse)
        rows.append(
            (
                *(cell.method, cell.trained_on, cell.weights, f"x{cell.factor}"),
                *(shown(e.mse_batches_of_8), shown(e.mae_batches_of_8), published_pair(cell)),
                *(shown(e.low_resolution_mse), back),
            )
        )
    return Table(f"measured on {on.name}, MSE in {unit}², MAE in {unit}", headings, tuple(rows), words=4)
