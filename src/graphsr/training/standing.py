"""Where a run is: its network, optimiser and score, and the checkpoints of them."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import torch

from graphsr.errors import InputError
from graphsr.training import checkpoint as checkpoints
from graphsr.training import network as networks
from graphsr.training.checkpoint import Checkpoint
from graphsr.training.config import Config
from graphsr.training.optimiser import optimiser
from graphsr.training.running_mean import RunningMean


class Standing:
    """Goes on from FOLDER/last.ckpt, if there is one.

    A state is noted, and written once the loss after it has come out finite: what a bad step leaves never reaches the
    disk.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.last, self.best = folder / "last.ckpt", folder / "best.ckpt"
        earlier = checkpoints.read(self.last) if self.last.exists() else None
        if earlier is not None:
            _same_network(config, earlier, self.last)
        self.network = networks.begun(config) if earlier is None else networks.build(config)
        self.network.to(memory_format=networks.layout(self.network))  # type: ignore[call-overload]
        self.optimiser = optimiser(self.network, config.optimisation)
        self.mean = RunningMean(self.network, config.optimisation.average)
        self.step, self.best_score = 0, math.inf
        self._noted: dict[Path, Checkpoint] = {}
        if earlier is not None:
            self._go_on(earlier)

    def _go_on(self, earlier: Checkpoint) -> None:
        self.network.load_state_dict(earlier.model)
        self.mean.load(earlier.average)
        # What the configuration says now holds, also where it said otherwise when the checkpoint was written.
        settings = [{k: v for k, v in group.items() if k != "params"} for group in self.optimiser.param_groups]
        self.optimiser.load_state_dict(earlier.optimiser)
        for group, setting in zip(self.optimiser.param_groups, settings, strict=True):
            group.update(setting)
        self.step, self.best_score = earlier.step, earlier.best

    def judged(self) -> networks.Trainable:
        """A model to judge, with the mean weights if they are kept."""
        model = networks.to_judge(self.config)
        model.load_state_dict(self.mean.weights() or self.network.state_dict())
        return model

    def sound(self) -> bool:
        return all(bool(torch.isfinite(p).all()) for p in self.network.parameters())

    def note(self, path: Path) -> None:
        state = (self.network.state_dict(), self.mean.state, self.optimiser.state_dict())
        plain = checkpoints.as_plain(self.config)
        self._noted[path] = Checkpoint(self.step, *copy.deepcopy(state), best=self.best_score, config=plain)

    def write_noted(self, really: bool = True) -> None:
        if really:
            for path, state in self._noted.items():
                checkpoints.write(path, state)
        self._noted.clear()


def _same_network(config: Config, earlier: Checkpoint, path: Path) -> None:
    now = networks.what_is_trained(checkpoints.as_plain(config), str(path))
    before = networks.what_is_trained(earlier.config, str(path))
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if keys:
        changed = "; ".join(f"{key} = {before.get(key)!r}, now {now.get(key)!r}" for key in keys)
        raise InputError(f"{path}: is of another model ({changed}); choose another folder to begin anew")
