"""The training loop: plain, resumable at any step, the same losses whether it was stopped or not."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import ConvergenceError, GraphSRError, InputError, missing_extra
from graphsr.files.outputs import make_folder
from graphsr.pictures import Picture
from graphsr.threads import use_threads
from graphsr.training.config import Config
from graphsr.training.gradients import clip_and_average
from graphsr.training.network import set_training
from graphsr.training.optimiser import learning_rate
from graphsr.training.samples import Batch, Batches, loader
from graphsr.training.scene_scale import SceneScale
from graphsr.training.state import TrainingState
from graphsr.training.step import TrainingStep
from graphsr.training.stopping import Stopping
from graphsr.training.validation import Score, Validator, overall

_SECONDS_BETWEEN_CHECKPOINTS = 120.0
# One sample in tens of thousands may have a graph whose solve does not converge. More in a row: the network diverges.
_MOST_LEFT_OUT = 3


@dataclass(frozen=True)
class Progress:
    """Say how far a run is, after every step and before the first.

    Attributes:
        step: how many were made.
        steps: how many there will be.
        loss: before the step; NaN before the first, and of a step that was left out.
        learning_rate: of the step.
        samples_a_second: since the run was started.
        scores: of a validation, if there was one after the step.
        picture: of some of its results.
    """

    step: int
    steps: int
    loss: float
    learning_rate: float
    samples_a_second: float
    scores: tuple[Score, ...] = ()
    picture: Picture | None = None


@dataclass(frozen=True)
class Hardware:
    """Say what to train on.

    Attributes:
        accelerator: "auto", "cpu", "cuda" and others of Lightning Fabric.
        devices: how many, each with a process of its own.
        precision: "32-true", "bf16-mixed" and others of Lightning Fabric.
        workers: processes that prepare samples, for each device.
    """

    accelerator: str = "auto"
    devices: int = 1
    precision: str = "32-true"
    workers: int = 1


def train(
    config: Config,
    folder: Path,
    *,
    hardware: Hardware | None = None,
    listen: Callable[[Progress], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
    stop_after: int | None = None,
) -> Path:
    """Train until config.optimisation.steps, going on from FOLDER/last.ckpt if there is one.

    An interrupt (Ctrl-C) ends the run after the step it comes in, with a checkpoint.

    Args:
        config: what is trained, on what, and how.
        folder: where checkpoints are written.
        hardware: what to train on; by default one device of whatever there is.
        listen: called after every step, and before the first if there is a validation.
        note: called with what the user may want to know of the data, and of steps that were left out.
        stop_after: end after so many steps of this call.

    Returns:
        The path of the best checkpoint, or of the last if nothing was validated.
    """
    hardware = hardware or Hardware()
    fabric = _make_fabric(hardware)
    fabric.launch()
    if fabric.world_size > 1:
        use_threads(torch.get_num_threads())  # as many as Fabric leaves each process of a machine
    fabric.seed_everything(config.optimisation.seed, workers=False, verbose=False)
    validator = Validator.of(config) if fabric.is_global_zero else None
    batches = Batches(config, 0, fabric.global_rank)
    if fabric.is_global_zero:
        for sentence in dict.fromkeys([*batches.notes(), *(validator.notes if validator else ())]):
            note(sentence)
    state = TrainingState(config, folder)
    module, optimiser = fabric.setup(TrainingStep(state.network, config.optimisation), state.optimiser)
    make_folder(folder)

    batches.first = first = state.step
    set_training(state.network, config.optimisation)
    with Stopping() as stopping:
        if first == 0 and config.validation.sets:
            scores, picture = _validate(validator, state)
            fabric.barrier()
            if fabric.is_global_zero:
                listen(Progress(0, config.optimisation.steps, math.nan, 0.0, 0.0, scores, picture))
        written = began = time.monotonic()
        left_out, stopped = 0, False
        for batch in loader(batches, hardware.workers):
            try:
                loss, left_out = _make_step(fabric, module, optimiser, state, batch), 0
            except ConvergenceError as error:
                left_out += 1
                if left_out > _MOST_LEFT_OUT:
                    raise _failed_step(state.step, str(error), state.last) from error
                if fabric.is_global_zero:
                    note(f"step {state.step} is left out: {error}")
                loss, state.step = math.nan, state.step + 1
            scores, picture = (), None
            if _validates_after(config, state.step):
                scores, picture = _validate(validator, state)
                fabric.barrier()
            if scores or time.monotonic() - written > _SECONDS_BETWEEN_CHECKPOINTS:
                state.queue(state.last)
                written = time.monotonic()
            if fabric.is_global_zero:
                samples = (state.step - first) * config.optimisation.batch * fabric.world_size
                rate = config.optimisation.learning_rate * learning_rate(state.step - 1, config.schedule)
                speed = samples / (time.monotonic() - began)
                listen(Progress(state.step, config.optimisation.steps, loss, rate, speed, scores, picture))
            stopped = _any_process(fabric, stopping.asked)
            if stopped or (stop_after is not None and state.step - first >= stop_after):
                break
    if state.step > first and state.is_finite():
        state.queue(state.last)
        state.write_queued(write=fabric.is_global_zero)
    if stopped:
        fabric.barrier()  # the checkpoint is written
        if not fabric.is_global_zero:
            sys.exit()  # in peace: Lightning kills the first process where another ends with an error
        raise KeyboardInterrupt
    return state.best if state.best.exists() else state.last


def _any_process(fabric: Any, here: bool) -> bool:
    """Return whether something is true in any process, so that all do the same: one that went on alone would wait for
    the gradients of the others, and call their end a fault.
    """
    if fabric.world_size == 1:
        return here
    return bool(fabric.all_reduce(torch.tensor(float(here), device=fabric.device), reduce_op="sum") > 0)


def _make_step(fabric: Any, module: Any, optimiser: Any, state: TrainingState, batch: Batch | GraphSRError) -> float:
    """Make one step and return the loss before it; a ConvergenceError leaves weights and step as they were."""
    if isinstance(batch, GraphSRError):
        raise batch
    config, step = state.config, state.step
    how = config.optimisation
    # Encoders drop branches at random. What is drawn follows from the step, so that a run can go on anywhere.
    torch.manual_seed(how.seed + 1_000_003 * step + fabric.global_rank)
    for group in optimiser.param_groups:
        group["lr"] = group["initial_lr"] * learning_rate(step, config.schedule)
    optimiser.zero_grad()
    # Gradients are averaged afterwards, so that no process waits in vain for those of one whose solve failed.
    failure = None
    try:
        with fabric.no_backward_sync(module):
            value = _backward(fabric, module, state, batch)
    except ConvergenceError as error:
        failure = error
    if _any_process(fabric, failure is not None):
        raise failure or ConvergenceError("a solve of another process did not converge")
    norm = clip_and_average(fabric, state.network, how.clip, each_network=how.clip_networks)
    if not bool(torch.isfinite(norm)):
        raise _failed_step(step, "the gradient is not finite", state.last)
    optimiser.step()
    state.step += 1
    state.mean.update(state.network)
    return value


def _backward(fabric: Any, module: Any, state: TrainingState, batch: Batch) -> float:
    """Return the loss of a batch, and leave its gradients with the parameters."""
    try:
        images = (x.to(fabric.device) for x in (batch.guide, batch.source, batch.target))
        scene = SceneScale(*(x.to(fabric.device) for x in batch.scene))
        loss = module(*images, batch.footprint, scene)
    except InputError as error:  # a network that diverges predicts graphs that no solve accepts
        raise _failed_step(state.step, str(error), state.last) from error
    value = float(loss.detach())
    if not math.isfinite(value):
        raise _failed_step(state.step, f"the loss is {value}", state.last)
    state.write_queued(write=fabric.is_global_zero)
    fabric.backward(state.config.optimisation.loss_times * loss)
    return value


def _failed_step(step: int, what: str, last: Path) -> GraphSRError:
    kept = f"{last} holds the last good state" if last.exists() else "there is no checkpoint yet"
    return GraphSRError(f"step {step}: {what}; {kept}. A smaller learning_rate or gradient clip may help")


def _validates_after(config: Config, step: int) -> bool:
    how = config.validation
    return bool(how.sets) and (step % how.every == 0 or step == config.optimisation.steps)


def _validate(validator: Validator | None, state: TrainingState) -> tuple[tuple[Score, ...], Picture | None]:
    """Measure the model as it is, queue it if it is the best so far, and draw a picture; in the first process alone."""
    if validator is None:
        return (), None
    model = state.inference_model()
    scores, picture = tuple(validator.scores(model)), validator.picture(model)
    if overall(scores) < state.best_score:
        state.best_score = overall(scores)
        state.queue(state.best)
    return scores, picture


def _make_fabric(hardware: Hardware) -> Any:
    try:
        import lightning_fabric as lightning
    except ImportError as error:
        raise missing_extra("training needs more packages", "train") from error
    try:
        return lightning.Fabric(
            accelerator=hardware.accelerator,
            devices=hardware.devices,
            precision=hardware.precision,  # type: ignore[arg-type]
            strategy="ddp" if hardware.devices > 1 else "auto",
        )
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"accelerator {hardware.accelerator!r}, {hardware.devices} devices, precision {hardware.precision!r}: "
            f"{error}"
        ) from error
