"""Tables of errors, made alike by several experiments."""

from __future__ import annotations

from collections.abc import Sequence

from graphsr.evaluation.protocols import protocol
from graphsr.experiments.cells import PROTOCOL, Bench, Cell
from graphsr.experiments.published import UNKNOWN, remarks_on, shown
from graphsr.experiments.report import Report, Table, all_of, counted
from graphsr.experiments.sets import FoundSet

PUBLISHED_HEADING = "published"


def by_factor(cells: Sequence[Cell], on: FoundSet, *, with_published: bool) -> Table:
    """One data set, a method a row: errors at each factor, beside them the published ones or the low-res. MSE."""
    factors = sorted({cell.factor for cell in cells})
    unit = cells[0].errors.unit or "own unit"
    last = PUBLISHED_HEADING if with_published else "low-res. MSE"
    headings = ["method", "weights"]
    for factor in factors:
        headings += [f"x{factor} MSE", f"x{factor} MAE", f"x{factor} {last}"]
    rows = []
    for method in all_of([cell.method for cell in cells]):
        own = {cell.factor: cell for cell in cells if cell.method == method}
        row = [method, _weights(list(own.values()))]
        for factor in factors:
            row += _figures(own.get(factor), with_published)
        rows.append(tuple(row))
    return Table(f"{on.name}, MSE in {unit}², MAE in {unit}", tuple(headings), tuple(rows), words=2)


def _weights(cells: list[Cell]) -> str:
    """In short, over factors: the factor is in the heading."""
    return ", ".join(all_of([cell.weights.replace(f" at x{cell.factor}", "") for cell in cells]))


def _figures(cell: Cell | None, with_published: bool) -> tuple[str, str, str]:
    if cell is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    e = cell.errors
    if with_published:
        return shown(e.mse_batches_of_8), shown(e.mae_batches_of_8), published_pair(cell)
    return shown(e.mse), shown(e.mae), shown(e.low_resolution_mse)


def published_pair(cell: Cell) -> str:
    known = cell.published
    return UNKNOWN if known is None or known.mse is None else f"{shown(known.mse)} / {shown(known.mae)}"


def error_report(
    bench: Bench,
    title: str,
    tables: Sequence[Table],
    cells: Sequence[Cell],
    sets: Sequence[FoundSet],
    skipped: Sequence[str],
    *remarks: str,
) -> Report:
    """The tables with all that made them."""
    plan = bench.plan
    how = protocol(PROTOCOL)
    samples = f"{counted(plan.budget, 'training sample')} of {plan.patch} x {plan.patch}"
    budget = f"{samples} for each learned method, set and factor" if plan.budget else "none, nothing was trained here"
    made_by = (
        *(f"Data: {one.says(plan.pairs)}" for one in sets),
        f"Protocol: {how.name}, {how.says}",
        f"Budget: {budget}",
        "Weights: as the table says",
        *all_of(bench.origins),
        *remarks,
        *remarks_on(bench.table, {cell.method for cell in cells}),
    )
    records = tuple({**cell.record(), "budget": plan.budget} for cell in cells)
    return Report(bench.table, title, tuple(tables), made_by, all_of([*skipped, *bench.skipped]), records)
