"""What users give as arrays: NumPy's, lists, tensors of any kind."""

from __future__ import annotations

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
