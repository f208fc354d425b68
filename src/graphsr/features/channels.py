"""Bring a guide of any range and any number of channels to the RGB in 0..1 that published networks expect."""

import torch
from torch import Tensor

from graphsr.errors import InputError
from graphsr.features.imagenet import MEAN, STD

# The largest value of images of 8, 10, 12, 14 and 16 bits: most cameras and satellites do not fill the 16 bits that
# their files have.
_WHITE = tuple(2.0**bits - 1 for bits in (8, 10, 12, 14, 16))


def three_channels(guide: Tensor) -> Tensor:
    """Return three channels of a guide: one is repeated, two get their mean as third, of more the first three stay.

    Args:
        guide: (B, C, H, W).

    Returns:
        (B, 3, H, W).

    Example:
        >>> import torch
        >>> three_channels(torch.ones(1, 1, 4, 6)).shape
        torch.Size([1, 3, 4, 6])
    """
    channels = guide.shape[1]
    if channels < 1:
        raise InputError("guide: has no channels")
    if channels == 2:
        return torch.cat([guide, guide.mean(1, keepdim=True)], 1)
    return guide.expand(-1, 3, -1, -1) if channels == 1 else guide[:, :3]


def unit_range(guide: Tensor) -> Tensor:
    """Scale a guide to 0..1: whole numbers by the number of bits that holds them, other ranges by their ends.

    Args:
        guide: (B, C, H, W); what already lies in 0..1 is returned as it is.

    Returns:
        (B, C, H, W) in 0..1.

    Example:
        >>> import torch
        >>> unit_range(torch.tensor([[[[0.0, 51.0, 255.0]]]])).flatten().tolist()
        [0.0, 0.20000000298023224, 1.0]
    """
    largest, least = float(guide.max()), float(guide.min())
    if least >= 0 and largest <= 1:
        return guide
    if least >= 0 and largest <= _WHITE[-1] and bool((guide == guide.round()).all()):
        return guide / next(white for white in _WHITE if largest <= white)
    return (guide - least) / max(largest - least, 1e-30)


def imagenet_normalised(rgb: Tensor) -> Tensor:
    """Return (x - mean) / std with the means and standard deviations of ImageNet's channels.

    Args:
        rgb: (B, 3, H, W) in 0..1.

    Returns:
        (B, 3, H, W).
    """
    mean, std = (rgb.new_tensor(values).view(1, 3, 1, 1) for values in (MEAN, STD))
    return (rgb - mean) / std
