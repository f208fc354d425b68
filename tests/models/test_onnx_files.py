"""Models as ONNX files: ONNX Runtime gives the graph that the model gives, for any size, with and without holes."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import graphsr
from graphsr import features
from graphsr.errors import InputError
from graphsr.models.noise import LEAST, MOST
from graphsr.models.onnx_files import OPSET, write_onnx
from graphsr.models.published_interpolation import interpolate_published

# (H, W), (h, w): whole and other factors, sides that no stride divides, a factor of 1, hardly any source.
SIZES = (((64, 96), (8, 12)), ((75, 101), (13, 17)), ((40, 33), (40, 33)), ((48, 50), (2, 1)))
# Like the preset of the bundled model: everything that a model can predict.
EVERYTHING = graphsr.Architecture(
    extractor="unet-lite0",
    features=6,
    decoder_channels=(16, 16, 16, 8, 8),
    sharp=True,
    floor=5e-3,
    floors=True,
    offsets=True,
    hints=True,
    detail=True,
    confidence=True,
    colour_mu=0.04,
)
LOOKING_FIRST = replace(EVERYTHING, first_target=True)
REWEIGHTING = replace(EVERYTHING, reweighting=8)
LOCAL = replace(LOOKING_FIRST, reweighting=8, offsets=False, local_scale=True)


def model_of(architecture: graphsr.Architecture, seed: int = 0) -> graphsr.GraphSR:
    torch.manual_seed(seed)
    return graphsr.GraphSR(architecture).eval()


def session(model: graphsr.Model, path: Path) -> onnxruntime.InferenceSession:
    write_onnx(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options)


def run(opened: onnxruntime.InferenceSession, **inputs: torch.Tensor) -> dict[str, np.ndarray]:
    names = [output.name for output in opened.get_outputs()]
    found = opened.run(names, {name: value.numpy() for name, value in inputs.items()})
    return dict(zip(names, found, strict=True))


def pair(size: tuple[int, int], source_size: tuple[int, int], holes: bool) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(sum(size))
    guide, source = rng.uniform(0, 255, (1, 3, *size)), rng.uniform(900, 1100, (1, 1, *source_size))
    if holes and source.size > 1:
        source[rng.uniform(size=source.shape) < 0.3] = np.nan
        source[..., : source_size[0] // 2, : source_size[1] // 2] = np.nan
    return torch.from_numpy(guide).float(), torch.from_numpy(source).float()


def assert_same_graph(found: dict[str, np.ndarray], problem: graphsr.Problem | torch.Tensor) -> None:
    assert isinstance(problem, graphsr.Problem)
    for name in ("down", "right"):
        # Measured 2.1e-3 at the most, with unet-resnet50, and 2e-5 with small ones: weights are exponentials.
        np.testing.assert_allclose(found[name], getattr(problem.edges, name).numpy(), rtol=1e-2, err_msg=name)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("statistics", [False, True])
def test_everything_that_a_model_predicts_is_the_same(tmp_path: Path, holes: bool, statistics: bool) -> None:
    model = model_of(replace(EVERYTHING, noise_statistics=statistics))
    if statistics:  # which add next to nothing before they are trained
        for parameter in model.noise_network.statistics.parameters():
            parameter.data += 0.1 * torch.randn_like(parameter)
    model.log_noise_unit.data.fill_(math.log(1e-4))  # about the noise that is predicted before training
    opened = session(model, tmp_path / "model.onnx")
    for size, source_size in SIZES:
        guide, source = pair(size, source_size, holes)
        found = run(opened, guide=guide, source=source)
        assert list(found) == ["down", "right", "offset_down", "offset_right", "confidence"]
        with torch.no_grad():
            problem = model.prepare(guide, source)
        assert_same_graph(found, problem)
        for name in ("down", "right"):
            expected = getattr(problem.offsets, name)[:, 0].numpy()
            np.testing.assert_allclose(found[f"offset_{name}"], expected, atol=1e-4 * np.abs(expected).max() + 1e-6)
        most = found["confidence"].max()
        assert most == 1 if size == source_size else 0.1 < most < 0.99  # at x1 none is predicted
        np.testing.assert_allclose(found["confidence"], problem.confidence.numpy(), atol=1e-4)


def graph_of(opened: onnxruntime.InferenceSession, guide: torch.Tensor, source: torch.Tensor) -> dict[str, np.ndarray]:
    """Run a model; one that looks at targets once more for each of them: for its graph, and with it."""
    names = [each.name for each in opened.get_inputs() if each.name.endswith("_target")]
    given = {name: torch.zeros_like(guide[:, :1]) for name in names}
    found = run(opened, guide=guide, source=source, **given)
    for name in names:
        edges, offsets = (graph_in(found, kind) for kind in (name.removesuffix("target"), "offset_"))
        confidence, size = torch.from_numpy(found["confidence"]), (guide.shape[2], guide.shape[3])
        offsets = offsets if name == "second_target" else None
        measured = torch.from_numpy(found.get("restored", source.numpy()))
        given[name] = graphsr.solve(edges, measured, size, confidence=confidence, offsets=offsets, rtol=1e-6)
        found = run(opened, guide=guide, source=source, **given)
    return found


def graph_in(found: dict[str, np.ndarray], kind: str) -> graphsr.Edges | None:
    """The numbers on the edges that are called so, if there are any."""
    if f"{kind}down" not in found:
        return None
    return graphsr.Edges(*(torch.from_numpy(found[f"{kind}{name}"]) for name in ("down", "right")))


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("how", [LOOKING_FIRST, REWEIGHTING, replace(LOOKING_FIRST, reweighting=8), LOCAL])
def test_a_model_that_looks_at_targets_takes_them_and_says_their_graphs(
    tmp_path: Path, how: graphsr.Architecture, holes: bool
) -> None:
    model = model_of(how).with_rtol(1e-6)
    if how.reweighting:
        small: Any = model.reweighting
        torch.nn.init.normal_(small.last.weight, std=0.1)
    opened = session(model, tmp_path / "model.onnx")
    for size, source_size in SIZES:
        guide, source = pair(size, source_size, holes)
        with torch.no_grad():
            assert_same_graph(graph_of(opened, guide, source), model.prepare(guide, source))


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("noise", [1e-4, 1e-2], ids=["clean", "noisy"])
def test_the_restored_source_is_the_same(tmp_path: Path, holes: bool, noise: float) -> None:
    model = model_of(replace(EVERYTHING, offsets=False, restoration=8))
    torch.nn.init.normal_(model.restoration.last.weight)
    torch.nn.init.zeros_(model.noise_network.last.weight)
    level = math.log(noise / LEAST) / math.log(MOST / LEAST)
    model.noise_network.last.bias.data.fill_(math.log(level / (1 - level)))
    opened = session(model, tmp_path / "model.onnx")
    for size, source_size in SIZES:
        guide, source = pair(size, source_size, holes)
        found = run(opened, guide=guide, source=source)
        with torch.no_grad():
            problem = model.prepare(guide, source)
        assert_same_graph(found, problem)
        np.testing.assert_array_equal(np.isnan(found["restored"]), np.isnan(source.numpy()))
        restored = torch.where(torch.isnan(source), problem.source, torch.from_numpy(found["restored"]))
        torch.testing.assert_close(restored, problem.source, rtol=1e-5, atol=0)
        kept = noise < 1e-3 or size == source_size  # at x1 no noise is predicted
        assert torch.equal(restored, torch.where(torch.isnan(source), problem.source, source)) == kept


def test_the_bundled_model_is_the_same(tmp_path: Path) -> None:
    model = graphsr.load("default").with_rtol(1e-6)
    opened = session(model, tmp_path / "default.onnx")
    guide, source = pair((70, 90), (9, 11), holes=True)
    with torch.no_grad():
        assert_same_graph(graph_of(opened, guide, source), model.prepare(guide, source))


def test_the_colour_model_takes_any_number_of_channels(tmp_path: Path) -> None:
    model = graphsr.load("colour")
    opened = session(model, tmp_path / "colour.onnx")
    _, source = pair((40, 50), (5, 6), holes=True)
    for channels in (1, 3, 5):
        guide = torch.rand(1, channels, 40, 50, generator=torch.Generator().manual_seed(channels))
        assert_same_graph(run(opened, guide=guide, source=source), model.prepare(guide, source))


SLOW = {"gdpt", "unet-resnet50", "unet-efficientnet-b2", "unet-lite1", "unet-lite2"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in features.names()]
)
def test_every_extractor_can_be_exported(tmp_path: Path, name: str) -> None:
    model = model_of(graphsr.Architecture(extractor=name, features=4))
    opened = session(model, tmp_path / "model.onnx")
    for size, source_size in SIZES[:2]:
        guide, source = pair(size, source_size, holes=False)
        with torch.no_grad():
            assert_same_graph(run(opened, guide=guide, source=source), model.prepare(guide, source))


def test_checkpoints_of_the_reference_take_the_interpolated_source(tmp_path: Path) -> None:
    model = model_of(graphsr.Architecture(extractor="colour", published=True))
    opened = session(model, tmp_path / "model.onnx")
    guide, source = pair((40, 48), (5, 6), holes=False)
    guide = guide / 255
    interpolated = interpolate_published(source, (40, 48), torch.isfinite(source))
    found = run(opened, guide=guide, source=source, interpolated=interpolated)
    with torch.no_grad():
        assert_same_graph(found, model.prepare(guide, source))


def test_batches_are_images_by_themselves(tmp_path: Path) -> None:
    opened = session(model_of(EVERYTHING), tmp_path / "model.onnx")
    pairs = [pair((40, 48), (5, 6), holes) for holes in (False, True)]
    guide, source = (torch.cat(each) for each in zip(*pairs, strict=True))
    together = run(opened, guide=guide, source=source)
    for n, (one_guide, one_source) in enumerate(pairs):
        alone = run(opened, guide=one_guide, source=one_source)
        for name, values in alone.items():
            np.testing.assert_allclose(together[name][n], values[0], rtol=1e-3, atol=1e-6, err_msg=name)


def test_the_opset_is_fixed_and_sizes_have_names(tmp_path: Path) -> None:
    write_onnx(graphsr.load("colour"), tmp_path / "colour.onnx")
    content = onnx.load(str(tmp_path / "colour.onnx"))
    assert [entry.version for entry in content.opset_import if not entry.domain] == [OPSET]
    axes = [axis.dim_param for axis in content.graph.input[0].type.tensor_type.shape.dim]
    assert axes == ["batch", "channels", "height", "width"]


def test_models_without_a_graph_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Bicubic: predicts no graph"):
        write_onnx(graphsr.load("bicubic"), tmp_path / "bicubic.onnx")
    assert not list(tmp_path.iterdir())
