"""graphsr train: train a model as a configuration says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from graphsr.cli.console import messages, note, say

if TYPE_CHECKING:
    from graphsr.training.loop import Progress


def train(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A TOML file, or the name of a preset.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for checkpoints and logs.")] = Path("run"),
    data: Annotated[str | None, typer.Option("--data", help="Root of the data sets, instead of data.root.")] = None,
    devices: Annotated[int, typer.Option(min=1, help="Processes or GPUs to train on.")] = 1,
    accelerator: Annotated[str, typer.Option(help="auto, cpu, cuda, ...")] = "auto",
    precision: Annotated[str, typer.Option(help="32-true, bf16-mixed, 16-mixed, ...")] = "32-true",
    factor: Annotated[
        float | None, typer.Option(min=1.0, help="Train for this factor alone, whatever \\[factors] says.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Train for so many steps; the schedule is stretched with it.")
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that prepare samples, for each device.")] = 1,
) -> None:
    """Train a model. Run the same command again to continue a run that was stopped.

    \b
    Examples:
      graphsr train bundled --data pairs -o run
      graphsr train mine.toml -o run
      graphsr train msg-net --factor 8 --steps 2000 --data pairs -o msg-net-x8
    """
    from graphsr.errors import missing_extra
    from graphsr.training.config import at_factor, for_steps, read_config
    from graphsr.training.loop import Hardware
    from graphsr.training.loop import train as run

    try:
        import tensorboard  # noqa: F401 (needed later; better to know now)
    except ImportError as error:
        raise missing_extra("training needs more packages", "train") from error
    settings = read_config(config)
    if data is not None:
        settings = replace(settings, data=replace(settings.data, root=data))
    settings = settings if factor is None else at_factor(settings, factor)
    settings = settings if steps is None else for_steps(settings, steps)
    hardware = Hardware(accelerator, devices, precision, workers)
    with _ProgressReport(output, settings.optimisation.steps) as report:
        try:
            best = run(settings, output, hardware=hardware, listen=report.update, note=note)
        except KeyboardInterrupt:
            note(f"stopped; the same command continues the run in {output}")
            raise
    say("trained", f"best model so far in {best}")


class _ProgressReport:
    """A progress bar on the terminal, and the same figures for TensorBoard in the folder."""

    def __init__(self, folder: Path, steps: int) -> None:
        columns = (TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
        self.folder = folder
        self.bar = Bar(*columns, TimeRemainingColumn(), console=messages, disable=not messages.is_terminal)
        self.task = self.bar.add_task("", total=steps)
        self.log: Any = None
        self.mean_loss = 0.0

    def __enter__(self) -> _ProgressReport:
        self.bar.start()
        return self

    def update(self, progress: Progress) -> None:
        """Show the figures of a step; before the first there are those of a validation alone."""
        from graphsr.training.validation import overall

        if self.log is None:  # not before: a run that cannot begin leaves nothing behind
            from torch.utils.tensorboard import SummaryWriter

            self.log = SummaryWriter(str(self.folder))
        figures = "before training" if progress.step == 0 else f"loss {self.mean_loss:.4f}"
        if progress.step > 0 and not math.isnan(progress.loss):
            self.mean_loss = progress.loss if self.mean_loss == 0 else 0.98 * self.mean_loss + 0.02 * progress.loss
            figures = f"loss {self.mean_loss:.4f}, {progress.samples_a_second:.1f} samples/s"
            self.log.add_scalar("loss", progress.loss, progress.step)
            self.log.add_scalar("learning rate", progress.learning_rate, progress.step)
        self.bar.update(self.task, completed=progress.step, description=figures)
        for score in progress.scores:
            self.log.add_scalar(f"{score.name}/x{score.factor:g}", score.ratio, progress.step)
        if progress.scores:
            self.log.add_scalar("validation", overall(progress.scores), progress.step)
            self.log.add_image("results", progress.picture, progress.step, dataformats="HWC")
            parts = ", ".join(f"{s.name} x{s.factor:g} {s.ratio:.3f}" for s in progress.scores)
            validation = f"squared error against bicubic {overall(progress.scores):.3f} ({parts})"
            # No markup: brackets may be part of a data set's name.
            messages.print(f"step {progress.step}: {figures}; {validation}", markup=False)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
        if self.log is not None:
            self.log.close()
