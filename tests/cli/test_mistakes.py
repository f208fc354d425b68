"""A user's mistake ends in one line that names the file, exit code 2, and nothing written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphsr.files import write_image
from tests.cli.files_and_runs import Pair, Run


def complaint(run: Run, pair: Pair, *arguments: object) -> str:
    before = pair.files()
    outcome = run("upsample", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert pair.files() == before
    return outcome.err


@pytest.mark.parametrize("role", ["guide", "source", "confidence"])
def test_a_missing_input_is_named(run: Run, pair: Pair, role: str) -> None:
    absent = pair.folder / "absent.png"
    guide = absent if role == "guide" else pair.guide
    source = absent if role == "source" else pair.source
    extra = ("--confidence", absent) if role == "confidence" else ()
    text = complaint(run, pair, guide, source, "-o", pair.folder / "out.png", *extra)
    assert text == f"error: {absent}: no such file\n"


@pytest.mark.parametrize(("typed", "meant"), [("photo.png", "photo.tif"), ("phto.tif", "photo.tif")])
def test_a_mistyped_name_of_a_file_is_corrected(run: Run, pair: Pair, typed: str, meant: str) -> None:
    pair.guide.rename(pair.folder / meant)
    text = complaint(run, pair, pair.folder / typed, pair.source, "-o", pair.folder / "out.png")
    assert text == f"error: {pair.folder / typed}: no such file; did you mean {pair.folder / meant}?\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("synthetik", "--data synthetik: no such folder; did you mean synthetic?"),
        ("hci", "--data hci: a data set has a folder; give hci:FOLDER"),
        ("elsewhere", "elsewhere: no such folder; expected guides/ and targets/"),
    ],
)
def test_data_that_are_not_there_are_named(run: Run, data: str, says: str) -> None:
    outcome = run("evaluate", "--data", data)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {says}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("footprint", "says"), [("bicubik", "did you mean bicubic"), ("gaussian:-1", "SIGMA must be a positive number")]
)
def test_an_unknown_footprint_is_named(run: Run, pair: Pair, footprint: str, says: str) -> None:
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", "--footprint", footprint)
    assert text.startswith(f"error: footprint '{footprint}': ")
    assert says in text


def test_a_folder_as_input_is_named(run: Run, pair: Pair) -> None:
    assert "is a folder" in complaint(run, pair, pair.folder, pair.source, "-o", pair.folder / "out.png")


def test_an_empty_input_is_named(run: Run, pair: Pair) -> None:
    pair.source.write_bytes(b"")
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png")
    assert text == f"error: {pair.source}: the file is empty\n"


def test_a_damaged_input_is_named(run: Run, pair: Pair) -> None:
    pair.guide.write_bytes(pair.guide.read_bytes()[:60])
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png")
    assert f"{pair.guide}: cannot be read as PNG" in text


def test_an_output_folder_that_does_not_exist_is_refused(run: Run, pair: Pair) -> None:
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "absent" / "out.png")
    assert f"{pair.folder / 'absent'} does not exist" in text


@pytest.mark.parametrize("option", ["-o", "--preview", "--uncertainty", "--ply"])
def test_a_folder_as_output_is_refused(run: Run, pair: Pair, option: str) -> None:
    output = () if option == "-o" else ("-o", pair.folder / "out.png")
    text = complaint(run, pair, pair.guide, pair.source, *output, option, pair.folder)
    name = "--output" if option == "-o" else option
    assert text == f"error: {pair.folder}: is a folder; {name} is the name of a file, which may be in it\n"


def test_an_output_of_unknown_format_is_refused(run: Run, pair: Pair) -> None:
    assert "unknown file type .xyz" in complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.xyz")


@pytest.mark.parametrize("role", ["guide", "source"])
def test_an_output_that_is_an_input_is_refused(run: Run, pair: Pair, role: str) -> None:
    out = pair.guide if role == "guide" else pair.source
    before = out.read_bytes()
    roundabout = pair.folder / ".." / pair.folder.name / out.name
    assert "would overwrite an input" in complaint(run, pair, pair.guide, pair.source, "-o", roundabout)
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        "raster guide.tif source.tif -o OUT.tif",
        "raster guide.tif source.tif -o OUT.tif --resume",
        "export last.ckpt OUT.safetensors",
        "evaluate --data synthetic -o OUT.csv",
        "evaluate --data synthetic --sheet OUT.png",
        "benchmark solver --json OUT.json",
    ],
)
def test_no_command_replaces_a_file_unasked(run: Run, tmp_path: Path, command: str) -> None:
    words = [str(tmp_path / word) if word.startswith("OUT") else word for word in command.split()]
    (out,) = (Path(word) for word in words if "OUT" in word)
    out.write_bytes(b"the old one")
    outcome = run(*words)
    assert outcome.code == 2
    assert outcome.err == f"error: {out}: exists already; give another name, or replace it by --overwrite\n"
    assert out.read_bytes() == b"the old one"


def test_a_float_source_and_a_png_output_do_not_go_together(run: Run, pair: Pair) -> None:
    write_image(pair.folder / "source.npy", np.ones((3, 4), np.float32))
    text = complaint(run, pair, pair.guide, pair.folder / "source.npy", "-o", pair.folder / "out.png")
    assert "out.png" in text
    assert ".tif, .npy, .pfm or .exr" in text


def test_an_array_that_is_no_image_is_named(run: Run, pair: Pair) -> None:
    np.save(pair.folder / "odd.npy", np.ones((2, 3, 4, 5)))
    text = complaint(run, pair, pair.guide, pair.folder / "odd.npy", "-o", pair.folder / "out.npy")
    assert "odd.npy: holds an array of shape (2, 3, 4, 5)" in text


def test_more_channels_than_the_output_can_hold_are_refused(run: Run, pair: Pair) -> None:
    write_image(pair.folder / "bands.npy", np.ones((3, 4, 5), np.uint8))
    text = complaint(run, pair, pair.guide, pair.folder / "bands.npy", "-o", pair.folder / "out.png")
    assert "out.png: a PNG file holds 1 or 3 channels, and the image has 5" in text


@pytest.mark.parametrize(
    ("confidence", "reason"),
    [
        (np.ones((3, 5), np.uint8), "5 x 3 pixels; it needs those of the source, 4 x 3"),
        (np.ones((3, 4, 3), np.uint8), "one channel, and the file holds 3"),
        (np.full((3, 4), -0.5, np.float32), "the file holds -0.5"),
        (np.full((3, 4), np.inf, np.float32), "the file holds inf"),
    ],
)
def test_a_confidence_that_does_not_fit_is_named(run: Run, pair: Pair, confidence: np.ndarray, reason: str) -> None:
    path = pair.folder / "confidence.npy"
    write_image(path, confidence)
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", "--confidence", path)
    assert f"{path}: " in text
    assert reason in text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--noise", "-1"), "noise: must be a standard deviation, 0 or above and finite, or 'auto', not -1.0"),
        (("--noise", "nan"), "noise: must be a standard deviation"),
        (("--noise", "much"), "noise: must be a standard deviation in the source's units or 'auto', not 'much'"),
        (("--noise", "3", "--exact"), "noise: with exact the target averages back to the source"),
        (("--robust", "--model", "bicubic"), "robust: Bicubic does not weigh source pixels"),
        (("--confidence", "2"), "--confidence 2: one number for all source pixels must be above 0 and at most 1"),
    ],
)
def test_errors_that_no_source_has_are_refused(run: Run, pair: Pair, options: tuple[str, ...], reason: str) -> None:
    assert reason in complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", *options)


def test_a_missing_value_that_the_source_cannot_hold_is_refused(run: Run, pair: Pair) -> None:
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", "--missing", "-1")
    assert "-1 does not fit uint16" in text


@pytest.mark.parametrize(
    ("preview", "reason"),
    [("look.tif", "suffix .png"), ("absent/look.png", "does not exist"), ("out.png", "the same file")],
)
def test_a_preview_that_cannot_be_written_is_refused_at_once(run: Run, pair: Pair, preview: str, reason: str) -> None:
    out = pair.folder / "out.png"
    text = complaint(run, pair, pair.guide, pair.source, "-o", out, "--preview", pair.folder / preview)
    assert reason in text


def test_what_the_computation_refuses_names_both_files(run: Run, pair: Pair) -> None:
    text = complaint(run, pair, pair.source, pair.guide, "-o", pair.folder / "out.png", "--model", "colour")
    assert str(pair.source) in text
    assert str(pair.guide) in text


def test_what_is_wrong_with_the_model_is_not_blamed_on_the_pair(run: Run, pair: Pair) -> None:
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", "--model", "fdkm")
    assert text.startswith("error: model 'fdkm': no model of this name; did you mean fdkn")


def test_brackets_in_a_name_are_no_markup(run: Run, pair: Pair) -> None:
    absent = pair.folder / "[red]depth[/red].png"
    assert str(absent) in complaint(run, pair, pair.guide, absent, "-o", pair.folder / "out.png")


def graphsr_process(*arguments: object, before: str = "") -> subprocess.Popen[str]:
    # A program started in the background inherits that interrupts are ignored.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{heed}\n{before}\nfrom graphsr.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_the_program_itself_exits_with_2_and_shows_no_traceback(pair: Pair) -> None:
    process = graphsr_process("upsample", pair.guide, "absent.png", "-o", pair.folder / "out.png")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (2, "", "error: absent.png: no such file\n")


@pytest.mark.slow
def test_an_interrupt_exits_with_130_and_shows_no_traceback(pair: Pair) -> None:
    at_work = (
        "import graphsr.files.pair as pair; pair.upsample_with = lambda *_, **__: signal.raise_signal(signal.SIGINT)"
    )
    process = graphsr_process("upsample", pair.guide, pair.source, "-o", pair.folder / "out.png", before=at_work)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert not (pair.folder / "out.png").exists()


def test_an_unknown_alignment_gets_a_suggestion(run: Run, pair: Pair) -> None:
    text = complaint(run, pair, pair.guide, pair.source, "-o", pair.folder / "out.png", "--align", "afine")
    assert text == "error: align 'afine': unknown; did you mean affine?\n"


def test_tiles_are_not_aligned(run: Run, pair: Pair) -> None:
    outcome = run("raster", pair.guide, pair.source, "-o", pair.folder / "out.tif", "--align", "shift")
    assert outcome.code == 2
    assert outcome.err.startswith("error: --align: not in tiles")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "wrong"), [(("--data", "absent"), "no such folder"), (("--data", ".", "--factors", "1"), "--factors")]
)
def test_the_benchmark_of_alignment_says_what_it_needs(run: Run, arguments: tuple[str, ...], wrong: str) -> None:
    outcome = run("benchmark", "alignment", *arguments)
    assert outcome.code == 2
    assert wrong in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("footprints", "--footprint", "bicubc"), "footprint 'bicubc': unknown"),
        (("footprints", "--factors", "3"), "--factors '3': must be whole numbers"),
        (("holes", "--hole", "9000"), "--hole 9000: must leave some"),
    ],
)
def test_benchmarks_say_what_they_cannot_measure(run: Run, arguments: tuple[str, ...], wrong: str) -> None:
    outcome = run("benchmark", *arguments)
    assert outcome.code == 2
    assert wrong in outcome.err
