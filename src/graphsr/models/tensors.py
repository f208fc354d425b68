"""What is checked of tensors that come from a file: that they are those that were written, and numbers to work with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch

from graphsr.errors import InputError


def digest_of(tensors: Mapping[str, torch.Tensor], beside: str = "") -> str:
    """Return a short word for tensors and their names: the same for the same, another for any other.

    Args:
        tensors: By name; the order does not matter.
        beside: Something else that the word has to depend on.
    """
    found = hashlib.sha256(beside.encode())
    for name, value in sorted(tensors.items()):
        found.update(name.encode())
        found.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]


def check_digest(where: str, tensors: Mapping[str, torch.Tensor], expected: str | None) -> None:
    """Check that tensors are those that were written; files of others and of earlier versions do not say.

    Args:
        where: The beginning of the message: what the file is, and its name.
        tensors: As read.
        expected: What `digest_of` returned when they were written; None: not known.
    """
    if expected is not None and digest_of(tensors) != expected:
        raise InputError(f"{where}: is damaged: its numbers are not those that were written; get the file again")


def check_numbers(where: str, found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]) -> None:
    """Check that tensors are of the kind that a network needs, and finite.

    Args:
        where: The beginning of the message: what the file is, and its name.
        found: As read.
        expected: Those of the network, by the same names; their values do not matter.
    """
    for name, value in found.items():
        if name in expected and value.is_floating_point() != expected[name].is_floating_point():
            raise InputError(f"{where}: {name} holds {value.dtype}, not {expected[name].dtype}")
    check_finite(where, found)


def check_finite(where: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """Check that no tensor holds NaN or infinity."""
    bad = next((name for name, value in tensors.items() if not bool(torch.isfinite(value).all())), None)
    if bad is not None:
        raise InputError(
            f"{where}: its weights are not finite ({bad} holds NaN or infinity); its training diverged, or it is "
            "damaged"
        )
