"""A training run can be stopped anywhere and goes on as if it never was; what goes wrong costs no good state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from graphsr import model_files
from graphsr.data.synthetic import scene
from graphsr.errors import GraphSRError, InputError
from graphsr.learned import Architecture
from graphsr.training import checkpoint
from graphsr.training.config import Config, Data, DataSet, Optimisation, Schedule, Validation, read_config
from graphsr.training.export import export
from graphsr.training.loop import Hardware, train
from graphsr.training.optimiser import learning_rate
from graphsr.training.stream import Batches

HERE = Hardware(accelerator="cpu", workers=0)
STEPS = 6
TOML = """
pretrained = false
[model]
extractor = "unet-lite0"
features = 4
decoder_channels = [8, 8, 8, 8, 8]
first_lambda = 1e-3
guess = true
offsets = true
hints = true
[data]
size = 32
sets = [{ kind = "folder" }]
[factors]
least = 2.0
most = 8.0
whole = 0.5
[optimisation]
steps = 6
batch = 2
clip = 1.0
average = 0.9
rtol = 1e-3
[validation]
every = 2
pairs = 1
size = 32
factors = [4.0]
sets = [{ kind = "folder" }]
"""


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    """A folder of twelve small pairs."""
    root = tmp_path_factory.mktemp("pairs")
    for name in ("guides", "targets"):
        (root / name).mkdir()
    for seed in range(12):
        drawn = scene(seed, (40, 48))
        Image.fromarray(drawn.guide).save(root / "guides" / f"{seed:02}.png")
        np.save(root / "targets" / f"{seed:02}.npy", drawn.depth)
    return root


@pytest.fixture(scope="session")
def config(pairs, tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(TOML.replace("[data]", f'[data]\nroot = "{pairs}"'))
    return read_config(str(path))


def run(config, folder, **more):
    losses = []
    train(config, folder, hardware=HERE, listen=lambda progress: losses.append(progress.loss), **more)
    return losses


@pytest.fixture(scope="session")
def unbroken(config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    return run(config, folder), folder


def same(one: Path, other: Path) -> bool:
    states = [checkpoint.read(folder / "last.ckpt") for folder in (one, other)]
    return all(
        torch.equal(getattr(states[0], part)[name], getattr(states[1], part)[name])
        for part in ("model", "average")
        for name in states[0].model
    )


class TestGoingOn:
    def test_a_run_stopped_and_started_again_has_the_same_losses(self, config, unbroken, tmp_path):
        first = run(config, tmp_path, stop_after=3)
        second = run(config, tmp_path)
        assert first + second == unbroken[0]
        assert len(first) == 3
        assert same(tmp_path, unbroken[1])

    def test_a_run_that_was_killed_goes_on_where_it_was(self, config, pairs, unbroken, tmp_path):
        path = tmp_path / "tiny.toml"
        path.write_text(TOML.replace("[data]", f'[data]\nroot = "{pairs}"'))
        folder = tmp_path / "run"
        command = [sys.executable, "-m", "graphsr", "train", str(path), "-o", str(folder), "--accelerator", "cpu"]
        process = subprocess.Popen([*command, "--workers", "0"], stderr=subprocess.PIPE)
        until = time.monotonic() + 120
        while not (folder / "last.ckpt").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.communicate()
        assert (folder / "last.ckpt").exists()
        run(config, folder)
        assert checkpoint.read(folder / "last.ckpt").step == STEPS
        assert same(folder, unbroken[1])

    def test_a_finished_run_has_nothing_left_to_do(self, config, unbroken):
        assert run(config, unbroken[1]) == []

    def test_a_checkpoint_of_another_model_is_refused(self, config, unbroken):
        other = replace(config, model=replace(config.model, features=5))
        with pytest.raises(InputError, match="features = 4, now 5"):
            run(other, unbroken[1])

    def test_a_damaged_checkpoint_is_refused(self, config, tmp_path):
        (tmp_path / "last.ckpt").write_bytes(b"nonsense")
        with pytest.raises(InputError, match=r"last\.ckpt: cannot be read as a training checkpoint"):
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


class TestLearning:
    def test_the_loss_falls(self, config, tmp_path):
        """On one batch, drawn again and again."""
        steady = replace(
            config,
            optimisation=replace(config.optimisation, steps=30, batch=2, learning_rate=3e-3, average=0.0),
            factors=replace(config.factors, least=4.0, most=4.0),
            validation=replace(config.validation, every=1000),
        )
        batches = Batches(steady, 0)
        batches.batch = lambda n, first=batches.batch: first(0)  # type: ignore[method-assign]
        import graphsr.training.loop as loop

        original = loop.Batches
        loop.Batches = lambda *_: batches  # type: ignore[assignment,misc]
        try:
            losses = run(steady, tmp_path)
        finally:
            loop.Batches = original  # type: ignore[misc]
        assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:3])

    def test_the_best_model_can_be_exported_and_run(self, unbroken, tmp_path):
        path = tmp_path / "model.safetensors"
        export(unbroken[1] / "best.ckpt", path, half=True)
        model = model_files.read(path)
        with torch.no_grad():
            target = model(torch.rand(1, 3, 40, 48), torch.rand(1, 1, 10, 12))
        assert target.shape == (1, 1, 40, 48)


def test_two_processes_train_together(pairs, tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TOML.replace("[data]", f'[data]\nroot = "{pairs}"').replace("steps = 6", "steps = 2"))
    command = [sys.executable, "-m", "graphsr", "train", str(path), "-o", str(tmp_path / "run"), "--accelerator", "cpu"]
    done = subprocess.run([*command, "--devices", "2", "--workers", "0"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert checkpoint.read(tmp_path / "run" / "last.ckpt").step == 2


class TestStream:
    def test_a_batch_depends_on_the_seed_and_its_number_alone(self, config):
        early, late = Batches(config, 0), Batches(config, 5)
        early.batch(0)
        for name in ("guide", "source", "target"):
            one, other = getattr(early.batch(5), name), getattr(late.batch(5), name)
            assert torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))

    def test_processes_share_the_factor_and_not_the_samples(self, config):
        one, other = Batches(config, 0, 0, 2).batch(3), Batches(config, 0, 1, 2).batch(3)
        assert one.source.shape == other.source.shape
        assert not torch.equal(one.target, other.target)

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
