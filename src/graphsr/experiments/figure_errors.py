"""Error maps of several methods side by side, and crops where they differ most."""

from __future__ import annotations

from pathlib import Path

from graphsr.evaluation.case_panels import CasePanels
from graphsr.experiments.cells import Bench
from graphsr.experiments.crop_sheet import crop_sheet
from graphsr.experiments.figures import Scene, figure, save
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report
from graphsr.pictures import Panel, Picture, sheet

# More columns than these cannot be taken in at a glance; --methods chooses others.
METHODS = ("bicubic", "guided-filter", "sd-filter", "fdkn", "fdsr", "dada-colour", "colour", "default")


def run(plan: Plan) -> Report:
    def draw(scene: Scene) -> list[Path]:
        targets = [{one.name: one.examples[n].target for one in scene.results} for n in range(len(scene.cases))]
        return [
            save(_error_sheet(scene), scene.path(plan.out, "errors")),
            save(crop_sheet(scene.cases, targets, scene.title), scene.path(plan.out, "crops")),
        ]

    return figure(Bench(plan, "figure-errors"), "Errors of methods side by side", METHODS, draw)


def _error_sheet(scene: Scene) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(scene.cases):
        panels = CasePanels(case)
        errors = [panels.error(one.examples[n].target) for one in scene.results]
        rows.append([panels.guide(), panels.source(), panels.truth(), *errors])
    names = (f"error of {one.name}" for one in scene.results)
    return sheet(rows, column_titles=("guide", "source", "truth", *names), title=scene.title)
