"""Arrays in, arrays out: `graphsr.upsample`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from graphsr.arrays import as_confidence, as_image, check_sizes, check_values
from graphsr.centring import needs_double
from graphsr.errors import InputError
from graphsr.graph import Edges, both_ways
from graphsr.measurements.alignment import find_alignment
from graphsr.measurements.misalignment import find_shift
from graphsr.measurements.placement import EDGE_TO_EDGE, Alignment
from graphsr.measurements.posterior import bytes_per_pixel as bytes_of_draws
from graphsr.measurements.rotation import RotatedFrame
from graphsr.measurements.source_errors import Weighed, run_weighed
from graphsr.measurements.uncertainty import DRAWS, uncertainty_of
from graphsr.memory import require_memory
from graphsr.models.base import Model, Result
from graphsr.options import UpsamplingOptions
from graphsr.probabilities import as_probabilities, check_probabilities
from graphsr.sampling import Sampling
from graphsr.solver import Problem
from graphsr.solver.progress import part

# How long things take, in the times that a target takes, for whoever waits: about those of `default` at 0.2 and 1.2
# megapixels. `colour` takes less for all but the uncertainty.
_ALIGNMENT, _TARGET, _TARGET_WITHOUT_OUTLIERS, _UNCERTAINTY = 3.0, 1.0, 3.0, 1.0


@dataclass(frozen=True)
class Report:
    """How an upsampling went.

    Attributes:
        iterations: Of the solve; 0 for models without a graph.
        error: Estimated RMS error of the target against the exact minimiser, in standard deviations of the source.
        seconds: Time taken.
        fidelity: RMS difference between the target, averaged back, and the known source pixels that were not switched
            off, in the source's units.
        confidence: Mean confidence that the solve gave the known source pixels: 1 where nothing was doubted.
        noise: Standard deviation of the source's noise that the solve reckoned with, in the source's units, the mean of
            its channels; None: nothing was said of it.
        switched_off: How many source pixels were switched off as outliers.
        alignment: How the source was found to lie on the guide, or why nothing was changed although that was asked for;
            "" if it lies edge to edge.
    """

    iterations: int
    error: float
    seconds: float
    fidelity: float
    confidence: float = 1.0
    noise: float | None = None
    switched_off: int = 0
    alignment: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Upsampled:
    """The target, the problem whose solution it is, and how it was reached.

    Attributes:
        target: (H, W) or (H, W, K) float32; float64 where float32 could not hold it, as with a small variation on a
            large offset.
        edges: The graph, tensors down (H-1, W) and right (H, W-1); None for models without one. Where the alignment has
            a rotation, edges and problem are those of the rotated guide, which is larger.
        report: How it went.
        problem: What was solved, `graphsr.solve(result.problem)` gives the target again, as (1, K, H, W): before it was
            rotated back, and before scores were made probabilities. None for models without a graph.
        uncertainty: Like target, a standard deviation for every pixel; None unless asked for.
        alignment: (2, 3) maps x and y in source pixels to x and y in guide pixels (the first pixel's centre at
            0.5), where the source was aligned; None where it lies edge to edge.
    """

    target: np.ndarray
    edges: Edges | None
    report: Report
    problem: Problem | None = None
    uncertainty: np.ndarray | None = None
    alignment: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Upsampled(target={self.target.shape} {self.target.dtype}, report={self.report})"


def upsample(
    guide: np.ndarray,
    source: np.ndarray,
    *,
    model: str | os.PathLike[str] | Model = "default",
    confidence: np.ndarray | float | None = None,
    exact: bool = False,
    noise: float | Literal["auto"] | None = None,
    robust: bool | float = False,
    footprint: str = "box",
    kind: str = "values",
    uncertainty: bool = False,
    align: str | None = None,
    rtol: float | None = None,
) -> Upsampled:
    """Upsample a source to the resolution of a guide image of the same scene.

    Args:
        guide: (H, W) or (H, W, C), any real dtype; standardised per image, so 8 bit, 16 bit and float are alike.
            "colour" uses all its channels, the learned models the first three.
        source: (h, w) or (h, w, K), any real dtype; NaN is missing. H/h and W/w need be neither integer nor equal.
        model: "default", "open" (trained on data that allow any use), "colour", another name of graphsr.models(), a
            path, or a loaded model.
        confidence: One number for all or (h, w), from 0, missing, to 1, the default: a pixel of confidence 1/4 counts
            as if its error were twice as large. Baselines that cannot weigh it take it for known or missing.
        exact: Whether the target averages back to the source exactly instead of up to the confidence.
        noise: Standard deviation of the source's noise, in its units, or "auto" to estimate it from the source; the
            target then keeps to the source as far as that allows. Default: what the model predicts, or none.
        robust: Whether source pixels that neither their neighbours nor the graph can explain are switched off. A number
            is the error, in the source's units, from which on a pixel counts as wrong.
        footprint: What a source pixel averages over: "box" its area; "bicubic" as image libraries reduce images;
            "gaussian:SIGMA" a lens, SIGMA in source pixels; "point" its middle. Baselines take the box only.
        kind: "values", or "probabilities": the K channels are scores of classes that sum to 1, and stay so.
        uncertainty: Whether to find a standard deviation for every target pixel too. Models without a graph cannot.
        align: How the source lies on the guide. "shift", or "affine" for shift, scale and rotation: find it from the
            edges of both, and solve with the source there; learned models refine the shift by their graphs. Where the
            pair does not tell, nothing is changed. Baselines cannot. "none": edge to edge. Default: "default" and
            "open" have a quick look and correct a shift that is certain, of up to 6 pixels, unless `exact` is asked
            for; other models do not.
        rtol: RMS error allowed of the target against the exact minimiser, in standard deviations of the source. Default
            that of the model, 1e-3, which is far below what any model gets wrong.

    Returns:
        The target (H, W) or (H, W, K) with its graph and a report.

    Example:
        >>> import numpy as np, graphsr
        >>> result = graphsr.upsample(np.random.rand(32, 48, 3), np.random.rand(8, 12), model="colour")
        >>> result.target.shape
        (32, 48)
    """
    options = UpsamplingOptions(model, confidence, exact, noise, robust, footprint, kind, uncertainty, align, rtol)
    return upsample_with(options, guide, source)


def upsample_with(
    options: UpsamplingOptions,
    guide: np.ndarray,
    source: np.ndarray,
    model: Model | None = None,
    alignment: Alignment | None = None,
) -> Upsampled:
    """Upsample a source as options say, see `upsample`.

    Args:
        options: How.
        guide: See `upsample`.
        source: See `upsample`.
        model: Used as it is, instead of the one and the tolerance that the options name.
        alignment: How the source lies on the guide, instead of what the options say of that.
    """
    began = time.perf_counter()
    chosen = options.load_model() if model is None else model
    options.check_model(chosen)
    guide_image, source_image = as_image("guide", guide), as_image("source", source)
    if options.kind == "probabilities":
        source_image = check_probabilities(source_image)
    size, source_size = guide_image.shape[:2], source_image.shape[:2]
    check_sizes(guide_image.shape, source_size)
    draws = bytes_of_draws(size, DRAWS) if options.uncertainty else 0
    _check_memory(size, chosen.bytes_per_pixel(source_image.shape[2]) + draws)
    check_values(guide_image, source_image)
    given = as_confidence(options.confidence, source_size)
    known = torch.from_numpy(np.isfinite(np.moveaxis(source_image, 2, 0)[None]))
    if given is not None:
        known = known & (given > 0)
    if not known.flatten(2).any(2).all():
        raise InputError("source: every pixel is missing; at least one must have a value")

    measured = _tensor(source_image, np.float64)
    wide = options.kind == "values" and needs_double(measured, known)  # probabilities do with single precision
    tensor = measured if wide else measured.float()
    aligned, solved = _ends_of_parts(options)
    with _evaluating(chosen) as device:
        if alignment is None:
            # What is measured keeps its precision, whatever networks compute in.
            with part(0.0, aligned, "alignment"), torch.autocast(device.type, enabled=False):
                alignment = _alignment(options, chosen, guide_image, measured, known)
        frame, sampling = alignment.frame(size), alignment.sampling(size, source_size, options.footprint)
        seen = frame.rotated(guide_image) if frame.angle else guide_image
        placed = None if options.footprint == "box" and sampling.edge_to_edge else sampling
        pair = _tensor(seen, np.float32).to(device), tensor.to(device)
        with part(aligned, solved, "target"):
            result, weighed = _run(options, chosen, *pair, None if given is None else given.to(device), placed)
        std = None
        if options.uncertainty:
            with part(solved, 1.0, "uncertainty"):
                std = uncertainty_of(result, chosen)
    found = result.target.cpu()
    if options.kind == "probabilities":
        found = as_probabilities(found, sampling)
    edges, report = result.edges, _report(result, weighed, found, measured, known, sampling)
    return Upsampled(
        target=_array(found, np.ndim(source), frame),
        edges=None if edges is None else both_ways(lambda each: each[0].cpu(), edges),
        report=replace(report, seconds=time.perf_counter() - began, alignment=alignment.words),
        problem=result.problem,
        uncertainty=None if std is None else _array(std.cpu(), np.ndim(source), frame),
        alignment=alignment.matrix,
    )


def _alignment(
    options: UpsamplingOptions, model: Model, guide: np.ndarray, source: torch.Tensor, known: torch.Tensor
) -> Alignment:
    """Return how a source (1, K, h, w), of which some is known, lies on its guide (H, W, C)."""
    looks = options.looks_for_shift(model, source.shape[1])
    if options.align in (None, "none") and not looks:
        return EDGE_TO_EDGE
    plain = np.where(known[0].numpy(), source[0].numpy(), np.nan)
    if looks:
        return find_shift(guide, plain, model, options.footprint)
    refining = model if model.predicts_edges else None
    found = find_alignment(guide, plain, str(options.align), refining)
    if found.matrix is None and options.align == "shift" and refining is not None and len(plain) == 1:
        # In small pairs the model tells more than edges alone.
        quick = find_shift(guide, plain, refining, options.footprint)
        return found if quick.matrix is None else quick
    return found


def _ends_of_parts(options: UpsamplingOptions) -> tuple[float, float]:
    """Return where the alignment ends, and where the target does, as parts of all that is to be done."""
    alignment = _ALIGNMENT if options.align in ("shift", "affine") else 0.0
    target = alignment + (_TARGET if options.robust is False else _TARGET_WITHOUT_OUTLIERS)
    everything = target + (_UNCERTAINTY if options.uncertainty else 0.0)
    return alignment / everything, target / everything


def _run(
    options: UpsamplingOptions,
    model: Model,
    guide: torch.Tensor,
    source: torch.Tensor,
    confidence: torch.Tensor | None,
    sampling: Sampling | None,
) -> tuple[Result, Weighed | None]:
    """Run a model on guide (1, C, H, W) and source (1, K, h, w); sampling None: its pixels are boxes edge to edge."""
    exact, errors = options.exact, options.errors
    if errors.said:
        return run_weighed(model, guide, source, confidence=confidence, exact=exact, errors=errors, sampling=sampling)
    return model.run(guide, source, confidence=confidence, exact=exact, sampling=sampling), None


@contextmanager
def _evaluating(model: Model) -> Iterator[torch.device]:
    """Put the model into evaluation mode and do without gradients, whatever it is used for elsewhere."""
    # Mostly none, and to set the mode of all takes long.
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        with torch.no_grad():
            yield next((p.device for p in model.parameters()), torch.device("cpu"))
    finally:
        for module in training:
            module.training = True


def _tensor(image: np.ndarray, dtype: type[np.floating[Any]]) -> torch.Tensor:
    """Return (H, W, C) as (1, C, H, W) of a float type."""
    return torch.from_numpy(np.array(np.moveaxis(image, 2, 0)[None], dtype=dtype, order="C"))  # a copy, to be ours


def _array(target: torch.Tensor, axes: int, frame: RotatedFrame) -> np.ndarray:
    """Return (1, K, H, W) of a frame, rotated back, as (H, W, K), or as (H, W) for a source of two axes."""
    image = np.moveaxis(target[0].numpy(), 0, 2)
    if frame.angle:
        image = frame.rotated_back(image)
    return np.ascontiguousarray(image[..., 0] if axes == 2 else image)


def _check_memory(size: Sequence[int], bytes_per_pixel: int) -> None:
    require_memory(
        f"guide: {size[1]} x {size[0]} pixels",
        size[0] * size[1] * bytes_per_pixel,
        "as GeoTIFF files, graphsr raster upsamples it in tiles",
    )


def _report(
    result: Result,
    weighed: Weighed | None,
    target: torch.Tensor,
    source: torch.Tensor,
    known: torch.Tensor,
    sampling: Sampling,
) -> Report:
    """Return how a solve went, without its time; target (1, K, H, W), source and known (1, K, h, w)."""
    solution = result.solution
    if weighed is not None:
        known = known & (weighed.problem.confidence.cpu() > 0)  # what was switched off is not relied on
    return Report(
        iterations=0 if solution is None else solution.iterations,
        error=0.0 if solution is None else solution.error,
        seconds=0.0,
        fidelity=_fidelity(target, source, known, sampling),
        confidence=_mean_confidence(result, known),
        noise=None if weighed is None or weighed.noise is None else float(weighed.noise.mean()),
        switched_off=0 if weighed is None else weighed.switched_off,
    )


def _fidelity(target: torch.Tensor, source: torch.Tensor, known: torch.Tensor, sampling: Sampling) -> float:
    """Return the RMS difference of the averaged target (1, K, H, W) and the known pixels of the source (1, K, h, w)."""
    known = known & torch.from_numpy(sampling.visible > 0)
    averages = torch.stack([sampling(channel.double()) for channel in target.unbind(1)], 1)  # one by one: memory
    return float((averages - source)[known].square().mean().sqrt())


def _mean_confidence(result: Result, known: torch.Tensor) -> float:
    if result.problem is None or result.problem.exact:
        return 1.0
    return float(result.problem.confidence.cpu().expand(known.shape)[known].mean())
