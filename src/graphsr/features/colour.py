"""The input itself as features: no network, so that only lambda and mu are left to fit."""

from torch import Tensor

from graphsr.features.extractor import Extractor


class Colour(Extractor):
    """Return the input as it is: (B, C+1, H, W) -> (B, C+1, H, W)."""

    def __init__(self, in_channels: int) -> None:
        super().__init__(in_channels, in_channels)

    @property
    def reach(self) -> int:
        return 0

    def extract(self, x: Tensor) -> Tensor:
        return x
