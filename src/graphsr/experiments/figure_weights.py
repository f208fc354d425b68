"""Edge weights: the graph that colours give beside the graph that was learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graphsr.evaluation.case_panels import CasePanels
from graphsr.experiments.cells import Bench
from graphsr.experiments.figures import Scene, Shown, figure, save
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report
from graphsr.pictures import Panel, Picture, sheet

METHODS = ("colour", "graph", "graph-small", "default")
_REMARK = "Edge weights: the logarithm of the mean tie around each pixel, bright where strong, each scaled alone"


def run(plan: Plan) -> Report:
    bench = Bench(plan, "figure-weights")

    def draw(scene: Scene) -> list[Path]:
        with_graph = replace(scene, results=[one for one in scene.results if _has_graph(bench, one)])
        return [save(_sheet(with_graph), scene.path(plan.out, "weights"))] if with_graph.results else []

    return figure(bench, "Edge weights", METHODS, draw, _REMARK)


def _has_graph(bench: Bench, one: Shown) -> bool:
    if one.examples[0].edges is None:
        bench.skipped.append(f"{one.name}: has no graph to show")
        return False
    return True


def _sheet(scene: Scene) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(scene.cases):
        panels = CasePanels(case)
        row: list[Panel | None] = [panels.guide(), panels.truth()]
        for one in scene.results:
            edges = one.examples[n].edges
            assert edges is not None
            row += [panels.ties(edges), panels.target(one.examples[n].target)]
        rows.append(row)
    titles = (text for one in scene.results for text in (f"edge weights, {one.name}", f"target, {one.name}"))
    return sheet(rows, column_titles=("guide", "truth", *titles), title=scene.title)
