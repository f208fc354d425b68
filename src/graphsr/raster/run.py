"""Doing the tiles of a run: in this process, or on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphsr.errors import InputError, missing_extra
from graphsr.models.base import Model, load
from graphsr.raster import tile_solve
from graphsr.raster.frame import Frame, Names, frame, pieces, samples, summary
from graphsr.raster.parts import Parts, Plan, plan_of
from graphsr.threads import use_threads

Progress = Callable[[int, int], None]  # tiles done, tiles in all
# A task that was on a worker when it died is given to another; so often, as workers may be killed for their memory.
_MOST_DEATHS = 10
PATIENCE = "20s"  # for a scheduler to answer
_log = logging.getLogger("graphsr")


def measure(plan: Plan, model: Model) -> Frame:
    """What the tiles have to know of the whole raster: one pass over the source, and samples of the guide."""
    pair, grid = plan.pair, plan.pair.grid
    seen = (model.seen(torch.from_numpy(pair.guide(box))[None])[0].numpy() for box in samples(grid))
    names = Names(pair.guide_path, pair.source_path, pair.source_bands)
    return frame(grid, seen, (summary(pair.source(box), box, grid) for box in pieces(grid)), names)


def run_here(parts: Parts, numbers: Sequence[int], progress: Progress) -> None:
    """One tile after another on all cores; the next one is read and posed, the last one written, during a solve."""
    plan, whole = plan_of(str(parts.folder))
    model = _model(plan.model, plan.weights)

    def ready(number: int) -> tile_solve.Pending:
        return _posed(plan, whole, model, number)

    with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(1) as behind:
        coming = [ahead.submit(ready, number) for number in numbers[:1]]
        written: Any = None
        for n, number in enumerate(numbers):
            pending = coming.pop().result()
            coming = [ahead.submit(ready, number) for number in numbers[n + 1 : n + 2]]
            values = solved(pending)
            del pending
            if written is not None:
                written.result()
            written = behind.submit(parts.keep_tile, number, values, plan)
            progress(n + 1, len(numbers))
        if written is not None:
            written.result()


def run_on_cluster(parts: Parts, numbers: Sequence[int], client: Any, progress: Progress) -> None:
    """Every tile a task; a worker that dies costs the tiles it had in hand, which others then do again."""
    from distributed import CancelledError, as_completed
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    folder, address = os.path.abspath(parts.folder), client.scheduler.address
    tasks = client.map(do_tile, [folder] * len(numbers), numbers, pure=False)
    try:
        for done, task in enumerate(as_completed(tasks), 1):
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
            f"{address}: the scheduler was lost; finished tiles are kept in {folder}: go on by --resume"
        ) from error
    finally:
        client.cancel(tasks, force=True)


def do_tile(folder: str, number: int) -> None:
    """The task of a worker: one thread, so that the pixels are the same bits wherever and how often it runs."""
    plan, whole = plan_of(folder)
    model = _model(plan.model, plan.weights)
    use_threads(1)
    Parts(Path(folder)).keep_tile(number, solved(_posed(plan, whole, model, number)), plan)


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster that the user asked for; None if of none."""
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
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
        with local:
            try:
                client = Client(scheduler if scheduler is not None else local, timeout=PATIENCE)
            except (OSError, ValueError, TimeoutError) as error:
                raise InputError(f"--scheduler {scheduler}: no Dask scheduler answers there ({error})") from error
            if scheduler is not None and not client.scheduler_info()["workers"]:
                _log.warning("%s: no worker has joined it yet; waiting for one", scheduler)
            with client, _without_tracebacks():
                yield client


@contextmanager
def _without_tracebacks() -> Iterator[None]:
    """What befalls the cluster is told as an InputError, in one line; Dask's client would log its own story."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


_solving = threading.Lock()


def solved(pending: tile_solve.Pending) -> np.ndarray:
    """`finish`, in any number of threads at once."""
    with _solving if not _solves_may_overlap() else nullcontext():
        return tile_solve.finish(pending)


def _solves_may_overlap() -> bool:
    """numba's own thread pool, which it falls back to without OpenMP and TBB, dies of two solves at once."""
    import numba

    try:
        return bool(numba.threading_layer() != "workqueue")
    except ValueError:  # nothing has run yet
        return False


def _posed(plan: Plan, whole: Frame, model: Model, number: int) -> tile_solve.Pending:
    tile, pair = plan.tiles[number], plan.pair
    guide, source = pair.guide(tile.window), pair.source(whole.needed(tile.cells))
    return tile_solve.pose(tile, guide, source, pair.grid, whole, model, plan.settings)


@lru_cache(maxsize=2)
def _model(name: str, weights: str) -> Model:
    model = load(name).eval()
    if model.digest() != weights:
        raise InputError(
            f"model {name}: has other weights here than where the run was begun; give every worker the same version of "
            "graphsr and the same file"
        )
    return model
