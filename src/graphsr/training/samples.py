"""The samples of a run. Batch n is a function of the seed and n alone, so a run can go on anywhere."""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from graphsr.data import Pair
from graphsr.data.augmentation import draw_patch
from graphsr.data.degradation import degrade
from graphsr.errors import GraphSRError
from graphsr.threads import use_threads
from graphsr.training.config import Config
from graphsr.training.parent import end_with
from graphsr.training.scene_scale import SceneScale, draw_scene_scale, join_scene_scales


@dataclass(frozen=True)
class Batch:
    """Hold the samples of one step.

    Attributes:
        guide: (B, 3, H, W), 0 to 1.
        source: (B, 1, h, w), NaN = missing.
        target: (B, 1, H, W), NaN = unknown.
        scene: of the images that the samples are patches of.
        footprint: what the network is told that source pixels average over.
    """

    guide: torch.Tensor
    source: torch.Tensor
    target: torch.Tensor
    scene: SceneScale
    footprint: str = "box"


class Batches(IterableDataset[Batch | GraphSRError]):
    """Draw batches `first`, `first` + 1 ... of process `rank`.

    An error in the data comes as a value: raised in a worker process it would arrive as a traceback.
    """

    def __init__(self, config: Config, first: int, rank: int = 0) -> None:
        super().__init__()
        self.config, self.first, self.rank = config, first, rank
        self.sets = [one.open(config.data.root, "train") for one in config.data.sets]
        shares = np.array([one.share for one in config.data.sets], np.float64)
        self.shares = shares / shares.sum()
        self._kept: dict[tuple[int, int], Pair] = {}
        self._bytes_left = int(config.data.keep_gb * 1e9)

    def __iter__(self) -> Iterator[Batch | GraphSRError]:
        worker = get_worker_info()
        offset, stride = (worker.id, worker.num_workers) if worker is not None else (0, 1)
        for n in range(self.first + offset, self.config.optimisation.steps, stride):
            try:
                yield self.batch(n)
            except GraphSRError as error:
                yield error
                return

    def notes(self) -> list[str]:
        """Return what the first pair of each folder has to say; others of the folder will say the same."""
        folders = [pairs for one, pairs in zip(self.config.data.sets, self.sets, strict=True) if one.kind == "folder"]
        return [note for pairs in folders for note in pairs[0].notes]

    def batch(self, n: int) -> Batch:
        """Draw batch `n`."""
        config = self.config
        size = (config.data.size, config.data.size)
        # All processes share the factor of a step and the footprint, and each draws its own samples.
        shared = np.random.default_rng([config.optimisation.seed, n])
        source_size, footprint = config.factors.draw(size, shared), config.degradation.draw_stated(shared)
        guides, sources, targets, scales = [], [], [], []
        for place in range(config.optimisation.batch):
            rng = np.random.default_rng([config.optimisation.seed, n, self.rank, place])
            number = int(rng.choice(len(self.sets), p=self.shares))
            pair = self._pair(number, int(rng.integers(len(self.sets[number]))))
            patch = draw_patch(pair, size, config.augmentation, rng)
            degradation = config.degradation.draw(rng, size[0] / source_size[0], footprint)
            source = degrade(patch.target, source_size, degradation, rng)
            guides.append(torch.from_numpy(patch.guide).permute(2, 0, 1).float() / 255)
            sources.append(torch.from_numpy(source)[None])
            targets.append(torch.from_numpy(patch.target)[None])
            scales.append(draw_scene_scale(pair.target, config.augmentation.scene_scale, rng))
        images = (torch.stack(guides), torch.stack(sources), torch.stack(targets))
        return Batch(*images, join_scene_scales(scales), footprint)

    def _pair(self, number: int, place: int) -> Pair:
        """Return pair `place` of set `number`. Decoding takes longest of all, so pairs are kept while memory lasts."""
        if (number, place) not in self._kept:
            pair = self.sets[number][place]
            size = pair.guide.nbytes + pair.target.nbytes
            if size > self._bytes_left or self.config.data.sets[number].kind == "synthetic":
                return pair
            self._bytes_left -= size
            self._kept[number, place] = pair
        return self._kept[number, place]


def loader(batches: Batches, workers: int) -> DataLoader[Batch | GraphSRError]:
    """Return what yields the batches in their order, prepared by so many processes of their own; 0: by this one."""
    if not workers:
        return DataLoader(batches, batch_size=None)
    # Spawned, not forked: a forked process inherits OpenMP's threads in name only and waits for them for ever.
    return DataLoader(
        batches,
        batch_size=None,
        num_workers=workers,
        worker_init_fn=partial(_prepare_worker, os.getpid()),
        multiprocessing_context="spawn",
    )


def _prepare_worker(trainer: int, _: int) -> None:
    """Leave the cores and Ctrl-C to the training: a worker on every core would starve the one it works for."""
    end_with(trainer)
    # Without the interpreter's tidying up, which aborts with a message where threads of kernels are still waiting.
    atexit.register(os._exit, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_threads(1)
