"""Baselines by name: those that need no weights as they are, learned ones with a file of weights ("dkn:FILE")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

from graphsr.baselines import METHODS, Method, caffe
from graphsr.baselines.base import NetworkBaseline
from graphsr.errors import InputError
from graphsr.files.limits import check_regular_file
from graphsr.models import files as model_files
from graphsr.models.base import Model
from graphsr.models.files import write_tensors
from graphsr.models.tensors import check_numbers
from graphsr.suggestion import suggestion

FORMAT = "graphsr weights 1"
# What a file may wrap its state dict in, and what its names may begin with.
_WRAPPERS = ("state_dict", "model", "net")
_PREFIXES = ("module.", "network.")
# A count of training steps, which networks run without and old files lack.
_UNUSED = "num_batches_tracked"
# Attributes that follow from what a network is, or that are stored elsewhere.
_NO_SETTINGS = ("training", "method", "factor", "multiple", "stages")


def load(name: str) -> Model | None:
    """Load a baseline by name.

    Args:
        name: Such as "guided-filter", "dkn:FILE" or "msg-net-x8:FILE".

    Returns:
        The model, in evaluation mode; None if no baseline is called so.

    Raises:
        InputError: If it needs weights and there are none, or they are not its own.
    """
    called, colon, file = name.partition(":")
    method, factor = find(called)
    if method is None:
        hint = suggestion(called.lower(), METHODS) if colon and not Path(name).exists() else ""
        if hint.startswith("did you mean"):
            raise InputError(f"model {name!r}: no method is called {called!r}; {hint}")
        return None
    if not method.learned:
        if colon:
            raise InputError(f"model {name!r}: {method.name} takes no weights; say {method.name!r}")
        return method.build(None).eval()
    if method.factors and factor not in method.factors:
        why = "the weights are for one factor" if factor is None else f"does not exist at x{factor}"
        there = ", ".join(f"{called_with(method, each)}:FILE" for each in method.factors)
        raise InputError(f"model {name!r}: {method.title}: {why}; say one of {there}")
    if not file:
        raise InputError(
            f"model {name!r}: {method.title} is learned, and its weights do not come with the package; "
            f"say '{called_with(method, factor)}:FILE', where FILE is {method.weight_files}"
        )
    model = method.build(factor)
    assert isinstance(model, NetworkBaseline)  # as all that are learned
    path = Path(file)
    _fill(model.network, path, method, factor)
    trained_for = factor_inside(path)
    if None not in (factor, trained_for) and factor != trained_for:
        raise InputError(f"weights {path}: are for x{trained_for}, not for x{factor}")
    model.factor = factor or trained_for
    _restore_settings(model, path)
    return model.eval()


def method_of(model: Model) -> str | None:
    """Return the name of the method that a model is of; None if it is no baseline."""
    return getattr(model, "method", None)


def save(model: Model, method: str, path: Path, *, half: bool = False, about: Mapping[str, str] | None = None) -> None:
    """Write the weights of a baseline, if it has any, with the name of its method (and factor) inside.

    Args:
        model: The baseline.
        method: The name of its method.
        path: The file to write, .safetensors.
        half: Whether to store numbers in half precision.
        about: Text to store beside them.

    Raises:
        InputError: If it is a baseline without weights whose settings are not the default ones.
    """
    if not METHODS[method].learned and _settings(model) != _settings(METHODS[method].build(None)):
        raise InputError(f"{method}: can be saved with its default settings only, by which it is loaded again")
    factor, tensors = None, {}
    metadata = {"format": FORMAT, "settings": json.dumps(_settings(model))}
    if isinstance(model, NetworkBaseline):
        factor, tensors = model.factor if METHODS[method].factors else None, model.network.state_dict()
        metadata |= {} if model.factor is None else {"factors": f"x{model.factor}"}
    name = called_with(METHODS[method], factor)
    write_tensors(path, tensors, {**metadata, "method": name, **(about or {})}, half=half)


def _settings(model: Model) -> dict[str, object]:
    """Return what can be chosen of a baseline beside its weights: plain attributes of it and of its network."""
    return {
        f"{module}.{name}" if module else name: value
        for module in ("", "network")
        if not module or isinstance(model, NetworkBaseline)
        for name, value in vars(model.get_submodule(module)).items()
        if name[0] != "_" and name not in _NO_SETTINGS and isinstance(value, int | float | str | None)
    }


def _restore_settings(model: Model, path: Path) -> None:
    """Set what a file of ours says was chosen of the baseline in it; files of others say nothing."""
    try:
        found = json.loads(model_files.read_metadata(path).get("settings", "{}"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"weights {path}: hold no readable settings ({error})") from error
    if not isinstance(found, dict):
        raise InputError(f"weights {path}: hold no readable settings")
    known = _settings(model)
    for key, value in found.items():
        if key not in known or not isinstance(value, int | float | str | None):
            raise InputError(f"weights {path}: hold a setting {key} = {value!r} that {method_of(model)} does not have")
        module, _, name = key.rpartition(".")
        setattr(model.get_submodule(module), name, value)


def called_with(method: Method, factor: int | None) -> str:
    """Return the name of a method at a factor."""
    return method.name if factor is None else f"{method.name}-x{factor}"


def skeleton(method: Method, factor: int | None) -> nn.Module:
    """Return the network of a learned method on torch's meta device: names and shapes without numbers, at no cost."""
    with torch.device("meta"):
        model = method.build(factor)
    assert isinstance(model, NetworkBaseline)  # as all that are learned
    return model.network


def find(called: str) -> tuple[Method | None, int | None]:
    """Return the method and the factor that a name such as "dkn" or "msg-net-x8" stands for."""
    called = called.lower()
    if called in METHODS:
        return METHODS[called], None
    parts = re.fullmatch(r"(.+)-x(\d+)", called)
    method = METHODS.get(parts[1]) if parts else None
    return (method, int(parts[2])) if parts and method and method.learned else (None, None)


def factor_inside(path: Path) -> int | None:
    """Return the factor that a file of ours says its weights were trained for; None if several, or not said."""
    parts = re.fullmatch(r"x(\d+)", model_files.read_metadata(path).get("factors", ""))
    return int(parts[1]) if parts else None


def _fill(network: nn.Module, path: Path, method: Method, factor: int | None) -> None:
    state = read(path)
    if method.foreign_names and factor:
        ours = method.foreign_names(factor)
        state = {ours.get(name, name): value for name, value in state.items()}
    asked, owner = called_with(method, factor if method.factors else None), _owner_inside(path)
    if owner not in (asked, None):
        say = f"; say {owner}:{path}" if find(owner)[0] else f"; say {path} alone"
        raise InputError(f"weights {path}: are of {owner}, not of {asked}{say}")
    expected, found = _shapes(network.state_dict()), _shapes(state)
    if expected != found:
        differ = min(set(expected.items()) ^ set(found.items()))[0]
        owners = [f"{owner}:{path}" for owner in _owners(found)]
        hint = f"; they are those of another method: say {' or '.join(owners)}" if owners else ""
        raise InputError(f"weights {path}: do not fit {asked}; the first tensor to differ is {differ!r}{hint}")
    check_numbers(f"weights {path}", state, network.state_dict())
    network.load_state_dict(state, strict=False)  # only _UNUSED can be absent


def read(path: Path) -> dict[str, torch.Tensor]:
    """Read a file of weights; never runs code from it.

    Args:
        path: A .safetensors, a .caffemodel, or what `torch.save` writes.

    Returns:
        The tensors by name.
    """
    check_regular_file(path, "a file of weights", f"weights {path}")
    try:
        content: object
        if path.suffix == ".safetensors":
            tensors = load_file(path)
            model_files.check_written(f"weights {path}", path, tensors)
            content = tensors
        elif path.suffix == ".caffemodel":
            content = caffe.read(path)
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except InputError:
        raise
    except Exception as error:  # a damaged or foreign archive can raise nearly anything
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"weights {path}: cannot be read as a state dict: {reason}") from error
    for wrapper in _WRAPPERS:
        if isinstance(content, Mapping) and isinstance(content.get(wrapper), Mapping):
            content = content[wrapper]
    if (
        not isinstance(content, Mapping)
        or not content
        or not all(isinstance(v, torch.Tensor) for v in content.values())
    ):
        raise InputError(f"weights {path}: expected a state dict, tensors by name")
    state = dict(content)
    for prefix in _PREFIXES:
        if all(name.startswith(prefix) for name in state):
            state = {name.removeprefix(prefix): value for name, value in state.items()}
    return state


def _owner_inside(path: Path) -> str | None:
    """Return the method that a file of ours says its weights are of."""
    about = model_files.read_metadata(path)
    if "architecture" in about:
        return "graphsr.GraphSR, the graph model"
    return about.get("method") if about.get("format") == FORMAT else None


def _shapes(state: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in state.items() if not name.endswith(_UNUSED)}


def _owners(shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Return the names of the learned methods, with the factor where it matters, that have such tensors."""
    known = [(method, each) for method in METHODS.values() if method.learned for each in method.factors or (None,)]
    return [
        called_with(method, each) for method, each in known if _shapes(skeleton(method, each).state_dict()) == shapes
    ]
