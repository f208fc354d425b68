"""The state of a run: its network, optimiser and best score, and the checkpoints of them."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import torch

from graphsr.errors import InputError
from graphsr.files.atomic import remove_leftovers
from graphsr.training import checkpoint as checkpoints
from graphsr.training.checkpoint import Checkpoint
from graphsr.training.config import Config
from graphsr.training.network import (
    Trainable,
    build_network,
    freeze,
    inference_network,
    initial_network,
    memory_format,
    network_settings,
)
from graphsr.training.optimiser import make_optimiser
from graphsr.training.running_mean import RunningMean, mean_weights


class TrainingState:
    """Begin a run, or go on from FOLDER/last.ckpt if there is one.

    A checkpoint is queued, and written once the loss after it has come out finite: what a bad step leaves never reaches
    the disk.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.last, self.best = folder / "last.ckpt", folder / "best.ckpt"
        remove_leftovers(folder)  # of a run that was killed while it wrote a checkpoint
        earlier = checkpoints.read(self.last) if self.last.exists() else None
        if earlier is not None:
            _check_same_network(config, earlier, self.last)
        self.network: Trainable = initial_network(config) if earlier is None else build_network(config)
        self.network.to(memory_format=memory_format(self.network))  # type: ignore[call-overload]
        freeze(self.network, config.optimisation.frozen)
        self.optimiser = make_optimiser(self.network, config.optimisation)
        self.mean = RunningMean(self.network, config.optimisation.average)
        self.step, self.best_score = 0, math.inf
        self._queued: dict[Path, Checkpoint] = {}
        if earlier is not None:
            self._restore(earlier)

    def _restore(self, earlier: Checkpoint) -> None:
        self.network.load_state_dict(earlier.model)
        self.mean.load(earlier.average)
        # What the configuration says now holds, also where it said otherwise when the checkpoint was written.
        settings = [{k: v for k, v in group.items() if k != "params"} for group in self.optimiser.param_groups]
        self.optimiser.load_state_dict(earlier.optimiser)
        for group, setting in zip(self.optimiser.param_groups, settings, strict=True):
            group.update(setting)
        self.step, self.best_score = earlier.step, earlier.best

    def inference_model(self) -> Trainable:
        """Return the model to validate: with the running mean of the weights, if one is kept."""
        model = inference_network(self.config)
        model.load_state_dict(mean_weights(self.mean.state) or self.network.state_dict())
        return model

    def is_finite(self) -> bool:
        """Say whether all weights, and their running mean, are finite."""
        tensors = [*self.network.state_dict().values(), *self.mean.state.values()]
        return all(bool(torch.isfinite(value).all()) for value in tensors)

    def queue(self, path: Path) -> None:
        """Queue a checkpoint of the state as it is now."""
        state = (self.network.state_dict(), self.mean.state, self.optimiser.state_dict())
        plain = checkpoints.as_plain(self.config)
        self._queued[path] = Checkpoint(self.step, *copy.deepcopy(state), best=self.best_score, config=plain)

    def write_queued(self, *, write: bool = True) -> None:
        """Write the queued checkpoints, or only forget them in the processes that write none."""
        if write:
            for path, state in self._queued.items():
                checkpoints.write(path, state)
        self._queued.clear()


def _check_same_network(config: Config, earlier: Checkpoint, path: Path) -> None:
    now = network_settings(checkpoints.as_plain(config), str(path))
    before = network_settings(earlier.config, str(path))
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if keys:
        changed = "; ".join(f"{key} = {before.get(key)!r}, now {now.get(key)!r}" for key in keys)
        raise InputError(f"{path}: is of another model ({changed}); choose another folder to begin anew")
