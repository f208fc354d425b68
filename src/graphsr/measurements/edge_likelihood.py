"""How likely a placement of a source is, as the guide shows it across the source's edges.

A small network (`edge_network.py`) reads the guide across every edge together with the source around it, and tells how
likely each offset of the edge along its normal is. The likelihood of a placement is the product over all edges.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from graphsr.measurements.edge_network import BINS, EdgeNetwork, at_offsets
from graphsr.measurements.edge_patches import COLOURS, axes_of, descriptions, factor_of, patches
from graphsr.measurements.edge_points import GROUPS, EdgePoints

WEIGHTS = Path(__file__).parent / "weights" / "edges.safetensors"
# The part of the edges that the guide does not show where the network sees them.
_UNSEEN = 0.02
# More points add time, but no precision.
_MOST_POINTS = 2500
_AT_ONCE = 512


@lru_cache(maxsize=1)
def edge_network() -> EdgeNetwork:
    """Return the network with the weights of the package."""
    network = EdgeNetwork()
    network.load_state_dict({name: tensor.float() for name, tensor in load_file(WEIGHTS).items()})
    return network.eval()


class EdgeLikelihood:
    """The logarithm of the likelihood of placements near one at which the guide was read.

    Args:
        colours: (COLOURS, H, W) the guide, see `edge_patches.standardised`.
        points: On the edges of the source.
        matrix: (2, 3) the placement: maps source pixels to guide pixels.
        network: Another one than that of the package.
        most: So many points are read at the most.
    """

    def __init__(
        self,
        colours: np.ndarray,
        points: EdgePoints,
        matrix: np.ndarray,
        network: EdgeNetwork | None = None,
        most: int = _MOST_POINTS,
    ) -> None:
        points = points.thinned(most)
        self.places, self.matrix = points.places, matrix
        self.groups = torch.from_numpy(points.groups.astype(np.int64))
        self.across, _ = axes_of(points, matrix)
        # Patches begin at other fractions of a pixel each, or all edges would favour the same positions.
        self.ahead = np.random.default_rng(0).uniform(-0.5, 0.5, len(self.places))
        found, contrast = patches(colours, points, matrix, self.ahead)
        shown = (found, contrast, descriptions(points, factor_of(matrix)))
        # Edges of which nothing lies in the guide tell nothing.
        unseen = torch.from_numpy(np.where(found[:, COLOURS:].any((1, 2, 3)), _UNSEEN, 1.0).astype(np.float32))[:, None]
        seen = _in_parts(network or edge_network(), [torch.from_numpy(array) for array in shown])
        self.table = ((1 - unseen) * seen.exp() + unseen / BINS).log()

    def by_group(self, matrix: np.ndarray) -> np.ndarray:
        """Return (GROUPS,) the logarithm of the likelihood of a (2, 3) placement, in each group of points."""
        change = matrix - self.matrix
        moved = self.places @ change[:, :2].T + change[:, 2]
        return self._sums(np.einsum("nk,nk->n", self.across, moved)[:, None])[:, 0]

    def at_shifts(self, shifts: np.ndarray) -> np.ndarray:
        """Return (GROUPS, S) the same for shifts (S, 2), x and y in guide pixels, from where the guide was read."""
        return self._sums(np.asarray(torch.from_numpy(self.across) @ torch.from_numpy(shifts.T.copy())))

    def _sums(self, offsets: np.ndarray) -> np.ndarray:
        """Return (GROUPS, S) sums over the points of each group, for offsets (N, S) along the normals."""
        from_patch = torch.from_numpy((offsets - self.ahead[:, None]).astype(np.float32))
        found = at_offsets(self.table, from_patch).double()
        # Not a product by NumPy: its threads wait busily after each, and slow down what follows.
        return found.new_zeros(GROUPS, found.shape[1]).index_add_(0, self.groups, found).numpy()


def _in_parts(network: EdgeNetwork, shown: list[torch.Tensor]) -> torch.Tensor:
    """Return (N, BINS) what a network tells of edges; a few at once, which stay in the cache."""
    with torch.inference_mode():
        return torch.cat(
            [network(*part) for part in zip(*(torch.split(each, _AT_ONCE) for each in shown), strict=True)]
        )
