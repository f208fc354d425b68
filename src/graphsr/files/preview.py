"""The preview of a result, as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from graphsr.files.image import Array, Image
from graphsr.files.writing import write_image
from graphsr.pictures import preview
from graphsr.sampling import Sampling, interpolate_source
from graphsr.upsampling import Upsampled


def write_preview(path: Path, guide: Image, source: Array, result: Upsampled) -> None:
    """Write a picture of guide, source, interpolated source, target and edge weights.

    Args:
        path: The PNG file to write.
        guide: The guide.
        source: (h, w) or (h, w, K), NaN for missing.
        result: What became of them.
    """
    edges, problem = result.edges, result.problem
    fits = edges is not None and edges.size == guide.size  # those of a rotated guide would not
    picture = preview(
        guide.array,
        source,
        result.target,
        interpolated=_interpolated(source, problem.sampling if problem is not None and fits else guide.size),
        edge_weights=(edges.down.numpy(), edges.right.numpy()) if edges is not None and fits else None,
    )
    write_image(path, picture)


def _interpolated(source: Array, place: Sampling | tuple[int, int]) -> Array:
    """Return the source (h, w) or (h, w, K) interpolated to a size, or as it lies on the guide."""
    planes = torch.from_numpy(np.atleast_3d(source).transpose(2, 0, 1)[None].astype(np.float64))
    found: Array = interpolate_source(planes, place)[0].movedim(0, 2).numpy()
    return found[..., 0] if source.ndim == 2 else found
