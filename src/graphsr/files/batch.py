"""Many pairs at once: files matched by name, upsampled in parallel, a bad pair reported and skipped."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from graphsr.errors import GraphSRError, InputError, out_of_memory
from graphsr.files.pair import Choices, FileReport, PairFiles, upsample_pair
from graphsr.files.registry import is_image

_DIED = "its process died; is there enough memory for it?"


@dataclass(frozen=True)
class Outcome:
    """How one pair went: a report, or what was wrong."""

    name: str
    report: FileReport | None = None
    error: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """The pairs found, and the sources that have no guide (with the reason)."""

    pairs: dict[str, PairFiles]
    unmatched: dict[str, str]


def is_batch(*paths: str | os.PathLike[str]) -> bool:
    """Whether these name many files: all of them folders, or patterns that are not the name of a file."""
    return all(Path(path).is_dir() or (glob.has_magic(os.fspath(path)) and not Path(path).exists()) for path in paths)


def matched(
    guides: str | os.PathLike[str],
    sources: str | os.PathLike[str],
    output: Path,
    *,
    confidences: str | os.PathLike[str] | None = None,
    previews: Path | None = None,
) -> Batch:
    """Pairs of files of the same name, whatever their types; each target is called like its source."""
    fine, coarse = _by_name(guides), _by_name(sources)
    trust = {} if confidences is None else _by_name(confidences)
    pairs: dict[str, PairFiles] = {}
    unmatched: dict[str, str] = {}
    for name, files in coarse.items():
        reason = _mismatch(name, files, fine.get(name, []), trust.get(name, []), confidences is not None)
        if reason:
            unmatched[name] = reason
            continue
        pairs[name] = PairFiles(
            fine[name][0],
            files[0],
            output / files[0].name,
            trust[name][0] if confidences is not None else None,
            None if previews is None else previews / f"{name}.png",
        )
    if not pairs:
        raise InputError(f"{guides}, {sources}: no guide and source have the same name")
    return Batch(pairs, unmatched)


def run(batch: Batch, choices: Choices, jobs: int) -> Iterator[Outcome]:
    """Outcomes as they come: `jobs` pairs at a time, each on one core; one at a time, here and on all cores."""
    for name, reason in batch.unmatched.items():
        yield Outcome(name, error=reason)
    if jobs == 1:
        yield from (attempt(name, files, choices) for name, files in batch.pairs.items())
        return
    left = dict(batch.pairs)
    for outcome in _run_together(left, choices, jobs):
        del left[outcome.name]
        yield outcome
    # Where a process died (the system may have killed it for its memory) the pairs it left are tried one by one, so
    # that only the one that is to blame is lost.
    for name, files in left.items():
        yield next(_run_together({name: files}, choices, 1), Outcome(name, error=_DIED))


def _run_together(pairs: dict[str, PairFiles], choices: Choices, jobs: int) -> Iterator[Outcome]:
    """Outcomes until all are done or a process dies."""
    # Not forked: the threads of torch and numba do not survive that.
    with ProcessPoolExecutor(min(jobs, len(pairs)), get_context("spawn"), initializer=_prepare_process) as pool:
        try:
            tasks = [pool.submit(attempt, name, files, choices) for name, files in pairs.items()]
            for task in as_completed(tasks):
                yield task.result()
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def attempt(name: str, files: PairFiles, choices: Choices) -> Outcome:
    """One pair, whatever happens to it."""
    remarks: list[str] = []
    try:
        report = upsample_pair(files, choices, remarks.append)
    except GraphSRError as error:
        return Outcome(name, error=str(error), remarks=tuple(remarks))
    except Exception as error:  # whatever it is, the other pairs should not pay for it
        wrong = "not enough memory" if out_of_memory(error) else f"{type(error).__name__}: {error}"
        return Outcome(name, error=wrong, remarks=tuple(remarks))
    return Outcome(name, report, remarks=tuple(remarks))


def _prepare_process() -> None:
    import logging

    from graphsr.threads import use_threads

    logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # as in this one, see graphsr.cli
    use_threads(1)


def _by_name(place: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """The images in a folder or of a pattern, by their names without suffix."""
    path = Path(place)
    if path.is_dir():
        found = [entry for entry in path.iterdir() if entry.is_file() and is_image(entry)]
    else:
        found = [entry for entry in map(Path, glob.glob(os.fspath(place))) if entry.is_file()]
    names: dict[str, list[Path]] = {}
    for entry in sorted(found):
        names.setdefault(entry.stem, []).append(entry)
    if not names:
        raise InputError(f"{place}: there is no image")
    return names


def _mismatch(
    name: str, sources: Sequence[Path], guides: Sequence[Path], trusts: Sequence[Path], trusted: bool
) -> str | None:
    """Why files of one name make no pair."""
    kinds = (("source", sources, True), ("guide", guides, True), ("confidence", trusts, trusted))
    for kind, files, wanted in kinds:
        if wanted and not files:
            return f"{sources[0]}: there is no {kind} called {name}"
        if len(files) > 1:
            return f"{files[0]}: there is more than one {kind} called {name} ({', '.join(f.name for f in files)})"
    return None
