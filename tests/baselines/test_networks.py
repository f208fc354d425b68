"""The learned methods we are compared with: published weights fit, and every image can be run."""

from __future__ import annotations

import re

import pytest
import torch

from graphsr.baselines import METHODS
from graphsr.baselines.interpolation import interpolate_pil_bicubic
from graphsr.baselines.msg_net import CAFFE_LAYERS, MSGNet, MSGNetBaseline
from graphsr.baselines.pmbanet import PMBANet
from graphsr.errors import InputError
from tests.baselines.networks_to_test import (
    COUNTS,
    FIXED,
    IDLE,
    NAMES,
    NORM,
    Build,
    keys,
    on_meta,
    pair,
    parameters,
    run,
)


class TestLayout:
    """Names, shapes and counts of parameters."""

    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "factor"), COUNTS)
    def test_count(self, name: str, factor: int | None) -> None:
        assert parameters(on_meta(name, factor)) == COUNTS[name, factor]

    def test_registry(self) -> None:
        for name in NAMES:
            assert METHODS[name].learned == (name != "dada-colour")
            assert METHODS[name].factors == ((2, 4, 8, 16) if name in FIXED else ())

    @pytest.mark.parametrize(("name", "normal"), [("dkn", 7), ("fdkn", 6)])
    def test_deformable_kernels(self, name: str, normal: int) -> None:
        layers = [*(f"conv{i}" for i in range(1, normal + 1)), "conv_weight", "conv_offset"]
        parts = {f"{layer}.{what}" for layer in layers for what in ("weight", "bias")}
        parts |= {f"conv{i}_bn.{what}" for i in (1, 3, 5) for what in NORM}
        assert set(keys(name)) == {f"{image}Kernel.{part}" for image in ("Image", "Depth") for part in parts}

    def test_kernel_shapes(self) -> None:
        assert keys("dkn")["ImageKernel.conv1.weight"] == (32, 3, 7, 7)
        assert keys("dkn")["DepthKernel.conv5.weight"] == (128, 64, 5, 5)
        assert keys("dkn")["DepthKernel.conv_offset.weight"] == (18, 128, 1, 1)
        assert keys("fdkn")["ImageKernel.conv1.weight"] == (32, 16, 3, 3)
        assert keys("fdkn")["ImageKernel.conv_weight.weight"] == (144, 128, 1, 1)

    def test_fdsr(self) -> None:
        found = keys("fdsr")
        assert found["restore.weight"] == (1, 32, 3, 3)
        assert found["MSB4.conv4.weight"] == (104, 104, 1, 1)
        assert found["rgb_cbl3.conv.conv_l2h.weight"] == (24, 8, 3, 3)
        assert "luma" not in found

    def test_dada(self) -> None:
        found = keys("dada")
        assert found.pop("logk") == ()
        assert all(key.startswith("feature_extractor.1.") for key in found)
        assert found["feature_extractor.1.encoder.conv1.weight"] == (64, 4, 7, 7)
        assert found["feature_extractor.1.segmentation_head.0.bias"] == (64,)
        assert len(found) == 380

    @pytest.mark.parametrize("factor", [2, 4, 8, 16])
    def test_every_layer_of_msg_net_has_a_caffe_name(self, factor: int) -> None:
        units = {re.sub(r"(\.(convolution|slope))?\.\w+$", "", key) for key in keys("msg-net", factor)}
        assert set(CAFFE_LAYERS[factor]) == units
        assert len(set(CAFFE_LAYERS[factor].values())) == len(units)

    def test_caffe_names(self) -> None:
        names = CAFFE_LAYERS[16]
        assert (names["guide.4"], names["source"], names["enlarge"]) == ("conv5-Y", "conv1-D", "deconv2-D")
        assert [names[f"levels.{i}.join"] for i in range(3)] == ["conv2a-x4", "conv3a-x8", "conv4a-x16"]
        assert [names[f"levels.{i}.enlarge"] for i in range(3)] == ["deconv3-x4", "deconv4-x8", "deconv5-x16"]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("factor", "running"), [(2, 13_420_334), (4, 19_154_734), (8, 35_538_734), (16, 57_969_931)]
    )
    def test_what_pmbanet_runs(self, factor: int, running: int) -> None:
        with torch.device("meta"):
            net = PMBANet(factor)
            net(torch.empty(1, 3, 4 * factor, 8 * factor), torch.empty(1, 1, 4, 8)).sum().backward()
        assert len(net.state_dict()) == 397
        assert sum(p.numel() for p in net.parameters() if p.grad is not None) == running


class TestEveryMethod:
    @pytest.mark.parametrize("name", NAMES)
    def test_any_size_and_no_chance(self, name: str, built: Build) -> None:
        guide, source = pair(name)
        result = run(built(name), guide, source)
        assert result.shape == (1, 1, *guide.shape[-2:])
        assert result.isfinite().all()
        assert torch.equal(result, run(built(name), guide, source))

    @pytest.mark.parametrize("name", NAMES)
    def test_missing_source_pixels(self, name: str, built: Build) -> None:
        guide, source = pair(name)
        confidence = torch.ones_like(source)
        confidence[..., 1:3, 2] = 0
        holes = torch.where(confidence > 0, source, torch.full_like(source, torch.nan))
        result = run(built(name), guide, holes)
        assert result.isfinite().all()
        torch.testing.assert_close(result, run(built(name), guide, source, confidence))

    @pytest.mark.parametrize("name", NAMES)
    def test_grey_guide_is_three_equal_channels(self, name: str, built: Build) -> None:
        guide, source = pair(name, channels=1)
        grey = run(built(name), guide, source)
        torch.testing.assert_close(grey, run(built(name), guide.expand(-1, 3, -1, -1), source))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", NAMES)
    def test_channels_of_the_source_do_not_meet(self, name: str, built: Build) -> None:
        guide, source = pair(name)
        other = 100 * torch.rand_like(source)
        both = run(built(name), guide, torch.cat([source, other], 1))
        alone = run(built(name), guide, other)
        # Measured 3e-6 of the largest value: another batch size may take another convolution kernel.
        torch.testing.assert_close(both[:, 1:], alone, rtol=0, atol=3e-5 * float(alone.abs().max()))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", [name for name in NAMES if name != "dada-colour"])
    def test_gradients_reach_what_is_run(self, name: str, built: Build) -> None:
        method = built(name)
        guide, source = pair(name)
        try:
            method.train()(guide, source).square().mean().backward()
            without = {key for key, p in method.network.named_parameters() if p.grad is None}
            all_keys = [key for key, _ in method.network.named_parameters()]
            assert without == {key for key in all_keys if re.fullmatch(IDLE.get(name, "none"), key)}
            assert all(p.grad.isfinite().all() for p in method.network.parameters() if p.grad is not None)
            assert all(p.grad.any() for p in list(method.network.parameters())[:1] if p.grad is not None)
        finally:
            method.eval().zero_grad()

    @pytest.mark.parametrize("name", FIXED)
    def test_another_factor_is_refused(self, name: str, built: Build) -> None:
        with pytest.raises(InputError, match=rf"weights are for x{FIXED[name]}, but the pair is x3 by x3"):
            run(built(name), torch.rand(1, 3, 12, 15), torch.rand(1, 1, 4, 5))
        with pytest.raises(InputError, match="exists for factors 2, 4, 8, 16, not 3"):
            METHODS[name].build(3)
        with pytest.raises(InputError, match=f"{name}: needs a factor"):
            METHODS[name].build(None)


class TestMSGNet:
    @pytest.mark.parametrize(("factor", "small", "large"), [(2, 20, 39), (4, 16, 63), (8, 12, 95), (16, 8, 127)])
    def test_sizes(self, factor: int, small: int, large: int) -> None:
        with torch.device("meta"):
            net, guide = MSGNet(factor), torch.empty(1, 1, large, large)
            assert net(guide, torch.empty(1, 1, small, small)).shape == guide.shape

    @pytest.mark.parametrize("factor", [2, 16])
    def test_one_source_pixel(self, factor: int) -> None:
        guide, source = torch.rand(1, 3, factor, 2 * factor), torch.rand(1, 1, 1, 2)
        assert run(MSGNetBaseline(factor), guide, source).isfinite().all()

    def test_last_row_and_column_are_smooth(self, built: Build) -> None:
        guide, source = pair("msg-net")
        one, other = (run(built("msg-net"), image, source) for image in (guide, 1 - guide.flip(-1)))
        assert torch.equal(one[..., -1, :], other[..., -1, :])
        assert torch.equal(one[..., -1], other[..., -1])
        assert not torch.equal(one, other)

    def test_constant_source_and_guide(self, built: Build) -> None:
        result = run(built("msg-net"), torch.full((1, 3, 20, 12), 0.5), torch.full((1, 1, 5, 3), 7.0))
        torch.testing.assert_close(result, torch.full((1, 1, 20, 12), 7.0))


@torch.no_grad()
def test_fdsr_without_its_last_layer_is_the_interpolation() -> None:
    method = METHODS["fdsr"].build(None).eval()
    for tensor in method.get_submodule("network.restore").parameters():
        tensor.zero_()
    guide, source = pair("fdsr")
    torch.testing.assert_close(method(guide, source), interpolate_pil_bicubic(source, (37, 51)))
