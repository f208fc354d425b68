"""Edge weights: the graph that colours give beside the graph that was learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graphsr.evaluation.case_panels import CasePanels
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.options import Options
from graphsr.experiments.paper.figures import FigureContent, MethodResults, figure_report, save_picture
from graphsr.experiments.report import Report
from graphsr.pictures import Panel, Picture, sheet

METHODS = ("colour", "graph", "graph-small", "default")
_NOTE = "Edge weights: the logarithm of the mean edge weight at each pixel, bright where strong, each scaled alone"


def run(options: Options) -> Report:
    """Draw the edge weights and targets of several graph models."""
    experiment = ExperimentRun(options, "figure-weights")

    def draw(content: FigureContent) -> list[Path]:
        graphs = replace(content, results=[one for one in content.results if _has_graph(experiment, one)])
        return [save_picture(_sheet(graphs), content.path(options.out, "weights"))] if graphs.results else []

    return figure_report(experiment, "Edge weights", METHODS, draw, _NOTE)


def _has_graph(experiment: ExperimentRun, one: MethodResults) -> bool:
    if one.examples[0].edges is None:
        experiment.skipped.append(f"{one.name}: has no graph to show")
        return False
    return True


def _sheet(content: FigureContent) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(content.cases):
        panels = CasePanels(case)
        row: list[Panel | None] = [panels.guide(), panels.truth()]
        for one in content.results:
            edges = one.examples[n].edges
            assert edges is not None
            row += [panels.edge_weights(edges), panels.target(one.examples[n].target)]
        rows.append(row)
    titles = (text for one in content.results for text in (f"edge weights, {one.name}", f"target, {one.name}"))
    return sheet(rows, column_titles=("guide", "truth", *titles), title=content.title)
