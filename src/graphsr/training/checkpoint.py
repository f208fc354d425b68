"""The state of a run in one file, written whole or not at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import InputError
from graphsr.files.atomic import whole_file
from graphsr.files.limits import check_regular_file
from graphsr.models.tensors import check_digest, check_finite, digest_of
from graphsr.training.config import Config

_DIGEST = "digest"


@dataclass(frozen=True)
class Checkpoint:
    """Hold the state of a run.

    Attributes:
        step: how many were made.
        model: the weights.
        average: the running mean of the weights; empty if none is kept.
        optimiser: its state.
        best: the best validation score so far; infinity before the first.
        config: the configuration as nested dictionaries and lists.
    """

    step: int
    model: dict[str, torch.Tensor]
    average: dict[str, torch.Tensor]
    optimiser: dict[str, Any]
    best: float
    config: dict[str, Any]


def write(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint."""
    content = {name: getattr(checkpoint, name) for name in Checkpoint.__dataclass_fields__}
    content[_DIGEST] = digest_of(_tensors(content))
    with whole_file(path) as part:
        torch.save(content, part)


def read(path: Path) -> Checkpoint:
    """Read a checkpoint; tensors go to the CPU. Nothing in the file is run."""
    check_regular_file(path, "a checkpoint")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        digest = content.pop(_DIGEST, None)  # which earlier versions did not write
        checkpoint = Checkpoint(**content)
        tensors = _tensors(content)
    except Exception as error:  # a damaged or foreign file can raise nearly anything
        raise InputError(f"{path}: is damaged, or not a checkpoint of `graphsr train`") from error
    check_digest(str(path), tensors, digest)
    check_finite(str(path), {**checkpoint.model, **checkpoint.average})
    model = checkpoint.config["model"]
    if not model.get("guess", False):  # a setting of earlier versions that no longer exists
        model.pop("guess", None)
    return checkpoint


def _tensors(content: Any, name: str = "") -> dict[str, torch.Tensor]:
    """Return all tensors in nested dictionaries and lists, by where they are."""
    if isinstance(content, torch.Tensor):
        return {name: content}
    if isinstance(content, dict):
        items = list(content.items())
    else:
        items = list(enumerate(content)) if isinstance(content, list | tuple) else []
    return {place: each for key, value in items for place, each in _tensors(value, f"{name}/{key}").items()}


def as_plain(config: Config) -> dict[str, Any]:
    """Return a configuration as nested dictionaries and lists, as checkpoints hold it."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    return {key: plain(value) for key, value in asdict(config).items()}
