"""A raster of confidences beside the source."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from graphsr.errors import InputError
from graphsr.files.confidence import full_confidence
from graphsr.raster.files import dataset
from graphsr.raster.grid import Box
from graphsr.raster.pair import RasterPair

# So many rows of the file are read at once.
_ROWS = 512


def with_confidence(pair: RasterPair, path: str | os.PathLike[str]) -> RasterPair:
    """Return a pair of rasters with a confidence for each source pixel, read by the rule of `files.confidence`.

    Args:
        pair: The two files.
        path: A raster on the grid of the source; 0 and nodata are missing.
    """
    opened, source = dataset(os.fspath(path)), dataset(pair.source_path)
    if (opened.height, opened.width) != pair.source_size or not opened.transform.almost_equals(source.transform):
        raise InputError(
            f"{opened.name}: the confidence must lie on the grid of the source, {pair.source_size[1]} x "
            f"{pair.source_size[0]} pixels at the same place"
        )
    unscaled = replace(pair, confidence_path=os.path.abspath(opened.name))
    area = pair.grid.covered
    low, high, least = 0.0, 0.0, np.inf
    for top in range(area.top, area.bottom, _ROWS):
        values = unscaled.confidence(Box(top, area.left, min(top + _ROWS, area.bottom), area.right))
        assert values is not None
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        least = min(least, float(values[values > 0].min(initial=np.inf)))
    full = full_confidence(opened.name, np.dtype(opened.dtypes[0]), low, high)
    return replace(unscaled, confidence_range=(min(least / full, 1.0), full))
