"""From a training checkpoint to a model file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from graphsr.baselines import weights
from graphsr.models import files as model_files
from graphsr.models.graphsr import GraphSR
from graphsr.settings import build
from graphsr.training import checkpoint, network
from graphsr.training.config import Config


def export(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    half: bool = False,
    about: Mapping[str, str] | None = None,
) -> str:
    """Write the model of a checkpoint: the running mean of its weights, if one was kept.

    Returns what `graphsr.load` takes: the path, or METHOD:PATH for another method than the graph model.
    """
    state = checkpoint.read(Path(source))
    config = build(Config, state.config, f"{source}: configuration")
    model = network.to_judge(config)
    mean = {name: value for name, value in state.average.items() if name != "count"}
    model.load_state_dict(mean or state.model)
    said = {**_origin(config, state.step), **(about or {})}
    if isinstance(model, GraphSR):
        model_files.save(model, path, half=half, about=said)
        return str(path)
    weights.save(model, config.method, Path(path), half=half, about=said)
    return f"{weights.called_with(weights.METHODS[config.method], model.factor)}:{path}"


def _origin(config: Config, steps: int) -> dict[str, str]:
    """What a file says of its training; samples are those of one device."""
    factors = config.factors
    return {
        "steps": str(steps),
        "samples": str(steps * config.optimisation.batch),
        "data": ", ".join(one.kind for one in config.data.sets),
        "factors": f"x{factors.least:g}" + (f" to x{factors.most:g}" if factors.most != factors.least else ""),
    }
