"""D, its adjoint and the interpolation back: statements that hold for any factor."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import interpolate

from graphsr import InputError, Sampling
from graphsr.sampling import fill_holes, interpolate_source

SIZES = {
    "integer": ((12, 16), (3, 4)),
    "factor 7.5": ((30, 15), (4, 2)),
    "factor 1.3": ((13, 26), (10, 20)),
    "each axis its own": ((12, 21), (6, 4)),
    "not dividing": ((17, 23), (5, 7)),
    "factor 1": ((5, 6), (5, 6)),
    "one cell": ((7, 5), (1, 1)),
    "a row": ((1, 19), (1, 4)),
}
every_size = pytest.mark.parametrize(("size", "source_size"), SIZES.values(), ids=SIZES.keys())


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def overlap(size: int, cells: int) -> np.ndarray:
    """(cells, size) the part of each cell that each pixel covers, straight from the definition."""
    factor = size / cells
    table = np.zeros((cells, size))
    for cell in range(cells):
        for pixel in range(size):
            shared = min((cell + 1) * factor, pixel + 1) - max(cell * factor, pixel)
            table[cell, pixel] = max(shared, 0.0) / factor
    return table


class TestAverage:
    @every_size
    def test_is_the_area_weighted_mean(self, size, source_size):
        target = noise(2, 3, *size)
        rows, columns = overlap(size[0], source_size[0]), overlap(size[1], source_size[1])
        expected = rows @ target.numpy() @ columns.T
        # measured 4e-16
        np.testing.assert_allclose(Sampling(size, source_size)(target).numpy(), expected, rtol=0, atol=1e-13)

    @every_size
    def test_a_constant_stays_that_constant(self, size, source_size):
        average = Sampling(size, source_size)(torch.full(size, 3.7, dtype=torch.float64))
        # rows of D sum to 1; measured 9e-16
        torch.testing.assert_close(average, torch.full_like(average, 3.7), rtol=1e-14, atol=0)

    def test_of_an_integer_factor_is_the_block_mean(self):
        target = noise(1, 2, 12, 20)
        blocks = target.reshape(1, 2, 3, 4, 5, 4).mean((3, 5))
        # measured 6e-17
        torch.testing.assert_close(Sampling((12, 20), (3, 5))(target), blocks, rtol=0, atol=1e-15)

    def test_of_factor_1_changes_nothing(self):
        target = noise(4, 5)
        assert torch.equal(Sampling((4, 5), (4, 5))(target), target)

    def test_keeps_any_leading_shape_and_dtype(self):
        sampling = Sampling((9, 10), (4, 5))
        assert sampling(noise(9, 10).float()).shape == (4, 5)
        assert sampling(noise(2, 3, 1, 9, 10)).shape == (2, 3, 1, 4, 5)
        assert sampling(noise(9, 10).float()).dtype == torch.float32

    def test_knows_its_factor(self):
        assert Sampling((15, 26), (2, 20)).factor == (7.5, 1.3)


class TestAdjoint:
    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(
        cells=st.tuples(st.integers(1, 9), st.integers(1, 9)),
        more=st.tuples(st.integers(0, 30), st.integers(0, 30)),
        seed=st.integers(0, 99),
    )
    def test_is_the_transpose_for_any_size(self, cells, more, seed):
        size = (cells[0] + more[0], cells[1] + more[1])
        self.check(size, cells, seed)

    @every_size
    def test_is_the_transpose_for_the_sizes_people_use(self, size, source_size):
        self.check(size, source_size, seed=1)

    @staticmethod
    def check(size, source_size, seed):
        sampling = Sampling(size, source_size)
        y, s = noise(*size, seed=seed), noise(*source_size, seed=seed + 1)
        left, right = (sampling(y) * s).sum(), (y * sampling.adjoint(s)).sum()
        # measured 7e-15 at the most
        assert abs(left - right) <= 1e-12 * (1 + abs(left))

    @every_size
    def test_keeps_the_sum(self, size, source_size):
        s = noise(*source_size)
        # columns of D^T sum to 1
        torch.testing.assert_close(Sampling(size, source_size).adjoint(s).sum(), s.sum(), rtol=1e-12, atol=1e-12)

    def test_agrees_with_what_autograd_finds(self):
        sampling = Sampling((11, 13), (4, 5))
        y = noise(11, 13).requires_grad_()
        s = noise(4, 5, seed=1)
        sampling(y).backward(s)
        torch.testing.assert_close(y.grad, sampling.adjoint(s), rtol=0, atol=1e-14)


class TestMaskedAverage:
    def test_ignores_invalid_pixels(self):
        sampling = Sampling((2, 4), (1, 2))
        target = torch.tensor([[1.0, 3.0, 5.0, torch.nan], [1.0, 999.0, 7.0, torch.inf]])
        valid = torch.tensor([[True, True, True, False], [True, False, True, False]])
        mean, share = sampling.masked(target, valid)
        torch.testing.assert_close(mean, torch.tensor([[5 / 3, 6.0]]))
        torch.testing.assert_close(share, torch.tensor([[0.75, 0.5]]))

    def test_gives_an_empty_cell_the_value_0_and_the_share_0(self):
        valid = torch.ones(6, 6, dtype=torch.bool)
        valid[:3, :3] = False
        mean, share = Sampling((6, 6), (2, 2)).masked(torch.full((6, 6), 4.0), valid)
        assert (float(mean[0, 0]), float(share[0, 0])) == (0.0, 0.0)
        torch.testing.assert_close(mean.flatten()[1:], torch.full((3,), 4.0))

    @every_size
    def test_is_the_plain_average_where_all_is_valid(self, size, source_size):
        sampling, target = Sampling(size, source_size), noise(*size)
        mean, share = sampling.masked(target, torch.ones(size, dtype=torch.bool))
        torch.testing.assert_close(mean, sampling(target), rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(share, torch.ones(source_size, dtype=torch.float64), rtol=1e-14, atol=0)

    @every_size
    def test_of_a_constant_is_that_constant_wherever_there_is_a_share(self, size, source_size):
        valid = noise(*size, seed=3) > 0
        mean, share = Sampling(size, source_size).masked(torch.full(size, 2.5, dtype=torch.float64), valid)
        torch.testing.assert_close(mean, torch.where(share > 0, 2.5, 0.0).double(), rtol=1e-12, atol=0)


class TestBadArguments:
    @pytest.mark.parametrize(("size", "source_size"), [((4, 4), (5, 4)), ((4, 4), (4, 5)), ((1, 1), (2, 2))])
    def test_a_factor_below_1_is_refused(self, size, source_size):
        with pytest.raises(InputError, match="factor cannot be below 1"):
            Sampling(size, source_size)

    @pytest.mark.parametrize(
        ("size", "source_size", "name"), [((0, 4), (1, 1), "size"), ((4, 4), (1, 0), "source_size")]
    )
    def test_an_empty_size_is_refused(self, size, source_size, name):
        with pytest.raises(InputError, match=f"^{name} must be at least 1 x 1"):
            Sampling(size, source_size)

    def test_a_target_of_another_size_is_refused(self):
        with pytest.raises(InputError, match=r"target must end in \(6, 6\)"):
            Sampling((6, 6), (2, 2))(torch.zeros(5, 6))

    def test_a_source_of_another_size_is_refused(self):
        with pytest.raises(InputError, match=r"source must end in \(2, 2\)"):
            Sampling((6, 6), (2, 2)).adjoint(torch.zeros(6, 6))


holes = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda size: (
        st.lists(st.booleans(), min_size=size[0] * size[1], max_size=size[0] * size[1])
        .filter(any)
        .map(lambda known: torch.tensor(known).reshape(1, 1, *size))
    )
)


class TestInterpolation:
    @pytest.mark.parametrize(("size", "source_size"), [((12, 16), (3, 4)), ((17, 23), (5, 7)), ((1, 9), (1, 2))])
    def test_without_holes_is_torch_bicubic(self, size, source_size):
        source = noise(2, 3, *source_size)
        expected = interpolate(source, size=size, mode="bicubic", align_corners=False)
        assert torch.equal(interpolate_source(source, size), expected)

    @pytest.mark.parametrize(("size", "source_size"), [((12, 16), (3, 4)), ((15, 4), (3, 4)), ((7, 8), (1, 2))])
    def test_one_plane_at_whole_factors_is_torch_bicubic_but_for_rounding(self, size, source_size):
        source = noise(1, 1, *source_size)
        expected = interpolate(source, size=size, mode="bicubic", align_corners=False)
        # In double precision the two differ by 4e-16.
        torch.testing.assert_close(
            interpolate_source(source, Sampling(size, source_size)), expected, rtol=0, atol=1e-14
        )

    def test_to_the_same_size_changes_nothing(self):
        source = noise(1, 1, 4, 5)
        assert torch.equal(interpolate_source(source, (4, 5)), source)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(known=holes, more=st.tuples(st.integers(0, 20), st.integers(0, 20)))
    def test_of_a_constant_with_any_holes_is_that_constant(self, known, more):
        source = torch.where(known, torch.tensor(5.0, dtype=torch.float64), torch.nan)
        size = (known.shape[-2] + more[0], known.shape[-1] + more[1])
        result = interpolate_source(source, size)
        # measured 9e-16; also says that no NaN is left
        torch.testing.assert_close(result, torch.full((1, 1, *size), 5.0, dtype=torch.float64), rtol=1e-13, atol=0)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(known=holes, seed=st.integers(0, 99))
    def test_hole_filling_keeps_known_pixels_and_stays_between_them(self, known, seed):
        source = torch.where(known, noise(*known.shape, seed=seed), torch.nan)
        filled = fill_holes(source, known)
        low, high = source[known].min(), source[known].max()
        assert torch.equal(filled[known], source[known])
        assert bool(((filled >= low - 1e-12) & (filled <= high + 1e-12)).all())

    def test_each_channel_has_its_own_holes(self):
        source = noise(1, 2, 5, 6)
        source[0, 0, 1, 1] = torch.nan
        source[0, 1, 3, 4:] = torch.nan
        together = interpolate_source(source, (13, 17))
        apart = torch.cat([interpolate_source(source[:, k : k + 1], (13, 17)) for k in range(2)], 1)
        assert torch.equal(together, apart)

    def test_a_value_said_to_be_unknown_is_not_used(self):
        source = torch.full((1, 1, 4, 4), 2.0)
        source[0, 0, 1, 2] = 1e6
        known = source < 1e6
        torch.testing.assert_close(interpolate_source(source, (9, 9), known), torch.full((1, 1, 9, 9), 2.0))


PLACES = {
    "begins inside the target": (0.4, 4.0),
    "begins before it": (-1.7, 4.0),
    "at a whole offset": (-3.0, 4.0),
    "factor 7.5": (-2.25, 7.5),
    "factor 1.3": (-0.5, 1.3),
    "factor 1, half a pixel off": (-0.5, 1.0),
}
every_place = pytest.mark.parametrize(("origin", "step"), PLACES.values(), ids=PLACES.keys())


def placed(origin: float, step: float) -> Sampling:
    """A target of 19 x 23 pixels, and as many cells as it takes to cover it."""
    height, width = (int(np.ceil((n - origin) / step - 1e-9)) for n in (19, 23))
    return Sampling((19, 23), (height, width), origin=(origin, origin), step=(step, step))


class TestSourcesThatLieAnywhere:
    @every_place
    def test_each_cell_averages_what_of_it_is_visible(self, origin, step):
        sampling, target = placed(origin, step), noise(19, 23)
        tables = []
        for size, cells in zip((19, 23), sampling.source_size, strict=True):
            begin, pixel = origin + np.arange(cells)[:, None] * step, np.arange(size)
            table = np.clip(np.minimum(begin + step, pixel + 1) - np.maximum(begin, pixel), 0, None)
            seen = table.sum(1, keepdims=True)
            # Of a cell at the border less than a pixel and less than half may be visible: it then counts as outside.
            tables.append(np.where(seen >= min(1, step / 2), table / seen, 0))
        expected = tables[0] @ target.numpy() @ tables[1].T
        # measured 7e-16
        np.testing.assert_allclose(sampling(target).numpy(), expected, rtol=0, atol=1e-13)

    @every_place
    def test_the_adjoint_is_the_transpose(self, origin, step):
        sampling = placed(origin, step)
        y, s = noise(19, 23), noise(*sampling.source_size, seed=1)
        assert abs((sampling(y) * s).sum() - (y * sampling.adjoint(s)).sum()) < 1e-11

    def test_a_pixel_at_the_centre_of_a_cell_takes_its_value(self):
        source = noise(1, 1, 5, 6)
        sampling = Sampling((13, 16), (5, 6), origin=(-1.0, -1.0), step=(3.0, 3.0))
        found = interpolate_source(source, sampling)
        torch.testing.assert_close(found[..., ::3, ::3], source, rtol=0, atol=1e-12)

    @pytest.mark.parametrize(("size", "source_size"), [((12, 16), (3, 4)), ((17, 23), (5, 7))])
    def test_edge_to_edge_both_interpolations_agree(self, size, source_size):
        source = noise(1, 2, *source_size)
        down, right = size[0] / source_size[0], size[1] / source_size[1]
        # A hair off the plain case, so that the tables are used.
        off = Sampling(size, source_size, origin=(1e-7, 1e-7), step=(down - 1e-8, right - 1e-8))
        assert not off.edge_to_edge
        torch.testing.assert_close(interpolate_source(source, off), interpolate_source(source, size), rtol=0, atol=1e-6)

    def test_a_window_of_the_interpolation_is_the_interpolation_of_the_window(self):
        source = noise(1, 1, 12, 12)
        whole = interpolate_source(source, (90, 90))
        part = interpolate_source(
            source[..., 2:11, 2:11], Sampling((60, 60), (9, 9), origin=(-3.0, -5.0), step=(7.5, 7.5))
        )
        # From pixel (18, 20) on; two cells from the window's border there is no difference.
        torch.testing.assert_close(part[..., 15:45, 15:45], whole[..., 33:63, 35:65], rtol=0, atol=1e-12)

    def test_a_source_that_lies_wholly_outside_is_refused(self):
        with pytest.raises(InputError, match="all lie outside the target, which goes from 0 to 10"):
            Sampling((10, 10), (2, 2), origin=(0.0, 12.0), step=(4.0, 4.0))

    def test_a_step_below_1_is_refused(self):
        with pytest.raises(InputError, match="factor cannot be below 1"):
            Sampling((4, 4), (8, 8), origin=(0.0, 0.0), step=(0.5, 0.5))


SHIFTS = {
    "a whole source pixel up": (-4.0, 4.0, 4),
    "more than one, and a part": (-6.3, 4.0, 5),
    "down, so that the target begins before it": (5.7, 4.0, 3),
    "small, in the middle of the target": (6.0, 2.0, 3),
    "larger than the target on both sides": (-9.1, 4.0, 12),
    "factor 1.3, three pixels up": (-3.0, 1.3, 17),
}
every_shift = pytest.mark.parametrize(("origin", "step", "cells"), SHIFTS.values(), ids=SHIFTS.keys())


class TestSourcesThatDoNotCoverTheTarget:
    @staticmethod
    def shifted(origin: float, step: float, cells: int) -> Sampling:
        return Sampling((19, 19), (cells, cells), origin=(origin, origin), step=(step, step))

    @every_shift
    def test_only_source_pixels_inside_the_target_average_it(self, origin, step, cells):
        sampling = self.shifted(origin, step, cells)
        begin = origin + np.arange(cells) * step
        visible = np.clip(np.minimum(begin + step, 19) - np.maximum(begin, 0), 0, None)
        inside = visible >= min(1, step / 2)
        assert not inside.all() or origin > 0
        expected = np.outer(inside, inside).astype(float)
        np.testing.assert_allclose(sampling(torch.ones(19, 19, dtype=torch.float64)).numpy(), expected, atol=1e-12)
        np.testing.assert_allclose(sampling.visible, np.outer(inside * visible, inside * visible) / step**2, atol=1e-12)

    @every_shift
    def test_target_pixels_outside_the_source_have_no_part_in_it(self, origin, step, cells):
        touched = self.shifted(origin, step, cells).adjoint(torch.ones(cells, cells, dtype=torch.float64)) > 0
        first, last = max(origin, 0.0), min(origin + cells * step, 19.0)
        assert not touched[: int(first), :].any()
        assert not touched[int(np.ceil(last)) :, :].any()
        assert touched[int(np.ceil(first)) + 1 : int(last) - 1, int(np.ceil(first)) + 1 : int(last) - 1].all()

    @every_shift
    def test_the_adjoint_is_the_transpose(self, origin, step, cells):
        sampling = self.shifted(origin, step, cells)
        y, s = noise(19, 19), noise(cells, cells, seed=1)
        assert abs((sampling(y) * s).sum() - (y * sampling.adjoint(s)).sum()) < 1e-11

    def test_a_shift_by_parts_of_a_pixel_leaves_every_source_pixel_pixels_of_its_own(self):
        for origin in np.linspace(-4, 4, 33):
            assert not Sampling((32, 32), (8, 8), origin=(origin, -origin), step=(4.0, 4.0)).couples_cells

    def test_the_interpolation_goes_on_beyond_the_border(self):
        column = interpolate_source(torch.arange(6.0)[None, None, :, None], self.column(6, -4.0))
        # Source pixels outside still have a value that the interpolation takes into account.
        torch.testing.assert_close(column[0, 0, :8, 0], 0.625 + 0.25 * torch.arange(8.0), rtol=0, atol=0.1)

    @staticmethod
    def column(cells: int, origin: float) -> Sampling:
        return Sampling((16, 1), (cells, 1), origin=(origin, 0.0), step=(4.0, 1.0))
