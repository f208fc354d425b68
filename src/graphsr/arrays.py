"""What users give as arrays (NumPy's, lists, tensors of any kind), checked: images and confidences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from graphsr.errors import InputError


def as_array(name: str, values: Any) -> np.ndarray:
    """Return real numbers as an array; masked ones become NaN.

    Args:
        name: Of the argument, for messages.
        values: An array, a masked array, nested lists, or a tensor on any device, with or without gradients.
    """
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = (values.float() if values.dtype == torch.bfloat16 else values).numpy()  # NumPy has no bfloat16
    if isinstance(values, np.ma.MaskedArray):  # as rasterio reads them: masked is missing
        values = np.ma.filled(values.astype(np.result_type(values.dtype, np.float32)), np.nan)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name}: is no array of numbers; are all its rows of the same length?") from error
    if array.dtype.kind not in "buif":
        raise InputError(f"{name}: must hold real numbers, not {array.dtype}")
    return array


def as_image(name: str, values: Any) -> np.ndarray:
    """Return an image (H, W) or (H, W, C) of real numbers as (H, W, C)."""
    array = as_array(name, values)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(f"{name}: must be (H, W) or (H, W, C) and not empty, but its shape is {array.shape}")
    return array[..., None] if array.ndim == 2 else array


def check_sizes(size: Sequence[int], source_size: Sequence[int]) -> None:
    """Check a guide's (H, W, C) against a source's (h, w)."""
    if size[0] <= 4 < min(size[1:]):
        raise InputError(
            f"guide: its shape {tuple(size)} looks like (C, H, W); channels come last: (H, W, C), so give "
            "np.moveaxis(guide, 0, -1)"
        )
    if size[0] < source_size[0] or size[1] < source_size[1]:
        raise InputError(
            f"guide: is {size[1]} pixels wide and {size[0]} high, the source {source_size[1]} wide and "
            f"{source_size[0]} high; the guide must be at least as wide and as high (are the two swapped?)"
        )


def check_values(guide: np.ndarray, source: np.ndarray) -> None:
    """Check that a guide (H, W, C) has a value everywhere, and that no number is too large for single precision."""
    if not np.isfinite(_ends(guide)).all():
        bad = int((~np.isfinite(guide)).sum())
        raise InputError(f"guide: {bad} values are NaN or infinite; every guide pixel must have a value")
    if np.isinf(source).any():
        raise InputError("source: holds infinity; mark missing pixels with NaN")
    largest = float(np.finfo(np.float32).max)
    for name, values in (("guide", guide), ("source", source[~np.isnan(source)])):
        # The square root leaves room for the squares that are summed on the way.
        if np.abs(_ends(values)).max() > largest**0.5:
            raise InputError(f"{name}: holds numbers beyond {largest**0.5:.0e}, too large for single precision")


def _ends(values: np.ndarray) -> np.ndarray:
    """Return the smallest and the largest of some values, NaN if one is, in double precision; zeros of none."""
    if not values.size:
        return np.zeros(2)
    return np.array([values.min(), values.max()], np.float64)


def as_confidence(confidence: Any, source_size: Sequence[int]) -> torch.Tensor | None:
    """Return one number, or one for each source pixel, as a tensor (1, 1, h, w); None for None."""
    if confidence is None:
        return None
    array = as_array("confidence", confidence)
    if array.shape not in ((), tuple(source_size)):
        raise InputError(
            f"confidence: must be one real number, or one for each source pixel, {tuple(source_size)}, "
            f"not {array.dtype} {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError("confidence: holds NaN or infinity; use 0 for missing source pixels")
    if (array < 0).any() or (array > 1).any():
        wrong = array.max() if (array > 1).any() else array.min()
        raise InputError(f"confidence: must lie between 0 (missing) and 1, but holds {wrong:g}")
    if not (array > 0).any():
        raise InputError("confidence: is 0 everywhere; at least one source pixel must be known")
    everywhere = np.array(np.broadcast_to(array, tuple(source_size)), dtype=np.float32)
    return torch.from_numpy(everywhere)[None, None]
