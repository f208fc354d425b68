"""Which drivers of GDAL may open a file: those that its suffix names.

By itself GDAL looks at what is inside: a file called .tif may then be the description of other files and addresses,
which are read too.
"""

from __future__ import annotations

import os
import re

from graphsr.errors import InputError

_DRIVERS = {
    "GTiff": ".tif .tiff .gtiff .gtif",
    "VRT": ".vrt",
    "JP2OpenJPEG JP2ECW JP2KAK JP2MrSID JPEG2000 JP2Grok": ".jp2 .j2k",
    "PNG": ".png",
    "JPEG": ".jpg .jpeg",
    "WEBP": ".webp",
    "HFA": ".img",
    "AAIGrid GRASSASCIIGrid": ".asc .grd",
    "XYZ": ".xyz",
    "SRTMHGT": ".hgt",
    "USGSDEM": ".dem",
    "DTED": ".dt0 .dt1 .dt2",
    "ENVI EHdr": ".bil .bip .bsq .dat .hdr .flt .envi",
    "netCDF HDF5 HDF5Image": ".nc .nc4",
    "HDF5 HDF5Image netCDF": ".h5 .hdf5 .he5",
    "HDF4 HDF4Image": ".hdf .hdf4",
    "GRIB": ".grib .grb .grib2 .grb2",
    "GPKG": ".gpkg",
    "NITF": ".ntf .nitf",
    "RST": ".rst",
    "PCIDSK": ".pix",
}
_BY_SUFFIX = {suffix: names.split() for names, suffixes in _DRIVERS.items() for suffix in suffixes.split()}
# netcdf:FILE:VARIABLE and the like, where the user names the driver.
_SUBDATASET = re.compile(r"(netcdf|hdf5|hdf4_sds|hdf4_eos|gpkg|gtiff_dir):", re.IGNORECASE)


def is_local(path: str) -> bool:
    """Return whether a path is that of a file here, and not an address or a part of a file."""
    return "://" not in path and not path.startswith("/vsi") and not _SUBDATASET.match(path)


def drivers_for(path: str) -> list[str] | list[None]:
    """Return the drivers that may open a raster, in turn; None is any, where the path itself names one.

    Raises:
        InputError: If the suffix is that of no raster.
    """
    if _SUBDATASET.match(path):
        return [None]
    # What follows the name in an address is not part of it.
    suffix = os.path.splitext(path.partition("?")[0] if "://" in path else path)[1].lower()
    if suffix not in _BY_SUFFIX:
        known = ".tif (GeoTIFF), .vrt, .jp2, .img, .nc and others that GDAL reads"
        raise InputError(f"{path}: {suffix or 'no suffix'} names no kind of raster; give one of {known}")
    return _BY_SUFFIX[suffix]
