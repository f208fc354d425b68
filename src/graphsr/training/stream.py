"""The samples of a run. Batch n is a function of the seed and n alone, so a run can go on anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from graphsr.data import Pair, PairList, open_pairs
from graphsr.data.augmentation import draw_patch
from graphsr.data.degradation import degrade
from graphsr.errors import GraphSRError, InputError
from graphsr.threads import use_threads
from graphsr.training.config import Config, DataSet


@dataclass(frozen=True)
class Batch:
    """guide (B, 3, H, W) 0..1; source (B, 1, h, w) and target (B, 1, H, W) with NaN = unknown."""

    guide: torch.Tensor
    source: torch.Tensor
    target: torch.Tensor


def open_sets(sets: tuple[DataSet, ...], root: str, split: str) -> list[PairList]:
    return [open_pairs(one.kind, Path(root) / one.folder, split) for one in sets]


class Batches(IterableDataset):
    """Batches `first`, `first` + 1 ... of process `rank` of `ranks`."""

    def __init__(self, config: Config, first: int, rank: int = 0, ranks: int = 1) -> None:
        super().__init__()
        self.config, self.first, self.rank, self.ranks = config, first, rank, ranks
        self.sets = open_sets(config.data.sets, config.data.root, "train")
        shares = np.array([one.share for one in config.data.sets], np.float64)
        if not (shares >= 0).all() or shares.sum() == 0:
            raise InputError("data.sets: shares must not be negative, and not all 0")
        self.shares = shares / shares.sum()
        self.kept: dict[tuple[int, int], Pair] = {}
        self.room = int(config.data.keep_gb * 1e9)

    def __iter__(self) -> Iterator[Batch | GraphSRError]:
        """A mistake in the data comes as a value: raised in a worker process it would arrive as a traceback."""
        worker = get_worker_info()
        offset, stride = (worker.id, worker.num_workers) if worker is not None else (0, 1)
        for n in range(self.first + offset, self.config.optimisation.steps, stride):
            try:
                yield self.batch(n)
            except GraphSRError as error:
                yield error
                return

    def _pair(self, number: int, place: int) -> Pair:
        """Pair `place` of set `number`. Decoding takes longest of all, so pairs are kept while there is room."""
        if (number, place) not in self.kept:
            pair = self.sets[number][place]
            size = pair.guide.nbytes + pair.target.nbytes
            if size > self.room or self.config.data.sets[number].kind == "synthetic":
                return pair
            self.room -= size
            self.kept[number, place] = pair
        return self.kept[number, place]

    def batch(self, n: int) -> Batch:
        config = self.config
        size = (config.data.size, config.data.size)
        # All processes share the factor of a step, and each draws its own samples.
        source_size = config.factors.draw(size, np.random.default_rng([config.optimisation.seed, n]))
        guides, sources, targets = [], [], []
        for place in range(config.optimisation.batch):
            rng = np.random.default_rng([config.optimisation.seed, n, self.rank, place])
            number = int(rng.choice(len(self.sets), p=self.shares))
            pair = self._pair(number, int(rng.integers(len(self.sets[number]))))
            patch = draw_patch(pair, size, config.augmentation, rng)
            guides.append(torch.from_numpy(patch.guide).permute(2, 0, 1).float() / 255)
            sources.append(torch.from_numpy(degrade(patch.target, source_size, config.degradation, rng))[None])
            targets.append(torch.from_numpy(patch.target)[None])
        return Batch(torch.stack(guides), torch.stack(sources), torch.stack(targets))


def _calm(_: int) -> None:
    """A worker that took every core would starve the training it works for; Ctrl-C is for the training to hear."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_threads(1)


def loader(batches: Batches, workers: int) -> DataLoader:
    if not workers:
        return DataLoader(batches, batch_size=None)
    # Spawned, not forked: a forked process inherits OpenMP's threads in name only and waits for them for ever.
    return DataLoader(
        batches, batch_size=None, num_workers=workers, worker_init_fn=_calm, multiprocessing_context="spawn"
    )
