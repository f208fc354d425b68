"""The training loop: plain, resumable at any step, the same losses whether it was stopped or not."""

from __future__ import annotations

import copy
import math
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import ConvergenceError, GraphSRError, InputError
from graphsr.learned import Architecture, GraphSR
from graphsr.pictures import Picture
from graphsr.sampling import interpolate_source
from graphsr.settings import build
from graphsr.training import checkpoint as checkpoints
from graphsr.training.config import Config, Schedule
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
    hardware = hardware or Hardware()
    fabric = _fabric(hardware)
    fabric.launch()
    fabric.seed_everything(config.optimisation.seed, workers=False, verbose=False)
    judge = _judge(config) if fabric.is_global_zero else None
    batches = Batches(config, 0, fabric.global_rank, fabric.world_size)
    last, best_path = folder / "last.ckpt", folder / "best.ckpt"
    earlier = checkpoints.read(last) if last.exists() else None
    if earlier is not None:
        _same_model(config, earlier, last)

    network = GraphSR(config.model, pretrained=config.pretrained if earlier is None else False)
    network.rtol = config.optimisation.rtol
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = _optimiser(network, config)
    mean = RunningMean(network, config.optimisation.average)
    step, best = 0, math.inf
    if earlier is not None:
        network.load_state_dict(earlier.model)
        mean.load(earlier.average)
        # What the configuration says now holds, also where it said otherwise when the checkpoint was written.
        settings = [{k: v for k, v in group.items() if k != "params"} for group in optimiser.param_groups]
        optimiser.load_state_dict(earlier.optimiser)
        for group, setting in zip(optimiser.param_groups, settings, strict=True):
            group.update(setting)
        step, best = earlier.step, earlier.best
    model, wrapped = fabric.setup(network, optimiser)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder: {error.strerror}") from error

    # A state is written once the loss after it has come out finite: what a bad step leaves never reaches the disk.
    pending: dict[Path, checkpoints.Checkpoint] = {}

    def note(path: Path) -> None:
        state = (network.state_dict(), mean.state, optimiser.state_dict())
        pending[path] = checkpoints.Checkpoint(
            step, *copy.deepcopy(state), best=best, config=checkpoints.as_plain(config)
        )

    def write_pending() -> None:
        if fabric.is_global_zero:
            for path, state in pending.items():
                checkpoints.write(path, state)
        pending.clear()

    batches.first = step
    saved, began, first = time.monotonic(), time.monotonic(), step
    network.train()
    stopping = _Stopping()
    with stopping:
        for batch in loader(batches, hardware.workers):
            # Encoders drop branches at random. Chance is tied to the step, so that a run can go on anywhere.
            torch.manual_seed(config.optimisation.seed + 1_000_003 * step + fabric.global_rank)
            rate = learning_rate(step, config.schedule)
            for group in wrapped.param_groups:
                group["lr"] = group["initial_lr"] * rate
            if isinstance(batch, GraphSRError):
                raise batch
            try:
                loss = _loss(model, batch, config, fabric.device)
            except (ConvergenceError, InputError) as error:  # a network gone wild predicts graphs that no solve accepts
                raise _bad_step(step, str(error), last) from error
            value = float(loss.detach())
            if not math.isfinite(value):
                raise _bad_step(step, f"the loss is {value}", last)
            write_pending()
            wrapped.zero_grad()
            fabric.backward(loss)
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), config.optimisation.clip or math.inf)
            if not bool(torch.isfinite(norm)):
                raise _bad_step(step, "the gradient is not finite", last)
            wrapped.step()
            step += 1
            mean.follow(network)
            scores: tuple[Score, ...] = ()
            picture = None
            if config.validation.sets and (step % config.validation.every == 0 or step == config.optimisation.steps):
                if judge is not None:
                    judged = mean.model(network)
                    scores, picture = tuple(judge.scores(judged)), judge.picture(judged)
                    if overall(scores) < best:
                        best = overall(scores)
                        note(best_path)
                note(last)
                fabric.barrier()
                saved = time.monotonic()
            elif time.monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                note(last)
                saved = time.monotonic()
            done = (step - first) * config.optimisation.batch * fabric.world_size
            report = (
                Progress(
                    step, config.optimisation.steps, value, config.optimisation.learning_rate * rate,
                    done / (time.monotonic() - began), scores, picture,
                )
            )  # fmt: skip
            if fabric.is_global_zero:
                listen(report)
            if stopping.asked or (stop_after is not None and step - first >= stop_after):
                break
    if step > first and all(bool(torch.isfinite(p).all()) for p in network.parameters()):
        note(last)
        write_pending()
    if stopping.asked:
        raise KeyboardInterrupt
    return best_path if best_path.exists() else last


class _Stopping:
    """Turns an interrupt into a wish to stop after the step."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> _Stopping:
        self.before = None
        if threading.current_thread() is threading.main_thread():  # only there can it be heard
            self.before = signal.signal(signal.SIGINT, self._hear)
        return self

    def _hear(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt  # asked twice: at once
        self.asked = True

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


def _bad_step(step: int, what: str, last: Path) -> GraphSRError:
    kept = f"{last} holds the last good state" if last.exists() else "no state was worth keeping yet"
    return GraphSRError(f"step {step}: {what}; {kept}. A smaller learning_rate or gradient clip may help")


def _fabric(hardware: Hardware) -> Any:
    try:
        import lightning_fabric as lightning
        from lightning_fabric.strategies import DDPStrategy
    except ImportError as error:
        raise InputError("training needs more packages: pip install 'graphsr[train]'") from error
    # Some published encoders carry parameters that no output depends on.
    strategy = DDPStrategy(find_unused_parameters=True) if hardware.devices > 1 else "auto"
    try:
        return lightning.Fabric(
            accelerator=hardware.accelerator,
            devices=hardware.devices,
            precision=hardware.precision,  # type: ignore[arg-type]
            strategy=strategy,
        )
    except (RuntimeError, ValueError) as error:
        raise InputError(f"accelerator {hardware.accelerator!r}, {hardware.devices} devices: {error}") from error


def _loss(model: torch.nn.Module, batch: Batch, config: Config, device: torch.device) -> torch.Tensor:
    """Over the known pixels, in standard deviations of each source, so that every sample counts alike."""
    guide, source, target = (x.to(device) for x in (batch.guide, batch.source, batch.target))
    known = torch.isfinite(target)
    unit = _spread(source)
    found = model(guide, source)
    if config.optimisation.loss == "relative":
        return _relative(found, interpolate_source(source, (target.shape[-2], target.shape[-1])), target)
    difference = ((found - target) / unit)[known]
    if config.optimisation.loss == "l1":
        return difference.abs().mean()
    if config.optimisation.loss == "mse":
        return difference.square().mean()
    return difference.abs().mean() + difference.square().mean()


def _relative(found: torch.Tensor, interpolated: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Absolute and squared errors, each as a part of bicubic interpolation's: small factors count like large ones."""
    known = torch.isfinite(target)
    count = known.sum((1, 2, 3)).clamp_min(1)

    def errors(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        difference = torch.where(known, values - target, torch.zeros_like(values))
        return difference.abs().sum((1, 2, 3)) / count, difference.square().sum((1, 2, 3)) / count

    size = torch.where(known, target, torch.zeros_like(target)).abs().amax((1, 2, 3))
    absolute, squared = errors(found)
    easy_absolute, easy_squared = errors(interpolated)
    least = 1e-3 * size + 1e-12  # a patch that interpolation gets right has nothing to teach
    return (absolute / (easy_absolute + least) + squared / (easy_squared + least.square())).mean()


def _spread(source: torch.Tensor) -> torch.Tensor:
    """(B, 1, 1, 1) standard deviation of the known pixels; patches that are nearly flat are not blown up."""
    known = torch.isfinite(source)
    values = torch.nan_to_num(source)
    count = known.sum((-2, -1), keepdim=True)
    mean = values.sum((-2, -1), keepdim=True) / count
    variance = torch.where(known, values - mean, torch.zeros_like(values)).square().sum((-2, -1), keepdim=True) / count
    return variance.sqrt().clamp_min(1e-3).clamp_min(0.02 * mean.abs())


def learning_rate(step: int, how: Schedule) -> float:
    """The factor of the learning rate at a step."""
    rate = min(1.0, (step + 1) / how.warm_up) if how.warm_up else 1.0
    if how.every:
        rate *= how.times ** (step // how.every)
    if how.end:
        rate *= 0.5 * (1 + math.cos(math.pi * min(step / how.end, 1.0)))
    return rate


def _optimiser(network: GraphSR, config: Config) -> torch.optim.Adam:
    how = config.optimisation
    encoder = getattr(network.feature_extractor, "encoder", None)
    slow = [] if encoder is None else list(encoder.parameters())
    others = [p for p in network.parameters() if all(p is not one for one in slow)]
    rate = how.learning_rate if how.encoder_learning_rate is None else how.encoder_learning_rate
    groups = [{"params": others, "initial_lr": how.learning_rate}]
    if slow:
        groups.append({"params": slow, "initial_lr": rate})
    return torch.optim.Adam(groups, lr=how.learning_rate, weight_decay=how.weight_decay)


class RunningMean:
    """The running mean of a network's weights, less noisy than any single state. With decay 0, the weights."""

    def __init__(self, network: GraphSR, decay: float) -> None:
        self.decay = decay
        self.state: dict[str, torch.Tensor] = {}
        if decay > 0:
            self.state = {name: value.detach().clone() for name, value in network.state_dict().items()}
            self.state["count"] = torch.zeros((), dtype=torch.int64)

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Go on from an earlier mean; without one, a mean that is wanted now begins with the weights."""
        if state and self.decay > 0:
            self.state = dict(state)

    def follow(self, network: GraphSR) -> None:
        if not self.state:
            return
        self.state["count"] += 1
        count = int(self.state["count"])
        decay = min(self.decay, count / (count + 10))
        for name, value in network.state_dict().items():
            if value.dtype.is_floating_point:
                self.state[name].lerp_(value.detach().to(self.state[name].device), 1 - decay)
            else:
                self.state[name] = value.detach().clone()

    def model(self, network: GraphSR) -> GraphSR:
        """A model to judge, with the mean weights."""
        judged = GraphSR(network.architecture)
        state = {name: value for name, value in self.state.items() if name != "count"}
        judged.load_state_dict(state or network.state_dict())
        return judged.eval()


def _judge(config: Config) -> Judge | None:
    if not config.validation.sets:
        return None
    kinds = [one.kind for one in config.validation.sets]
    names = [one.kind if kinds.count(one.kind) == 1 else f"{one.kind}:{one.folder}" for one in config.validation.sets]
    sets = open_sets(config.validation.sets, config.data.root, "val")
    return Judge(
        list(zip(names, sets, strict=True)), config.validation.size, config.validation.factors, config.validation.pairs
    )


def _same_model(config: Config, earlier: checkpoints.Checkpoint, path: Path) -> None:
    # Through the dataclass, so that settings that did not exist yet have their defaults.
    now, before = asdict(config.model), asdict(build(Architecture, earlier.config["model"], str(path)))
    changed = [f"{key} = {before[key]!r}, now {now[key]!r}" for key in now if now[key] != before[key]]
    if changed:
        raise InputError(f"{path}: is of another model ({'; '.join(changed)}); choose another folder to begin anew")
