"""Upsampling many pairs: files matched by name, in parallel; a pair that fails is reported and skipped."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from graphsr.errors import GraphSRError, InputError, out_of_memory
from graphsr.files.pair import PairFiles, PairOptions, PairReport, upsample_pair
from graphsr.files.registry import is_image, output_name
from graphsr.models.base import Model
from graphsr.threads import use_threads

_DIED = "its process died; is there enough memory for it?"


@dataclass(frozen=True)
class Outcome:
    """The result of one pair: a report, or the error that it ended in."""

    name: str
    report: PairReport | None = None
    error: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """The pairs found, and the sources that have no guide (with the reason), by name."""

    pairs: dict[str, PairFiles]
    unmatched: dict[str, str]


def is_batch(*paths: str | os.PathLike[str]) -> bool:
    """Return whether all paths name many files: folders, or patterns that are not the name of a file."""
    return all(Path(path).is_dir() or (glob.has_magic(os.fspath(path)) and not Path(path).exists()) for path in paths)


def match_pairs(
    guides: str | os.PathLike[str],
    sources: str | os.PathLike[str],
    output: Path,
    *,
    confidences: str | os.PathLike[str] | None = None,
    previews: Path | None = None,
    uncertainties: Path | None = None,
    clouds: Path | None = None,
) -> Batch:
    """Match files of the same name, whatever their types.

    Args:
        guides: A folder, or a pattern.
        sources: The same.
        output: The folder for the targets, which are called like their sources.
        confidences: A folder or a pattern; every source needs one then.
        previews: The folder for the previews.
        uncertainties: The folder for the uncertainties, which are called like their sources too.
        clouds: The folder for the point clouds.

    Returns:
        The pairs, and the sources that make none.
    """
    guide_files, source_files = by_name(guides), by_name(sources)
    confidence_files = {} if confidences is None else by_name(confidences)
    pairs: dict[str, PairFiles] = {}
    unmatched: dict[str, str] = {}
    for name, files in source_files.items():
        kinds = {"source": files, "guide": guide_files.get(name, [])}
        if confidences is not None:
            kinds["confidence"] = confidence_files.get(name, [])
        reason = _mismatch(name, kinds)
        if reason:
            unmatched[name] = reason
            continue
        pairs[name] = PairFiles(
            guide_files[name][0],
            files[0],
            output / output_name(files[0]),
            confidence_files[name][0] if confidences is not None else None,
            None if previews is None else previews / f"{name}.png",
            None if uncertainties is None else uncertainties / output_name(files[0]),
            None if clouds is None else clouds / f"{name}.ply",
        )
    if not pairs:
        raise InputError(f"{guides}, {sources}: no guide and source have the same name")
    return Batch(pairs, unmatched)


def run_batch(batch: Batch, options: PairOptions, jobs: int) -> Iterator[Outcome]:
    """Upsample all pairs, and yield the outcomes as they come.

    Args:
        batch: The pairs.
        options: How.
        jobs: How many pairs at a time, each in a process on one core; 1 for this process on all cores.
    """
    for name, reason in batch.unmatched.items():
        yield Outcome(name, error=reason)
    if jobs == 1:
        yield from (attempt(name, files, options) for name, files in batch.pairs.items())
        return
    left = dict(batch.pairs)
    for outcome in _run_together(left, options, jobs):
        del left[outcome.name]
        yield outcome
    # Where a process died (the system may have killed it for its memory) the pairs it left are tried one by one, so
    # that only the one that is to blame is lost.
    for name, files in left.items():
        yield next(_run_together({name: files}, options, 1), Outcome(name, error=_DIED))


def _run_together(pairs: dict[str, PairFiles], options: PairOptions, jobs: int) -> Iterator[Outcome]:
    """Yield outcomes until all are done or a process dies."""
    # Not forked: the threads of torch and numba do not survive that.
    with ProcessPoolExecutor(min(jobs, len(pairs)), get_context("spawn"), initializer=_prepare_process) as pool:
        try:
            tasks = [pool.submit(attempt, name, files, options) for name, files in pairs.items()]
            for task in as_completed(tasks):
                yield task.result()
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def attempt(name: str, files: PairFiles, options: PairOptions, model: Model | None = None) -> Outcome:
    """Upsample one pair, with a model that is loaded already if one is given; an error becomes part of the outcome."""
    notes: list[str] = []
    try:
        report = upsample_pair(files, options, notes.append, model)
    except GraphSRError as error:
        return Outcome(name, error=str(error), notes=tuple(notes))
    except Exception as error:  # whatever it is, the other pairs are done
        wrong = "not enough memory" if out_of_memory(error) else f"{type(error).__name__}: {error}"
        return Outcome(name, error=wrong, notes=tuple(notes))
    return Outcome(name, report, notes=tuple(notes))


def _prepare_process() -> None:
    use_threads(1)


def by_name(place: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """Return the images in a folder or of a pattern, by their names without suffix."""
    path = Path(place)
    if path.is_dir():
        found = [entry for entry in path.iterdir() if entry.is_file() and is_image(entry)]
    else:
        found = [entry for entry in map(Path, glob.glob(os.fspath(place))) if entry.is_file()]
    names: dict[str, list[Path]] = {}
    for entry in sorted(found):
        names.setdefault(entry.stem, []).append(entry)
    if not names:
        absent = not path.exists() and not glob.has_magic(os.fspath(place))
        raise InputError(f"{place}: {'no such folder' if absent else 'there is no image'}")
    return names


def _mismatch(name: str, kinds: dict[str, list[Path]]) -> str | None:
    """Return why the files of one name make no pair, or None if they do."""
    for kind, files in kinds.items():
        if not files:
            return f"{kinds['source'][0]}: there is no {kind} called {name}"
        if len(files) > 1:
            return f"{files[0]}: there is more than one {kind} called {name} ({', '.join(f.name for f in files)})"
    return None
