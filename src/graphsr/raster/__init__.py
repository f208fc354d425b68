"""Rasters larger than memory: tiles that do not show, on one machine or a Dask cluster (docs/raster.md).

`upsample` takes and returns Dask arrays, lazily; `upsample_files` is what `graphsr raster` does.
"""

from graphsr.raster.lazy import upsample
from graphsr.raster.upsampling import RasterReport, upsample_files

__all__ = ["RasterReport", "upsample", "upsample_files"]
