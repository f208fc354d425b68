"""MSG-Net (Hui et al. 2016): the high frequencies of the source, enlarged step by step beside those of the guide.

Names are ours, since the layers of the published Caffe files are called 'conv1-Y' and the like: `CAFFE_LAYERS` maps
them, and those files can be read (caffe.py).

From a source of h pixels the network makes factor * h - 1, not factor * h. It is run on the guide without its last
row and column, and there the target is the enlarged low-pass part alone. The paper does not say what it did; all
other pixels are those of the published network.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines.base import Method, NetworkBaseline, for_one_factor
from graphsr.baselines.interpolation import interpolate_pil_bicubic
from graphsr.errors import InputError
from graphsr.features.channels import three_channels

# Each level doubles the side.
LEVELS = {2: 1, 4: 2, 8: 3, 16: 4}
WIDTH = 32
# Y of YCbCr in studio range, of R, G, B in 0..1.
LUMA, LUMA_BLACK = (65.481, 128.553, 24.966), 16.0


def _initialise(convolution: nn.Conv2d | nn.ConvTranspose2d, std: float) -> None:
    nn.init.normal_(convolution.weight, std=std)
    nn.init.zeros_(convolution.bias)  # type: ignore[arg-type]


class Unit(nn.Module):
    """Apply a convolution, or a transposed one, and a PReLU of one slope a channel."""

    def __init__(self, convolution: nn.Conv2d | nn.ConvTranspose2d, std: float = 0.04851) -> None:
        super().__init__()
        _initialise(convolution, std)
        self.convolution = convolution
        self.slope = nn.PReLU(convolution.out_channels)

    def forward(self, x: Tensor) -> Tensor:
        x = self.slope(self.convolution(x))
        return x


def _unit(inputs: int, outputs: int = WIDTH) -> Unit:
    return Unit(nn.Conv2d(inputs, outputs, 5, padding=2))


class Level(nn.Module):
    """Join guide and source, then double the sides: (B, 32, n, m) twice -> (B, 32, 2n + 1, 2m + 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.join = _unit(2 * WIDTH)
        self.refine = _unit(WIDTH)
        self.enlarge = Unit(nn.ConvTranspose2d(WIDTH, WIDTH, 5, 2, padding=1))

    def forward(self, guide: Tensor, source: Tensor) -> Tensor:
        x: Tensor = self.enlarge(self.refine(self.join(torch.cat([guide, source], dim=1))))
        return x


class MSGNet(nn.Module):
    """Predict the high-pass target (B, 1, kh-1, kw-1) of a high-pass guide of that size and source (B, 1, h, w)."""

    def __init__(self, factor: int) -> None:
        super().__init__()
        if factor not in LEVELS:
            raise InputError(f"MSGNet exists for factors {', '.join(map(str, LEVELS))}, not {factor}")
        levels = LEVELS[factor]
        self.guide = nn.ModuleList([Unit(nn.Conv2d(1, 49, 7, padding=3), std=0.028), _unit(49)])
        self.guide.extend(_unit(WIDTH) for _ in range(levels - 1))
        self.source = Unit(nn.Conv2d(1, 64, 5, padding=2), std=0.0343)
        self.enlarge = Unit(nn.ConvTranspose2d(64, WIDTH, 5, 2, padding=2))  # n -> 2n - 1
        self.levels = nn.ModuleList(Level() for _ in range(levels - 1))
        self.join = _unit(2 * WIDTH)
        self.refine = _unit(WIDTH)
        self.finish = _unit(WIDTH)
        self.out = nn.Conv2d(WIDTH, 1, 5, padding=2)
        _initialise(self.out, 0.001)

    def forward(self, guide: Tensor, source: Tensor) -> Tensor:
        finest, *coarser = self._guide_maps(guide)
        x = self.enlarge(self.source(source))
        for level, beside in zip(self.levels, reversed(coarser), strict=True):
            x = level(beside, x)
        target: Tensor = self.out(self.finish(self.refine(self.join(torch.cat([finest, x], dim=1)))))
        return target

    def _guide_maps(self, guide: Tensor) -> list[Tensor]:
        """Return a map (B, 32, ., .) of each level of (B, 1, H, W), fine to coarse, each half the size of the last."""
        first, second, *others = self.guide
        maps = [second(first(guide))]
        for unit in others:
            maps.append(F.max_pool2d(unit(maps[-1]), 3, 2, ceil_mode=True))
        return maps


def _caffe_layers(factor: int) -> dict[str, str]:
    count = LEVELS[factor]
    names = {f"guide.{i}": f"conv{i + 1}-Y" for i in range(count + 1)}
    names |= {"source": "conv1-D", "enlarge": "deconv2-D"}
    for i in range(count - 1):
        step, scale = i + 2, 2 ** (i + 2)
        names |= {f"levels.{i}.join": f"conv{step}a-x{scale}", f"levels.{i}.refine": f"conv{step}b-x{scale}"}
        names[f"levels.{i}.enlarge"] = f"deconv{step + 1}-x{scale}"
    names |= {part: f"conv{count + 1}{letter}" for part, letter in (("join", "a"), ("refine", "b"), ("finish", "c"))}
    return names | {"out": f"conv{count + 2}"}


# For each factor: our modules (units, and the last convolution) and the Caffe layers their weights come from. Both
# programs order the numbers of a layer alike, those of transposed convolutions too.
CAFFE_LAYERS = {factor: _caffe_layers(factor) for factor in LEVELS}


def caffe_names(factor: int) -> dict[str, str]:
    """Return our name of each tensor in a published file, by the name that caffe.py gives it."""
    names: dict[str, str] = {}
    for module, layer in CAFFE_LAYERS[factor].items():
        convolution = module if module == "out" else f"{module}.convolution"
        names |= {f"{layer}.{part}": f"{convolution}.{part}" for part in ("weight", "bias")}
        if module != "out":
            names[f"{layer}.slope"] = f"{module}.slope.weight"
    return names


class MSGNetBaseline(NetworkBaseline):
    """Run MSG-Net at its factor on the high-pass parts of guide and source, and add the low-pass part."""

    method = "msg-net"

    def __init__(self, factor: int) -> None:
        super().__init__(MSGNet(factor), factor)

    def learning_rates(self) -> list[tuple[float, list[nn.Parameter]]]:
        """Return a tenth for biases and for the last layer, as published."""
        slow = [p for name, p in self.named_parameters() if name.endswith(".bias") or name == "network.out.weight"]
        others = [p for p in self.parameters() if all(p is not one for one in slow)]
        return [(1.0, others), (0.1, slow)]

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        smooth = _box_mean(source)
        details = self.network(_guide_details(guide)[..., :-1, :-1], source - smooth)
        # The kernel is that of MATLAB's imresize too, which the authors used.
        low_pass = interpolate_pil_bicubic(smooth, (guide.shape[-2], guide.shape[-1]))
        return low_pass + F.pad(details, (0, 1, 0, 1))


def _guide_details(guide: Tensor) -> Tensor:
    """Return the high-pass luma (B, 1, H, W) in 0..1 of a guide (B, C, H, W) in 0..1."""
    weights = guide.new_tensor(LUMA).view(1, 3, 1, 1)
    luma = (LUMA_BLACK + (three_channels(guide) * weights).sum(1, keepdim=True)).round()
    luma = _stretched(luma)
    return _stretched(luma - _box_mean(luma))


def _box_mean(x: Tensor) -> Tensor:
    """Return the 3x3 means of x (B, C, H, W), the border repeated."""
    return F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="replicate"), 3, 1)


def _stretched(x: Tensor) -> Tensor:
    """Bring each image of x (B, 1, H, W) to 0..1; a constant one to 0."""
    low, high = x.amin((-2, -1), keepdim=True), x.amax((-2, -1), keepdim=True)
    return (x - low) / torch.where(high > low, high - low, torch.ones_like(high))


METHOD = Method(
    name="msg-net",
    title="MSG-Net",
    year=2016,
    reference="Hui, Loy, Tang, Depth Map Super-Resolution by Deep Multi-Scale Guidance, ECCV 2016",
    build=for_one_factor("msg-net", tuple(LEVELS), MSGNetBaseline),
    learned=True,
    factors=tuple(LEVELS),
    published_as="of its authors (.caffemodel)",
    foreign_names=caffe_names,
)
