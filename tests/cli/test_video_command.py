"""graphsr video: folders of frames, or a video file, in; a folder of targets out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from graphsr.files import read_image, write_image
from tests.cli.files_and_runs import SIZE, Run

COLOUR = ("--model", "colour")
FRAMES = 3


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A folder with guides/, sources/ of three frames."""
    rng = np.random.default_rng(0)
    for folder in ("guides", "sources"):
        (tmp_path / folder).mkdir()
    for n in range(FRAMES):
        guide = np.full((*SIZE, 3), 200, np.uint8)
        guide[:, : SIZE[1] // 2 + n] = (30, 60, 90)
        write_image(tmp_path / "guides" / f"f{n}.png", guide)
        source = rng.integers(1190, 1210, (3, 4)) + np.array([0, 0, 1800, 1800])
        write_image(tmp_path / "sources" / f"f{n}.png", source.astype(np.uint16))
    return tmp_path


def test_frames_are_matched_by_name_and_written_under_it(run: Run, film: Path) -> None:
    out = film / "large"
    outcome = run("video", film / "guides", film / "sources", "-o", out, "--steady", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in out.iterdir()) == ["f0.png", "f1.png", "f2.png"]
    assert read_image(out / "f2.png").size == SIZE
    assert f"3 of 3 written to {out}" in outcome.out
    assert "frames a second" in outcome.out


def test_a_frame_that_fails_is_named_and_the_others_are_written(run: Run, film: Path) -> None:
    (film / "sources" / "f1.png").write_bytes(b"damaged")
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", *COLOUR)
    assert outcome.code == 1
    assert str(film / "sources" / "f1.png") in outcome.err
    assert outcome.err.count("error:") == 1
    assert sorted(path.name for path in (film / "large").iterdir()) == ["f0.png", "f2.png"]


def test_noise_outliers_and_a_confidence_for_all_frames(run: Run, film: Path) -> None:
    confidence = np.ones((3, 4), np.uint8)
    confidence[0, 0] = 0
    write_image(film / "mask.png", confidence)
    options = ("--noise", "8", "--robust", "--confidence", film / "mask.png")
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", *options, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "source pixels of a frame switched off" in outcome.out


def test_confidences_of_a_folder_are_matched_by_name(run: Run, film: Path) -> None:
    (film / "masks").mkdir()
    for n in (0, 2):
        write_image(film / "masks" / f"f{n}.png", np.full((3, 4), 255, np.uint8))
    options = ("--confidence", film / "masks", *COLOUR)
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", *options)
    assert outcome.code == 1
    assert "there is no confidence called f1" in outcome.err
    assert sorted(path.name for path in (film / "large").iterdir()) == ["f0.png", "f2.png"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--noise", "-1"), "noise: must be a standard deviation, 0 or above"),
        (("--noise", "3", "--exact"), "noise: with exact"),
        (("--robust", "--model", "bicubic"), "robust: Bicubic does not weigh source pixels"),
        (("--confidence", "nowhere"), "nowhere: no such file"),
    ],
)
def test_what_is_wrong_for_every_frame_is_said_once(
    run: Run, film: Path, options: tuple[str, ...], message: str
) -> None:
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", *COLOUR, *options)
    assert outcome.code == 2
    assert outcome.err.count("error:") == 1
    assert message in outcome.err
    assert not (film / "large").exists()


def test_a_guide_that_is_missing_is_said(run: Run, film: Path) -> None:
    (film / "guides" / "f2.png").unlink()
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", *COLOUR)
    assert outcome.code == 1
    assert "there is no guide called f2" in outcome.err


@pytest.mark.parametrize(
    ("guides", "message"),
    [
        ("guides/f0.png", "must be a folder of frames, a pattern in quotes, or a video (.mp4"),
        ("empty", "there is no image"),
        ("nowhere", "no such folder or file"),
        ("nowhere.mp4", "no such file"),
    ],
)
def test_what_is_no_film_is_said(run: Run, film: Path, guides: str, message: str) -> None:
    if guides.endswith(".mp4"):
        pytest.importorskip("av")
    (film / "empty").mkdir()
    outcome = run("video", film / guides, film / "sources", "-o", film / "large", *COLOUR)
    assert outcome.code == 2
    assert message in outcome.err
    assert not (film / "large").exists()


def test_a_folder_of_sources_that_is_not_there_is_said(run: Run, film: Path) -> None:
    outcome = run("video", film / "guides", film / "nowhere", "-o", film / "large", *COLOUR)
    assert (outcome.code, outcome.err) == (2, f"error: {film / 'nowhere'}: no such folder\n")


def test_one_source_is_no_film(run: Run, film: Path) -> None:
    outcome = run("video", film / "guides", film / "sources" / "f0.png", "-o", film / "large", *COLOUR)
    assert outcome.code == 2
    assert "f0.png: is one file; sources are a folder of frames" in outcome.err


def test_a_noise_that_was_estimated_is_said(run: Run, film: Path) -> None:
    rng = np.random.default_rng(1)
    for n in range(FRAMES):
        write_image(film / "sources" / f"f{n}.png", rng.integers(1190, 1210, (12, 16)).astype(np.uint16))
    outcome = run("video", film / "guides", film / "sources", "-o", film / "large", "--noise", "auto", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "(standard deviation), estimated, in the mean of the frames" in outcome.out


def test_without_the_extra_its_name_is_said(run: Run, film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)  # as if it were not installed
    outcome = run("video", film / "film.mp4", film / "sources", "-o", film / "large", *COLOUR)
    assert outcome.code == 2
    assert "pip install 'graphsr[video]'" in outcome.err


class TestVideoFiles:
    def write(self, path: Path, frames: int) -> None:
        av = pytest.importorskip("av")
        with av.open(str(path), "w") as container:
            stream = container.add_stream("mpeg4", rate=25)
            stream.height, stream.width = SIZE
            stream.pix_fmt = "yuv420p"
            for n in range(frames):
                picture = np.full((*SIZE, 3), 40 + 20 * n, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            container.mux(stream.encode())

    def test_frames_go_with_sources_in_their_order(self, run: Run, film: Path) -> None:
        self.write(film / "film.mp4", FRAMES)
        outcome = run("video", film / "film.mp4", film / "sources", "-o", film / "large", *COLOUR)
        assert outcome.code == 0, outcome.err
        assert sorted(path.name for path in (film / "large").iterdir()) == ["f0.png", "f1.png", "f2.png"]

    @pytest.mark.parametrize(
        ("frames", "message"), [(2, "ends before the source f2"), (4, "has more frames than there are sources (3)")]
    )
    def test_as_many_sources_as_frames_are_needed(self, run: Run, film: Path, frames: int, message: str) -> None:
        self.write(film / "film.mp4", frames)
        outcome = run("video", film / "film.mp4", film / "sources", "-o", film / "large", *COLOUR)
        assert outcome.code == 2
        assert message in outcome.err

    def test_a_damaged_video_is_said(self, run: Run, film: Path) -> None:
        pytest.importorskip("av")
        (film / "film.mp4").write_bytes(b"no film")
        outcome = run("video", film / "film.mp4", film / "sources", "-o", film / "large", *COLOUR)
        assert outcome.code == 2
        assert "cannot be read as a video" in outcome.err
