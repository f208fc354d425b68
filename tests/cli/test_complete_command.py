"""graphsr complete: points and a guide in, a file out; mistakes end in one line."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.files import read_image, write_image
from tests.cli.files_and_runs import SIZE, Pair, Run

COLOUR = ("--model", "colour")
POINTS = "x,y,depth\n4.5,3.5,1.2\n10,20,1.25\n20.5,6,3\n30,18.5,3.1\n30.1,18.6,3.3\n"


def test_points_of_a_csv_become_a_map_of_the_size_of_the_guide(run: Run, pair: Pair) -> None:
    points, out, preview = (pair.folder / name for name in ("points.csv", "depth.tif", "look.png"))
    points.write_text(POINTS)
    outcome = run("complete", pair.guide, points, "-o", out, "--preview", preview, *COLOUR)
    assert outcome.code == 0, outcome.err
    target = read_image(out)
    assert target.size == SIZE
    assert target.dtype == np.float32
    # The guide is dark on the left and bright on the right.
    assert target.array[:, :16].max() < 1.5
    assert target.array[:, 16:].min() > 2.7
    assert f"{points}, 5, in 4 pixels" in outcome.out
    assert "meets the points within" in outcome.out
    assert f"{out}, 32 x 24, float32" in outcome.out
    assert read_image(preview).channels == 3


def test_zeros_of_an_image_are_holes_and_its_type_is_that_of_the_target(run: Run, pair: Pair) -> None:
    sparse = np.zeros(SIZE, np.uint16)
    sparse[3, 4], sparse[20, 10], sparse[6, 20], sparse[18, 30] = 1200, 1250, 3000, 3100
    write_image(pair.folder / "lidar.png", sparse)
    out = pair.folder / "depth.png"
    outcome = run("complete", pair.guide, pair.folder / "lidar.png", "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    target = read_image(out)
    assert target.dtype == np.uint16
    assert target.array.min() > 1000
    assert "pixels of 0 are those without a point; --missing changes that" in outcome.err


def test_a_confidence_may_be_one_number(run: Run, pair: Pair) -> None:
    (pair.folder / "points.txt").write_text(POINTS)
    out = pair.folder / "depth.npy"
    outcome = run("complete", pair.guide, pair.folder / "points.txt", "-o", out, "--confidence", 0.01, *COLOUR)
    assert outcome.code == 0, outcome.err


def test_noise_and_outliers_are_said(run: Run, pair: Pair) -> None:
    (pair.folder / "points.txt").write_text(POINTS)
    command = ("complete", pair.guide, pair.folder / "points.txt", "-o", pair.folder / "depth.npy", *COLOUR)
    outcome = run(*command, "--noise", 0.1, "--robust")
    assert outcome.code == 0, outcome.err
    assert "0.1 (standard deviation)" in outcome.out
    assert "0 of the points left out" in outcome.out
    refused = run(*command, "--noise", "auto", "--overwrite")
    assert refused.code == 2
    assert "give a standard deviation, not 'auto'" in refused.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y,z\n1,1,1\n99,1,1\n", "points.csv: points: 1 of 2 lie outside the guide, the first is line 3 at x = 99"),
        ("1,1\n", "points: have 2 columns; each row must be x, y, value"),
        ("1,1,nan\n", "points: 1 of 1 hold NaN or infinity, the first is line 1"),
        ("x,y,z\n", "points.csv: there is no point in it"),
        ("1,1,far\n", "points.csv: line 1: 'far' is not a number"),
    ],
)
def test_wrong_points_end_in_one_line(run: Run, pair: Pair, text: str, message: str) -> None:
    points, out = pair.folder / "points.csv", pair.folder / "depth.tif"
    points.write_text(text)
    outcome = run("complete", pair.guide, points, "-o", out, *COLOUR)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("error:") == 1
    assert not out.exists()


def test_a_value_for_holes_is_for_maps(run: Run, pair: Pair) -> None:
    (pair.folder / "points.csv").write_text(POINTS)
    outcome = run("complete", pair.guide, pair.folder / "points.csv", "-o", pair.folder / "d.tif", "--missing", -1)
    assert outcome.code == 2
    assert "points.csv: --missing is for maps; of rows, leave out those without a value" in outcome.err


def test_a_coarse_map_is_for_another_command(run: Run, pair: Pair) -> None:
    outcome = run("complete", pair.guide, pair.source, "-o", pair.folder / "depth.png", *COLOUR)
    assert outcome.code == 2
    assert "is a map of 4 x 3 pixels, and the guide has 32 x 24" in outcome.err
    assert "graphsr upsample" in outcome.err


def test_a_list_has_its_confidences_in_a_column(run: Run, pair: Pair) -> None:
    (pair.folder / "points.csv").write_text(POINTS)
    outcome = run(
        "complete", pair.guide, pair.folder / "points.csv", "-o", pair.folder / "d.tif", "--confidence", pair.source
    )
    assert outcome.code == 2
    assert "fourth column" in outcome.err


def test_nothing_is_replaced_unasked(run: Run, pair: Pair) -> None:
    (pair.folder / "points.csv").write_text(POINTS)
    out = pair.folder / "depth.tif"
    out.write_bytes(b"mine")
    command = ("complete", pair.guide, pair.folder / "points.csv", "-o", out, *COLOUR)
    outcome = run(*command)
    assert outcome.code == 2
    assert "exists already" in outcome.err
    assert out.read_bytes() == b"mine"
    assert run(*command, "--overwrite").code == 0
