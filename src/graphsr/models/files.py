"""Models on disk: our own files (safetensors, with the settings inside) and checkpoints of the reference code."""

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
from graphsr.files.limits import check_regular_file
from graphsr.models.architecture import Architecture
from graphsr.models.base import Model
from graphsr.models.bicubic import Bicubic
from graphsr.models.colour import Colour
from graphsr.models.graphsr import GraphSR
from graphsr.models.tensors import check_digest, check_numbers, digest_of
from graphsr.settings import build

_FORMAT = "graphsr model 1"
_DIGEST = "digest"
# The extractors of the reference code, told apart by a tensor each of them alone has.
_REFERENCE = {
    "unet-resnet50": "feature_extractor.encoder.layer1.0.conv3.weight",
    "unet-resnet18": "feature_extractor.encoder.layer1.0.conv2.weight",
    "unet-efficientnet-b2": "feature_extractor.encoder._blocks.0._se_reduce.weight",
}
# The models without tensors: their settings are all there is to store.
_WITHOUT_TENSORS: dict[str, type[Model]] = {"colour": Colour, "bicubic": Bicubic}
_COLOUR_SETTINGS = ("weight", "mu", "power", "floor", "prior_weight")


def save_model(model: Model, path: Path, *, half: bool = False, about: Mapping[str, str] | None = None) -> None:
    """Write a graph model or bicubic with its settings, so that the path is all one needs."""
    if isinstance(model, GraphSR):
        settings = {"architecture": json.dumps(asdict(model.architecture))}
    else:
        name = next((name for name, kind in _WITHOUT_TENSORS.items() if type(model) is kind), None)
        if name is None:
            raise InputError(f"{type(model).__name__}: cannot be saved; it is no model of graphsr")
        numbers = {each: getattr(model, each) for each in _COLOUR_SETTINGS} if name == "colour" else {}
        settings = {"model": name, "settings": json.dumps(numbers)}
    write_tensors(path, model.state_dict(), {"format": _FORMAT, **settings, **(about or {})}, half=half)


def write_tensors(
    path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str], *, half: bool = False
) -> None:
    """Write a safetensors file, whole or not at all; `half` stores it in half the space."""
    check_folder(path)
    stored = {name: _stored(name, value, half) for name, value in tensors.items()}
    with whole_file(path) as file:
        save_file(stored, file, {**metadata, _DIGEST: digest_of(stored)})


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Read the tensors of a safetensors file."""
    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    except Exception as error:  # a damaged file can raise nearly anything
        raise InputError(f"model {path}: cannot be read as safetensors: {error}") from error


def check_written(where: str, path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Check that the tensors of a file are those that were written, where the file says which."""
    check_digest(where, tensors, read_metadata(path).get(_DIGEST))


def _stored(name: str, value: torch.Tensor, half: bool) -> torch.Tensor:
    value = value.detach().cpu().contiguous()
    if not half or not value.dtype.is_floating_point:
        return value
    short = value.half()
    if not torch.isfinite(short).all():
        raise InputError(f"{name}: holds numbers too large for half precision (65504 at the most); store it in full")
    return short


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read the model in a file: one of ours, or a checkpoint of the reference implementation (never runs its code)."""
    path = Path(path)
    check_regular_file(path, "a model file", f"model {path}")
    model = _read_own(path) if path.suffix == ".safetensors" else _read_reference(path)
    return model.eval()


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read what is written about a model in its file, beside the tensors; nothing in files of others."""
    if Path(path).suffix != ".safetensors":
        return {}
    try:
        with safe_open(path, "pt") as file:
            return dict(file.metadata() or {})
    except (SafetensorError, OSError, UnicodeError) as error:
        raise InputError(f"model {path}: cannot be read as safetensors: {error}") from error


def _read_own(path: Path) -> Model:
    metadata = read_metadata(path)
    if metadata.get("format") != _FORMAT:
        raise InputError(
            f"model {path}: is not a graphsr model (its metadata does not say {_FORMAT!r}); graphsr.save writes one"
        )
    try:
        settings = json.loads(metadata["settings" if "model" in metadata else "architecture"])
    except (KeyError, ValueError, RecursionError) as error:
        raise InputError(f"model {path}: holds no readable architecture: {error}") from error
    if "model" in metadata:
        return _without_tensors(metadata["model"], settings, path)
    if isinstance(settings, dict) and settings.get("guess") is False:
        del settings["guess"]  # which files written before it was given up have
    architecture = build(Architecture, settings, f"model {path}: architecture")
    return _filled(architecture, _read_tensors(path), path)


def _without_tensors(name: str, settings: Any, path: Path) -> Model:
    kind = _WITHOUT_TENSORS.get(name)
    numbers = isinstance(settings, dict) and all(isinstance(value, float) for value in settings.values())
    if kind is None or not numbers or not set(settings) <= set(_COLOUR_SETTINGS):
        raise InputError(f"model {path}: holds no readable settings of a model {name!r}")
    return kind(**settings)


def _read_reference(path: Path) -> GraphSR:
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
    try:
        return _filled(architecture, state, path)
    except InputError as error:
        raise InputError(
            f"{error}. If it is the state dict of a model of your own, it lacks the architecture: write it by "
            "graphsr.save(model, path)"
        ) from error


def _filled(architecture: Architecture, state: Mapping[str, Any], path: Path) -> GraphSR:
    if architecture.extractor not in features.names():
        raise InputError(
            f"model {path}: needs the feature extractor {architecture.extractor!r}, which does not exist here"
        )
    skeleton = _skeleton(architecture, path)
    expected = {name: tuple(value.shape) for name, value in skeleton.items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    if expected != found:
        wrong = sorted(set(expected.items()) ^ set(found.items()))
        raise InputError(
            f"model {path}: does not hold the tensors of {architecture.extractor}; the first to differ is {wrong[0][0]}"
        )
    check_numbers(f"model {path}", state, skeleton)
    check_written(f"model {path}", path, state)
    model = GraphSR(architecture)
    model.load_state_dict(
        {name: value.float() if value.is_floating_point() else value for name, value in state.items()}
    )
    return model


def _skeleton(architecture: Architecture, path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a model without memory for them: a file may ask for any number of channels."""
    try:
        with torch.device("meta"):
            return GraphSR(architecture).state_dict()
    except InputError as error:
        raise InputError(f"model {path}: {error}") from error
    except (RuntimeError, ValueError, TypeError, ArithmeticError) as error:
        raise InputError(f"model {path}: no network can be built of its architecture ({error})") from error
