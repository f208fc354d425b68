"""Pictures: colours in order, missing pixels in grey, nothing cut off."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsr.errors import InputError
from graphsr.pictures import (
    ERRORS,
    VALUES,
    Palette,
    Panel,
    Scale,
    as_picture,
    colourise,
    panels,
    preview,
    robust_range,
    sheet,
)
from graphsr.pictures.colour import MISSING_COLOUR
from graphsr.pictures.graph import graph_picture
from graphsr.pictures.lettering import plain, shortened, text_width, wrapped
from graphsr.pictures.points import enlarged_points, is_sparse
from graphsr.pictures.preview import caption
from graphsr.pictures.scale_bar import tick_labels, ticks
from graphsr.pictures.zoom import most_different


def lightness(colours: np.ndarray) -> np.ndarray:
    """CIE L* of sRGB colours, 0 to 100."""
    share = colours / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def contains(picture: np.ndarray, part: np.ndarray) -> bool:
    height, width = part.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(picture, (height, width, 3))[:, :, 0]
    return bool((windows == part).all(axis=(2, 3, 4)).any())


class TestColours:
    @pytest.mark.parametrize("palette", [VALUES, ERRORS])
    def test_higher_is_lighter_in_even_steps(self, palette: Palette) -> None:
        # From control point to control point: measured 7.8 to 9.6 of L* for VALUES, 7.7 to 13.1 for ERRORS.
        steps = np.diff(lightness(palette.table[np.rint(np.linspace(0, 255, 10)).astype(int)]))
        assert np.all((steps > 6) & (steps < 14))
        # Eight bits a channel make single entries uneven: measured -0.05 at worst.
        assert np.diff(lightness(palette.table)).min() > -0.1

    def test_low_and_high_get_the_ends_and_beyond_is_clipped(self) -> None:
        picture = colourise(np.array([[-9.0, 0.0, 10.0, 99.0, np.inf, -np.inf]]), 0.0, 10.0)
        first, last = VALUES.table[0].tolist(), VALUES.table[-1].tolist()
        assert picture[0].tolist() == [first, first, last, last, last, first]

    def test_missing_pixels_are_neutral_grey(self) -> None:
        picture = colourise(np.array([[np.nan, 1.0]]), 0.0, 1.0)
        assert tuple(picture[0, 0]) == MISSING_COLOUR
        assert len(set(MISSING_COLOUR)) == 1

    def test_whole_numbers_are_coloured_too(self) -> None:
        assert colourise(np.array([[0, 65535]], np.uint16), 0, 65535).shape == (1, 2, 3)

    def test_a_few_outliers_do_not_stretch_the_range(self) -> None:
        values = np.linspace(1, 2, 10_000)
        values[:3] = 1e6
        low, high = robust_range(values)
        assert 1 <= low < high <= 2

    @pytest.mark.parametrize("values", [np.full(5, 3.0), np.zeros(5), np.full(5, np.nan), np.full(4, -1e9)])
    def test_the_range_always_has_some_width(self, values: np.ndarray) -> None:
        low, high = robust_range(values)
        assert low < high

    @pytest.mark.parametrize("shape", [(4, 5), (4, 5, 1), (4, 5, 2), (4, 5, 3), (4, 5, 13)])
    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
    def test_any_guide_becomes_a_picture(self, shape: tuple[int, ...], dtype: str) -> None:
        picture = as_picture(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
        assert picture.shape == (4, 5, 3)
        assert picture.dtype == np.uint8

    def test_an_8_bit_guide_is_shown_as_it_is(self) -> None:
        guide = np.random.default_rng(0).integers(0, 256, (4, 5, 3)).astype(np.uint8)
        np.testing.assert_array_equal(as_picture(guide), guide)


class TestScaleBar:
    @given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e5))
    def test_ticks_are_few_round_and_inside(self, low: float, width: float) -> None:
        values = ticks(low, low + width)
        assert 2 <= len(values) <= 7
        slack = 1e-6 * width
        assert all(low - slack <= value <= low + width + slack for value in values)
        steps = [b - a for a, b in pairwise(values)]
        assert max(steps) - min(steps) <= slack

    def test_labels_share_their_decimals(self) -> None:
        assert tick_labels(ticks(0, 2)) == ["0.0", "0.5", "1.0", "1.5", "2.0"]
        assert tick_labels(ticks(-3000, 3000)) == ["-3000", "-2000", "-1000", "0", "1000", "2000", "3000"]

    def test_the_bar_shows_both_ends_of_the_palette(self) -> None:
        picture = panels([Panel(np.zeros((200, 200, 3), np.uint8), "depth")], scale=Scale(0, 1, "m"))
        for colour in (VALUES.table[0], VALUES.table[-1]):
            assert (picture == colour).all(axis=-1).any()


class TestLettering:
    def test_letters_the_font_lacks_get_stand_ins(self) -> None:
        assert plain("3 × 4 cm², −1 °C, Höhe") == "3 x 4 cm2, -1 °C, Hohe"

    def test_a_long_caption_is_cut_with_dots(self) -> None:
        text = shortened("a very long caption indeed", 14, 80)
        assert text.endswith("...")
        assert text_width(text, 14) <= 80

    def test_a_caption_is_broken_between_words_before_it_is_cut(self) -> None:
        text = "source   20 x 60, channel 1 of 5"
        assert wrapped(text, 14, 1000, 3) == [text]
        lines = wrapped(text, 14, 150, 3)
        assert [line.split() for line in lines] == [["source", "20", "x", "60,"], ["channel", "1", "of", "5"]]
        assert all(text_width(line, 14) <= 150 for line in wrapped(text, 14, 60, 3))
        assert wrapped(text, 14, 60, 3)[-1].endswith("...")
        assert wrapped("source   160 x 480, 157 points", 14, 160, 3) == ["source   160 x 480,", "157 points"]
        assert wrapped("", 14, 60, 3) == []


class TestLayout:
    def test_captions_of_narrow_panels_have_room(self) -> None:
        narrow = np.zeros((300, 90, 3), np.uint8)
        low, high = (panels([Panel(narrow, text), Panel(narrow, "b")]) for text in ("a", "interpolated source, closer"))
        assert high.shape[0] > low.shape[0] + 13
        # The panels have moved down as a whole, with white between them and the letters.
        assert np.array_equal(high[-320:], low[-320:])

    def test_panels_are_shown_pixel_for_pixel_on_white(self) -> None:
        rng = np.random.default_rng(0)
        parts = [rng.integers(0, 256, size).astype(np.uint8) for size in ((9, 12, 3), (7, 5, 3))]
        picture = panels([Panel(part, "a") for part in parts], scale=Scale(0, 1))
        assert all(contains(picture, part) for part in parts)
        edges = [picture[0], picture[-1], picture[:, 0], picture[:, -1]]
        assert all((edge == 255).all() for edge in edges)

    def test_a_sheet_has_rows_columns_titles_and_empty_places(self) -> None:
        part = np.random.default_rng(0).integers(0, 256, (40, 50, 3)).astype(np.uint8)
        bare = sheet([[Panel(part), Panel(part)], [None, Panel(part)]])
        titled = sheet(
            [[Panel(part), Panel(part)], [None, Panel(part, "MSE 1")]],
            column_titles=["bicubic", "graph"],
            row_titles=["x8", "x16"],
            scales=[Scale(0, 1, "m"), Scale(0, 5, "cm", ERRORS)],
            title="Two factors",
        )
        assert bare.shape[0] > 2 * 40
        assert bare.shape[1] > 2 * 50
        assert titled.shape[0] > bare.shape[0]
        assert titled.shape[1] > bare.shape[1]

    def test_a_sheet_without_pictures_is_refused(self) -> None:
        with pytest.raises(InputError, match="at least one picture"):
            sheet([[None]])


class TestZoom:
    def test_it_is_where_two_maps_differ_most(self) -> None:
        first = np.zeros((200, 300))
        second = first.copy()
        second[10:14, 10:14] = 3  # a little
        second[100:130, 200:230] = 2  # more in all
        rows, columns = most_different(first, second)
        assert rows.start <= 100
        assert rows.stop >= 130
        assert columns.start <= 200
        assert columns.stop >= 230

    @pytest.mark.parametrize("corner", [(0, 0), (0, 299), (199, 0), (199, 299)])
    def test_it_stays_inside(self, corner: tuple[int, int]) -> None:
        second = np.zeros((200, 300))
        second[corner] = 1
        rows, columns = most_different(np.zeros((200, 300)), second)
        assert 0 <= rows.start < rows.stop <= 200
        assert 0 <= columns.start < columns.stop <= 300
        assert second[rows, columns].any()

    def test_maps_that_are_alike_have_none(self) -> None:
        assert most_different(np.ones((200, 300)), np.ones((200, 300))) is None
        assert most_different(np.zeros((9, 9)), np.ones((9, 9))) is None
        assert most_different(np.full((200, 300), np.nan), np.ones((200, 300))) is None


class TestGraphPicture:
    def test_a_thin_cut_stays_dark_when_reduced(self) -> None:
        down, right = np.ones((399, 600)), np.ones((400, 599))
        right[:, 123] = 1e-3
        picture = graph_picture(down, right, (100, 150))
        assert picture.shape == (100, 150, 3)
        dark = (picture[..., 0] == 0).all(axis=0)
        assert np.flatnonzero(dark).tolist() == [123 // 4]

    def test_constant_weights_and_single_pixels_are_shown_too(self) -> None:
        assert graph_picture(np.ones((3, 4)), np.ones((4, 3)), (9, 9)).shape == (4, 4, 3)
        assert graph_picture(np.ones((0, 1)), np.ones((1, 0)), (9, 9)).shape == (1, 1, 3)


class TestPoints:
    def test_points_of_a_large_map_can_be_seen_in_a_small_picture(self) -> None:
        values = np.full((1000, 2000), np.nan)
        values[501, 1001] = 7.0
        values[100, 300] = 5.0
        assert is_sparse(values, (240, 480))
        shown = enlarged_points(values, (240, 480))
        assert shown.shape == (240, 480)
        for value, row, column in ((7.0, 120, 240), (5.0, 24, 72)):
            assert shown[row, column] == value
            assert np.count_nonzero(shown == value) > 30  # a disc of radius 4 has 49 pixels

    def test_many_points_stay_apart(self) -> None:
        values = np.full((300, 300), np.nan)
        values[::10, ::10] = 1.0
        share = np.isfinite(enlarged_points(values, (300, 300))).mean()
        assert 0.2 < share < 0.7

    def test_whole_maps_and_large_pixels_are_no_points(self) -> None:
        assert not is_sparse(np.ones((100, 100)), (100, 100))
        few = np.full((10, 10), np.nan)
        few[0, 0] = 1
        assert not is_sparse(few, (400, 400))


class TestPreview:
    def test_the_pixels_of_the_source_can_be_seen(self) -> None:
        source = np.array([[0.0, 1.0], [np.nan, 0.5]])
        picture = preview(np.zeros((80, 80, 3), np.uint8), source, np.zeros((80, 80)))
        side = 80 * (480 // 80) // 2
        low, high = robust_range(source, np.zeros((80, 80)))
        enlarged = colourise(source, low, high).repeat(side, axis=0).repeat(side, axis=1)
        assert any(
            np.array_equal(picture[top : top + 2 * side, left : left + 2 * side], enlarged)
            for top in range(20, 100)
            for left in range(480, 600)
        )

    def test_the_closer_look_shows_pixels_of_the_target(self) -> None:
        guide, target = np.zeros((96, 96, 3), np.uint8), np.zeros((96, 96))
        target[40:44, 50:54] = np.random.default_rng(0).uniform(size=(4, 4))
        weights = np.ones((95, 96)), np.ones((96, 95))
        picture = preview(guide, np.zeros((8, 8)), target, interpolated=np.zeros((96, 96)), edge_weights=weights)
        part = target[most_different(np.zeros((96, 96)), target)]
        low, high = robust_range(np.zeros(part.shape), part)
        enlarged = colourise(part, low, high).repeat(480 // len(part), axis=0).repeat(480 // len(part), axis=1)
        assert enlarged.shape == (480, 480, 3)
        assert any(
            np.array_equal(picture[top : top + 480, left : left + 480], enlarged)
            for top in range(500, 600)
            for left in range(3 * 480, 3 * 480 + 100)
        )

    @pytest.mark.parametrize("size", [(1440, 1920), (3000, 500), (400, 4000), (6, 8), (1, 1)])
    def test_previews_of_any_size_are_of_a_sensible_width(self, size: tuple[int, int]) -> None:
        coarse = np.ones((max(1, size[0] // 8), max(1, size[1] // 8)))
        target = np.random.default_rng(0).uniform(size=size).astype(np.float32)
        weights = target[1:], target[:, 1:]
        picture = preview(np.zeros(size, np.uint8), coarse, target, interpolated=np.ones(size), edge_weights=weights)
        assert 400 < picture.shape[1] < 2300
        assert picture.shape[0] < 2300

    def test_the_channel_that_is_shown_has_a_range_of_its_own(self) -> None:
        shown = np.tile(np.linspace(0, 1, 32, dtype=np.float32), (32, 1))
        guide, others = np.zeros((32, 32, 3), np.uint8), np.full_like(shown, 9000)
        alone = preview(guide, shown[::8, ::8], shown)
        among = np.stack([shown, others, -others, others], -1)
        beside = preview(guide, among[::8, ::8], among)
        assert np.array_equal(alone[40:], beside[40:])  # but for captions

    def test_captions_say_what_is_shown_and_what_is_missing(self) -> None:
        map_, points, hole = np.ones((30, 40)), np.full((30, 40), np.nan), np.ones((30, 40, 5))
        points[3, 4] = 1
        hole[:2, :2, 0] = np.nan
        assert caption("guide", np.ones((30, 40, 3))) == "guide   40 × 30"
        assert caption("source", map_) == "source   40 × 30"
        assert caption("source", points) == "source   40 × 30, 1 point"
        assert caption("source", hole) == "source   40 × 30, channel 1 of 5, 4 missing (grey)"
        assert caption("target", np.ones((30, 40, 3))) == "target   40 × 30, 3 channels as colours"

    def test_missing_colours_are_grey_too(self) -> None:
        source, target = np.random.default_rng(0).uniform(size=(2, 2, 3)), np.ones((80, 80, 3))
        source[0, 1, 2] = np.nan
        picture = preview(np.zeros((80, 80, 3), np.uint8), source, target)
        assert (picture == MISSING_COLOUR).all(-1).sum() == 240 * 240

    @pytest.mark.parametrize("channels", [1, 2, 3, 5])
    def test_sources_with_several_channels_have_a_preview(self, channels: int) -> None:
        source, target = np.ones((4, 4, channels)), np.ones((32, 32, channels), np.float32)
        assert preview(np.zeros((32, 32, 3), np.uint8), source, target).dtype == np.uint8
