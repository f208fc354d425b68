"""The learned methods we are compared with: published weights fit, and every image can be run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines import METHODS
from graphsr.baselines.dada import DADABaseline, RawChannels, advance, conductance, diffuse
from graphsr.baselines.deformable import CONVENTIONS, sample_taps
from graphsr.baselines.dkn import DKN, Kernel
from graphsr.baselines.fdkn import FDKN
from graphsr.baselines.method import NetworkBaseline
from graphsr.baselines.msg_net import CAFFE_LAYERS, MSGNet, MSGNetBaseline
from graphsr.baselines.pmbanet import PMBANet
from graphsr.errors import InputError
from graphsr.graph import Edges
from graphsr.sampling import Sampling, interpolate_source

COUNTS = {
    ("msg-net", 2): 198_148,
    ("msg-net", 4): 326_404,
    ("msg-net", 8): 454_660,
    ("msg-net", 16): 582_916,
    ("dkn", None): 1_158_070,
    ("fdkn", None): 693_856,
    ("pmbanet", 2): 17_724_114,
    ("pmbanet", 4): 25_064_146,
    ("pmbanet", 8): 46_035_666,
    ("pmbanet", 16): 113_144_530,
    ("fdsr", None): 601_105,
    ("dada", None): 32_533_377,
    ("dada-colour", None): 0,
}
ANY_FACTOR = ["dkn", "fdkn", "fdsr", "dada", "dada-colour"]
FIXED = {"msg-net": 4, "pmbanet": 2}
NAMES = [*FIXED, *ANY_FACTOR]
# Parameters that are in the published files but never run.
IDLE = {
    "fdsr": r"rgb_cbl4\.conv\.conv_(h2l|l2l)\..*",
    "pmbanet": r"(.*unused.*|branches\.3\..*|attentions\.[34]\..*|downs\.2\..*)",
}
NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")

Build = Callable[[str], NetworkBaseline]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def built() -> Build:
    """name -> the method in evaluation mode, with uneven batch statistics and, for DADA, few steps."""

    @cache
    def build(name: str) -> NetworkBaseline:
        torch.manual_seed(0)
        method = METHODS[name].build(FIXED.get(name)).eval()
        assert isinstance(method, NetworkBaseline)
        if isinstance(method, DADABaseline):
            method.steps, method.tracked_steps = 5, 3
        unsettle(method)
        return method

    return build


def unsettle(module: nn.Module) -> None:
    for key, tensor in module.state_dict().items():
        if key.endswith("running_mean"):
            tensor.normal_(0, 0.1)
        elif key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)


def run(method: NetworkBaseline, guide: Tensor, source: Tensor, confidence: Tensor | None = None) -> Tensor:
    with torch.no_grad():
        return method.run(guide, source, confidence=confidence)[0]


def pair(name: str, channels: int = 3) -> tuple[Tensor, Tensor]:
    """A guide (1, C, H, W) and source (1, 1, h, w) that nothing divides, but for the factor where it must."""
    factor = FIXED.get(name)
    size = (37, 51) if factor is None else (5 * factor, 7 * factor)
    return torch.rand(1, channels, *size), 3 + 2 * torch.rand(1, 1, *((9, 11) if factor is None else (5, 7)))


@cache
def on_meta(name: str, factor: int | None) -> nn.Module:
    with torch.device("meta"):
        method = METHODS[name].build(factor)
    assert isinstance(method, NetworkBaseline)
    return method.network


def keys(name: str, factor: int | None = None) -> dict[str, tuple[int, ...]]:
    return {key: tuple(tensor.shape) for key, tensor in on_meta(name, factor).state_dict().items()}


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


class TestLayout:
    """Names, shapes and counts of parameters."""

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

    @pytest.mark.parametrize("name", NAMES)
    def test_channels_of_the_source_do_not_meet(self, name: str, built: Build) -> None:
        guide, source = pair(name)
        other = 100 * torch.rand_like(source)
        both = run(built(name), guide, torch.cat([source, other], 1))
        alone = run(built(name), guide, other)
        # Measured 3e-6 of the largest value: another batch size may take another convolution kernel.
        torch.testing.assert_close(both[:, 1:], alone, rtol=0, atol=3e-5 * float(alone.abs().max()))

    @pytest.mark.parametrize("name", [name for name in NAMES if name != "dada-colour"])
    def test_gradients_reach_what_is_run(self, name: str, built: Build) -> None:
        method = built(name)
        guide, source = pair(name)
        try:
            method.train().run(guide, source)[0].square().mean().backward()
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


def taps_of_patches(depth: Tensor, offsets: Tensor, convention: str) -> Tensor:
    """What the published code does: cut out every 15x15 patch, then `grid_sample` in each. (B, 9, H, W)"""
    batch, _, height, width = depth.shape
    patches = F.unfold(depth, 15, padding=7).transpose(1, 2).reshape(-1, 1, 15, 15)
    moves = offsets.permute(0, 2, 3, 1).reshape(-1, 9, 2)
    tap = torch.arange(9)
    coordinates = moves + torch.stack([7 + tap // 3, 7 + tap % 3], -1)
    grid = (coordinates - 1) / 14 * 2 - 1 if convention == "centred" else coordinates / 15 * 2 - 1
    values = F.grid_sample(patches, grid.unsqueeze(1), align_corners=convention != "torch13")
    return values.reshape(batch, height, width, 9).permute(0, 3, 1, 2)


class TestDeformableKernels:
    @pytest.mark.parametrize("spread", [0.5, 6.0])
    @pytest.mark.parametrize("convention", CONVENTIONS)
    def test_taps_equal_those_of_patches(self, convention: str, spread: float) -> None:
        depth, offsets = torch.rand(2, 1, 13, 19).double(), spread * torch.randn(2, 18, 13, 19).double()
        expected = taps_of_patches(depth, offsets, convention)
        torch.testing.assert_close(sample_taps(depth, offsets, convention), expected)

    @pytest.mark.parametrize("convention", CONVENTIONS)
    def test_gradients_equal_those_of_patches(self, convention: str) -> None:
        depth = torch.rand(1, 1, 6, 5, dtype=torch.float64, requires_grad=True)
        offsets = (5 * torch.randn(1, 18, 6, 5, dtype=torch.float64)).requires_grad_()
        weights = torch.randn(1, 9, 6, 5, dtype=torch.float64)
        ours, theirs = (
            torch.autograd.grad((weights * sample(depth, offsets, convention)).sum(), (depth, offsets))
            for sample in (sample_taps, taps_of_patches)
        )
        torch.testing.assert_close(ours, theirs)

    @pytest.mark.parametrize(
        ("convention", "steps"),
        [("legacy", (-7 / 15, 7 / 15, 1.4)), ("torch13", (-0.5, 0.5, 1.5)), ("centred", (-1.0, 0.0, 1.0))],
    )
    def test_taps_at_rest(self, convention: str, steps: tuple[float, ...]) -> None:
        ramp = torch.arange(9.0).expand(1, 1, 9, 9)
        taps = sample_taps(ramp, torch.zeros(1, 18, 9, 9), convention)
        torch.testing.assert_close(taps[0, ::3, 4, 4] - 4, torch.tensor(steps))

    @pytest.mark.parametrize("network", [DKN, FDKN])
    def test_unknown_convention(self, network: type[DKN] | type[FDKN]) -> None:
        with pytest.raises(InputError, match=r"'newest': use one of legacy, torch13, centred"):
            network("newest")

    def test_conventions_differ_and_keep_what_is_flat(self) -> None:
        net = FDKN().eval()
        guide, depth = torch.rand(1, 1, 32, 32), torch.rand(1, 1, 32, 32)
        results = []
        for net.convention in CONVENTIONS:
            with torch.no_grad():
                results.append(net(guide, depth))
                flat = net(guide, torch.ones_like(depth))
            torch.testing.assert_close(flat[..., 8:-8, 8:-8], torch.ones(1, 1, 16, 16))
        assert not torch.allclose(results[0], results[1])
        assert not torch.allclose(results[1], results[2])


def strided(kernel: Kernel, x: Tensor) -> tuple[Tensor, Tensor]:
    """The published form of DKN's sub-network: strides of 2 where ours dilates."""

    def layer(number: int, x: Tensor) -> Tensor:
        own = kernel.get_submodule(f"conv{number}")
        assert isinstance(own, nn.Conv2d)
        return F.conv2d(x, own.weight, own.bias, stride=2 if number in (2, 4) else 1)

    for number in range(1, 8):
        x = layer(number, x)
        x = F.relu(kernel.get_submodule(f"conv{number}_bn")(x) if number in (1, 3, 5) else x)
    return torch.sigmoid(kernel.conv_weight(x)), kernel.conv_offset(x)


@torch.no_grad()
def test_dkn_in_one_pass_equals_sixteen_shifted_ones() -> None:
    kernel = Kernel(3).eval()
    unsettle(kernel)
    image = torch.rand(1, 3, 8, 12)
    weights, offsets = kernel(image)
    for i in range(4):
        for j in range(4):
            shifted = strided(kernel, F.pad(image, (25 - j, 22 + j, 25 - i, 22 + i)))
            # Measured 1e-7.
            torch.testing.assert_close(weights[..., i::4, j::4], shifted[0], rtol=0, atol=2e-6)
            torch.testing.assert_close(offsets[..., i::4, j::4], shifted[1], rtol=0, atol=2e-6)


@torch.no_grad()
def test_fdsr_without_its_last_layer_is_the_interpolation() -> None:
    method = METHODS["fdsr"].build(None).eval()
    for tensor in method.get_submodule("network.restore").parameters():
        tensor.zero_()
    guide, source = pair("fdsr")
    torch.testing.assert_close(method.run(guide, source)[0], interpolate_source(source, (37, 51)))


class TestDADA:
    @staticmethod
    def problem(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Edges, Tensor, Tensor]:
        """Start (2, 1, 24, 20), conductances, source (2, 1, 6, 5), known."""
        source = 0.5 + torch.rand(2, 1, 6, 5, dtype=dtype)
        edges = conductance(torch.rand(2, 3, 24, 20, dtype=dtype), 0.3)
        return interpolate_source(source, (24, 20)), edges, source, torch.rand(2, 1, 6, 5) > 0.1

    def test_kernel_equals_torch(self) -> None:
        start, edges, source, known = self.problem()
        # Measured 4e-7 on values up to 2.
        torch.testing.assert_close(
            advance(start, edges, source, known, 20), diffuse(start, edges, source, known, 20), rtol=0, atol=4e-6
        )

    def test_kernel_equals_torch_where_nothing_divides(self) -> None:
        source = 0.5 + torch.rand(1, 1, 7, 9)
        start, known = interpolate_source(source, (37, 51)), torch.rand(1, 1, 7, 9) > 0.1
        edges = conductance(torch.rand(1, 3, 37, 51), 0.3)
        steps = 33  # one more than are tracked at a time
        torch.testing.assert_close(
            advance(start, edges, source, known, steps), diffuse(start, edges, source, known, steps), rtol=0, atol=1e-5
        )

    def test_averages_back_to_the_source(self) -> None:
        start, edges, source, known = self.problem()
        averaged = Sampling((24, 20), (6, 5))(advance(start, edges, source, known, 50))
        torch.testing.assert_close(averaged[known], source[known])

    def test_missing_cells_pull_nothing(self) -> None:
        start, edges, source, known = self.problem()
        other = torch.where(known, source, 100 * torch.ones_like(source))
        assert torch.equal(advance(start, edges, source, known, 20), advance(start, edges, other, known, 20))

    def test_gradients(self) -> None:
        start, edges, source, known = self.problem(torch.float64)
        down, right = edges.down.requires_grad_(), edges.right.requires_grad_()

        def some(down: Tensor, right: Tensor) -> Tensor:
            return diffuse(start, Edges(down, right), source, known, 34)[..., ::7, ::7]

        assert torch.autograd.gradcheck(some, (down, right), fast_mode=True)

    def test_lines_of_pixels(self) -> None:
        method = DADABaseline(RawChannels(), steps=4, tracked_steps=0).eval()
        for size, small in (((1, 12), (1, 4)), ((12, 1), (4, 1)), ((1, 1), (1, 1))):
            result = run(method, torch.rand(1, 3, *size), torch.rand(1, 1, *small))
            assert result.shape == (1, 1, *size)
            assert result.isfinite().all()

    @pytest.mark.parametrize("offset", [-1000.0, 0.0, 1000.0])
    def test_any_heights(self, offset: float) -> None:
        method = DADABaseline(RawChannels(), steps=200, tracked_steps=0).eval()
        source = offset + 20 * torch.rand(1, 1, 6, 5)
        result = run(method, torch.rand(1, 3, 24, 20), source)
        torch.testing.assert_close(Sampling((24, 20), (6, 5))(result), source, rtol=1e-5, atol=1e-4)

    def test_units_do_not_matter_unless_told(self) -> None:
        guide, source = torch.rand(1, 3, 24, 20), 1 + torch.rand(1, 1, 6, 5)
        own, told = (DADABaseline(RawChannels(), 100, 0, depth_std).eval() for depth_std in (None, 0.5))
        # Measured 3e-6.
        torch.testing.assert_close(run(own, guide, 1000 * source), 1000 * run(own, guide, source), rtol=3e-5, atol=0)
        assert not torch.allclose(run(told, guide, 8 * source), 8 * run(told, guide, source), rtol=1e-3)

    def test_published_steps(self) -> None:
        with torch.device("meta"):
            learned, colour = METHODS["dada"].build(None), METHODS["dada-colour"].build(8)
        assert isinstance(learned, DADABaseline)
        assert isinstance(colour, DADABaseline)
        assert (learned.steps, learned.tracked_steps) == (8000, 1024)
        assert (colour.steps, colour.tracked_steps) == (8000, 0)

    def test_first_k(self, built: Build) -> None:
        assert built("dada").network.state_dict()["logk"].exp().item() == pytest.approx(0.03)

    def test_training_begins_anywhere(self) -> None:
        method = DADABaseline(RawChannels(), steps=1000, tracked_steps=0).train()
        guide, source = torch.rand(1, 3, 24, 20), 1 + torch.rand(1, 1, 6, 5)
        results = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            results.append(run(method, guide, source))
        assert torch.equal(results[0], results[1])
        assert not torch.equal(results[1], results[2])
