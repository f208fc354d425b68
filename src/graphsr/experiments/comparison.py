"""All methods side by side: errors on the pairs there are, time and memory."""

from __future__ import annotations

from dataclasses import replace

from graphsr.experiments import timing
from graphsr.experiments.cells import Bench
from graphsr.experiments.error_tables import by_factor, error_report
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report, all_of
from graphsr.experiments.sets import find_sets
from graphsr.experiments.table1 import measured, of_sets

SIZES = (256, 1024)


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "comparison")
    cells, left_out = measured(bench, sets)
    tables = [by_factor(some, on, with_published=False) for on, some in of_sets(cells, sets)]
    errors = error_report(
        bench, "All methods", tables, cells, sets, [*missing, *left_out],
        "Errors are means over patches; low-res. MSE: the target averaged back, against the source",
    )  # fmt: skip
    present = tuple(all_of([cell.method for cell in cells]))
    if not present:
        return errors
    times = timing.run(replace(plan, methods=present, sizes=plan.sizes or SIZES))
    return replace(errors, also=replace(times, name="comparison-times"))
