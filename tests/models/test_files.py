"""Model files: ours and the reference implementation's. A path is all one needs, and no file runs code."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import graphsr
from graphsr.errors import InputError
from graphsr.models.architecture import Architecture
from graphsr.models.colour import Colour
from graphsr.models.files import read_metadata
from graphsr.models.graphsr import GraphSR
from graphsr.models.published_interpolation import interpolate_published

SMALL = Architecture(extractor="unet-lite0", features=4, decoder_channels=(8, 8, 8, 8, 8), hints=True)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return (255 * rng.random((48, 40, 3))).astype(np.uint8), rng.random((12, 10)).astype(np.float32)


class TestOwn:
    @pytest.mark.parametrize("half", [False, True])
    def test_comes_back_as_it_was(self, tmp_path, pair, half):
        model, path = GraphSR(SMALL).eval(), tmp_path / "model.safetensors"
        graphsr.save(model, path, half=half, about={"steps": "12"})
        loaded = graphsr.load(path)
        assert loaded.architecture == SMALL
        assert read_metadata(path)["steps"] == "12"
        if half:
            rounded = {name: value.half() for name, value in model.state_dict().items()}
            model.load_state_dict(rounded)
        targets = [graphsr.upsample(*pair, model=m).target for m in (model, loaded, str(path))]
        assert np.array_equal(targets[0], targets[1])
        assert np.array_equal(targets[1], targets[2])

    def test_of_a_version_that_knew_no_statistics_of_the_noise_predicts_as_before(self, tmp_path):
        how, path = replace(SMALL, confidence=True), tmp_path / "model.safetensors"
        model = GraphSR(how).eval()
        graphsr.save(model, path)
        metadata = read_metadata(path)
        settings = json.loads(metadata["architecture"])
        del settings["noise_statistics"]
        save_file(load_file(path), path, {**metadata, "architecture": json.dumps(settings)})
        loaded = graphsr.load(path)
        assert isinstance(loaded, GraphSR)
        assert loaded.architecture == how
        generator = torch.Generator().manual_seed(1)
        guide, source = (torch.rand(1, 3, 40, 40, generator=generator), torch.rand(1, 1, 5, 5, generator=generator))
        with torch.no_grad():
            assert torch.equal(loaded.restored(guide, source).noise, model.restored(guide, source).noise)

    def test_numbers_too_large_for_half_precision_are_not_lost(self, tmp_path):
        model = GraphSR(SMALL)
        model.log_mu.data.fill_(1e6)
        with pytest.raises(InputError, match="log_mu: holds numbers too large for half precision"):
            graphsr.save(model, tmp_path / "model.safetensors", half=True)
        assert not list(tmp_path.iterdir())

    def test_digest_tells_models_apart(self):
        model = GraphSR(SMALL)
        before = model.digest()
        assert model.digest() == before
        model.log_mu.data += 1e-3
        assert model.digest() != before
        others = [GraphSR(replace(SMALL, floor=0.02)), graphsr.load("colour"), graphsr.load("bicubic")]
        others.append(Colour(weight=9e-4, mu=0.07, power=1.75, floor=2e-3, prior_weight=3e-8))
        assert len({other.digest() for other in [*others, model]}) == 5
        assert graphsr.load("colour").digest() == graphsr.load("colour").train().digest()

    @pytest.mark.parametrize("name", ["colour", "bicubic", "guided-filter"])
    def test_models_without_weights_come_back_too(self, tmp_path, pair, name):
        model, path = graphsr.load(name), tmp_path / "model.safetensors"
        graphsr.save(model, path)
        assert graphsr.load(path).digest() == model.digest()

    def test_a_colour_model_keeps_its_numbers(self, tmp_path):
        graphsr.save(Colour(mu=0.05), tmp_path / "mine.safetensors")
        assert graphsr.load(tmp_path / "mine.safetensors").mu == 0.05

    def test_has_to_end_in_safetensors(self, tmp_path):
        with pytest.raises(InputError, match=r"model\.pth: a model file ends in \.safetensors"):
            graphsr.save(graphsr.load("colour"), tmp_path / "model.pth")

    def test_a_bare_state_dict_is_told_how_to_be_saved(self, tmp_path):
        torch.save(GraphSR(SMALL).state_dict(), tmp_path / "mine.pth")
        with pytest.raises(InputError, match=r"lacks the architecture: write it by graphsr\.save"):
            graphsr.load(tmp_path / "mine.pth")

    def test_has_the_rights_of_any_new_file(self, tmp_path):
        (tmp_path / "plain").touch()
        graphsr.save(GraphSR(SMALL), tmp_path / "model.safetensors")
        assert (tmp_path / "model.safetensors").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_is_refused_if_it_is_of_something_else(self, tmp_path):
        path = tmp_path / "other.safetensors"
        save_file({"x": torch.zeros(3)}, path)
        with pytest.raises(InputError, match=r"other\.safetensors: is not a graphsr model"):
            graphsr.load(path)

    def test_is_refused_if_damaged(self, tmp_path):
        path = tmp_path / "model.safetensors"
        graphsr.save(GraphSR(SMALL), path)
        path.write_bytes(path.read_bytes()[:1000])
        with pytest.raises(InputError, match=r"model\.safetensors: cannot be read as safetensors"):
            graphsr.load(path)

    def test_is_refused_if_tensors_are_missing(self, tmp_path):
        path = tmp_path / "model.safetensors"
        graphsr.save(GraphSR(SMALL), path)
        metadata = read_metadata(path)
        save_file({"log_lambda": torch.zeros(1)}, path, metadata)
        with pytest.raises(InputError, match="does not hold the tensors of unet-lite0"):
            graphsr.load(path)

    def test_that_does_not_exist_is_named(self):
        with pytest.raises(InputError, match=r"nowhere\.safetensors: no such file"):
            graphsr.load("nowhere.safetensors")


class TestReference:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["unet-resnet18", "unet-efficientnet-b2"])
    @pytest.mark.parametrize("wrapped", [True, False], ids=["checkpoint", "state dict"])
    def test_runs_with_its_own_interpolation(self, tmp_path, pair, name, wrapped):
        model = GraphSR(Architecture(extractor=name, published=True))
        state = model.state_dict()
        torch.save({"model": state, "epoch": 3, "iter": 7} if wrapped else state, tmp_path / "best.pth")
        loaded = graphsr.load(tmp_path / "best.pth")
        assert loaded.architecture.extractor == name
        assert loaded.architecture.published
        result = graphsr.upsample(*pair, model=loaded)
        assert np.isfinite(result.target).all()

    def test_of_colours_alone_has_a_dummy(self, tmp_path, pair):
        state = {"log_lambda": torch.zeros(1), "log_mu": torch.zeros(1), "dummy_param": torch.zeros(1)}
        torch.save({"model": state}, tmp_path / "colour.pth")
        assert np.isfinite(graphsr.upsample(*pair, model=tmp_path / "colour.pth").target).all()

    def test_never_runs_code(self, tmp_path):
        class Bomb:
            def __reduce__(self):
                return (open, (str(tmp_path / "boom"), "w"))

        (tmp_path / "bad.pth").write_bytes(pickle.dumps({"model": Bomb()}))
        with pytest.raises(InputError, match=r"bad\.pth: cannot be read as a checkpoint"):
            graphsr.load(tmp_path / "bad.pth")
        assert not (tmp_path / "boom").exists()

    def test_of_something_else_is_refused(self, tmp_path):
        torch.save({"weight": torch.zeros(3)}, tmp_path / "other.pth")
        with pytest.raises(InputError, match=r"other\.pth: expected a graphsr model .* or a checkpoint of"):
            graphsr.load(tmp_path / "other.pth")


class TestPublishedInterpolation:
    def test_reproduces_the_source_at_the_centres_of_an_odd_factor(self):
        source = torch.rand(1, 1, 6, 7, generator=torch.Generator().manual_seed(0))
        found = interpolate_published(source, (18, 21), torch.ones_like(source, dtype=torch.bool))
        torch.testing.assert_close(found[..., 1::3, 1::3], source, rtol=0, atol=1e-6)

    def test_is_constant_outside_the_centres(self):
        source = torch.rand(1, 1, 4, 4, generator=torch.Generator().manual_seed(0))
        found = interpolate_published(source, (32, 32), torch.ones_like(source, dtype=torch.bool))
        assert bool((found[..., :3, :3] == source[..., 0, 0]).all())

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_falls_back_to_the_nearest_with_few_pixels(self, count):
        source = torch.arange(16.0).reshape(1, 1, 4, 4)
        known = source < count
        found = interpolate_published(source, (16, 16), known)
        assert bool(torch.isfinite(found).all())
        assert float(found.max()) <= count - 1
