"""A small network that tells where, across an edge of the source, the guide has that edge."""

from __future__ import annotations

import torch
from torch import nn

from graphsr.measurements.edge_patches import COLOURS, DESCRIPTION, LINES, REACH

# Offsets are told apart to a half guide pixel.
BINS_A_PIXEL = 2
BINS = BINS_A_PIXEL * (2 * REACH + 1)
_CHANNELS = 32
_HIDDEN = 64
_LAYERS = 3
_KERNEL = 5


class EdgeNetwork(nn.Module):
    """Predict the logarithm of the likelihood of offsets along the normal, from the guide there and the source around.

    A convolution over all lines of the guide, and some along the normal, each scaled and moved by what the source is
    like.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(COLOURS + 2, _CHANNELS, (LINES, _KERNEL), padding=(0, _KERNEL // 2))
        self.layers = nn.ModuleList(
            nn.Conv1d(_CHANNELS, _CHANNELS, _KERNEL, padding=_KERNEL // 2) for _ in range(_LAYERS)
        )
        self.last = nn.Conv1d(_CHANNELS, BINS_A_PIXEL, _KERNEL, padding=_KERNEL // 2)
        self.source = nn.Sequential(
            nn.Linear(DESCRIPTION + 1, _HIDDEN),
            nn.SiLU(),
            nn.Linear(_HIDDEN, _HIDDEN),
            nn.SiLU(),
            nn.Linear(_HIDDEN, 2 * _CHANNELS * (_LAYERS + 1)),
        )

    def forward(self, patches: torch.Tensor, contrast: torch.Tensor, description: torch.Tensor) -> torch.Tensor:
        """Return (N, BINS) logarithms of probabilities of offsets from the first sample of the patch on.

        Args:
            patches: (N, COLOURS + 1, LINES, 2 REACH + 1) the guide across the edge.
            contrast: (N,) its logarithm.
            description: (N, DESCRIPTION) the source.
        """
        about = self.source(torch.cat([description, contrast[:, None]], 1))
        scales, offsets = about.reshape(len(about), 2, _LAYERS + 1, _CHANNELS, 1).unbind(1)
        values = self.first(torch.cat([patches, _change(patches[:, :COLOURS])], 1))[:, :, 0]
        values = nn.functional.silu(values * (1 + scales[:, 0]) + offsets[:, 0])
        for number, layer in enumerate(self.layers, 1):
            values = values + nn.functional.silu(layer(values) * (1 + scales[:, number]) + offsets[:, number])
        logits: torch.Tensor = self.last(values).transpose(1, 2).reshape(len(values), BINS)
        return logits.log_softmax(1)


def _change(colours: torch.Tensor) -> torch.Tensor:
    """Return (N, 1, LINES, M) how much colours (N, COLOURS, LINES, M) change along the normal, whichever way."""
    beyond = nn.functional.pad(colours, (1, 1, 0, 0), mode="replicate")
    return (beyond[..., 2:] - beyond[..., :-2]).square().sum(1, keepdim=True).add(1e-4).sqrt()


def at_offsets(table: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return the entries of (N, BINS) at offsets (N, S) from the middle of the patch, interpolated linearly."""
    position = (offsets + REACH) * BINS_A_PIXEL + 0.5 * (BINS_A_PIXEL - 1)
    position = position.clamp(0, BINS - 1.001)
    first = position.long()
    share = position - first
    return (1 - share) * table.gather(1, first) + share * table.gather(1, first + 1)
