"""Rasters larger than memory: tiles whose borders do not show, on one machine or a Dask cluster (docs/raster.md).

`upsample` takes and returns Dask arrays, lazily; `upsample_files` is what `graphsr raster` does.
"""

from graphsr.raster.dask_arrays import upsample
from graphsr.raster.upsampling import RasterReport, upsample_files

__all__ = ["RasterReport", "upsample", "upsample_files"]
