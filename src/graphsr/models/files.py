"""Models on disk: our own files (safetensors, with the architecture inside) and checkpoints of the reference code."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from graphsr import features
from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.models.graphsr import Architecture, GraphSR
from graphsr.settings import build

_FORMAT = "graphsr model 1"
# The extractors of the reference code, told apart by a tensor each of them alone has.
_REFERENCE = {
    "unet-resnet50": "feature_extractor.encoder.layer1.0.conv3.weight",
    "unet-resnet18": "feature_extractor.encoder.layer1.0.conv2.weight",
    "unet-efficientnet-b2": "feature_extractor.encoder._blocks.0._se_reduce.weight",
}


def save(
    model: GraphSR, path: str | os.PathLike[str], *, half: bool = False, about: Mapping[str, str] | None = None
) -> None:
    """Write a model with its architecture, so that the path is all one needs; `half` stores it in half the space."""
    path = Path(path)
    check_folder(path)
    tensors = {name: stored(name, value, half) for name, value in model.state_dict().items()}
    metadata = {"format": _FORMAT, "architecture": json.dumps(asdict(model.architecture)), **(about or {})}
    with whole_file(path) as part:
        save_file(tensors, part, metadata)


def stored(name: str, value: torch.Tensor, half: bool) -> torch.Tensor:
    """A tensor as files hold it."""
    value = value.detach().cpu().contiguous()
    if not half or not value.dtype.is_floating_point:
        return value
    short = value.half()
    if not torch.isfinite(short).all():
        raise InputError(f"{name}: holds numbers too large for half precision (65504 at the most); store it in full")
    return short


def read(path: str | os.PathLike[str]) -> GraphSR:
    """The model in a file: one of ours, or a checkpoint of the reference implementation (never runs code from it)."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"model {path}: no such file")
    model = _own(path) if path.suffix == ".safetensors" else _reference(path)
    return model.eval()


def about(path: str | os.PathLike[str]) -> dict[str, str]:
    """What is written about a model in its file, beside the tensors; nothing in files of others."""
    if Path(path).suffix != ".safetensors":
        return {}
    try:
        with safe_open(path, "pt") as file:
            return dict(file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise InputError(f"model {path}: cannot be read as safetensors: {error}") from error


def _own(path: Path) -> GraphSR:
    metadata = about(path)
    if "method" in metadata:
        method = metadata["method"]
        raise InputError(f"model {path}: holds the weights of {method}, another method; say {method}:{path}")
    if metadata.get("format") != _FORMAT:
        raise InputError(f"model {path}: is not a graphsr model (its metadata does not say {_FORMAT!r})")
    try:
        architecture = build(Architecture, json.loads(metadata["architecture"]), f"model {path}: architecture")
    except (KeyError, ValueError) as error:
        raise InputError(f"model {path}: holds no readable architecture: {error}") from error
    with safe_open(path, "pt") as file:
        state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    return _filled(architecture, state, path)


def _reference(path: Path) -> GraphSR:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged or foreign archive can raise nearly anything
        raise InputError(
            f"model {path}: cannot be read as a checkpoint: it is damaged, or holds more than tensors"
        ) from error
    if isinstance(content, Mapping) and {"optimiser", "config"} <= content.keys():
        raise InputError(
            f"model {path}: is a training checkpoint; make a model of it: graphsr export {path} model.safetensors"
        )
    state = content.get("model", content) if isinstance(content, Mapping) else content
    if not isinstance(state, Mapping) or "log_lambda" not in state:
        raise InputError(
            f"model {path}: expected a graphsr model (.safetensors) or a checkpoint of the reference implementation, "
            "whose state dict has log_lambda and log_mu"
        )
    state = {name: value for name, value in state.items() if name != "dummy_param"}
    name = next((name for name, key in _REFERENCE.items() if key in state), "colour")
    width = state.get("feature_extractor.segmentation_head.0.weight")
    architecture = Architecture(extractor=name, features=64 if width is None else width.shape[0], published=True)
    return _filled(architecture, state, path)


def _filled(architecture: Architecture, state: Mapping[str, Any], path: Path) -> GraphSR:
    if architecture.extractor not in features.names():
        raise InputError(
            f"model {path}: needs the feature extractor {architecture.extractor!r}, which does not exist here"
        )
    model = GraphSR(architecture)
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    if expected != found:
        wrong = sorted(set(expected.items()) ^ set(found.items()))
        raise InputError(
            f"model {path}: does not hold the tensors of {architecture.extractor}; the first to differ is {wrong[0][0]}"
        )
    model.load_state_dict(
        {name: value.float() if value.is_floating_point() else value for name, value in state.items()}
    )
    return model
