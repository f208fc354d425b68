"""Compute the tiles of a run: in this process, or on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import InputError, missing_extra
from graphsr.models.base import Model
from graphsr.models.registry import load
from graphsr.raster.plan import Plan
from graphsr.raster.statistics import Names, Statistics, combine, guide_samples, source_chunks, summarise
from graphsr.raster.store import TileStore, read_run
from graphsr.raster.tile import PreparedTile, finish_tile, prepare_tile
from graphsr.threads import use_threads

Progress = Callable[[int, int], None]  # tiles done, tiles in all
# A task that was on a worker when it died is given to another; so often, as workers may be killed for their memory.
_MOST_DEATHS = 10
TIMEOUT = "20s"  # for a scheduler to answer
_log = logging.getLogger("graphsr")


def measure(plan: Plan, model: Model) -> Statistics:
    """Compute the statistics of a raster: one pass over the source, and samples of the guide."""
    pair, grid = plan.pair, plan.pair.grid
    samples = (model.select_channels(torch.from_numpy(pair.guide(box))[None])[0].numpy() for box in guide_samples(grid))
    names = Names(pair.guide_path, pair.source_path, pair.source_bands)
    return combine(grid, samples, (summarise(pair.source(box), box, grid) for box in source_chunks(grid)), names)


def run_locally(store: TileStore, numbers: Sequence[int], progress: Progress) -> None:
    """Compute one tile after another on all cores; during a solve the next one is prepared and the last one written.

    Args:
        store: Of the run.
        numbers: Of the tiles.
        progress: Called after every tile with how many are done, and of how many.
    """
    plan, statistics = read_run(str(store.folder))
    model = _model(plan.model, plan.weights)
    with ThreadPoolExecutor(1) as preparing, ThreadPoolExecutor(1) as writing:

        def ahead(n: int) -> Future[PreparedTile] | None:
            if n == len(numbers):
                return None
            return preparing.submit(_prepare, plan, statistics, model, numbers[n])

        coming, written = ahead(0), None
        for n, number in enumerate(numbers):
            assert coming is not None
            prepared, coming = coming.result(), ahead(n + 1)
            finished = finish_tile(prepared)
            del prepared  # before the next one is complete
            if written is not None:
                written.result()
            written = writing.submit(store.write_tile, number, finished, plan)
            progress(n + 1, len(numbers))
        if written is not None:
            written.result()


def run_on_cluster(store: TileStore, numbers: Sequence[int], client: Any, progress: Progress) -> None:
    """Compute every tile in a task of its own; the tiles of a worker that dies are computed by others.

    Args:
        store: Of the run, in a folder that all workers see.
        numbers: Of the tiles.
        client: A Dask client, see `cluster`.
        progress: Called after every tile with how many are done, and of how many.
    """
    from distributed import CancelledError, as_completed
    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    folder, address = os.path.abspath(store.folder), client.scheduler.address
    tasks = client.map(run_tile, [folder] * len(numbers), numbers, pure=False)
    try:
        for done, task in enumerate(as_completed(tasks), 1):  # type: ignore[no-untyped-call]
            task.result()
            task.release()
            progress(done, len(tasks))
    except KilledWorker as error:
        raise InputError(
            f"{folder}: workers died again and again on one tile; give them more memory or use a smaller --tile "
            f"({error})"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise InputError(
            f"{address}: the scheduler was lost; finished tiles stay in {folder}: continue with --resume"
        ) from error
    finally:
        client.cancel(tasks, force=True)


def run_tile(folder: str, number: int) -> None:
    """Compute and write one tile of the store in a folder: the task of a worker.

    On one thread, so that the pixels are the same bits wherever and how often it runs.
    """
    plan, statistics = read_run(folder)
    model = _model(plan.model, plan.weights)
    use_threads(1)
    TileStore(Path(folder)).write_tile(number, finish_tile(_prepare(plan, statistics, model, number)), plan)


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Yield a client of the cluster that the user asked for; None if of none.

    Args:
        workers: Start a local cluster of so many processes.
        scheduler: Use the cluster at this address.
    """
    if workers is None and scheduler is None:
        yield None
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise missing_extra("a cluster needs Dask", "cluster") from error
    local: Any = nullcontext()
    with dask.config.set({"distributed.scheduler.allowed-failures": _MOST_DEATHS}):
        if scheduler is None:
            local = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                # Its pages, like all else of it, answer on this machine alone.
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        with local:
            try:
                client: Any = Client(scheduler or local, timeout=TIMEOUT)  # type: ignore[no-untyped-call]
            except (OSError, ValueError, TimeoutError) as error:
                raise InputError(f"--scheduler {scheduler}: no Dask scheduler answers there ({error})") from error
            if scheduler is not None and not client.scheduler_info()["workers"]:
                _log.warning("%s: no worker has joined it yet; waiting for one", scheduler)
            with client, _without_tracebacks():
                yield client


@contextmanager
def _without_tracebacks() -> Iterator[None]:
    """Silence the log of Dask's client: what happens to the cluster is raised as an InputError, in one line."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _prepare(plan: Plan, statistics: Statistics, model: Model, number: int) -> PreparedTile:
    tile, pair = plan.tiles[number], plan.pair
    guide, source = pair.guide(tile.window), pair.source(statistics.source_needed(tile.source_window))
    confidence = pair.confidence(tile.source_window)
    return prepare_tile(tile, guide, source, pair.grid, statistics, model, plan.settings, confidence)


@lru_cache(maxsize=2)
def _model(name: str, weights: str) -> Model:
    model = load(name).eval()
    if model.digest() != weights:
        raise InputError(
            f"model {name}: has other weights here than where the run was started; give every worker the same version "
            "of graphsr and the same file"
        )
    return model
