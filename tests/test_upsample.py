"""`graphsr.upsample`: arrays in, arrays out."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError, Sampling
from graphsr.scenes import scene
from graphsr.threads import on_threads

SIZE, SOURCE_SIZE = (24, 30), (6, 5)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Such small images take milliseconds on one thread, also when other programs want the cores."""
    with on_threads(1):
        yield


def a_guide(size=SIZE, channels=3, seed=0):
    """8-bit patches of colour with a little noise."""
    rng = np.random.default_rng(seed)
    patches = rng.integers(40, 215, (-(-size[0] // 6), -(-size[1] // 6), channels))
    image = np.kron(patches, np.ones((6, 6, 1), np.int64))[: size[0], : size[1]]
    return (image + rng.integers(-5, 6, image.shape)).astype(np.uint8)


def a_source(size=SOURCE_SIZE, channels=None, seed=1):
    shape = size if channels is None else (*size, channels)
    return 5 + np.random.default_rng(seed).random(shape)


def averages(target, source_size):
    """(K, h, w) or (h, w) in float64."""
    target = torch.from_numpy(np.moveaxis(target, -1, 0) if target.ndim == 3 else target).double()
    return Sampling(target.shape[-2:], source_size)(target).numpy()


class TestShapes:
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
    @pytest.mark.parametrize("channels", [None, 1, 3, 4])
    def test_any_guide_gives_a_float32_target_of_its_size(self, channels, dtype):
        guide = a_guide(channels=channels or 1).astype(dtype)
        result = graphsr.upsample(guide[..., 0] if channels is None else guide, a_source())
        assert result.target.shape == SIZE
        assert result.target.dtype == np.float32
        assert result.target.flags.c_contiguous

    @pytest.mark.parametrize("channels", [1, 2])
    def test_a_source_with_channels_gives_a_target_with_channels(self, channels):
        result = graphsr.upsample(a_guide(), a_source(channels=channels))
        assert result.target.shape == (*SIZE, channels)
        assert result.target.dtype == np.float32

    @pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.float32, np.float64, ">f4", np.float16])
    def test_any_real_source_will_do(self, dtype):
        source = (10 * a_source()).astype(dtype)
        target = graphsr.upsample(a_guide(), source).target
        assert abs(target.mean() - source.astype(float).mean()) < 1

    @pytest.mark.parametrize("source_channels", [None, 2])
    def test_edges_lie_between_the_pixels(self, source_channels):
        edges = graphsr.upsample(a_guide(), a_source(channels=source_channels)).edges
        assert tuple(edges.down.shape) == (SIZE[0] - 1, SIZE[1])
        assert tuple(edges.right.shape) == (SIZE[0], SIZE[1] - 1)
        assert float(edges.down.min()) > 0
        assert float(edges.right.min()) > 0

    def test_the_report_says_how_far_the_source_was_relied_on(self):
        guide, source = a_guide(), a_source()
        assert graphsr.upsample(guide, source, model="colour").report.confidence == 1.0
        half = np.full(source.shape, 0.5)
        assert graphsr.upsample(guide, source, model="colour", confidence=half).report.confidence == 0.5

    def test_a_guide_with_channels_first_is_told_where_they_belong(self):
        with pytest.raises(graphsr.InputError, match=r"looks like \(C, H, W\); channels come last"):
            graphsr.upsample(np.moveaxis(a_guide(), -1, 0), a_source())

    def test_the_problem_can_be_solved_again(self):
        result = graphsr.upsample(a_guide(), a_source())
        again = graphsr.solve(result.problem)[0, 0].numpy()
        np.testing.assert_allclose(again, result.target, rtol=0, atol=1e-5)

    def test_the_tolerance_is_one_argument(self):
        guide, source = a_guide(), a_source()
        usual, fine = (graphsr.upsample(guide, source, model="colour", rtol=rtol) for rtol in (None, 1e-5))
        assert fine.report.iterations > usual.report.iterations
        assert fine.report.error <= 1e-5 < usual.report.error <= 1e-3
        exactly = graphsr.solve(fine.problem, rtol=1e-6)[0, 0].numpy()
        for result, rtol in ((usual, 1e-3), (fine, 1e-5)):
            assert np.sqrt(np.square(result.target - exactly).mean()) <= rtol * source.std()

    @pytest.mark.parametrize("rtol", [0.0, 1.0, -1e-3, np.nan, "1e-4"])
    def test_a_tolerance_that_is_none(self, rtol):
        with pytest.raises(graphsr.InputError, match="rtol: must be a number between 0 and 1"):
            graphsr.upsample(a_guide(), a_source(), model="colour", rtol=rtol)

    def test_the_report_says_how_it_went(self):
        source = a_source()
        result = graphsr.upsample(a_guide(), source, model="colour")  # whose misfit is well above rounding
        report = result.report
        assert report.iterations >= 1
        assert 0 <= report.error <= 1e-3
        assert report.seconds > 0
        rms = np.sqrt(np.square(averages(result.target, SOURCE_SIZE) - source).mean())
        # the source is float32 inside; measured 1e-6 relative
        assert report.fidelity == pytest.approx(rms, rel=1e-3)

    def test_a_result_is_shown_in_a_line(self):
        shown = repr(graphsr.upsample(a_guide((32, 40)), a_source((8, 10)), model="colour"))
        assert shown.startswith("Upsampled(target=(32, 40) float32, report=Report(iterations=")
        assert len(shown) < 400

    def test_inputs_are_left_as_they_are(self):
        guide, source = a_guide(), a_source()
        source[2, 2] = np.nan
        copies = guide.copy(), source.copy()
        graphsr.upsample(guide, source)
        np.testing.assert_array_equal(guide, copies[0])
        np.testing.assert_array_equal(source, copies[1])

    def test_views_with_negative_strides_will_do(self):
        guide, source = a_guide(), a_source()
        flipped = graphsr.upsample(guide[::-1], source[::-1]).target
        copied = graphsr.upsample(guide[::-1].copy(), source[::-1].copy()).target
        np.testing.assert_array_equal(flipped, copied)


class TestFactors:
    @pytest.mark.parametrize(
        ("size", "source_size"),
        [
            ((30, 45), (4, 6)),
            ((24, 30), (12, 5)),
            ((25, 31), (6, 7)),
            ((13, 26), (10, 20)),
            ((8, 8), (8, 8)),
            ((1, 12), (1, 4)),
        ],
        ids=["7.5", "each axis its own", "not dividing", "1.3", "1", "a row"],
    )
    def test_any_factor_averages_back_closely(self, size, source_size):
        # A plane, which nobody takes for noise.
        source = 5 + np.add.outer(0.1 * np.arange(source_size[0]), 0.2 * np.arange(source_size[1]))
        result = graphsr.upsample(a_guide(size), source)
        assert result.target.shape == size
        np.testing.assert_allclose(averages(result.target, source_size), source, atol=0.05)

    def test_a_single_source_pixel_gives_a_constant(self):
        target = graphsr.upsample(a_guide(), np.full((1, 1), 3.0)).target
        np.testing.assert_allclose(target, 3.0, rtol=1e-6)


class TestScaling:
    @pytest.mark.parametrize(
        "scaled", [lambda g: g / 255, lambda g: g.astype(np.uint16) * 257, lambda g: g.astype(np.float32)]
    )
    def test_bit_depth_of_the_guide_does_not_matter(self, scaled):
        guide, source = a_guide(), a_source()
        expected = graphsr.upsample(guide, source).target
        np.testing.assert_allclose(graphsr.upsample(scaled(guide), source).target, expected, rtol=0, atol=1e-4)

    @pytest.mark.parametrize(("scale", "shift"), [(1000.0, 0.0), (1e-3, 0.0), (1.0, 100.0)])
    def test_the_unit_of_the_source_does_not_matter(self, scale, shift):
        guide, source = a_guide(), a_source()
        expected = graphsr.upsample(guide, source).target
        target = (graphsr.upsample(guide, source * scale + shift).target.astype(float) - shift) / scale
        np.testing.assert_allclose(target, expected, rtol=0, atol=2e-4)

    def test_a_constant_guide_will_do(self):
        assert np.isfinite(graphsr.upsample(np.full(SIZE, 7, np.uint8), a_source()).target).all()

    def test_a_constant_source_gives_that_constant(self):
        target = graphsr.upsample(a_guide(), np.full(SOURCE_SIZE, 2.5)).target
        np.testing.assert_allclose(target, 2.5, rtol=1e-6)


class TestMissing:
    def test_holes_are_filled(self):
        source = a_source()
        source[1:4, 2] = np.nan
        result = graphsr.upsample(a_guide(), source)
        assert np.isfinite(result.target).all()
        assert np.isfinite(result.report.fidelity)

    def test_nan_is_confidence_0(self):
        source = a_source()
        missing = np.zeros(SOURCE_SIZE, bool)
        missing[1:4, 2] = True
        by_nan = graphsr.upsample(a_guide(), np.where(missing, np.nan, source))
        by_confidence = graphsr.upsample(a_guide(), np.where(missing, 99.0, source), confidence=1.0 - missing)
        np.testing.assert_array_equal(by_nan.target, by_confidence.target)
        assert by_nan.report.fidelity == by_confidence.report.fidelity

    def test_channels_have_holes_of_their_own(self):
        source = a_source(channels=2)
        source[0, 0, 0] = source[3, 4, 1] = np.nan
        target = graphsr.upsample(a_guide(), source).target
        assert np.isfinite(target).all()

    def test_a_pixel_of_little_confidence_counts_little(self):
        source = a_source()
        source[2, 2] = 50.0  # an outlier
        confidence = np.ones(SOURCE_SIZE)
        confidence[2, 2] = 1e-5
        targets = [
            graphsr.upsample(a_guide(), source, model="colour", confidence=each).target for each in (None, confidence)
        ]
        believed, doubted = (averages(target, SOURCE_SIZE)[2, 2] for target in targets)
        assert believed > 49
        assert doubted < 30

    @pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64])
    def test_confidence_of_any_real_dtype(self, dtype):
        confidence = np.ones(SOURCE_SIZE, dtype)
        confidence[0, 0] = 0
        assert np.isfinite(graphsr.upsample(a_guide(), a_source(), confidence=confidence).target).all()


class TestExact:
    @pytest.mark.parametrize(("size", "source_size"), [((24, 30), (6, 5)), ((30, 45), (4, 6)), ((13, 26), (10, 20))])
    def test_averages_back_to_rounding(self, size, source_size):
        source = a_source(source_size)
        result = graphsr.upsample(a_guide(size), source, exact=True)
        np.testing.assert_allclose(averages(result.target, source_size), source, rtol=1e-6)
        assert result.report.fidelity <= 1e-5

    def test_keeps_every_channel_and_skips_holes(self):
        source = a_source(channels=2)
        source[2, 2, 0] = np.nan
        target = graphsr.upsample(a_guide(), source, exact=True).target
        known = np.isfinite(np.moveaxis(source, 2, 0))
        np.testing.assert_allclose(averages(target, SOURCE_SIZE)[known], np.moveaxis(source, 2, 0)[known], rtol=1e-6)


class TestModels:
    def test_are_listed(self):
        names = graphsr.models()
        assert names[0] == "default"
        assert {"colour", "bicubic"} <= set(names)
        assert len(set(names)) == len(names)

    def test_a_loaded_model_is_the_model_of_that_name(self):
        by_name = graphsr.upsample(a_guide(), a_source(), model="colour").target
        by_model = graphsr.upsample(a_guide(), a_source(), model=graphsr.load("colour")).target
        np.testing.assert_array_equal(by_name, by_model)

    def test_bicubic_is_the_bicubic_of_torch(self):
        source = a_source()
        result = graphsr.upsample(a_guide(), source, model="bicubic")
        values = torch.from_numpy(source.astype(np.float32))[None, None]
        expected = torch.nn.functional.interpolate(values, size=SIZE, mode="bicubic", align_corners=False)
        np.testing.assert_array_equal(result.target, expected[0, 0].numpy())
        assert result.edges is None
        assert result.report.iterations == 0

    def test_bicubic_fills_holes(self):
        source = a_source(channels=2)
        source[0, :3] = np.nan
        assert np.isfinite(graphsr.upsample(a_guide(), source, model="bicubic").target).all()

    def test_bicubic_cannot_be_exact(self):
        with pytest.raises(InputError, match="'bicubic' cannot be exact"):
            graphsr.upsample(a_guide(), a_source(), model="bicubic", exact=True)

    @pytest.mark.parametrize(("typed", "meant"), [("color", "colour"), ("bicubc", "bicubic"), ("defualt", "default")])
    def test_an_unknown_name_suggests_the_nearest(self, typed, meant):
        with pytest.raises(InputError, match=f"model '{typed}'.*did you mean .*{meant}"):
            graphsr.upsample(a_guide(), a_source(), model=typed)

    def test_a_name_like_no_other_lists_what_there_is(self):
        with pytest.raises(InputError, match=r"known are default, .*dkn"):
            graphsr.load("xyzzy")

    def test_a_file_that_is_not_there_is_said(self):
        with pytest.raises(InputError, match=r"nowhere\.safetensors"):
            graphsr.load("nowhere.safetensors")


class TestBadArguments:
    @pytest.mark.parametrize("size", [(5, 30), (24, 4)])
    def test_a_guide_smaller_than_the_source(self, size):
        with pytest.raises(
            InputError, match=rf"guide: is {size[1]} pixels wide and {size[0]} high, the source .*swapped"
        ):
            graphsr.upsample(a_guide(size), a_source())

    @pytest.mark.parametrize("shape", [(0, 5), (5, 0), (5, 5, 0), (5,), (1, 5, 5, 3), ()])
    @pytest.mark.parametrize("name", ["guide", "source"])
    def test_an_empty_or_misshapen_image(self, name, shape):
        images = {"guide": a_guide(), "source": a_source(), name: np.zeros(shape)}
        with pytest.raises(InputError, match=f"{name}: must be"):
            graphsr.upsample(**images)

    @pytest.mark.parametrize("dtype", [np.complex64, object, "U3", "M8[s]"])
    @pytest.mark.parametrize("name", ["guide", "source"])
    def test_values_that_are_not_real_numbers(self, name, dtype):
        images = {"guide": a_guide(), "source": a_source(), name: np.zeros(SIZE, dtype)}
        with pytest.raises(InputError, match=f"{name}: must hold real numbers"):
            graphsr.upsample(**images)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_guide_without_a_value_somewhere(self, value):
        guide = a_guide().astype(float)
        guide[3, 4, 1] = value
        with pytest.raises(InputError, match="guide: 1 values are NaN or infinite"):
            graphsr.upsample(guide, a_source())

    def test_an_infinite_source(self):
        source = a_source()
        source[0, 0] = -np.inf
        with pytest.raises(InputError, match="source: holds infinity"):
            graphsr.upsample(a_guide(), source)

    @pytest.mark.parametrize("name", ["guide", "source"])
    @pytest.mark.parametrize("model", ["colour", "bicubic"])
    def test_a_number_too_large_for_single_precision(self, model, name):
        images = {"guide": a_guide().astype(float), "source": a_source()}
        images[name][0, 0] = 1e300
        with pytest.raises(InputError, match=f"{name}: "):
            graphsr.upsample(**images, model=model)

    def test_a_source_that_is_missing_altogether(self):
        with pytest.raises(InputError, match="source: every pixel is missing"):
            graphsr.upsample(a_guide(), np.full(SOURCE_SIZE, np.nan))

    def test_a_channel_that_is_missing_altogether(self):
        source = a_source(channels=2)
        source[..., 1] = np.nan
        with pytest.raises(InputError, match="source: every pixel is missing"):
            graphsr.upsample(a_guide(), source)

    @pytest.mark.parametrize("model", ["colour", "bicubic"])
    def test_a_source_known_only_where_the_confidence_is_0(self, model):
        source, confidence = a_source(), np.ones(SOURCE_SIZE)
        source[1:] = np.nan
        confidence[0] = 0
        with pytest.raises(InputError, match="every pixel"):
            graphsr.upsample(a_guide(), source, confidence=confidence, model=model)

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            (-1.0, r"must lie between 0 \(missing\) and 1, but holds -1"),
            (255.0, r"must lie between 0 \(missing\) and 1, but holds 255"),
            (np.nan, "holds NaN or infinity"),
            (np.inf, "holds NaN or infinity"),
        ],
    )
    def test_a_confidence_that_is_none(self, value, says):
        confidence = np.ones(SOURCE_SIZE)
        confidence[1, 1] = value
        with pytest.raises(InputError, match=f"confidence: {says}"):
            graphsr.upsample(a_guide(), a_source(), confidence=confidence)

    def test_a_confidence_of_0_everywhere(self):
        with pytest.raises(InputError, match="confidence: is 0 everywhere"):
            graphsr.upsample(a_guide(), a_source(), confidence=np.zeros(SOURCE_SIZE))

    @pytest.mark.parametrize("confidence", [np.ones(SIZE), np.ones((*SOURCE_SIZE, 1)), np.ones(SOURCE_SIZE, complex)])
    def test_a_confidence_of_another_shape_or_kind(self, confidence):
        with pytest.raises(InputError, match=r"confidence: must (be one real number|hold real numbers)"):
            graphsr.upsample(a_guide(), a_source(), confidence=confidence)

    def test_more_pixels_than_the_machine_has_memory_for(self, monkeypatch):
        told = {"SC_PHYS_PAGES": 20, "SC_PAGE_SIZE": 4096}
        monkeypatch.setattr(os, "sysconf", told.__getitem__)
        with pytest.raises(InputError, match=r"guide: 300 x 400 pixels need about .* GB of memory"):
            graphsr.upsample(np.ones((400, 300)), a_source())


class TestQuality:
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_beats_bicubic_on_a_scene(self, seed):
        view = scene(seed, (128, 128))
        source = averages(view.depth, (16, 16))

        def off(model):
            return np.abs(graphsr.upsample(view.guide, source, model=model).target - view.depth).mean()

        assert off("default") < off("bicubic")
