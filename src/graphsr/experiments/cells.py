"""One figure of a table: a contender on a data set at a factor, measured once and kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from graphsr.evaluation.evaluate import evaluate
from graphsr.evaluation.protocols import protocol
from graphsr.experiments.contenders import Contender
from graphsr.experiments.plan import Plan
from graphsr.experiments.published import PublishedFigure, published
from graphsr.experiments.sets import FoundSet
from graphsr.experiments.store import Store
from graphsr.experiments.workshop import Absent, Promise, Workshop
from graphsr.models.base import Model

PROTOCOL = "patches"
UNTRAINED = "-"


@dataclass(frozen=True)
class Errors:
    """Means over patches, and over batches of 8 patches as in the reference implementation."""

    unit: str
    patches: int
    mse: float
    mae: float
    low_resolution_mse: float
    mse_batches_of_8: float
    mae_batches_of_8: float


@dataclass(frozen=True)
class Cell:
    """What was measured, of what, and with which weights."""

    method: str
    data: str
    factor: int
    trained_on: str
    weights: str
    errors: Errors
    published: PublishedFigure | None

    def record(self) -> dict[str, Any]:
        """Flat, for a CSV file."""
        known = self.published
        return {
            **{name: getattr(self, name) for name in ("method", "data", "factor", "trained_on", "weights")},
            "protocol": PROTOCOL,
            **asdict(self.errors),
            **{f"published_{n}": getattr(known, n, None) for n in ("mse", "mae", "low_resolution_mse")},
        }


class Bench:
    """Measures cells for one experiment, and remembers what could not be measured."""

    def __init__(self, plan: Plan, table: str) -> None:
        self.plan, self.table = plan, table
        self.store = Store(plan.out / "measured.json")
        self.workshop = Workshop(plan)
        self.skipped: list[str] = []
        self.origins: list[str] = []
        self._made: dict[tuple[str, str, int | None], Model] = {}

    def cell(self, who: Contender, on: FoundSet, factor: int, trained_on: FoundSet | None = None) -> Cell | None:
        """The contender on a data set, trained on another where told and where it is trained at all."""
        promise = self.promise(who, trained_on or on, factor)
        if promise is None:
            return None
        made_by = {
            "method": who.name, "weights": promise.key, "data": on.name, "folder": str(on.folder),
            "split": on.place.split, "pairs": self.plan.pairs or len(on.pairs), "protocol": PROTOCOL, "factor": factor,
        }  # fmt: skip
        figures = self.store.get(made_by)
        if figures is None:
            figures = asdict(self._measured(who, promise, on, factor))
            self.store.put(made_by, figures)
        beside = published(self.table, who.name, on.place.published, factor)
        trained = promise.trained_on or UNTRAINED
        return Cell(who.name, on.name, factor, trained, promise.weights, Errors(**figures), beside)

    def promise(self, who: Contender, on: FoundSet, factor: int) -> Promise | None:
        """A model that can be had, its origin noted; None if there is none, the reason noted."""
        promise = self.workshop.promise(who, on, factor)
        if isinstance(promise, Absent):
            self.skipped.append(promise.reason)
            return None
        if promise.origin:
            self.origins.append(f"Weights of {who.name}: {promise.origin}")
        return promise

    def model(self, who: Contender, promise: Promise, factor: int) -> Model:
        """The promised model; the last one made is kept, since several cells in a row may need it."""
        made_of = (who.name, promise.key, factor if who.factors else None)
        if made_of not in self._made:
            self.plan.tell(f"making ready {who.name}")
            self._made = {made_of: promise.make()}
        return self._made[made_of]

    def _measured(self, who: Contender, promise: Promise, on: FoundSet, factor: int) -> Errors:
        (row,) = evaluate(
            [(who.name, self.model(who, promise, factor))],
            on.name,
            on.pairs,
            protocol(PROTOCOL),
            [factor],
            most=self.plan.pairs,
            tell=self.plan.tell,
        )
        f = row.figures
        return Errors(
            row.unit, row.patches, f.mse, f.mae, f.low_resolution_mse, row.mse_batches_of_8, row.mae_batches_of_8
        )
