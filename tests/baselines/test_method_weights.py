"""Methods by name: learned ones with a file of weights, and what is said when name or file is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import graphsr
from graphsr import InputError
from graphsr.baselines import METHODS
from graphsr.baselines.base import NetworkBaseline
from graphsr.baselines.fdkn import FDKN, FDKNBaseline
from graphsr.baselines.guided_filter import GuidedFilter
from graphsr.baselines.weights import method_of, save, skeleton
from graphsr.models.base import Model

LEARNED = [(method, factor) for method in METHODS.values() if method.learned for factor in method.factors or (None,)]


def network(model: Model) -> nn.Module:
    assert isinstance(model, NetworkBaseline)
    return model.network


def trained(name: str, factor: int | None = None) -> dict[str, torch.Tensor]:
    """A state dict that somebody might have trained."""
    torch.manual_seed(3)
    return {key: value.clone() for key, value in network(METHODS[name].build(factor)).state_dict().items()}


@pytest.fixture
def fdsr(tmp_path: Path) -> tuple[dict[str, torch.Tensor], Path]:
    state = trained("fdsr")
    torch.save(state, tmp_path / "fdsr.pth")
    return state, tmp_path / "fdsr.pth"


class TestFiles:
    def same(self, model, state):
        found = network(model).state_dict()
        return found.keys() == state.keys() and all(torch.equal(found[name], state[name]) for name in state)

    def test_a_state_dict_of_the_authors(self, fdsr):
        state, path = fdsr
        model = graphsr.load(f"fdsr:{path}")
        assert self.same(model, state)
        assert not model.training

    @pytest.mark.parametrize("wrapper", [None, "state_dict", "model"])
    @pytest.mark.parametrize("prefix", ["", "module.", "network."])
    def test_may_be_wrapped_and_prefixed(self, tmp_path, wrapper, prefix):
        state = trained("fdsr")
        content = {prefix + name: value for name, value in state.items()}
        torch.save({wrapper: content, "epoch": 3} if wrapper else content, tmp_path / "a.pth")
        assert self.same(graphsr.load(f"fdsr:{tmp_path / 'a.pth'}"), state)

    def test_a_file_of_ours(self, tmp_path):
        state = trained("msg-net", 4)
        save_file(state, tmp_path / "a.safetensors")
        assert self.same(graphsr.load(f"msg-net-x4:{tmp_path / 'a.safetensors'}"), state)

    def test_may_lack_the_counters_of_old_files(self, tmp_path):
        state = {name: value for name, value in trained("fdkn").items() if "num_batches" not in name}
        torch.save(state, tmp_path / "a.pth")
        found = network(graphsr.load(f"fdkn:{tmp_path / 'a.pth'}")).state_dict()
        assert all(torch.equal(found[name], state[name]) for name in state)

    def test_runs(self, fdsr):
        rng = np.random.default_rng(0)
        guide, source = rng.integers(0, 256, (16, 16, 3), np.uint8), rng.random((4, 4))
        assert graphsr.upsample(guide, source, model=f"fdsr:{fdsr[1]}").target.shape == (16, 16)


class TestSaving:
    def saved(self, model, path: Path):
        graphsr.save(model, path)
        return graphsr.load(path)

    @pytest.mark.parametrize("name", METHODS)
    def test_a_baseline_has_the_name_of_its_method(self, name):
        with torch.device("meta"):
            assert method_of(METHODS[name].build(next(iter(METHODS[name].factors), None))) == name

    def test_what_was_chosen_of_a_network_is_stored(self, tmp_path):
        again = self.saved(FDKNBaseline(FDKN("centred"), 8), tmp_path / "a.safetensors")
        assert (again.factor, again.network.convention) == (8, "centred")

    def test_a_factor_that_was_bound_by_name_stays(self, fdsr, tmp_path):
        assert self.saved(graphsr.load(f"fdsr-x8:{fdsr[1]}"), tmp_path / "a.safetensors").factor == 8

    def test_a_baseline_without_weights_is_saved_as_it_is_loaded(self, tmp_path):
        assert self.saved(GuidedFilter(), tmp_path / "a.safetensors").radius == GuidedFilter().radius
        with pytest.raises(InputError, match="guided-filter: can be saved with its default settings only"):
            graphsr.save(GuidedFilter(radius=2.0), tmp_path / "b.safetensors")
        assert not (tmp_path / "b.safetensors").exists()

    @pytest.mark.parametrize("settings", ["no JSON", "[1]", '{"mystery": 1}', '{"network.convention": [1]}'])
    def test_settings_that_make_no_sense_are_refused(self, tmp_path, settings):
        metadata = {"format": "graphsr weights 1", "method": "fdkn", "settings": settings}
        save_file(trained("fdkn"), tmp_path / "a.safetensors", metadata)
        with pytest.raises(InputError, match="setting"):
            graphsr.load(tmp_path / "a.safetensors")


class TestMistakes:
    def test_weights_of_another_method_are_refused_with_its_name(self, fdsr):
        with pytest.raises(InputError, match=r"do not fit dkn; .*say fdsr:.*fdsr\.pth"):
            graphsr.load(f"dkn:{fdsr[1]}")

    @pytest.mark.slow
    def test_weights_of_another_factor_are_refused_with_its_name(self, tmp_path):
        torch.save(trained("msg-net", 8), tmp_path / "a.pth")
        with pytest.raises(InputError, match=r"do not fit msg-net-x4; .*say msg-net-x8:"):
            graphsr.load(f"msg-net-x4:{tmp_path / 'a.pth'}")

    def test_weights_of_nothing_known_are_refused(self, tmp_path):
        torch.save({"mystery": torch.zeros(3)}, tmp_path / "a.pth")
        with pytest.raises(InputError, match=r"do not fit fdsr; the first tensor to differ is '[^']+'$"):
            graphsr.load(f"fdsr:{tmp_path / 'a.pth'}")

    @pytest.mark.parametrize("content", [b"", b"not an archive"])
    @pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
    def test_a_damaged_file_is_named(self, tmp_path, suffix, content):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"weights .*a{suffix}: cannot be read"):
            graphsr.load(f"dkn:{path}")

    def test_a_file_of_something_else_is_named(self, tmp_path):
        torch.save([torch.zeros(3)], tmp_path / "a.pth")
        with pytest.raises(InputError, match="expected a state dict"):
            graphsr.load(f"dkn:{tmp_path / 'a.pth'}")

    def test_a_file_that_is_not_there_is_named(self):
        with pytest.raises(InputError, match=r"weights nowhere\.pth: no such file"):
            graphsr.load("dkn:nowhere.pth")

    @pytest.mark.parametrize(
        ("name", "example"), [("dkn", "dkn:FILE"), ("dkn:", "dkn:FILE"), ("pmbanet-x8", "pmbanet-x8:FILE")]
    )
    def test_a_learned_method_needs_weights(self, name, example):
        with pytest.raises(InputError, match=f"its weights do not come with the package; say '{example}'"):
            graphsr.load(name)

    @pytest.mark.parametrize(
        ("name", "why"),
        [("msg-net", "for one factor"), ("msg-net:a.pth", "for one factor"), ("msg-net-x3:a.pth", "not exist at x3")],
    )
    def test_weights_for_one_factor_need_to_say_which(self, name, why):
        with pytest.raises(InputError, match=rf"{why}; say one of msg-net-x2:FILE, msg-net-x4:FILE, msg-net-x8:FILE"):
            graphsr.load(name)

    @pytest.mark.parametrize(("name", "form"), [("dkn", r"\.pth"), ("msg-net-x8", r"\.caffemodel"), ("pmbanet-x4", "")])
    def test_what_a_file_may_be_is_said(self, name, form):
        with pytest.raises(InputError, match=rf"where FILE is .*{form}.*of ours \(\.safetensors\)"):
            graphsr.load(name)

    def test_weights_that_say_their_factor_are_refused_at_another(self, tmp_path):
        path = tmp_path / "a.safetensors"
        save(METHODS["fdsr"].build(None), "fdsr", path, about={"factors": "x4"})
        model = graphsr.load(f"fdsr:{path}")
        guide, source = np.zeros((16, 16, 3), np.uint8), np.eye(4)
        assert graphsr.upsample(guide, source, model=model).target.shape == (16, 16)
        with pytest.raises(InputError, match="weights are for x4, but the pair is x8 by x8"):
            graphsr.upsample(guide, source[:2, :2], model=model)
        with pytest.raises(InputError, match=r"a\.safetensors: are for x4, not for x8"):
            graphsr.load(f"fdsr-x8:{path}")

    def test_weights_can_be_bound_to_a_factor_by_name(self, fdsr):
        assert graphsr.load(f"fdsr-x8:{fdsr[1]}").factor == 8
        assert graphsr.load(f"fdsr:{fdsr[1]}").factor is None

    def test_a_method_without_weights_takes_none(self):
        with pytest.raises(InputError, match="guided-filter takes no weights"):
            graphsr.load("guided-filter:a.pth")

    @pytest.mark.parametrize(
        ("typed", "meant"),
        [("guided-filtr", "guided-filter"), ("joint-bilatral", "joint-bilateral"), ("pmbnet", "pmbanet"),
         ("dknn:a.pth", "dkn"), ("msgnet-x8:a.pth", "msg-net"), ("Guided-Filtr", "guided-filter")],
    )  # fmt: skip
    def test_an_unknown_name_suggests_the_nearest(self, typed, meant):
        with pytest.raises(InputError, match=f"{typed}.*did you mean .*{meant}"):
            graphsr.load(typed)

    def test_an_unknown_name_with_nothing_near_it_is_told_all(self):
        with pytest.raises(InputError, match=r"no model of this name; known are default, .*bicubic.*dkn"):
            graphsr.load("gf")
        with pytest.raises(InputError, match="model '': no model of this name"):
            graphsr.load("")

    @pytest.mark.parametrize("typed", ["Colour", "BICUBIC", "Guided-Filter"])
    def test_capitals_do_not_matter(self, typed):
        assert type(graphsr.load(typed)) is type(graphsr.load(typed.lower()))


class TestRegistry:
    def test_names_are_their_own(self):
        assert all(name == method.name for name, method in METHODS.items())
        assert not set(METHODS) & {"default", "colour", "bicubic"}

    def test_only_what_needs_no_weights_is_a_model(self):
        for name, method in METHODS.items():
            assert (name in graphsr.models()) is not method.learned

    @pytest.mark.parametrize(("method", "factor"), LEARNED)
    def test_a_skeleton_holds_no_numbers(self, method, factor):
        assert all(p.device.type == "meta" for p in skeleton(method, factor).parameters())
