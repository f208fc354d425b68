"""graphsr upsample: a pair of files in, a file in the source's units and type out."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tifffile
from PIL import Image as PillowImage

import graphsr
from graphsr.files import read_image, write_image
from tests.cli.files_and_runs import FACTOR, SIZE, Pair, Run
from tests.measurements.shifted_pairs import placed_pair

COLOUR = ("--model", "colour")


def block_means(array: np.ndarray) -> np.ndarray:
    rows, columns = SIZE[0] // FACTOR, SIZE[1] // FACTOR
    return array.astype(float).reshape(rows, FACTOR, columns, FACTOR).mean(axis=(1, 3))


def test_16_bit_millimetres_in_16_bit_millimetres_out(run: Run, pair: Pair) -> None:
    out = pair.folder / "target.png"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    target = read_image(out)
    assert target.dtype == np.uint16
    assert target.size == SIZE
    # Soft data term and rounding to whole millimetres, in a scene of 1200 and 3000 mm.
    np.testing.assert_allclose(block_means(target.array), read_image(pair.source).array, atol=30)


def test_the_summary_says_what_was_done(run: Run, pair: Pair) -> None:
    out = pair.folder / "target.png"
    text = run("upsample", pair.guide, pair.source, "-o", out, *COLOUR).out
    assert f"{pair.guide}, 32 x 24, 3 channels, uint8" in text
    assert f"{pair.source}, 4 x 3, uint16" in text
    assert "8 x 8" in text
    assert " s\n" in text
    assert "averages back to the source within" in text
    assert f"{out}, 32 x 24, uint16" in text
    assert "values rounded to uint16, by at most" in text


def test_the_summary_says_what_was_made_of_noise_and_outliers(run: Run, pair: Pair) -> None:
    arguments = ("upsample", pair.guide, pair.source, "-o")
    text = run(*arguments, pair.folder / "one.png", *COLOUR, "--noise", "5", "--robust", "--confidence", "0.5").out
    assert "5 (standard deviation)\n" in text
    assert "0 source pixels switched off" in text
    text = run(*arguments, pair.folder / "two.png", *COLOUR, "--noise", "auto").out
    assert "(standard deviation), estimated" in text
    assert "switched off" not in text
    plain = run(*arguments, pair.folder / "three.png", *COLOUR).out
    assert "noise" not in plain
    assert "outliers" not in plain


def test_the_model_need_not_be_named(run: Run, pair: Pair) -> None:
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "target.png")
    assert outcome.code == 0, outcome.err


def test_the_factor_need_not_be_whole(run: Run, pair: Pair) -> None:
    write_image(pair.guide, np.zeros((30, 30, 3), np.uint8))
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "target.tif", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "7.5 x 10" in outcome.out  # width x height, as of all sizes
    assert "the factors differ (10 down, 7.5 across)" in outcome.err


@pytest.mark.parametrize(
    ("name", "dtype"), [("t.tif", "uint16"), ("t.npy", "uint16"), ("t.pfm", "float32"), ("t.exr", "float32")]
)
def test_the_suffix_of_the_output_says_its_format(run: Run, pair: Pair, name: str, dtype: str) -> None:
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / name, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert read_image(pair.folder / name).dtype == dtype


def test_a_preview_is_written_beside_the_result(run: Run, pair: Pair) -> None:
    preview = pair.folder / "look.png"
    out = pair.folder / "target.png"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--preview", preview, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert str(preview) in outcome.out
    assert read_image(preview).channels == 3


def test_exact_averages_back_to_the_rounding(run: Run, pair: Pair) -> None:
    out = pair.folder / "target.pfm"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--exact", *COLOUR)
    assert outcome.code == 0, outcome.err
    # Single floats of a few thousand carry about 2e-4.
    np.testing.assert_allclose(block_means(read_image(out).array), read_image(pair.source).array, rtol=1e-5)


def with_holes(pair: Pair) -> None:
    source = read_image(pair.source).array.copy()
    source[1, 1] = 0
    write_image(pair.source, source)


def test_suspicious_zeros_are_said_once_and_only_if_not_dealt_with(run: Run, pair: Pair) -> None:
    with_holes(pair)
    arguments = ("upsample", pair.guide, pair.source, "-o", pair.folder / "target.png", *COLOUR)
    plain, marked = run(*arguments), run(*arguments, "--missing", "0", "--overwrite")
    assert plain.code == marked.code == 0, plain.err + marked.err
    assert plain.err.count("--missing 0") == 1
    assert "8.3% of the values are 0" in plain.err
    assert "values are 0" not in marked.err
    assert ", 1 missing" in marked.out


def test_missing_pixels_are_filled_from_their_neighbours(run: Run, pair: Pair) -> None:
    with_holes(pair)
    out = pair.folder / "target.png"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--missing", "0", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert read_image(out).array.min() > 1000


def test_a_missing_value_that_never_occurs_is_said(run: Run, pair: Pair) -> None:
    out = pair.folder / "target.png"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--missing", "65535", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "no value is 65535" in outcome.err


def test_nan_is_missing_in_a_float_source(run: Run, pair: Pair) -> None:
    source = pair.folder / "source.npy"
    depth = read_image(pair.source).array / np.float32(1000)
    depth[1, 1] = np.nan
    write_image(source, depth)
    out = pair.folder / "target.npy"
    outcome = run("upsample", pair.guide, source, "-o", out, "--missing", "nan", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert np.isfinite(read_image(out).array).all()


def test_the_missing_value_a_geotiff_declares_is_used(run: Run, pair: Pair) -> None:
    heights = read_image(pair.source).array.astype(np.float32)
    heights[1, 1] = -9999
    source = pair.folder / "heights.tif"
    tifffile.imwrite(source, heights, extratags=[(42113, "s", 0, "-9999", True)], metadata=None)
    out = pair.folder / "target.tif"
    outcome = run("upsample", pair.guide, source, "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "-9999 counts as missing, as the file declares" in outcome.err
    assert read_image(out).array.min() > 1000


def test_a_pixel_without_confidence_does_not_count(run: Run, pair: Pair) -> None:
    with_holes(pair)
    confidences = np.full((3, 4), 255, np.uint8)
    confidences[1, 1] = 0
    confidence, out = pair.folder / "confidence.png", pair.folder / "target.png"
    write_image(confidence, confidences)
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--confidence", confidence, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert read_image(out).array.min() > 1000


def test_a_dropped_alpha_channel_is_said(run: Run, pair: Pair) -> None:
    PillowImage.new("RGBA", (32, 24), (10, 20, 30, 255)).save(pair.guide)
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "target.png", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert f"note: {pair.guide}: alpha channel dropped" in outcome.err


def test_several_channels_are_upsampled_together(run: Run, pair: Pair) -> None:
    bands = np.random.default_rng(0).integers(100, 1000, (3, 4, 5)).astype(np.uint16)
    write_image(pair.folder / "bands.tif", bands)
    out = pair.folder / "fine.tif"
    outcome = run("upsample", pair.guide, pair.folder / "bands.tif", "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert read_image(out).array.shape == (*SIZE, 5)


@pytest.mark.parametrize("suffix", [".webp", ".bmp", ".ppm"])
def test_guides_of_other_picture_formats_are_read(run: Run, pair: Pair, suffix: str) -> None:
    guide, out = pair.guide.with_suffix(suffix), pair.folder / "target.png"
    PillowImage.open(pair.guide).save(guide, lossless=True)
    outcome = run("upsample", guide, pair.source, "-o", out, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert f"{guide}, 32 x 24, 3 channels, uint8" in outcome.out


def test_existing_files_are_replaced_only_when_asked(run: Run, pair: Pair) -> None:
    out, preview = pair.folder / "target.png", pair.folder / "look.png"
    arguments = ("upsample", pair.guide, pair.source, "-o", out, "--preview", preview, *COLOUR)
    for existing in (out, preview):
        existing.write_bytes(b"the old one")
        outcome = run(*arguments)
        assert outcome.code == 2
        assert outcome.err == f"error: {existing}: exists already; give another name, or replace it by --overwrite\n"
        assert existing.read_bytes() == b"the old one"
        existing.rename(pair.folder / "elsewhere")
    out.write_bytes(b"the old one")
    assert run(*arguments, "--overwrite").code == 0
    assert read_image(out).size == SIZE


@pytest.mark.parametrize(("name", "dtype"), [("std.tif", "float32"), ("std.npy", "float32"), ("std.png", "uint16")])
def test_the_uncertainty_is_written_in_the_formats_of_the_target(run: Run, pair: Pair, name: str, dtype: str) -> None:
    std = pair.folder / name
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "t.png", "--uncertainty", std, *COLOUR)
    assert outcome.code == 0, outcome.err
    assert f"{std}, 32 x 24, {dtype}" in outcome.out
    written = read_image(std)
    assert written.dtype == dtype
    assert written.size == SIZE
    assert 0 < written.array.astype(float).mean() < 1000  # millimetres, in a scene of 1200 and 3000


def test_an_uncertainty_that_cannot_be_had_leaves_no_file(run: Run, pair: Pair) -> None:
    before = pair.files()
    out, std = pair.folder / "target.png", pair.folder / "std.tif"
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--uncertainty", std, "--model", "bicubic")
    assert outcome.code == 2
    assert "has no graph, so it cannot say how sure it is" in outcome.err
    outcome = run("upsample", pair.guide, pair.source, "-o", out, "--uncertainty", out, *COLOUR)
    assert "--uncertainty and --output are the same file" in outcome.err
    assert pair.files() == before


def test_a_shifted_source_is_aligned_and_the_shift_is_said(run: Run, pair: Pair) -> None:
    shifted = placed_pair((-2.6, 1.3))
    guide, source, out = (pair.folder / name for name in ("photo.png", "shifted.npy", "aligned.npy"))
    write_image(guide, shifted.guide)
    write_image(source, shifted.source.astype(np.float32))
    outcome = run("upsample", guide, source, "-o", out, "--align", "shift", *COLOUR)
    assert outcome.code == 0, outcome.err
    said = " ".join(outcome.out.split())
    assert re.search(
        r"alignment the source belongs 2\.\d\d guide pixels further left and 1\.\d\d further down \(give or take", said
    )
    error = np.sqrt(np.mean((read_image(out).array - shifted.depth) ** 2))
    # Without alignment 0.138 m.
    assert error < 0.07


def test_a_certain_shift_is_corrected_unasked_unless_the_source_is_said_to_lie_edge_to_edge(
    run: Run, pair: Pair
) -> None:
    shifted = placed_pair((-2.6, 1.3), source_size=(48, 56))
    guide, source = pair.folder / "photo.png", pair.folder / "shifted.npy"
    write_image(guide, shifted.guide)
    write_image(source, shifted.source.astype(np.float32))
    errors = []
    for said, options in [(True, ()), (False, ("--align", "none"))]:
        out = pair.folder / f"corrected-{said}.npy"
        outcome = run("upsample", guide, source, "-o", out, *options)
        assert outcome.code == 0, outcome.err
        assert ("the source belongs 2." in " ".join(outcome.out.split())) == said
        assert "edge to edge" not in outcome.err
        errors.append(np.sqrt(np.mean((read_image(out).array - shifted.depth) ** 2)))
    assert errors[0] < 0.6 * errors[1]


def test_a_shift_that_nobody_asked_about_is_noted_and_not_corrected(run: Run, pair: Pair) -> None:
    guide, source = pair.folder / "photo.png", pair.folder / "source.npy"
    for shift, noted in [((-2.6, 1.3), True), ((0.0, 0.0), False)]:
        placed = placed_pair(shift)
        write_image(guide, placed.guide)
        write_image(source, placed.source.astype(np.float32))
        out = pair.folder / f"shifted-{noted}.npy"
        outcome = run("upsample", guide, source, "-o", out, *COLOUR)
        assert outcome.code == 0, outcome.err
        assert ("seems not to lie edge to edge on the guide" in " ".join(outcome.err.split())) == noted
        assert "alignment" not in outcome.out
        plain = graphsr.upsample(placed.guide, placed.source.astype(np.float32), model="colour").target
        np.testing.assert_array_equal(read_image(out).array, plain)
        guide.unlink()
        source.unlink()


def test_a_pair_that_tells_nothing_is_not_aligned_and_that_is_said(run: Run, pair: Pair) -> None:
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "t.png", "--align", "affine", *COLOUR)
    assert outcome.code == 0, outcome.err
    assert "unchanged: the source has too few edges" in " ".join(outcome.out.split())
