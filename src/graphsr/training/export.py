"""From a training checkpoint to a model file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from graphsr.baselines import METHODS, weights
from graphsr.baselines.base import NetworkBaseline
from graphsr.models.base import Model
from graphsr.models.registry import save
from graphsr.settings import build
from graphsr.training import checkpoint
from graphsr.training.config import Config
from graphsr.training.network import inference_network
from graphsr.training.running_mean import mean_weights


def export(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    half: bool = False,
    about: Mapping[str, str] | None = None,
) -> str:
    """Write the model of a checkpoint: the running mean of its weights, if one was kept.

    Args:
        source: the checkpoint, best.ckpt or last.ckpt of a run.
        path: the file to write, .safetensors.
        half: whether to store numbers in half precision.
        about: text to store beside them.

    Returns:
        What `graphsr.load` takes: the path, or METHOD:PATH for a baseline.
    """
    model, config, steps = _read(source)
    metadata = {**_origin(config, steps), **(about or {})}
    if not isinstance(model, NetworkBaseline):
        save(model, path, half=half, about=metadata)
        return str(path)
    weights.save(model, config.method, Path(path), half=half, about=metadata)
    return f"{weights.called_with(METHODS[config.method], model.factor)}:{path}"


def read_trained(source: str | os.PathLike[str]) -> Model:
    """Return the model of a checkpoint: the running mean of its weights, if one was kept.

    Args:
        source: the checkpoint, best.ckpt or last.ckpt of a run.

    Returns:
        The model in evaluation mode.
    """
    return _read(source)[0].eval()


def _read(source: str | os.PathLike[str]) -> tuple[Model, Config, int]:
    """Return the model of a checkpoint, how it was trained, and for how many steps."""
    state = checkpoint.read(Path(source))
    config = build(Config, state.config, f"{source}: configuration")
    model = inference_network(config)
    model.load_state_dict(mean_weights(state.average) or state.model)
    return model, config, state.step


def _origin(config: Config, steps: int) -> dict[str, str]:
    """Return what a file says of its training; samples are those of one device."""
    factors = config.factors
    return {
        "steps": str(steps),
        "samples": str(steps * config.optimisation.batch),
        "data": ", ".join(one.folder if one.kind == "folder" and one.folder else one.kind for one in config.data.sets),
        "factors": f"x{factors.least:g}" + (f" to x{factors.most:g}" if factors.most != factors.least else ""),
    }
