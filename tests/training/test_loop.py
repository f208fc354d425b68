"""A training run can be stopped anywhere and goes on as if it never was; what goes wrong costs no good state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from graphsr.data.degradation import RandomDegradation
from graphsr.errors import ConvergenceError, GraphSRError, InputError
from graphsr.models.architecture import Architecture
from graphsr.models.registry import load
from graphsr.training import checkpoint, loop
from graphsr.training.config import Config, read_config
from graphsr.training.export import export
from graphsr.training.loop import Hardware, train
from graphsr.training.optimiser import learning_rate
from graphsr.training.samples import Batches
from graphsr.training.sections import Data, DataSet, Optimisation, Schedule, Validation
from graphsr.training.state import TrainingState
from tests.training.tiny_runs import HERE, STEPS, run, same, write_pairs, written


def started(path: Path, folder: Path, workers: int, devices: int = 1) -> subprocess.Popen[str]:
    """`graphsr train` in a process of its own, which has written its first checkpoint."""
    command = [sys.executable, "-m", "graphsr", "train", str(path), "-o", str(folder), "--accelerator", "cpu"]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*command, "--workers", str(workers), "--devices", str(devices)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=one_thread,
    )
    until = time.monotonic() + 120
    while not (folder / "last.ckpt").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    return process


class TestGoingOn:
    @pytest.mark.slow
    def test_a_run_stopped_and_started_again_has_the_same_losses(self, config, unbroken, tmp_path):
        first = run(config, tmp_path, stop_after=3)
        second = run(config, tmp_path)
        assert first + second == unbroken[0]
        assert len(first) == 3
        assert same(tmp_path, unbroken[1])

    @pytest.mark.slow
    def test_a_run_that_was_killed_goes_on_where_it_was(self, config, pairs, unbroken, tmp_path):
        folder = tmp_path / "run"
        process = started(written(tmp_path / "tiny.toml", pairs), folder, workers=0)
        os.kill(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.communicate()
        assert (folder / "last.ckpt").exists()
        run(config, folder)
        assert checkpoint.read(folder / "last.ckpt").step == STEPS
        assert same(folder, unbroken[1])

    @pytest.mark.slow
    def test_a_run_that_was_interrupted_ends_quietly_and_can_go_on(self, pairs, tmp_path):
        folder = tmp_path / "run"
        endless = written(tmp_path / "tiny.toml", pairs, ("steps = 6", "steps = 100000"))
        process = started(endless, folder, workers=1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 130, errors
        assert "Traceback" not in errors
        assert "stopped; the same command continues the run" in " ".join(errors.split())
        assert run(replace(read_config(str(endless))), folder, stop_after=1)

    @pytest.mark.slow
    @pytest.mark.parametrize("interrupt", [os.kill, os.killpg], ids=["the first", "all"])
    def test_two_processes_stop_together_whichever_is_interrupted(self, pairs, tmp_path, interrupt):
        folder = tmp_path / "run"
        endless = written(tmp_path / "tiny.toml", pairs, ("steps = 6", "steps = 100000"))
        process = started(endless, folder, workers=0, devices=2)
        before = checkpoint.read(folder / "last.ckpt").step
        interrupt(process.pid, signal.SIGINT)
        errors = " ".join(process.communicate(timeout=120)[1].split())
        assert process.returncode == 130, errors
        assert "fault" not in errors
        assert "Traceback" not in errors
        assert errors.count("stopped; the same command continues the run") == 1
        assert checkpoint.read(folder / "last.ckpt").step > before

    def test_a_finished_run_has_nothing_left_to_do(self, config, unbroken):
        assert run(config, unbroken[1]) == []

    def test_a_checkpoint_of_another_model_is_refused(self, config, unbroken):
        other = replace(config, model=replace(config.model, features=5))
        with pytest.raises(InputError, match="features = 4, now 5"):
            run(other, unbroken[1])

    def test_a_damaged_checkpoint_is_refused(self, config, tmp_path):
        (tmp_path / "last.ckpt").write_bytes(b"nonsense")
        with pytest.raises(InputError, match=r"last\.ckpt: is damaged, or not a checkpoint"):
            run(config, tmp_path)


class TestGoingWrong:
    def test_a_loss_that_is_not_a_number_leaves_the_last_good_state(self, config, tmp_path):
        run(config, tmp_path, stop_after=2)
        good = checkpoint.read(tmp_path / "last.ckpt")
        wild = replace(config, optimisation=replace(config.optimisation, learning_rate=1e30))
        with pytest.raises(GraphSRError, match=r"last good state"):
            run(wild, tmp_path)
        kept = checkpoint.read(tmp_path / "last.ckpt")
        assert kept.step == good.step
        assert all(torch.equal(kept.model[name], good.model[name]) for name in good.model)

    def test_a_step_whose_solve_does_not_converge_is_left_out(self, config, tmp_path, monkeypatch):
        own, calls, notes = loop._make_step, [], []

        def failing(*given):
            calls.append(given)
            if len(calls) == 2:
                raise ConvergenceError("not 1e-03")
            return own(*given)

        monkeypatch.setattr(loop, "_make_step", failing)
        train(config, tmp_path, hardware=HERE, stop_after=3, note=notes.append)
        assert checkpoint.read(tmp_path / "last.ckpt").step == 3
        assert [each for each in notes if "left out" in each] == ["step 1 is left out: not 1e-03"]

    def test_a_network_whose_solves_never_converge_ends_the_run(self, config, tmp_path, monkeypatch):
        def failing(*_):
            raise ConvergenceError("not 1e-03")

        monkeypatch.setattr(loop, "_make_step", failing)
        with pytest.raises(GraphSRError, match=r"step 3: not 1e-03; there is no checkpoint yet"):
            train(config, tmp_path, hardware=HERE)

    def test_an_error_in_a_worker_names_the_file_and_nothing_else(self, config, tmp_path):
        broken = write_pairs(tmp_path / "pairs", [0, 1])
        (broken / "targets" / "01.npy").write_bytes(b"nonsense")  # the second pair is for training
        there = replace(config, data=replace(config.data, root=str(broken)), validation=Validation())
        with pytest.raises(InputError, match=r"01\.npy") as caught:
            train(there, tmp_path / "run", hardware=Hardware(accelerator="cpu", workers=1))
        assert len(str(caught.value).splitlines()) == 1


class TestLearning:
    @pytest.mark.slow
    def test_the_loss_falls(self, config, tmp_path):
        """On one pair, which is all there is."""
        root = write_pairs(tmp_path / "pairs", [3] * 4)
        steady = replace(
            config,
            data=replace(config.data, root=str(root), size=40),
            optimisation=replace(config.optimisation, steps=60, batch=2, learning_rate=3e-3, average=0.0),
            factors=replace(config.factors, least=4.0, most=4.0),
            validation=replace(config.validation, sets=()),
        )
        losses = run(steady, tmp_path / "run")
        assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:3])

    def test_without_validation_the_last_state_is_what_comes_out(self, config, tmp_path):
        blind = replace(config, validation=Validation())
        assert train(blind, tmp_path, hardware=HERE, stop_after=2) == tmp_path / "last.ckpt"
        assert not (tmp_path / "best.ckpt").exists()
        assert checkpoint.read(tmp_path / "last.ckpt").step == 2

    @pytest.mark.slow
    def test_two_validation_sets_of_one_kind_are_told_apart_by_their_folders(self, config, pairs, tmp_path):
        sets = (DataSet("folder", pairs.name), DataSet("folder", str(pairs)))
        two = replace(
            config,
            data=replace(config.data, root=str(pairs.parent), sets=sets),
            validation=replace(config.validation, sets=sets),
        )
        reports = []
        train(two, tmp_path, hardware=HERE, stop_after=2, listen=reports.append)
        assert [score.name for score in reports[-1].scores] == [f"folder:{pairs.name}", f"folder:{pairs}"]

    def test_the_best_model_can_be_exported_and_run(self, unbroken, tmp_path):
        path = tmp_path / "model.safetensors"
        export(unbroken[1] / "best.ckpt", path, half=True)
        model = load(path)
        with torch.no_grad():
            target = model(torch.rand(1, 3, 40, 48), torch.rand(1, 1, 10, 12))
        assert target.shape == (1, 1, 40, 48)


class TestCheckpointsOfEarlierVersions:
    """They name a setting that no longer exists."""

    def rewritten(self, folder: Path, path: Path, guess: bool) -> Path:
        state = checkpoint.read(folder / "best.ckpt")
        state.config["model"]["guess"] = guess
        checkpoint.write(path, state)
        return path

    def test_are_exported_and_gone_on_from_if_it_was_off(self, config, unbroken, tmp_path):
        export(self.rewritten(unbroken[1], tmp_path / "last.ckpt", False), tmp_path / "model.safetensors")
        assert load(tmp_path / "model.safetensors").architecture == config.model
        assert TrainingState(config, tmp_path).step > 0

    def test_are_refused_if_it_was_on(self, unbroken, tmp_path):
        with pytest.raises(InputError, match=r"old\.ckpt: configuration: model: unknown key 'guess'"):
            export(self.rewritten(unbroken[1], tmp_path / "old.ckpt", True), tmp_path / "model.safetensors")


class TestBeginningWithAModel:
    @pytest.mark.slow
    def test_takes_its_numbers_and_its_architecture(self, unbroken, pairs, tmp_path):
        path = tmp_path / "model.safetensors"
        export(unbroken[1] / "best.ckpt", path)
        model = load(path)
        text = written(tmp_path / "more.toml", pairs).read_text()
        data = text[text.index("[data]") :]
        (tmp_path / "more.toml").write_text(f'start = "{path}"\n{data}')
        config = read_config(str(tmp_path / "more.toml"))
        assert config.model == model.architecture
        own = TrainingState(config, tmp_path / "new").network.state_dict()
        assert all(torch.equal(value, own[name]) for name, value in model.state_dict().items())
        run(config, tmp_path / "new", stop_after=1)
        assert TrainingState(config, tmp_path / "new").step == 1

    def test_of_another_shape_is_refused(self, config, tmp_path):
        with pytest.raises(InputError, match="start = 'default': another network than that to be trained; "):
            run(replace(config, start="default"), tmp_path)

    def test_without_a_network_is_refused(self, tmp_path):
        (tmp_path / "more.toml").write_text("start = 'colour'\n[data]\nsets = [{kind='synthetic'}]\n")
        with pytest.raises(InputError, match=r"more\.toml: start = 'colour' is no graph model with a network"):
            read_config(str(tmp_path / "more.toml"))


@pytest.mark.slow
def test_two_processes_train_together(pairs, tmp_path):
    """Also a network that predicts noise, whose loss is made of more than the target."""
    changes = ("steps = 6", "steps = 2\nnoise_loss = 0.1"), ("hints = true", "hints = true\nconfidence = true")
    path = written(tmp_path / "tiny.toml", pairs, *changes)
    command = [sys.executable, "-m", "graphsr", "train", str(path), "-o", str(tmp_path / "run"), "--accelerator", "cpu"]
    done = subprocess.run([*command, "--devices", "2", "--workers", "0"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert checkpoint.read(tmp_path / "run" / "last.ckpt").step == 2


@pytest.mark.slow
def test_two_processes_leave_out_a_step_together_if_the_solve_of_one_does_not_converge(pairs, tmp_path):
    path, script = written(tmp_path / "tiny.toml", pairs, ("steps = 6", "steps = 3")), tmp_path / "failing.py"
    script.write_text(f"""
import os
from pathlib import Path
from graphsr.errors import ConvergenceError
from graphsr.training import loop
from graphsr.training.config import read_config

own, calls = loop._backward, []

def failing(*given):
    calls.append(given)
    if os.environ.get("LOCAL_RANK") == "1" and len(calls) == 2:
        raise ConvergenceError("not 1e-03")
    return own(*given)

loop._backward = failing
if __name__ == "__main__":
    hardware = loop.Hardware(accelerator="cpu", devices=2, workers=0)
    loop.train(read_config({str(path)!r}), Path({str(tmp_path / "run")!r}), hardware=hardware, note=print)
""")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("step 1 is left out: a solve of another process did not converge") == 1
    kept = checkpoint.read(tmp_path / "run" / "last.ckpt")
    assert kept.step == 3
    assert int(kept.average["count"]) == 2


class TestValidation:
    @pytest.mark.slow
    def test_the_first_figures_are_those_before_the_first_step(self, config, tmp_path):
        reports = []
        train(config, tmp_path, hardware=HERE, listen=reports.append, stop_after=2)
        assert [(progress.step, bool(progress.scores)) for progress in reports] == [(0, True), (1, False), (2, True)]
        assert np.isnan(reports[0].loss)
        again = []
        train(config, tmp_path, hardware=HERE, listen=again.append, stop_after=1)
        assert [progress.step for progress in again] == [3]

    @pytest.mark.slow
    def test_a_training_that_makes_a_model_worse_keeps_it_as_it_was(self, config, unbroken, tmp_path):
        path = tmp_path / "model.safetensors"
        export(unbroken[1] / "best.ckpt", path)
        worse = replace(
            config, start=str(path), optimisation=replace(config.optimisation, learning_rate=0.3, clip=0.0, average=0.0)
        )
        with suppress(GraphSRError):  # it may get so bad that no solve accepts the graph
            run(worse, tmp_path / "run", stop_after=4)
        assert checkpoint.read(tmp_path / "run" / "best.ckpt").step == 0

    def test_one_pair_is_trained_on_and_validated_on_and_that_is_said(self, config, tmp_path):
        root = write_pairs(tmp_path / "pairs", [3])
        notes = []
        train(replace(config, data=replace(config.data, root=str(root))), tmp_path / "run", hardware=HERE,
              note=notes.append, stop_after=1)  # fmt: skip
        assert notes == [f"{root}: there is one pair, so it is used for training and for validation"]

    def test_zeros_that_look_like_holes_are_noted(self, config, tmp_path):
        root = write_pairs(tmp_path / "pairs", [3, 4, 5])
        for file in (root / "targets").iterdir():
            depth = (1000 * np.load(file)).astype(np.uint16)
            depth[:4, :4] = 0
            np.save(file, depth)
        notes = []
        holed = replace(config, data=replace(config.data, root=str(root)), validation=Validation())
        train(holed, tmp_path / "run", hardware=HERE, note=notes.append, stop_after=1)
        assert len(notes) == 1
        assert "if 0 means no measurement" in notes[0]


class TestSamples:
    def test_a_batch_depends_on_the_seed_and_its_number_alone(self, config):
        early, late = Batches(config, 0), Batches(config, 5)
        early.batch(0)
        for name in ("guide", "source", "target"):
            one, other = getattr(early.batch(5), name), getattr(late.batch(5), name)
            assert torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))

    def test_processes_share_the_factor_and_not_the_samples(self, config):
        one, other = Batches(config, 0, 0).batch(3), Batches(config, 0, 1).batch(3)
        assert one.source.shape == other.source.shape
        assert not torch.equal(one.target, other.target)

    def test_processes_share_the_stated_footprint(self, config):
        config = replace(config, degradation=RandomDegradation(clean=1.0, stated=0.5))
        numbers = range(12)
        drawn = [[Batches(config, 0, rank).batch(n).footprint for n in numbers] for rank in (0, 1)]
        assert drawn[0] == drawn[1]
        assert set(drawn[0]) == {"box", "bicubic"}

    def test_factors_vary(self, config):
        batches = Batches(config, 0)
        assert len({batches.batch(n).source.shape for n in range(12)}) > 3


class TestSchedule:
    def test_is_the_published_one(self):
        how = Schedule(every=100, times=0.9)
        assert learning_rate(99, how) == 1
        assert learning_rate(250, how) == pytest.approx(0.81)

    def test_warms_up_and_ends_at_0(self):
        how = Schedule(warm_up=10, end=1000)
        assert learning_rate(0, how) == pytest.approx(0.1, rel=1e-3)
        assert learning_rate(500, how) == pytest.approx(0.5)
        assert learning_rate(1000, how) == pytest.approx(0, abs=1e-12)


def test_a_data_set_in_the_wrong_place_is_named_before_anything_is_written(tmp_path):
    config = Config(
        model=Architecture(extractor="colour", features=4),
        pretrained=False,
        data=Data(root=str(tmp_path), sets=(DataSet("folder", "nowhere"),)),
        optimisation=Optimisation(steps=1),
        validation=Validation(sets=(DataSet("folder", "nowhere"),)),
    )
    with pytest.raises(InputError, match="nowhere"):
        run(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
