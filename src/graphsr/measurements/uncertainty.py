"""How sure a target is: a standard deviation for every pixel, from the posterior of the model that made it.

The energy that a target minimises is the negative logarithm of a Gaussian density (docs/how-it-works.md). Its marginal
variances say where the source and the graph leave a pixel free. They do not say how large errors are, so they are
calibrated: multiplied by powers of what else is known near the pixel, fitted to the true errors on validation pairs.
"""

from __future__ import annotations

import logging

import torch

from graphsr.errors import InputError
from graphsr.measurements.evidence import Evidence, evidence
from graphsr.measurements.posterior import one_channel, posterior_variance
from graphsr.models.base import Model, Result
from graphsr.models.calibration import Calibration, general_calibration
from graphsr.scaling import mean_and_std, smallest_std
from graphsr.solver import Problem

# Perturbations that are solved for. A standard deviation from eight is off by 25 %, less after the mean over
# neighbours, and it was calibrated so; sixteen were measured to tell the errors no better
# (docs/evidence/uncertainty.md).
DRAWS = 8

_log = logging.getLogger("graphsr")


def uncertainty_of(result: Result, model: Model) -> torch.Tensor:
    """Return the standard deviations (1, K, H, W) of what a model made of one image.

    Raises:
        InputError: The model has no graph.
    """
    if result.problem is None:
        raise no_graph(model)
    return uncertainty(result.problem, result.target, calibration_of(model))


def check_uncertainty(model: Model) -> None:
    """Raise InputError if a model cannot say how sure it is."""
    if not model.has_graph:
        raise no_graph(model)


def no_graph(model: Model) -> InputError:
    """Return the error of a model that cannot say how sure it is."""
    return InputError(
        f"model {type(model).__name__}: has no graph, so it cannot say how sure it is of its target; use a "
        "graph model such as 'default' or 'colour'"
    )


def calibration_of(model: Model, *, quiet: bool = False) -> Calibration:
    """Return the constants of a model, or those of models in general, which is said unless `quiet`."""
    own = model.calibration
    if own is not None and own.digest == model.digest():
        return own
    if not quiet:
        _log.warning(
            "uncertainty: %s, so that of models in general is used; graphsr calibrate fits one to your model",
            "the model has no calibration" if own is None else "the calibration is that of other weights",
        )
    return general_calibration()


def uncertainty(
    problem: Problem,
    target: torch.Tensor,
    calibration: Calibration,
    *,
    std: torch.Tensor | None = None,
    origin: tuple[int, int] = (0, 0),
    source_origin: tuple[int, int] = (0, 0),
) -> torch.Tensor:
    """Return the standard deviations (1, K, H, W) of a target, in its units.

    Args:
        problem: What was solved, one image.
        target: (1, K, H, W), its solution.
        calibration: The constants of the model.
        std: (1, K, 1, 1), the standard deviation of the source; given where the problem is a window of a larger one.
        origin: Row and column of the first target pixel in the larger one.
        source_origin: The same of the first source pixel.
    """
    if std is None:
        std = source_std(problem)
    variance = posterior_variance(problem, DRAWS, origin=origin, source_origin=source_origin)
    found = torch.empty_like(target)
    for k in range(target.shape[1]):  # one by one, as every feature is as large as the target
        only = slice(k, k + 1)
        own = variance[:, only] if variance.shape[1] > 1 else variance
        seen = evidence(one_channel(problem, k), target[:, only], own, std[:, only])
        found[:, only] = std[:, only] * calibrated(seen, calibration)
    return found


def calibrated(found: Evidence, calibration: Calibration) -> torch.Tensor:
    """Return the standard deviations (B, K, H, W) that evidence means, in those of the source."""
    total = sum(getattr(calibration, name) * values for name, values in found._asdict().items())
    return torch.exp(total + calibration.level)


def source_std(problem: Problem) -> torch.Tensor:
    """Return the standard deviation (B, K, 1, 1) of the known source pixels, or next to nothing for a constant."""
    mean, std = mean_and_std(problem.source, (problem.confidence > 0).expand_as(problem.source))
    return torch.maximum(std, smallest_std(mean))
