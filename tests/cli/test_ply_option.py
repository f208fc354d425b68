"""--ply: a point cloud beside the target, of one pair, of folders, and of completed points."""

from __future__ import annotations

import numpy as np
from plyfile import PlyData

from graphsr.files import read_image
from tests.cli.files_and_runs import SIZE, Pair, Run

COLOUR = ("--model", "colour")


def vertices(path: object) -> np.ndarray:
    return PlyData.read(str(path))["vertex"].data


def test_a_point_cloud_of_a_pair(run: Run, pair: Pair) -> None:
    out, ply = pair.folder / "target.npy", pair.folder / "room.ply"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--ply", ply, "--focal", "40", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert f"{ply}, 768 points, focal length 40 px, as given" in outcome.out
    found = vertices(ply)
    target = read_image(out).array.astype(float)
    np.testing.assert_allclose(found["z"], target.ravel(), atol=0.5)  # the target is stored in whole millimetres
    columns = np.arange(SIZE[1]) + 0.5 - SIZE[1] / 2
    np.testing.assert_allclose(found["x"].reshape(SIZE), columns / 40 * found["z"].reshape(SIZE), rtol=1e-5)
    assert found["red"].reshape(SIZE)[0, 0] == 30
    assert found["blue"].reshape(SIZE)[0, -1] == 200


def test_the_focal_length_is_guessed_and_said(run: Run, pair: Pair) -> None:
    outcome = run(
        "upsample", pair.guide, pair.source, "-o", pair.folder / "t.png", "--ply", pair.folder / "t.ply", *COLOUR
    )
    assert outcome.code == 0, outcome.err
    assert "focal length 25.6 px, guessed: 0.8 of the longer side; --focal says it" in outcome.out


def test_point_clouds_of_folders(run: Run, pair: Pair) -> None:
    for name in ("guides", "sources"):
        (pair.folder / name).mkdir()
    pair.guide.rename(pair.folder / "guides" / "hall.png")
    pair.source.rename(pair.folder / "sources" / "hall.png")
    places = pair.folder / "guides", pair.folder / "sources", "-o", pair.folder / "out"
    outcome = run("upsample", *places, "--ply", pair.folder / "clouds", "--jobs", "1", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert len(vertices(pair.folder / "clouds" / "hall.ply")) == SIZE[0] * SIZE[1]


def test_a_point_cloud_of_completed_points(run: Run, pair: Pair) -> None:
    (pair.folder / "points.csv").write_text("3.5,3.5,2\n20.5,10.5,4\n28.5,20.5,4\n")
    arguments = ("complete", pair.guide, pair.folder / "points.csv", "-o", pair.folder / "t.npy", *COLOUR)
    outcome = run(*arguments, "--ply", pair.folder / "t.ply", "--intrinsics", "30,30,16,12")
    assert outcome.code == 0, outcome.err
    found, target = vertices(pair.folder / "t.ply"), read_image(pair.folder / "t.npy").array
    np.testing.assert_array_equal(found["z"], target.ravel())
    assert "focal length 30 px, as given" in outcome.out


def test_mistakes_end_before_anything_is_computed(run: Run, pair: Pair) -> None:
    before = pair.files()
    arguments = ("upsample", pair.guide, pair.source, "-o", pair.folder / "t.png", *COLOUR)
    for options, message in {
        ("--focal", "500"): "--focal is about the points of --ply FILE",
        ("--ply", pair.folder / "t.obj"): "give it the suffix .ply",
        ("--ply", pair.folder / "t.ply", "--focal", "-1"): "must be positive",
        ("--ply", pair.folder / "t.ply", "--intrinsics", "5,5,900,2"): "not in the guide of 32 x 24 pixels",
        ("--ply", pair.folder / "t.ply", "--baseline", "0"): "--baseline 0: must be positive",
    }.items():
        outcome = run(*arguments, *options)
        assert outcome.code == 2
        assert message in outcome.err
    assert pair.files() == before
