"""Draw how the validation error of training runs fell: python docs/pictures/training.py RUN[:DEVICES] ...

A RUN is the folder of `graphsr train`, DEVICES how many it ran on (one, if not said). The picture is
docs/images/training.png.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from graphsr.pictures.plot import Line, line_plot
from graphsr.training.checkpoint import read

_PICTURE = Path(__file__).parents[1] / "images" / "training.png"


def curves(run: Path, devices: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return for every kind of source the samples seen (N,), and the geometric mean over data sets (N,)."""
    log = EventAccumulator(str(run))
    log.Reload()
    batch = read(run / "last.ckpt").config["optimisation"]["batch"]
    by_kind: dict[str, list[list[float]]] = defaultdict(list)
    for tag in log.Tags()["scalars"]:
        if "/x" not in tag:
            continue
        name, _, factor = tag.rpartition("/")
        _, _, degradation = name.partition(" ")
        events = log.Scalars(tag)
        steps = [event.step for event in events]
        by_kind[f"{degradation or 'clean'} {factor}"].append([event.value for event in events])
    samples = devices * batch * np.array(steps)
    return {kind: (samples, np.exp(np.mean(np.log(values), 0))) for kind, values in by_kind.items()}


def main(runs: list[str]) -> None:
    """Draw one plot a run, side by side."""
    pictures = []
    for text in runs:
        folder, _, devices = text.partition(":")
        run = Path(folder)
        found = {
            kind: line
            for kind, line in curves(run, int(devices or 1)).items()
            if "footprint" not in kind and "shift" not in kind
        }
        lines = [Line(samples / 1000, values, kind) for kind, (samples, values) in found.items()]
        pictures.append(
            line_plot(
                lines,
                title=run.name,
                x_label="thousand samples",
                y_label="squared error against bicubic",
                x_range=(0, float(max(line.x.max() for line in lines))),
                y_range=(0, 1.1 * float(max(line.y.max() for line in lines))),
            )
        )
    Image.fromarray(np.concatenate(pictures, 1)).save(_PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:])
