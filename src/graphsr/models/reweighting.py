"""Edge weights changed after a look at the target that they lead to: a learned step of re-weighted least squares.

A network that has not seen the target tells to two or three pixels where an edge is. Steps of the target tell better,
as the averages of source pixels went into it; where they are to be believed, a small network says
(docs/evidence/bundled-model.md).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from graphsr.features.normalisation import FoldedConvolution
from graphsr.features.strips import strips
from graphsr.graph import Edges, differences

# Colours, the target and what it changed of the interpolated source, edge weights and steps both ways, the factor.
_INPUTS = 3 + 2 + 2 + 2 + 1
# Rows around a strip that are read for it: three convolutions, one of them over every other row, and the steps.
_HALO = 5
# Edge weights change by at most e^4 = 55 times.
_MOST = 4.0
# The units in which steps and changes are near 1, in standard deviations of the source.
_STEP, _CHANGE = 0.02, 0.1
# Logarithms of edge weights lie about this far below 0, and so far apart.
_DEPTH, _SPREAD = 10.0, 3.0


class Reweighting(nn.Module):
    """Reads edge weights, and the target on that graph, and returns other edge weights.

    Before it is trained these are the same.

    Args:
        channels: Width of its layers, which are at full resolution.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(_INPUTS, channels, 3, padding=1)
        self.wide = nn.Conv2d(channels, channels, 3, padding=2, dilation=2)
        self.last = nn.Conv2d(channels, 2, 3, padding=1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)  # type: ignore[arg-type]

    def forward(
        self, edges: Edges, target: Tensor, colours: Tensor, component: Tensor, factor: Tensor | float
    ) -> Edges:
        """Return the new edge weights.

        Args:
            edges: The graph so far, down (B, H-1, W) and right (B, H, W-1).
            target: That on this graph (B, 1, H, W), standardised.
            colours: The standardised guide (B, 3, H, W).
            component: The interpolated source (B, 1, H, W), standardised.
            factor: 0 at x8, 1 at x32.
        """
        if torch.is_grad_enabled() or target.shape[0] > 1:
            change = self._change(_planes(edges, target, colours, component, factor))
            return Edges(_times(edges.down, change[:, 0, :-1]), _times(edges.right, change[:, 1, :, :-1]))
        height, width = target.shape[-2:]
        down, right = [], []
        for strip in strips(height, _HALO, target.element_size() * self.first.out_channels * width):
            read, own = slice(strip.begin, strip.end), slice(strip.first, strip.last)
            part = Edges(edges.down[:, strip.begin : strip.end - 1], edges.right[:, read])
            images = (target[:, :, read], colours[:, :, read], component[:, :, read])
            change = strip.inner_rows(self._change(_planes(part, *images, factor)))
            right.append(_times(edges.right[:, own], change[:, 1, :, :-1]))
            below = edges.down[:, own]
            down.append(_times(below, change[:, 0, : below.shape[1]]))
        return Edges(torch.cat(down, 1), torch.cat(right, 1))

    def _change(self, planes: Tensor) -> Tensor:
        """Return the logarithms (B, 2, H, W) that edge weights down and right are multiplied by."""
        if torch.is_grad_enabled():
            # On the CPU torch's weight gradients of dilated convolutions in bfloat16 are wrong, or not finite, where
            # the channels read are no multiple of 16 (2.13; docs/evidence/training-runs.md).
            with torch.autocast(planes.device.type, enabled=False):
                x = torch.relu(self.first(planes))
                return _MOST * torch.tanh(self.last(torch.relu(x + self.wide(x))) / _MOST)
        x = _folded(self.first, activate=True)(planes)
        x = x.add_(_folded(self.wide)(x)).relu_()
        return _MOST * torch.tanh(_folded(self.last)(x) / _MOST)


def _planes(edges: Edges, target: Tensor, colours: Tensor, component: Tensor, factor: Tensor | float) -> Tensor:
    """Return what the network reads (B, C, H, W)."""
    steps = differences(target)
    down, right = (torch.log1p((each / _STEP).square()) for each in (steps.down, steps.right))
    weights = [(each.log() + _DEPTH) / _SPREAD for each in (edges.down, edges.right)]
    planes = [
        colours,
        (target - component) / _CHANGE,
        target,
        *(pad(each, side).unsqueeze(1) for each, side in zip(weights, ((0, 0, 0, 1), (0, 1)), strict=True)),
        torch.zeros_like(target) + factor,
        pad(down, (0, 0, 0, 1)),
        pad(right, (0, 1)),
    ]
    return torch.cat(planes, 1).contiguous(memory_format=torch.channels_last)


def _times(weights: Tensor, logarithms: Tensor) -> Tensor:
    """Return weights multiplied by numbers whose logarithms are given, in the precision of the weights."""
    return weights * logarithms.to(weights.dtype).exp()


def _folded(convolution: nn.Conv2d, *, activate: bool = False) -> FoldedConvolution:
    """Return a convolution and perhaps a ReLU in one pass, where nothing is trained."""
    assert convolution.bias is not None
    return FoldedConvolution(convolution, convolution.weight, convolution.bias, "relu" if activate else None)
