"""Guided super-resolution on a learned pixel graph.

    result = graphsr.upsample(guide, source)

Everything public is a name of this module; it is imported when first used, so that `import graphsr` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphsr.kernel_cache import choose_folder

choose_folder()  # before numba is imported

__version__ = "0.1.0"

__all__ = [
    "Architecture",
    "ConvergenceError",
    "Edges",
    "GraphSR",
    "GraphSRError",
    "InputError",
    "Model",
    "Problem",
    "Report",
    "Sampling",
    "Solution",
    "Upsampled",
    "affinity",
    "complete",
    "data",
    "energy",
    "features",
    "load",
    "models",
    "raster",
    "save",
    "solve",
    "upsample",
    "upsample_frames",
]

if TYPE_CHECKING:
    from graphsr import data, features, raster
    from graphsr.completion import complete
    from graphsr.errors import ConvergenceError, GraphSRError, InputError
    from graphsr.frames import upsample_frames
    from graphsr.graph import Edges, affinity, energy
    from graphsr.models.architecture import Architecture
    from graphsr.models.base import Model
    from graphsr.models.graphsr import GraphSR
    from graphsr.models.registry import load, save
    from graphsr.models.registry import names as models
    from graphsr.sampling import Sampling
    from graphsr.solver import Problem, Solution, solve
    from graphsr.upsampling import Report, Upsampled, upsample
else:  # for type checkers a misspelt name is an error, which a module's __getattr__ would hide
    _MODULES = {
        "completion": ("complete",),
        "errors": ("ConvergenceError", "GraphSRError", "InputError"),
        "frames": ("upsample_frames",),
        "graph": ("Edges", "affinity", "energy"),
        "models.base": ("Model",),
        "models.architecture": ("Architecture",),
        "models.graphsr": ("GraphSR",),
        "models.registry": ("load", "save"),
        "sampling": ("Sampling",),
        "solver": ("Problem", "Solution", "solve"),
        "upsampling": ("Report", "Upsampled", "upsample"),
    }
    _MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

    def __getattr__(name):
        if name in ("data", "features", "models", "raster"):
            return import_module(f"graphsr.{name}")
        if name in _MODULE_OF:
            return getattr(import_module(f"graphsr.{_MODULE_OF[name]}"), name)
        from graphsr.suggestion import suggestion

        raise AttributeError(f"module 'graphsr' has no attribute {name!r}; {suggestion(name, __all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
