"""graphsr upsample with folders: pairs by name, in parallel; a bad one is reported and skipped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphsr.files import batch as batches
from graphsr.files import read_image, write_image
from graphsr.files.pair import PairFiles, PairOptions, PairReport
from tests.cli.files_and_runs import FACTOR, SIZE, Run

COLOUR = ("--model", "colour", "--jobs", 1)
Folders = tuple[Path, Path, Path]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Guides and sources of three rooms, and a folder yet to be made."""
    guides, sources = tmp_path / "photos", tmp_path / "depths"
    guides.mkdir()
    sources.mkdir()
    generator = np.random.default_rng(0)
    for name in ("attic", "cellar", "kitchen"):
        write_image(guides / f"{name}.png", generator.integers(0, 255, (*SIZE, 3)).astype(np.uint8))
        depth = generator.integers(1000, 3000, (SIZE[0] // FACTOR, SIZE[1] // FACTOR)).astype(np.uint16)
        write_image(sources / f"{name}.tif", depth)
    (guides / "notes.txt").write_text("not an image")
    return guides, sources, tmp_path / "large"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_pairs_are_matched_by_name_and_written_under_it(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert names(out) == ["attic.tif", "cellar.tif", "kitchen.tif"]
    assert read_image(out / "attic.tif").size == SIZE
    assert read_image(out / "attic.tif").dtype == np.uint16
    assert f"3 of 3 written to {out}" in outcome.out


def test_patterns_choose_files(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    outcome = run("upsample", guides / "*.png", sources / "[ac]*.tif", "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert names(out) == ["attic.tif", "cellar.tif"]


def test_each_is_what_the_pair_alone_gives(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    run("upsample", guides, sources, "-o", out, "--model", "colour", "--jobs", 2)
    alone = out.parent / "alone.tif"
    run("upsample", guides / "cellar.png", sources / "cellar.tif", "-o", alone, "--model", "colour")
    # One thread in a batch, all cores for one pair: the same up to the last digit, and rounded to whole numbers.
    difference = read_image(out / "cellar.tif").array.astype(int) - read_image(alone).array.astype(int)
    assert np.abs(difference).max() <= 1


def test_a_bad_pair_is_reported_and_the_others_are_done(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    (sources / "cellar.tif").write_bytes(b"damaged")
    (guides / "kitchen.png").unlink()
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR)
    assert outcome.code == 1
    assert names(out) == ["attic.tif"]
    assert "1 of 3 written" in outcome.out
    assert "2 failed" in outcome.out
    assert "cellar.tif: cannot be read as TIFF" in outcome.err
    assert "kitchen.tif: there is no guide called kitchen" in outcome.err
    assert outcome.err.count("error: ") == 2


def test_two_guides_of_one_name_are_no_pair(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    write_image(guides / "attic.jpg", np.zeros((*SIZE, 3), np.uint8))
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR)
    assert outcome.code == 1
    assert "more than one guide called attic (attic.jpg, attic.png)" in outcome.err


def test_previews_and_confidences_are_folders_too(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    confidences, previews = out.parent / "confidences", out.parent / "previews"
    confidences.mkdir()
    for name in ("attic", "kitchen"):
        write_image(confidences / f"{name}.npy", np.ones((SIZE[0] // FACTOR, SIZE[1] // FACTOR), np.float32))
    outcome = run("upsample", guides, sources, "-o", out, "--confidence", confidences, "--preview", previews, *COLOUR)
    assert outcome.code == 1
    assert names(previews) == ["attic.png", "kitchen.png"]
    assert "there is no confidence called cellar" in outcome.err


def test_existing_outputs_are_failures_unless_they_may_be_replaced(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    out.mkdir()
    (out / "cellar.tif").write_bytes(b"the old one")
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR)
    assert outcome.code == 1
    assert "2 of 3 written" in outcome.out
    assert f"error: {out / 'cellar.tif'}: exists already; give another name, or replace it by --over" in outcome.err
    assert (out / "cellar.tif").read_bytes() == b"the old one"
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR, "--overwrite")
    assert outcome.code == 0, outcome.err
    assert read_image(out / "cellar.tif").size == SIZE


def test_the_target_of_a_source_that_cannot_be_written_is_a_png(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    depth = read_image(sources / "attic.tif").array
    (sources / "attic.tif").unlink()
    (sources / "attic.pgm").write_bytes(b"P5 4 3 65535\n" + depth.astype(">u2").tobytes())
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert names(out) == ["attic.png", "cellar.tif", "kitchen.tif"]
    assert read_image(out / "attic.png").dtype == np.uint16


@pytest.mark.parametrize(
    ("guides", "sources", "says"),
    [("photos", "empty", "empty: there is no image"), ("photos", "others", "no guide and source have the same name")],
)
def test_folders_that_do_not_fit_are_one_mistake(
    run: Run, folders: Folders, guides: str, sources: str, says: str
) -> None:
    root = folders[0].parent
    (root / "empty").mkdir()
    (root / "others").mkdir()
    write_image(root / "others" / "garden.npy", np.ones((3, 4), np.float32))
    outcome = run("upsample", root / guides, root / sources, "-o", root / "large", *COLOUR)
    assert outcome.code == 2
    assert says in outcome.err
    assert not (root / "large").exists()


def test_an_unknown_model_is_one_mistake_not_many(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    outcome = run("upsample", guides, sources, "-o", out, "--model", "color")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert not out.exists()


def die(name: str, files: object, options: object) -> batches.Outcome:
    """In place of `attempt`: a pair that the system kills its process for."""
    if name == "cellar":
        os.kill(os.getpid(), signal.SIGKILL)
    return batches.Outcome(name)


@pytest.mark.slow
def test_a_pair_that_kills_its_process_costs_itself_only(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    guides, sources, out = folders
    batch = batches.match_pairs(guides, sources, out)
    monkeypatch.setattr(batches, "attempt", die)
    outcomes = {outcome.name: outcome.error for outcome in batches.run_batch(batch, PairOptions("colour"), jobs=2)}
    assert outcomes["cellar"].startswith("its process died")
    assert outcomes["attic"] == outcomes["kitchen"] == ""


def test_whatever_befalls_one_pair_the_others_are_done(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    guides, sources, out = folders
    out.mkdir()
    plain = batches.upsample_pair  # type: ignore[attr-defined]

    def unlucky(files: PairFiles, options: PairOptions, note: Callable[[str], None], model: None) -> PairReport:
        if files.source.stem == "attic":
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
        if files.source.stem == "cellar":
            raise KeyError("something nobody thought of")
        return plain(files, options, note, model)

    monkeypatch.setattr(batches, "upsample_pair", unlucky)
    outcomes = {
        each.name: each
        for each in batches.run_batch(batches.match_pairs(guides, sources, out), PairOptions("colour"), 1)
    }
    assert outcomes["attic"].error == "not enough memory"
    assert outcomes["cellar"].error == "KeyError: 'something nobody thought of'"
    assert outcomes["kitchen"].report is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--footprint", "boxes"), "footprint 'boxes': unknown; did you mean box?"),
        (("--noise", "5", "--model", "bicubic"), "noise: Bicubic does not weigh source pixels"),
        (
            ("--uncertainty", "std", "--model", "bicubic"),
            "model Bicubic: has no graph, so it cannot say how sure it is",
        ),
        (("--kind", "scores"), "kind: must be one of 'values', 'probabilities', not 'scores'"),
    ],
)
def test_an_option_that_is_wrong_for_every_pair_is_said_once(
    run: Run, folders: Folders, options: tuple[str, ...], message: str
) -> None:
    guides, sources, out = folders
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR, *options)
    assert outcome.code == 2
    assert outcome.err.count("error:") == 1
    assert message in outcome.err
    assert not out.exists()


def test_noise_and_outliers_are_said_of_every_pair(run: Run, folders: Folders) -> None:
    guides, sources, out = folders
    outcome = run("upsample", guides, sources, "-o", out, *COLOUR, "--noise", "5", "--robust")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("; noise 5 (standard deviation); ") == 3
    assert outcome.out.count(" switched off") == 3
