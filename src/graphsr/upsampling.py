"""Arrays in, arrays out: `graphsr.upsample`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.graph import Edges
from graphsr.models.base import Model, load
from graphsr.sampling import Sampling
from graphsr.solver import SolveReport


@dataclass(frozen=True)
class Report:
    """How an upsampling went."""

    iterations: int
    residual: float  # estimated RMS error of the target against the exact minimiser, in source standard deviations
    seconds: float
    fidelity: float  # RMS difference between the target, averaged back, and the known source pixels (source units)


@dataclass(frozen=True)
class Upsampled:
    """The target with the graph it was solved on. `edges` is None for methods that have no graph."""

    target: np.ndarray  # (H, W) or (H, W, K) float32
    edges: Edges | None  # down (H-1, W), right (H, W-1), tensors
    report: Report


def upsample(
    guide: np.ndarray,
    source: np.ndarray,
    *,
    model: str | os.PathLike[str] | Model = "default",
    confidence: np.ndarray | None = None,
    exact: bool = False,
) -> Upsampled:
    """Upsample a source to the resolution of a guide image of the same scene.

    guide       (H, W) or (H, W, C), any real dtype; scaled per image, so 8 bit, 16 bit and float are alike. "colour"
                uses all its channels, the learned models the first three
    source      (h, w) or (h, w, K), any real dtype; NaN = missing. H/h and W/w need be neither integer nor equal
    model       "default", "colour", another name of graphsr.models(), a path, or a loaded model
    confidence  (h, w), 0 = missing; default 1 where the source is known. Methods that cannot weigh it take it for known
                or missing (docs/baselines.md)
    exact       let the target average back to the source exactly instead of up to the confidence
    """
    began = time.perf_counter()
    chosen = model if isinstance(model, Model) else load(model)
    guide_image, source_image = _image("guide", guide), _image("source", source)
    size, source_size = guide_image.shape[:2], source_image.shape[:2]
    _check_sizes(size, source_size)
    _check_memory(size, chosen.bytes_per_pixel(source_image.shape[2]))
    _check_values(guide_image, source_image)
    weights = _confidence(confidence, source_size)
    known = np.isfinite(source_image)
    if weights is not None:
        known = known & (weights[0, 0].numpy() > 0)[..., None]
    if not known.reshape(-1, source_image.shape[2]).any(0).all():
        raise InputError("source: every pixel is missing; at least one must have a value")

    tensor = torch.from_numpy(np.ascontiguousarray(np.moveaxis(source_image, 2, 0)[None], dtype=np.float32))
    with _judging(chosen) as device:
        target, edges, solved = chosen.run(
            torch.from_numpy(np.ascontiguousarray(np.moveaxis(guide_image, 2, 0)[None], dtype=np.float32)).to(device),
            tensor.to(device),
            confidence=None if weights is None else weights.to(device),
            exact=exact,
        )
        target = target.cpu()
        fidelity = _fidelity(target, tensor, confidence)
    result = np.moveaxis(target[0].numpy(), 0, 2)
    return Upsampled(
        target=np.ascontiguousarray(result[..., 0] if np.ndim(source) == 2 else result),
        edges=None if edges is None else Edges(edges.down[0].cpu(), edges.right[0].cpu()),
        report=_report(solved, time.perf_counter() - began, fidelity),
    )


@contextmanager
def _judging(model: Model) -> Iterator[torch.device]:
    """The model in evaluation mode and without gradients, whatever it is used for elsewhere; yields its device."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield next((p.device for p in model.parameters()), torch.device("cpu"))
    finally:
        model.train(training)


def _report(solved: SolveReport | None, seconds: float, fidelity: float) -> Report:
    if solved is None:
        return Report(0, 0.0, seconds, fidelity)
    return Report(solved.iterations, solved.error, seconds, fidelity)


def _image(name: str, values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):  # as rasterio reads them: masked is missing
        values = np.ma.filled(values.astype(np.result_type(values.dtype, np.float32)), np.nan)
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise InputError(f"{name}: must hold real numbers, not {array.dtype}")
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or 0 in array.shape:
        raise InputError(f"{name}: must be (H, W) or (H, W, C) and not empty, but its shape is {np.shape(values)}")
    return array


def _check_sizes(size: Sequence[int], source_size: Sequence[int]) -> None:
    if size[0] < source_size[0] or size[1] < source_size[1]:
        raise InputError(
            f"guide: {size[0]} x {size[1]} pixels is smaller than the source ({source_size[0]} x {source_size[1]}); "
            "the guide must have at least the source's height and width (are the two swapped?)"
        )


def _check_values(guide: np.ndarray, source: np.ndarray) -> None:
    bad = int((~np.isfinite(guide)).sum())
    if bad:
        raise InputError(f"guide: {bad} values are NaN or infinite; every guide pixel must have a value")
    if np.isinf(source).any():
        raise InputError("source: holds infinity; mark missing pixels with NaN")
    largest = float(np.finfo(np.float32).max)
    for name, values in (("guide", guide), ("source", source)):
        # The square root leaves room for the squares that are summed on the way.
        if np.nanmax(np.abs(values.astype(np.float64)), initial=0.0) > largest**0.5:
            raise InputError(f"{name}: holds numbers beyond {largest**0.5:.0e}, too large for single precision")


def _check_memory(size: Sequence[int], bytes_per_pixel: int) -> None:
    needed = size[0] * size[1] * bytes_per_pixel
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return  # not told on this system
    # Memory that caches hold can be had back, so only what exceeds the machine itself is surely too much.
    if needed > max(free, 0.9 * total):
        raise InputError(
            f"guide: {size[0]} x {size[1]} pixels need about {needed / 1e9:.1f} GB of memory, and this machine has "
            f"{total / 1e9:.1f} GB; as GeoTIFF files, graphsr raster upsamples it in tiles"
        )


def _confidence(confidence: np.ndarray | None, source_size: Sequence[int]) -> torch.Tensor | None:
    if confidence is None:
        return None
    array = np.asarray(confidence)
    if array.shape != tuple(source_size) or array.dtype.kind not in "buif":
        raise InputError(
            f"confidence: must be one real number for each source pixel, {tuple(source_size)}, "
            f"not {array.dtype} {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError("confidence: holds NaN or infinity; use 0 for missing source pixels")
    if (array < 0).any():
        raise InputError("confidence: holds negative values; it must be 0 (missing) or positive")
    if not (array > 0).any():
        raise InputError("confidence: is 0 everywhere; at least one source pixel must be known")
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))[None, None]


def _fidelity(target: torch.Tensor, source: torch.Tensor, confidence: np.ndarray | None) -> float:
    known = torch.isfinite(source)
    if confidence is not None:
        known &= torch.from_numpy(np.asarray(confidence) > 0)
    average = Sampling(target.shape[-2:], source.shape[-2:])(target.double())  # type: ignore[arg-type]
    return float((average - source)[known].square().mean().sqrt())


__all__ = ["Report", "Upsampled", "upsample"]
