"""One run of an experiment: it measures what is not in the results cache, and notes what cannot be measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from graphsr.evaluation.evaluate import evaluate
from graphsr.evaluation.protocols import protocol
from graphsr.experiments.data_sets import DataSet
from graphsr.experiments.options import Options
from graphsr.experiments.participants import Participant
from graphsr.experiments.published import PublishedErrors, find_published
from graphsr.experiments.results_cache import ResultsCache
from graphsr.experiments.trained_weights import AvailableModel, MissingModel, TrainedWeights
from graphsr.models.base import Model

NOT_TRAINED = "-"


@dataclass(frozen=True)
class Errors:
    """Means over patches, and over batches of 8 patches as in the reference implementation."""

    unit: str
    patches: int
    mse: float
    mae: float
    rmse: float
    low_resolution_mse: float
    mse_batches_of_8: float
    mae_batches_of_8: float


@dataclass(frozen=True)
class Measurement:
    """The errors of one method on one data set at one factor, with the published ones of the same."""

    method: str
    data: str
    factor: int
    trained_on: str
    weights: str
    protocol: str
    errors: Errors
    published: PublishedErrors | None

    def record(self) -> dict[str, Any]:
        """Return everything as a line of a CSV file."""
        conditions = ("method", "data", "factor", "trained_on", "weights", "protocol")
        return {
            **{name: getattr(self, name) for name in conditions},
            **asdict(self.errors),
            **{
                f"published_{name}": getattr(self.published, name, None)
                for name in ("mse", "mae", "rmse", "low_resolution_mse")
            },
        }


class ExperimentRun:
    """Holds what the measurements of one experiment share.

    Attributes:
        name: The experiment.
        protocol: The protocol of its measurements.
        skipped: Sentences on what could not be measured.
        origins: Sentences on the training of weights that were given.
    """

    def __init__(self, options: Options, name: str, protocol_name: str = "patches") -> None:
        self.options, self.name, self.protocol = options, name, protocol(protocol_name)
        self.cache = ResultsCache(options.out / "measured.json")
        self.weights = TrainedWeights(options)
        self.skipped: list[str] = []
        self.origins: list[str] = []
        self._loaded: dict[tuple[str, str, int | None], Model] = {}

    def measure(self, who: Participant, on: DataSet, factor: int, *, trained_on: DataSet | None) -> Measurement | None:
        """Measure a participant, unless that was done before.

        Args:
            who: The participant.
            on: The data set it is measured on.
            factor: The upsampling factor.
            trained_on: The data set it is trained on if it is learned; None: only weights that are there are taken.

        Returns:
            The measurement, or None if there are no weights; the reason is then in `skipped`.
        """
        model = self.find_model(who, trained_on, factor)
        if model is None:
            return None
        settings = {
            "method": who.name, "weights": model.key, "data": on.name, "folder": str(on.folder),
            "split": on.spec.split, "pairs": self.options.pairs or len(on.pairs), "protocol": self.protocol.name,
            "factor": factor,
        }  # fmt: skip
        figures = self.cache.get(settings)
        if figures is None:
            figures = asdict(self._evaluate(who, model, on, factor))
            self.cache.put(settings, figures)
        errors = Errors(**figures)
        published = find_published(
            self.name, who.name, data=on.published_name(self.options.pairs), factor=factor,
            protocol=self.protocol.name, unit=errors.unit, trained_on=model.trained_on,
        )  # fmt: skip
        return Measurement(
            who.name, on.name, factor, model.trained_on or NOT_TRAINED, model.weights, self.protocol.name, errors,
            published,
        )  # fmt: skip

    def find_model(self, who: Participant, trained_on: DataSet | None, factor: int) -> AvailableModel | None:
        """Find a participant's model and note its origin; if there is none, note the reason and return None."""
        model = self.weights.find(who, trained_on, factor)
        if isinstance(model, MissingModel):
            self.skipped.append(model.reason)
            return None
        if model.origin:
            self.origins.append(f"Weights of {who.name}: {model.origin}")
        return model

    def load(self, who: Participant, model: AvailableModel, factor: int) -> Model:
        """Load a model; only the last one is kept in memory, since measurements in a row may need it."""
        key = (who.name, model.key, factor if who.factors else None)
        if key not in self._loaded:
            self.options.progress(f"loading {who.name}")
            self._loaded = {key: model.load()}
        return self._loaded[key]

    def _evaluate(self, who: Participant, model: AvailableModel, on: DataSet, factor: int) -> Errors:
        (row,) = evaluate(
            [(who.name, self.load(who, model, factor))],
            on.name,
            on.pairs,
            self.protocol,
            [factor],
            most=self.options.pairs,
            progress=self.options.progress,
        )
        f = row.figures
        return Errors(
            row.unit, row.patches, f.mse, f.mae, f.rmse, f.low_resolution_mse, row.mse_batches_of_8,
            row.mae_batches_of_8,
        )  # fmt: skip
