"""ImageNet weights: reading a file, checking it, and giving the first convolution more channels than RGB."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from graphsr.errors import InputError

# RGB in [0, 1]; the scaling every extractor of this package expects of an RGB guide.
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def widen(weight: Tensor, channels: int) -> Tensor:
    """Widen filters for RGB (O, 3, k, k) to filters for any number of channels (O, channels, k, k).

    Channel c starts as a copy of RGB channel c mod 3 (so the source, fourth of four, starts as red), and all
    are scaled by 3 / channels, which keeps the size of the response.
    """
    source = [c % 3 for c in range(channels)]
    return weight[:, source] * (3 / channels)


def read_tensors(path: Path, expected: str) -> dict[str, Tensor]:
    """Read the tensors by name of a `torch.save`d file; never runs code from it. `expected` is for messages."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected {expected}") from None
    except Exception as error:  # a damaged pickle or archive can raise nearly anything
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{path}: cannot be read as {expected}: {reason}") from error
    if not isinstance(content, Mapping) or not all(isinstance(value, Tensor) for value in content.values()):
        raise InputError(f"{path}: holds no plain state dict (tensors by name); expected {expected}")
    return dict(content)


def check_layout(path: Path, expected: str, state: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a state dict whose keys or shapes are not those of the network."""
    required = [key for key in shapes if not key.endswith("num_batches_tracked")]
    missing = [key for key in required if key not in state]
    foreign = [key for key in state if key not in shapes]
    reshaped = [key for key in required if key in state and tuple(state[key].shape) != shapes[key]]
    differences = [
        f"{len(keys)} {what}, for example {keys[0]}"
        for keys, what in (
            (missing, "tensors missing"),
            (foreign, "unknown tensors"),
            (reshaped, "of wrong shape"),
        )
        if keys
    ]
    if differences:
        raise InputError(f"{path}: is not {expected}: {'; '.join(differences)}")
