"""From a training checkpoint to a model file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from graphsr import model_files
from graphsr.learned import Architecture, GraphSR
from graphsr.settings import build
from graphsr.training import checkpoint


def export(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    half: bool = False,
    about: Mapping[str, str] | None = None,
) -> None:
    """Write the model of a checkpoint: the running mean of its weights, if one was kept."""
    state = checkpoint.read(Path(source))
    model = GraphSR(build(Architecture, state.config["model"], f"{source}: model"))
    weights = {name: value for name, value in state.average.items() if name != "count"}
    model.load_state_dict(weights or state.model)
    model_files.save(model, path, half=half, about={"steps": str(state.step), **(about or {})})
