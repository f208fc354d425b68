"""Error maps of several methods side by side, and crops where they differ most."""

from __future__ import annotations

from graphsr.evaluation.case_panels import CasePanels
from graphsr.evaluation.protocols import Case
from graphsr.pictures import Panel, Picture, sheet
from graphsr.reproduction.cells import Bench
from graphsr.reproduction.contenders import METHODS_AND_MODELS, chosen
from graphsr.reproduction.crop_sheet import crop_sheet
from graphsr.reproduction.examples import Shown, cases_of, made_by, save, shown
from graphsr.reproduction.plan import Plan
from graphsr.reproduction.report import Report, all_of
from graphsr.reproduction.sets import find_sets

FACTORS = (8,)
# More columns than these cannot be taken in at a glance; --methods chooses others.
METHODS = ("bicubic", "guided-filter", "sd-filter", "fdkn", "fdsr", "dada-colour", "colour", "default")


def run(plan: Plan) -> Report:
    sets, missing = find_sets(plan)
    bench = Bench(plan, "figure-errors")
    contenders, left_out = chosen(plan.methods or METHODS, METHODS_AND_MODELS)
    pictures, sentences = [], []
    for on in sets:
        for factor in plan.factors or FACTORS:
            of = cases_of(on, factor, plan.pairs)
            results = shown(bench, contenders, on, factor, of)
            if not results:
                continue
            title = f"{on.name}, x{factor}"
            targets = [{one.name: one.examples[n].target for one in results} for n in range(len(of))]
            stem = f"{on.name}-x{factor}.png"
            pictures.append(save(_error_sheet(of, results, title), plan.out / f"errors-{stem}"))
            pictures.append(save(crop_sheet(of, targets, title), plan.out / f"crops-{stem}"))
            sentences += made_by(bench, on, factor, results, len(of))
    skipped = all_of([*missing, *left_out, *bench.skipped])
    title = "Errors of methods side by side"
    return Report("figure-errors", title, (), all_of(sentences), skipped, pictures=tuple(pictures))


def _error_sheet(of: list[Case], results: list[Shown], title: str) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(of):
        panels = CasePanels(case)
        errors = [panels.error(one.examples[n].target) for one in results]
        rows.append([panels.guide(), panels.source(), panels.truth(), *errors])
    names = (f"error of {one.name}" for one in results)
    return sheet(rows, column_titles=("guide", "source", "truth", *names), title=title)
