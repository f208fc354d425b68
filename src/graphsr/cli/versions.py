"""graphsr --version: the versions that a report of a fault should name."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("torch", "numba", "numpy", "rasterio", "dask")  # the last two belong to extras


def installed_versions() -> dict[str, str]:
    """Return the versions of graphsr, Python and the packages that matter, where they are installed."""
    found = {"graphsr": version("graphsr"), "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
