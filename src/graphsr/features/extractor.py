"""The base of all feature extractors."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from torch import Tensor, nn

from graphsr.errors import InputError
from graphsr.features.padding import pad_to_multiple


class Extractor(nn.Module, ABC):
    """Turn guide and interpolated source into one feature vector a pixel: (B, C+1, H, W) -> (B, M, H, W).

    The last input channel is the interpolated source, the C before it are the guide (ImageNet-normalised,
    (x - mean) / std, when it is RGB). Any H and W: the input is padded to what the network's strides need and
    the result cropped back, so subclasses write `extract` for sides divisible by `multiple`.
    """

    multiple: ClassVar[int] = 1

    @property
    def reach(self) -> int | None:
        """Radius of the input that the features of a pixel depend on, in pixels; None: all of it."""
        return None

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of a guide and an interpolated source.

        Args:
            x: (B, C+1, H, W), the guide's channels and then the interpolated source.

        Returns:
            (B, M, H, W).
        """
        self.check(x)
        height, width = x.shape[-2:]
        return self.extract(pad_to_multiple(x, self.multiple))[..., :height, :width]

    def in_strips(self, x: Tensor) -> Iterator[Tensor]:
        """Return the features in strips of rows, for which a network may need less memory and time than for the whole.

        Args:
            x: As `forward` takes it.

        Yields:
            (B, M, rows, W) from top to bottom; all but the last also have the first row of the next.
        """
        yield self(x)

    def check(self, x: Tensor) -> None:
        """Raise InputError for what `forward` does not take."""
        if x.ndim != 4 or x.shape[1] != self.in_channels:
            raise InputError(
                f"{type(self).__name__} takes (B, {self.in_channels}, H, W), {self.in_channels - 1} guide "
                f"channels and then the interpolated source; got {tuple(x.shape)}"
            )

    @abstractmethod
    def extract(self, x: Tensor) -> Tensor:
        """Return the features (B, M, H, W) of x (B, C+1, H, W), H and W divisible by `multiple`."""
