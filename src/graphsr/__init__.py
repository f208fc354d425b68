"""Guided super-resolution on a learned pixel graph.

    result = graphsr.upsample(guide, source)

Everything public is a name of this module; it is imported when first used, so that `import graphsr` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphsr.errors import ConvergenceError, GraphSRError, InputError
    from graphsr.graph import Edges, affinity, energy
    from graphsr.models.base import load, models
    from graphsr.models.graphsr import Architecture, GraphSR
    from graphsr.sampling import Sampling
    from graphsr.solver import SolveReport, solve, solve_with_report
    from graphsr.upsampling import Report, Upsampled, upsample

__version__ = "0.1.0"

_HOMES = {
    "Architecture": "models.graphsr",
    "ConvergenceError": "errors",
    "Edges": "graph",
    "GraphSR": "models.graphsr",
    "GraphSRError": "errors",
    "InputError": "errors",
    "Report": "upsampling",
    "Sampling": "sampling",
    "SolveReport": "solver",
    "Upsampled": "upsampling",
    "affinity": "graph",
    "energy": "graph",
    "load": "models.base",
    "solve": "solver",
    "solve_with_report": "solver",
    "upsample": "upsampling",
}
__all__ = [
    "Architecture",
    "ConvergenceError",
    "Edges",
    "GraphSR",
    "GraphSRError",
    "InputError",
    "Report",
    "Sampling",
    "SolveReport",
    "Upsampled",
    "affinity",
    "energy",
    "load",
    "models",
    "solve",
    "solve_with_report",
    "upsample",
]


def __getattr__(name: str) -> Any:
    if name in ("raster", "models"):
        return import_module(f"graphsr.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'graphsr' has no attribute {name!r}")
    return getattr(import_module(f"graphsr.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
