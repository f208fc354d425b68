"""What the tests of learned baselines share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from graphsr.baselines import METHODS
from graphsr.baselines.base import NetworkBaseline

COUNTS = {
    ("msg-net", 2): 198_148,
    ("msg-net", 4): 326_404,
    ("msg-net", 8): 454_660,
    ("msg-net", 16): 582_916,
    ("dkn", None): 1_158_070,
    ("fdkn", None): 693_856,
    ("pmbanet", 2): 17_724_114,
    ("pmbanet", 4): 25_064_146,
    ("pmbanet", 8): 46_035_666,
    ("pmbanet", 16): 113_144_530,
    ("fdsr", None): 601_105,
    ("dada", None): 32_533_377,
    ("dada-colour", None): 0,
}
ANY_FACTOR = ["dkn", "fdkn", "fdsr", "dada", "dada-colour"]
FIXED = {"msg-net": 4, "pmbanet": 2}
NAMES = [*FIXED, *ANY_FACTOR]
# Parameters that are in the published files but never run.
IDLE = {
    "fdsr": r"rgb_cbl4\.conv\.conv_(h2l|l2l)\..*",
    "pmbanet": r"(.*unused.*|branches\.3\..*|attentions\.[34]\..*|downs\.2\..*)",
}
NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")

Build = Callable[[str], NetworkBaseline]


def unsettle(module: nn.Module) -> None:
    for key, tensor in module.state_dict().items():
        if key.endswith("running_mean"):
            tensor.normal_(0, 0.1)
        elif key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)


def run(method: NetworkBaseline, guide: Tensor, source: Tensor, confidence: Tensor | None = None) -> Tensor:
    with torch.no_grad():
        return method.run(guide, source, confidence=confidence).target


def pair(name: str, channels: int = 3) -> tuple[Tensor, Tensor]:
    """A guide (1, C, H, W) and source (1, 1, h, w) that nothing divides, but for the factor where it must."""
    factor = FIXED.get(name)
    size = (37, 51) if factor is None else (5 * factor, 7 * factor)
    return torch.rand(1, channels, *size), 3 + 2 * torch.rand(1, 1, *((9, 11) if factor is None else (5, 7)))


@cache
def on_meta(name: str, factor: int | None) -> nn.Module:
    with torch.device("meta"):
        method = METHODS[name].build(factor)
    assert isinstance(method, NetworkBaseline)
    return method.network


def keys(name: str, factor: int | None = None) -> dict[str, tuple[int, ...]]:
    return {key: tuple(tensor.shape) for key, tensor in on_meta(name, factor).state_dict().items()}


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())
