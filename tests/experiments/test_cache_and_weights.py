"""An experiment that was stopped is resumed; what has changed, and only that, is measured anew."""

from __future__ import annotations

import json

import pytest
from safetensors.torch import save_file

from graphsr.baselines import METHODS
from graphsr.baselines.base import NetworkBaseline
from graphsr.baselines.weights import save
from graphsr.experiments.data_sets import find_data_sets
from graphsr.experiments.options import Options
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.results_cache import ResultsCache
from graphsr.experiments.trained_weights import AvailableModel, MissingModel, TrainedWeights
from graphsr.training.config import read_config

FDSR = Participant("fdsr", "fdsr")
MSG_NET = Participant("msg-net", "msg-net", factors=METHODS["msg-net"].factors)


def _random_weights():
    baseline = METHODS["fdsr"].build(None)
    assert isinstance(baseline, NetworkBaseline)
    return baseline.network.state_dict()


class TestResults:
    ASKED = ("table1", "--sets", "synthetic", "--pairs", 1, "--methods", "bicubic")

    @pytest.fixture
    def marked(self, reproduce, tmp_path):
        """A finished run whose one figure was changed on disk, so that one sees where it comes from."""
        assert reproduce(*self.ASKED, "--factors", 8, "-o", tmp_path)[0] == 0
        content = json.loads((tmp_path / "measured.json").read_text())
        content["results"][0]["figures"]["mse_batches_of_8"] = 777.0
        (tmp_path / "measured.json").write_text(json.dumps(content))
        return tmp_path

    def test_are_not_measured_twice(self, reproduce, marked):
        assert " 777 " in reproduce(*self.ASKED, "--factors", 8, "-o", marked)[1]

    def test_of_another_factor_are_measured_and_those_before_are_kept(self, reproduce, marked):
        told = reproduce(*self.ASKED, "--factors", "8,16", "-o", marked)[1]
        assert " 777 " in told
        assert len(json.loads((marked / "measured.json").read_text())["results"]) == 2

    def test_of_other_pairs_are_measured_anew(self, reproduce, marked):
        asked = [2 if argument == 1 else argument for argument in self.ASKED]
        assert " 777 " not in reproduce(*asked, "--factors", 8, "-o", marked)[1]

    def test_damaged_on_disk_are_refused_by_name(self, reproduce, marked):
        (marked / "measured.json").write_text("{")
        code, told = reproduce(*self.ASKED, "-o", marked)
        assert code == 2
        assert "measured.json: cannot be read as measured results" in told

    def test_are_found_by_all_that_made_them(self, tmp_path):
        ResultsCache(tmp_path / "a.json").put({"method": "a", "factor": 8}, {"mse": 1.0})
        again = ResultsCache(tmp_path / "a.json")
        assert again.get({"factor": 8, "method": "a"}) == {"mse": 1.0}
        assert again.get({"factor": 4, "method": "a"}) is None


class TestTraining:
    def options(self, out, **more):
        return Options(out, data_sets=("synthetic",), patch=64, workers=0, **more)

    @pytest.fixture
    def synthetic(self, tmp_path):
        return find_data_sets(self.options(tmp_path))[0][0]

    @pytest.mark.slow
    def test_every_method_gets_the_same_number_of_samples_of_the_same_kind(self, tmp_path, synthetic):
        weights = TrainedWeights(self.options(tmp_path, budget=20))
        of = {who.name: weights.configuration(who, synthetic, 8) for who in (FDSR, MSG_NET)}
        assert [(c.optimisation.steps, c.optimisation.batch) for c in of.values()] == [(20, 1), (3, 8)]
        assert of["fdsr"].augmentation == of["msg-net"].augmentation == read_config("paper-nyuv2").augmentation
        assert of["fdsr"].data == of["msg-net"].data
        assert of["fdsr"].optimisation.learning_rate == read_config("fdsr").optimisation.learning_rate

    def test_is_done_once(self, tmp_path, synthetic):
        model = TrainedWeights(self.options(tmp_path, budget=1)).find(FDSR, synthetic, 8)
        assert isinstance(model, AvailableModel)
        model.load()
        (file,) = tmp_path.glob("trained/synthetic/fdsr-x8-*/weights.safetensors")
        written = file.stat().st_mtime_ns
        model.load()
        assert file.stat().st_mtime_ns == written

    def test_with_another_budget_is_another_training(self, tmp_path, synthetic):
        one, other = (TrainedWeights(self.options(tmp_path, budget=n)).find(FDSR, synthetic, 8) for n in (1, 2))
        assert isinstance(one, AvailableModel)
        assert isinstance(other, AvailableModel)
        assert one.key != other.key


class TestWeights:
    @pytest.fixture
    def file(self, tmp_path):
        save_file(_random_weights(), tmp_path / "mine.safetensors")
        return tmp_path / "mine.safetensors"

    def find(self, out, *weights, factor=8, budget=0):
        options = Options(out, budget=budget, data_sets=("synthetic",), weights=weights)
        return TrainedWeights(options).find(FDSR, find_data_sets(options)[0][0], factor)

    def test_are_asked_for_where_there_are_none(self, tmp_path):
        found = self.find(tmp_path)
        assert isinstance(found, MissingModel)
        assert "fdsr: no weights at x8; give --weights fdsr:FILE or a --budget" in found.reason

    def test_that_are_given_save_a_training(self, tmp_path, file):
        found = self.find(tmp_path, f"fdsr:{file}", budget=5)
        assert isinstance(found, AvailableModel)
        assert found.weights == "file mine.safetensors"
        assert isinstance(found.load(), NetworkBaseline)

    def test_say_what_they_were_trained_on(self, reproduce, tmp_path, file):
        save(METHODS["fdsr"].build(None), "fdsr", tmp_path / "told.safetensors", about={"samples": "80", "data": "hci"})
        for name, words in (("told", "80 samples of hci"), ("mine", "which does not say how it was trained")):
            weights = ("--weights", f"fdsr:{tmp_path / name}.safetensors")
            asked = ("--sets", "synthetic", "--methods", "fdsr", "--factors", 16, "--pairs", 1)
            assert words in reproduce("table1", *asked, *weights, "-o", tmp_path)[1]

    def test_that_say_for_which_factor_are_for_that_alone(self, tmp_path):
        save(METHODS["fdsr"].build(None), "fdsr", tmp_path / "x8.safetensors", about={"factors": "x8"})
        weights = f"fdsr:{tmp_path / 'x8.safetensors'}"
        assert isinstance(self.find(tmp_path, weights), AvailableModel)
        found = self.find(tmp_path, weights, factor=4)
        assert isinstance(found, MissingModel)
        assert found.reason == "fdsr: no weights at x4; x8.safetensors is for x8"

    def test_of_a_network_for_one_factor_must_say_which(self, reproduce, tmp_path, file):
        code, told = reproduce("table1", "--methods", "msg-net", "--weights", f"msg-net:{file}", "-o", tmp_path)
        assert code == 2
        assert "say one of msg-net-x2:FILE, msg-net-x4:FILE" in told

    def test_in_the_folders_of_sets_are_told_apart(self, reproduce, data, tmp_path):
        for name in ("hci", "synthetic"):
            (tmp_path / "weights" / name).mkdir(parents=True)
            save(METHODS["fdsr"].build(None), "fdsr", tmp_path / "weights" / name / "fdsr.safetensors")
        asked = ("--data", data, "--sets", "hci,synthetic", "--methods", "fdsr", "--pairs", 1)
        code, told = reproduce("table2", *asked, "-o", tmp_path)
        assert code == 0, told
        lines = (tmp_path / "table2.csv").read_text().splitlines()[1:]
        assert {tuple(line.split(",")[i] for i in (1, 3, 4)) for line in lines} == {
            (on, trained, f"file {trained}/fdsr.safetensors")
            for on in ("hci", "synthetic")
            for trained in ("hci", "synthetic")
        }

    def test_for_one_factor_are_for_that_alone(self, tmp_path, file):
        assert isinstance(self.find(tmp_path, f"fdsr-x8:{file}"), AvailableModel)
        assert isinstance(self.find(tmp_path, f"fdsr-x8:{file}", factor=4), MissingModel)

    @pytest.mark.parametrize("place", ["fdsr-x8.safetensors", "fdsr.safetensors", "synthetic/fdsr.safetensors"])
    def test_may_lie_in_a_folder(self, tmp_path, file, place):
        (tmp_path / "weights" / place).parent.mkdir(parents=True)
        file.rename(tmp_path / "weights" / place)
        assert isinstance(self.find(tmp_path), AvailableModel)

    def test_of_other_content_are_other_weights(self, tmp_path, file):
        before = self.find(tmp_path, f"fdsr:{file}").key
        save_file(_random_weights(), file)
        assert self.find(tmp_path, f"fdsr:{file}").key != before


class TestSkipping:
    def test_of_everything_is_an_error_and_leaves_what_was_there(self, reproduce, tmp_path):
        (tmp_path / "table1.md").write_text("measured last week")
        code, told = reproduce("table1", "--sets", "synthetic", "--methods", "dkn", "-o", tmp_path)
        assert code == 2
        assert "table1: nothing could be measured:" in told
        assert "dkn: no weights at x8" in told
        assert (tmp_path / "table1.md").read_text() == "measured last week"

    def test_names_sets_without_data_and_methods_without_weights(self, reproduce, data, tmp_path):
        asked = ("--data", data, "--methods", "bicubic,dkn", "--factors", 16)
        code, told = reproduce("table1", *asked, "-o", tmp_path)
        assert code == 0, told
        assert "skipped diml: no data (none of the folders DIML, diml is in" in told
        assert "skipped nyuv2: no data (" in told  # there are frames of it, in another layout
        assert "skipped dkn: no weights at x16" in told
        assert {line.split()[0] for line in told.splitlines() if line.startswith("bicubic")} == {"bicubic"}

    def test_what_takes_very_long_has_to_be_named(self, tmp_path):
        methods, left_out = select_participants(())
        assert "pixtransform" not in [one.name for one in methods]
        assert left_out == [
            "pixtransform: trains a network for every single image, for about half an hour on one core; "
            "name it with --methods"
        ]
        assert select_participants(("pixtransform",))[0][0].name == "pixtransform"

    def test_synthetic_scenes_stand_in_where_there_is_no_data_at_all(self, tmp_path):
        found, missing = find_data_sets(Options(tmp_path))
        assert [one.name for one in found] == ["synthetic"]
        assert all("say where with --data" in word for word in missing)
