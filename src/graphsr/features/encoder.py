"""The base of all encoders: what they return and how they load ImageNet weights."""

from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from graphsr.errors import InputError
from graphsr.features.imagenet import check_layout, read_tensors, widen


class Encoder(nn.Module):
    """Encode (B, C, H, W), sides divisible by 32, to a list of maps from fine to coarse with `channels` channels."""

    first_convolution: ClassVar[str]
    """Key of the weight (O, C, k, k) of the convolution that reads the input."""
    ignored_keys: ClassVar[tuple[str, ...]]
    """Prefixes of tensors in an ImageNet file that are not used here (the classifier)."""
    reach: ClassVar[int | None] = None
    """Radius of the input that a pixel of a U-Net on this encoder depends on, in pixels; None: all of it."""
    weights: str
    """The ImageNet file this encoder expects, in words, for messages."""

    def __init__(self, in_channels: int, channels: tuple[int, ...], weights: str) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.channels = channels
        self.weights = weights

    def load_imagenet(self, file: Path | str | None = None) -> None:
        """Load ImageNet weights.

        Args:
            file: A `torch.save`d state dict with the original names; None: that of the installed weight package.

        Raises:
            InputError: If there is no such file or package, or it is that of another network.
        """
        path = self.packaged_file() if file is None else Path(file)
        state = {k: v for k, v in read_tensors(path, self.weights).items() if not k.startswith(self.ignored_keys)}
        check_layout(path, self.weights, state, self._expected_shapes())
        self.adapt_input(state)
        state[self.first_convolution] = widen(state[self.first_convolution], self.in_channels)
        # Old torchvision files lack num_batches_tracked; a plain dict (without version metadata) makes torch
        # fill it in.
        self.load_state_dict(state)

    def packaged_file(self) -> Path:
        """Return the weight file of an installed package; encoders without one refuse."""
        raise InputError(
            f"no package carries these weights: give the path of {self.weights} as `pretrained`, or begin without "
            "by `pretrained = false`"
        )

    def adapt_input(self, state: dict[str, Tensor]) -> None:
        """Change `state` in place where its network was trained on another input than (x - mean) / std."""

    def _expected_shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = {key: tuple(tensor.shape) for key, tensor in self.state_dict().items()}
        outputs, _, *kernel = shapes[self.first_convolution]
        return shapes | {self.first_convolution: (outputs, 3, *kernel)}
