"""What happens to gradients between the backward pass and the optimiser: they are clipped and averaged."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def clip_and_average(fabric: Any, network: nn.Module, most: float, *, each_network: bool) -> torch.Tensor:
    """Clip the gradients of a network and average them over all processes.

    Args:
        fabric: knows the other processes.
        network: whose parameters have gradients.
        most: the largest norm; 0: any.
        each_network: whether that is the norm of each network inside, in each process, instead of the norm of all.

    Returns:
        The norm () of the averaged gradient, before it was clipped as a whole; not finite if any number is not.
    """
    if each_network:
        for parameters in _of_each_network(network):
            clip_grad_norm_(parameters, most or math.inf)
        most = 0
    _average(fabric, network)
    return clip_grad_norm_(network.parameters(), most or math.inf)


def _of_each_network(network: nn.Module) -> list[list[nn.Parameter]]:
    """Return the parameters of each module that a network is made of, and those of none of them."""
    return [list(network.parameters(recurse=False)), *(list(child.parameters()) for child in network.children())]


def _average(fabric: Any, network: nn.Module) -> None:
    """Average the gradients of all processes; what no output depends on counts with 0."""
    if fabric.world_size == 1:
        return
    gradients = []
    for parameter in network.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            gradients.append(parameter.grad)
    mean = fabric.all_reduce(torch.cat([each.flatten() for each in gradients]), reduce_op="mean")
    for gradient, part in zip(gradients, mean.split([each.numel() for each in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))
