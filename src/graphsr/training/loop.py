"""The training loop: plain, resumable at any step, the same losses whether it was stopped or not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import ConvergenceError, GraphSRError, InputError, missing_extra
from graphsr.pictures import Picture
from graphsr.training.config import Config, check
from graphsr.training.loss import loss_of
from graphsr.training.optimiser import learning_rate
from graphsr.training.standing import Standing
from graphsr.training.stopping import Stopping
from graphsr.training.stream import Batch, Batches, loader, open_sets
from graphsr.training.validation import Judge, Score, overall

_SECONDS_BETWEEN_CHECKPOINTS = 120.0


@dataclass(frozen=True)
class Progress:
    """What a listener hears after every step."""

    step: int
    steps: int
    loss: float
    learning_rate: float
    samples_a_second: float
    scores: tuple[Score, ...] = ()  # after a validation
    picture: Picture | None = None  # of some results, then too


Listen = Callable[[Progress], None]


@dataclass(frozen=True)
class Hardware:
    accelerator: str = "auto"
    devices: int = 1
    precision: str = "32-true"
    workers: int = 1  # processes that prepare samples, for each device


def train(
    config: Config,
    folder: Path,
    *,
    hardware: Hardware | None = None,
    listen: Listen = lambda _: None,
    stop_after: int | None = None,
) -> Path:
    """Train until config.optimisation.steps, going on from folder/last.ckpt if there is one.

    Returns the path of the best checkpoint, or of the last if nothing was validated. `stop_after` ends the run early,
    after that many steps of this call, and so does an interrupt (Ctrl-C), after the step it meets.
    """
    check(config, "configuration")
    hardware = hardware or Hardware()
    fabric = _fabric(hardware)
    fabric.launch()
    fabric.seed_everything(config.optimisation.seed, workers=False, verbose=False)
    judge = _judge(config) if fabric.is_global_zero else None
    batches = Batches(config, 0, fabric.global_rank, fabric.world_size)
    standing = Standing(config, folder)
    model, wrapped = fabric.setup(standing.network, standing.optimiser)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder: {error.strerror}") from error

    batches.first = first = standing.step
    saved = began = time.monotonic()
    standing.network.train()
    with Stopping() as stopping:
        for batch in loader(batches, hardware.workers):
            value = _step(fabric, model, wrapped, standing, batch)
            scores: tuple[Score, ...] = ()
            picture = None
            if _is_time_to_judge(config, standing.step):
                if judge is not None:
                    scores, picture = _judged(judge, standing)
                standing.note(standing.last)
                fabric.barrier()
                saved = time.monotonic()
            elif time.monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                standing.note(standing.last)
                saved = time.monotonic()
            if fabric.is_global_zero:
                done = (standing.step - first) * config.optimisation.batch * fabric.world_size
                rate = config.optimisation.learning_rate * learning_rate(standing.step - 1, config.schedule)
                speed = done / (time.monotonic() - began)
                listen(Progress(standing.step, config.optimisation.steps, value, rate, speed, scores, picture))
            if stopping.asked or (stop_after is not None and standing.step - first >= stop_after):
                break
    if standing.step > first and standing.sound():
        standing.note(standing.last)
        standing.write_noted(fabric.is_global_zero)
    if stopping.asked:
        raise KeyboardInterrupt
    return standing.best if standing.best.exists() else standing.last


def _step(fabric: Any, model: Any, wrapped: Any, standing: Standing, batch: Batch | GraphSRError) -> float:
    """One step; returns the loss before it."""
    if isinstance(batch, GraphSRError):
        raise batch
    config, step = standing.config, standing.step
    how = config.optimisation
    # Encoders drop branches at random. Chance is tied to the step, so that a run can go on anywhere.
    torch.manual_seed(how.seed + 1_000_003 * step + fabric.global_rank)
    for group in wrapped.param_groups:
        group["lr"] = group["initial_lr"] * learning_rate(step, config.schedule)
    guide, source, target = (x.to(fabric.device) for x in (batch.guide, batch.source, batch.target))
    try:
        loss = loss_of(model(guide, source), target, source, how.loss)
    except (ConvergenceError, InputError) as error:  # a network gone wild predicts graphs that no solve accepts
        raise _bad_step(step, str(error), standing.last) from error
    value = float(loss.detach())
    if not math.isfinite(value):
        raise _bad_step(step, f"the loss is {value}", standing.last)
    standing.write_noted(fabric.is_global_zero)
    wrapped.zero_grad()
    fabric.backward(how.loss_times * loss)
    norm = torch.nn.utils.clip_grad_norm_(standing.network.parameters(), how.clip or math.inf)
    if not bool(torch.isfinite(norm)):
        raise _bad_step(step, "the gradient is not finite", standing.last)
    wrapped.step()
    standing.step += 1
    standing.mean.follow(standing.network)
    return value


def _bad_step(step: int, what: str, last: Path) -> GraphSRError:
    kept = f"{last} holds the last good state" if last.exists() else "no state was worth keeping yet"
    return GraphSRError(f"step {step}: {what}; {kept}. A smaller learning_rate or gradient clip may help")


def _fabric(hardware: Hardware) -> Any:
    try:
        import lightning_fabric as lightning
        from lightning_fabric.strategies import DDPStrategy
    except ImportError as error:
        raise missing_extra("training needs more packages", "train") from error
    # Some published networks carry parameters that no output depends on.
    strategy = DDPStrategy(find_unused_parameters=True) if hardware.devices > 1 else "auto"
    try:
        return lightning.Fabric(
            accelerator=hardware.accelerator,
            devices=hardware.devices,
            precision=hardware.precision,  # type: ignore[arg-type]
            strategy=strategy,
        )
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"accelerator {hardware.accelerator!r}, {hardware.devices} devices, precision {hardware.precision!r}: "
            f"{error}"
        ) from error


def _is_time_to_judge(config: Config, step: int) -> bool:
    watched = config.validation
    return bool(watched.sets) and (step % watched.every == 0 or step == config.optimisation.steps)


def _judge(config: Config) -> Judge | None:
    watched = config.validation
    if not watched.sets:
        return None
    kinds = [one.kind for one in watched.sets]
    names = [one.kind if kinds.count(one.kind) == 1 else f"{one.kind}:{one.folder}" for one in watched.sets]
    sets = open_sets(watched.sets, config.data.root, "val")
    return Judge(list(zip(names, sets, strict=True)), watched.size, watched.factors, watched.pairs)


def _judged(judge: Judge, standing: Standing) -> tuple[tuple[Score, ...], Picture]:
    """The scores of the model as it stands, which is kept if it is the best so far, and a picture."""
    model = standing.judged()
    scores, picture = tuple(judge.scores(model)), judge.picture(model)
    if overall(scores) < standing.best_score:
        standing.best_score = overall(scores)
        standing.note(standing.best)
    return scores, picture
