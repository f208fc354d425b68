"""Edge weights: the graph that colours give beside the graph that was learned."""

from __future__ import annotations

from graphsr.evaluation.case_panels import CasePanels
from graphsr.evaluation.protocols import Case
from graphsr.pictures import Panel, Picture, sheet
from graphsr.reproduction.cells import Bench
from graphsr.reproduction.contenders import METHODS_AND_MODELS, chosen
from graphsr.reproduction.examples import Shown, cases_of, made_by, save, shown
from graphsr.reproduction.plan import Plan
from graphsr.reproduction.report import Report, all_of
from graphsr.reproduction.sets import find_sets

FACTORS = (8,)
METHODS = ("colour", "graph", "graph-small", "default")


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "figure-weights")
    contenders, left_out = chosen(plan.methods or METHODS, METHODS_AND_MODELS)
    pictures, sentences = [], []
    for on in sets:
        for factor in plan.factors or FACTORS:
            of = cases_of(on, factor, plan.pairs)
            results = [one for one in shown(bench, contenders, on, factor, of) if _has_graph(bench, one)]
            if not results:
                continue
            path = plan.out / f"weights-{on.name}-x{factor}.png"
            pictures.append(save(_sheet(of, results, f"{on.name}, x{factor}"), path))
            sentences += made_by(bench, on, factor, results, len(of))
    skipped = all_of([*missing, *left_out, *bench.skipped])
    remark = "Edge weights: the logarithm of the mean tie around each pixel, bright where strong, each scaled alone"
    made = all_of([*sentences, remark])
    return Report("figure-weights", "Edge weights", (), made, skipped, pictures=tuple(pictures))


def _has_graph(bench: Bench, one: Shown) -> bool:
    if one.examples[0].edges is None:
        bench.skipped.append(f"{one.name}: has no graph to show")
        return False
    return True


def _sheet(of: list[Case], results: list[Shown], title: str) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(of):
        panels = CasePanels(case)
        row = [panels.guide(), panels.truth()]
        for one in results:
            edges = one.examples[n].edges
            assert edges is not None
            row += [panels.ties(edges), panels.target(one.examples[n].target)]
        rows.append(list(row))
    titles = (title for one in results for title in (f"edge weights, {one.name}", f"target, {one.name}"))
    return sheet(rows, column_titles=("guide", "truth", *titles), title=title)
