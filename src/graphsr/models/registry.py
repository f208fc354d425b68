"""Models by name: those of the package, the baselines, and files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path

from graphsr.baselines import METHODS, weights
from graphsr.errors import InputError
from graphsr.models.base import Model
from graphsr.models.bicubic import Bicubic
from graphsr.models.calibration import SUFFIX, beside, read_calibration
from graphsr.models.colour import Colour
from graphsr.models.files import read_metadata, read_model, save_model
from graphsr.suggestion import suggestion

_WEIGHTS = resources.files("graphsr.models") / "weights"
_SUFFIX = ".safetensors"
_BY_NAME: dict[str, Callable[[], Model]] = {"colour": Colour, "bicubic": Bicubic}


def _bundled() -> list[str]:
    """Return the names of the models whose weights come with the package."""
    files = (file.name for file in _WEIGHTS.iterdir()) if _WEIGHTS.is_dir() else ()
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def names() -> list[str]:
    """List the models that `graphsr.upsample(..., model=NAME)` and `graphsr.load` know by name.

    Returns:
        The names: the models of the package, then the baselines that need no weights.

    Example:
        >>> import graphsr
        >>> "colour" in graphsr.models()
        True
    """
    baselines = (method.name for method in METHODS.values() if not method.learned)
    return ["default", *(name for name in _bundled() if name != "default"), *_BY_NAME, *baselines]


def load(model: str | os.PathLike[str]) -> Model:
    """Load a model, ready to be called on tensors.

    Args:
        model: A name of `graphsr.models()`, or the path of a file that `graphsr.save` or `graphsr export` wrote or of a
            checkpoint of the reference implementation; "dkn:FILE" is the baseline DKN with the weights in FILE.

    Returns:
        The model in evaluation mode: guide (B, C, H, W), source (B, K, h, w) -> target (B, K, H, W).

    Example:
        >>> import torch, graphsr
        >>> graphsr.load("colour")(torch.rand(1, 3, 16, 16), torch.rand(1, 1, 4, 4)).shape
        torch.Size([1, 1, 16, 16])
    """
    if not isinstance(model, str | os.PathLike):
        raise InputError(f"model: must be a name or a path, not {model!r}")
    name = os.fspath(model)
    lower = name.lower()
    if lower in _BY_NAME:
        with resources.as_file(_WEIGHTS / f"{lower}{SUFFIX}") as path:
            return _with_calibration(_BY_NAME[lower]().eval(), path)
    if lower in _bundled():
        with resources.as_file(_WEIGHTS / f"{lower}{_SUFFIX}") as path:
            return _with_calibration(read_model(path), beside(path))
    if (baseline := weights.load(name)) is not None:
        return baseline
    if name and (Path(name).suffix or Path(name).exists()):
        return _read(Path(name))
    hint = suggestion(lower, [*names(), *(one for one in METHODS if one not in names())])
    raise InputError(f"model {name!r}: no model of this name; {hint}")


def _read(path: Path) -> Model:
    method = read_metadata(path).get("method") if path.is_file() else None
    if method is None:
        return _with_calibration(read_model(path), beside(path))
    found, _ = weights.find(method)
    baseline = weights.load(f"{method}:{path}" if found is None or found.learned else method)
    if baseline is None:
        raise InputError(f"model {path}: holds the weights of {method!r}, a method that does not exist here")
    return baseline


def _with_calibration(model: Model, path: Path) -> Model:
    """Return the model with the constants of its uncertainty, if they are there."""
    if path.is_file():
        model.calibration = read_calibration(path)
    return model


def save(
    model: Model, path: str | os.PathLike[str], *, half: bool = False, about: Mapping[str, str] | None = None
) -> None:
    """Write a model with all that `graphsr.load` needs to build it again.

    Args:
        model: Any model of `graphsr.load`, or a GraphSR of your own.
        path: Where to; ends in .safetensors. Written whole or not at all.
        half: Whether to store numbers in half precision.
        about: Text to store beside them, such as {"data": "my pairs"}.

    Returns:
        Nothing.

    Example:
        >>> import graphsr, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graphsr.save(graphsr.load("colour"), f"{folder}/mine.safetensors")
        ...     graphsr.load(f"{folder}/mine.safetensors").mu
        0.08
    """
    path = Path(path)
    if path.suffix != _SUFFIX:
        raise InputError(f"{path}: a model file ends in {_SUFFIX}")
    if (method := weights.method_of(model)) is not None:
        weights.save(model, method, path, half=half, about=about)
    else:
        save_model(model, path, half=half, about=about)
