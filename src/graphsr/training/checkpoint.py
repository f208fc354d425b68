"""Where a run stands, in one file, written whole or not at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import InputError
from graphsr.files.atomic import whole_file


@dataclass(frozen=True)
class Checkpoint:
    step: int
    model: dict[str, torch.Tensor]
    average: dict[str, torch.Tensor]  # empty: none is kept
    optimiser: dict[str, Any]
    best: float  # the best validation score so far; infinity before the first
    config: dict[str, Any]


def write(path: Path, checkpoint: Checkpoint) -> None:
    content = {name: getattr(checkpoint, name) for name in Checkpoint.__dataclass_fields__}
    with whole_file(path) as part:
        torch.save(content, part)


def read(path: Path) -> Checkpoint:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        return Checkpoint(**content)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # a damaged or foreign file can raise nearly anything
        raise InputError(f"{path}: is damaged, or not a checkpoint of `graphsr train`") from error


def as_plain(config: Any) -> dict[str, Any]:
    """A configuration as nested dictionaries and lists, as checkpoints hold it."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return [plain(item) for item in value] if isinstance(value, list | tuple) else value

    return {key: plain(value) for key, value in asdict(config).items()}
