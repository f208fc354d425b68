"""Published weights fit: counts, names and shapes of every extractor."""

import re
from collections import Counter
from functools import cache

import pytest
import torch
from torch import nn

from graphsr import features

TOTALS = {
    "colour": 0,
    "unet-resnet18": 14_340_480,
    "unet-resnet50": 32_533_376,
    "unet-efficientnet-b2": 10_055_714,
    # No published figure: the packaged encoder (2,958,848 for Lite0), a fourth channel, our decoder and head.
    "unet-lite0": 5_212_192,
    "unet-lite1": 5_976_864,
    "unet-lite2": 6_712_672,
    "fdsr": 619_312,
    "gdpt": 127_149_888,
}
PARTS = {
    "unet-resnet18": (11_179_648, 3_151_552, 9_280),
    "unet-resnet50": (23_511_168, 9_012_928, 9_280),
    "unet-efficientnet-b2": (7_701_282, 2_345_152, 9_280),
}
TENSORS = {"unet-resnet18": 182, "unet-resnet50": 380, "unet-efficientnet-b2": 568}
NORM = r"(weight|bias|running_mean|running_var|num_batches_tracked)"


@cache
def on_meta(name: str) -> features.Extractor:
    with torch.device("meta"):
        return features.build(name)


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def shapes(name: str) -> dict[str, tuple[int, ...]]:
    return {key: tuple(tensor.shape) for key, tensor in on_meta(name).state_dict().items()}


def test_every_name_has_a_count() -> None:
    assert sorted(TOTALS) == features.names()


@pytest.mark.parametrize("name", TOTALS)
def test_parameter_count(name: str) -> None:
    assert parameters(on_meta(name)) == TOTALS[name]


@pytest.mark.parametrize("name", PARTS)
def test_count_of_encoder_decoder_head(name: str) -> None:
    net = on_meta(name)
    parts = (net.get_submodule(part) for part in ("encoder", "decoder", "segmentation_head"))
    assert tuple(parameters(part) for part in parts) == PARTS[name]


@pytest.mark.parametrize("name", TENSORS)
def test_number_of_tensors(name: str) -> None:
    assert len(shapes(name)) == TENSORS[name]


@pytest.mark.parametrize("name", TENSORS)
def test_decoder_and_head_names(name: str) -> None:
    keys = [key for key in shapes(name) if not key.startswith("encoder.")]
    decoder = [key for key in keys if re.fullmatch(rf"decoder\.blocks\.[0-4]\.conv[12]\.(0\.weight|1\.{NORM})", key)]
    assert len(decoder) == 60
    assert sorted(set(keys) - set(decoder)) == ["segmentation_head.0.bias", "segmentation_head.0.weight"]
    assert shapes(name)["segmentation_head.0.weight"] == (64, 16, 3, 3)


@pytest.mark.parametrize(
    ("name", "joined"),
    [("unet-resnet18", 512 + 256), ("unet-resnet50", 2048 + 1024), ("unet-efficientnet-b2", 352 + 120)],
)
def test_first_decoder_block_sees_the_two_deepest_maps(name: str, joined: int) -> None:
    assert shapes(name)["decoder.blocks.0.conv1.0.weight"] == (256, joined, 3, 3)


@pytest.mark.parametrize(("name", "convolutions", "shortcuts"), [("unet-resnet18", 16, 3), ("unet-resnet50", 48, 4)])
def test_resnet_names(name: str, convolutions: int, shortcuts: int) -> None:
    patterns = {
        r"conv1\.weight": 1,
        rf"bn1\.{NORM}": 5,
        r"layer[1-4]\.\d\.conv[1-3]\.weight": convolutions,
        rf"layer[1-4]\.\d\.bn[1-3]\.{NORM}": 5 * convolutions,
        r"layer[1-4]\.0\.downsample\.0\.weight": shortcuts,
        rf"layer[1-4]\.0\.downsample\.1\.{NORM}": 5 * shortcuts,
    }
    assert encoder_matches(name, patterns) == patterns


def test_resnet_shapes() -> None:
    small, large = shapes("unet-resnet18"), shapes("unet-resnet50")
    assert small["encoder.conv1.weight"] == large["encoder.conv1.weight"] == (64, 4, 7, 7)
    assert small["encoder.layer4.1.conv2.weight"] == (512, 512, 3, 3)
    assert small["encoder.layer2.0.downsample.0.weight"] == (128, 64, 1, 1)
    assert large["encoder.layer1.0.downsample.0.weight"] == (256, 64, 1, 1)
    assert large["encoder.layer3.5.conv3.weight"] == (1024, 256, 1, 1)
    assert "encoder.layer1.0.downsample.0.weight" not in small


def test_efficientnet_b2_names() -> None:
    patterns = {
        r"_conv_stem\.weight": 1,
        rf"_bn0\.{NORM}": 5,
        r"_blocks\.\d+\._expand_conv\.weight": 21,
        rf"_blocks\.\d+\._bn0\.{NORM}": 5 * 21,
        r"_blocks\.\d+\._depthwise_conv\.weight": 23,
        rf"_blocks\.\d+\._bn1\.{NORM}": 5 * 23,
        r"_blocks\.\d+\._se_(reduce|expand)\.(weight|bias)": 4 * 23,
        r"_blocks\.\d+\._project_conv\.weight": 23,
        rf"_blocks\.\d+\._bn2\.{NORM}": 5 * 23,
        r"_conv_head\.weight": 1,
        rf"_bn1\.{NORM}": 5,
    }
    assert encoder_matches("unet-efficientnet-b2", patterns) == patterns
    assert sum(patterns.values()) == 506


def test_efficientnet_b2_shapes() -> None:
    found = shapes("unet-efficientnet-b2")
    assert found["encoder._conv_stem.weight"] == (32, 4, 3, 3)
    assert found["encoder._conv_head.weight"] == (1408, 352, 1, 1)
    assert "encoder._blocks.1._expand_conv.weight" not in found
    squeezed = [found[f"encoder._blocks.{i}._se_reduce.weight"][0] for i in range(23)]
    assert squeezed == [8, 4, 4, 6, 6, 6, 12, 12, 12, 22, 22, 22, 22, 30, 30, 30, 30, *[52] * 5, 88]
    kernels = [found[f"encoder._blocks.{i}._depthwise_conv.weight"][-1] for i in range(23)]
    assert kernels == [3] * 5 + [5] * 3 + [3] * 4 + [5] * 9 + [3] * 2
    outputs = [found[f"encoder._blocks.{i}._project_conv.weight"][0] for i in range(23)]
    assert Counter(outputs) == {16: 2, 24: 3, 48: 3, 88: 4, 120: 4, 208: 5, 352: 2}


def test_fdsr_names() -> None:
    found = shapes("fdsr")
    modules = {key.rsplit(".", 1)[0] for key in found}
    blocks = {f"MSB{i}.conv{j}" for i in (1, 2, 3, 4) for j in (1, 2, 4)}
    octaves = {f"rgb_cbl{i}.conv.conv_{way}" for i in (3, 4) for way in ("h2h", "h2l", "l2h", "l2l")}
    octaves |= {"rgb_cbl2.conv.conv_h2h", "rgb_cbl2.conv.conv_h2l"}
    assert modules == blocks | octaves | {"conv_rgb1", "conv_dp1", "conv_recon1", "conv_recon2", "restore"}
    assert found["restore.weight"] == (64, 32, 3, 3)
    assert not any(key.endswith("bias") for key in found if key.startswith("rgb_cbl"))


def test_gdpt_encoder_has_the_names_of_timm() -> None:
    found = shapes("gdpt")
    assert found["encoder.pos_embed"] == (1, 577, 768)
    assert found["encoder.patch_embed.backbone.stem.conv.weight"] == (64, 3, 7, 7)
    assert found["encoder.patch_embed.backbone.stages.2.blocks.8.conv2.weight"] == (256, 256, 3, 3)
    assert found["encoder.patch_embed.backbone.stages.0.blocks.0.downsample.norm.weight"] == (256,)
    assert found["encoder.blocks.11.attn.qkv.weight"] == (2304, 768)
    assert parameters(on_meta("gdpt").get_submodule("encoder")) == 98_181_952


def encoder_matches(name: str, patterns: dict[str, int]) -> dict[str, int]:
    """How many encoder keys each pattern matches; fails when a key matches none."""
    keys = [key.removeprefix("encoder.") for key in shapes(name) if key.startswith("encoder.")]
    counts = {pattern: sum(bool(re.fullmatch(pattern, key)) for key in keys) for pattern in patterns}
    assert sum(counts.values()) == len(keys)
    return counts
