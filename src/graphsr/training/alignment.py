"""Train the network that tells alignments how edges of a source lie on its guide.

It learns from pairs that are aligned: of their targets sources are made, and each edge of those is shown with the guide
from a place that is wrong by a known distance. The loss is the cross-entropy of that distance at each edge, and that of
the shift which all edges of a source tell together.

    python -m graphsr.training.alignment FOLDER edges.safetensors --steps 5900
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from graphsr.data import Pair, open_pairs
from graphsr.measurements.edge_network import EdgeNetwork, at_offsets
from graphsr.models.files import write_tensors
from graphsr.scenes import scene
from graphsr.training.edge_samples import EdgeSample, PreparedPair, draw_sample

# Sources of one step.
_SOURCES = 4
# Shifts that are told apart: up to so many guide pixels, in such steps.
_SHIFTS, _SHIFT_STEP = 2.0, 0.25
_WEIGHT_OF_SHIFT = 0.2
_RATE, _WARM_UP, _DECAY, _LARGEST_NORM = 3e-3, 30, 1e-4, 1.0
# Rendered scenes, of these sizes in turn, from a seed on that no validation uses.
_SCENE_SIZES, _FIRST_SEED = ((480, 640), (480, 640), (240, 320), (480, 640), (360, 480)), 20_000
# How often a pair of each set is drawn, relative to a rendered scene.
_SETS = (("gso", 3), ("tartanair", 4))

Update = Callable[[int, float, float], None]


def losses(network: EdgeNetwork, samples: Sequence[EdgeSample]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropies, of the offsets of edges and of the shifts of sources."""
    shown = (torch.cat([getattr(each, name) for each in samples]) for name in ("patches", "contrast", "description"))
    table = network(*shown)
    of_edges = -at_offsets(table, torch.cat([each.offsets for each in samples])[:, None]).mean()
    steps = torch.arange(-_SHIFTS, _SHIFTS + _SHIFT_STEP / 2, _SHIFT_STEP)
    shifts = torch.cartesian_prod(steps, steps)
    of_shifts = []
    for sample, part in zip(samples, table.split([len(each.offsets) for each in samples]), strict=True):
        score = at_offsets(part, sample.offsets[:, None] + sample.across @ shifts.T).sum(0)
        of_shifts.append(-score.log_softmax(0)[len(shifts) // 2])
    return of_edges, torch.stack(of_shifts).mean()


def draw_samples(pairs: Sequence[PreparedPair], rng: np.random.Generator) -> Iterator[EdgeSample]:
    """Draw samples without end."""
    while True:
        sample = draw_sample(pairs[int(rng.integers(len(pairs)))], rng)
        if sample is not None:
            yield sample


def train(pairs: Sequence[PreparedPair], steps: int, *, seed: int = 0, update: Update) -> EdgeNetwork:
    """Train a network on aligned pairs; `update` is told the step and both losses after every step."""
    torch.manual_seed(seed)
    samples = draw_samples(pairs, np.random.default_rng(seed))
    network = EdgeNetwork()
    optimiser = torch.optim.AdamW(network.parameters(), _RATE, weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / _WARM_UP) * 0.5 * (1 + math.cos(math.pi * step / steps))
    )
    for step in range(1, steps + 1):
        of_edges, of_shifts = losses(network, list(islice(samples, _SOURCES)))
        optimiser.zero_grad()
        torch.autograd.backward(of_edges + _WEIGHT_OF_SHIFT * of_shifts)
        torch.nn.utils.clip_grad_norm_(network.parameters(), _LARGEST_NORM)
        optimiser.step()
        schedule.step()
        update(step, of_edges.item(), of_shifts.item())
    return network


def read_pairs(root: Path, scenes: int) -> list[PreparedPair]:
    """Return rendered scenes, and the training pairs of GSO and TartanAir as often as they are drawn."""
    pairs = []
    for number in range(scenes):
        drawn = scene(_FIRST_SEED + number, _SCENE_SIZES[number % len(_SCENE_SIZES)])
        pairs.append(PreparedPair.of(Pair("rendered", drawn.guide, drawn.depth, "m")))
    for kind, times in _SETS:
        pairs += times * [PreparedPair.of(pair) for pair in open_pairs(kind, root / kind, "train")]
    return pairs


def main(arguments: Sequence[str] | None = None) -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m graphsr.training.alignment", description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder with gso/ and tartanair/, as docs/data.md says")
    parser.add_argument("output", type=Path, help="the weights, a safetensors file")
    parser.add_argument("--steps", type=int, default=5900)
    parser.add_argument("--scenes", type=int, default=600, help="how many scenes are rendered")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)

    def update(step: int, of_edges: float, of_shifts: float) -> None:
        if step % 50 == 0 or step == given.steps:
            print(f"step {step}: edges {of_edges:.3f}, shifts {of_shifts:.3f}", flush=True)

    network = train(read_pairs(given.data, given.scenes), given.steps, seed=given.seed, update=update)
    write_tensors(
        given.output, network.state_dict(), {"format": "graphsr edges 1", "steps": str(given.steps)}, half=True
    )


if __name__ == "__main__":
    main()
