"""Crops are taken where the methods differ most, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.data.footprints import average
from graphsr.data.pair import Pair
from graphsr.evaluation.protocols import Case
from graphsr.experiments.paper.figure_errors import CROP_SIDE, CROP_ZOOM, crop_sheet, largest_difference


@pytest.mark.parametrize("corner", [(0, 0), (30, 50), (84, 84)])
def test_the_square_is_found(corner):
    one = np.zeros((100, 100), np.float32)
    other = one.copy()
    other[corner[0] : corner[0] + 16, corner[1] : corner[1] + 16] = 1
    rows, columns = largest_difference([one, other], one, 16)
    assert (rows.start, columns.start) == corner
    assert (rows.stop, columns.stop) == (corner[0] + 16, corner[1] + 16)


def test_unknown_truth_draws_no_crop():
    one = np.zeros((64, 64), np.float32)
    other = one.copy()
    other[:16, :16], other[40:56, 40:56] = 9, 1
    truth = one.copy()
    truth[:20, :20] = np.nan
    rows, columns = largest_difference([one, other], truth, 16)
    assert (rows.start, columns.start) == (40, 40)


def test_the_sheet_has_a_row_a_case_and_a_column_a_method():
    truth = np.where(np.arange(80) < 40, 1.0, 3.0)[None].repeat(80, 0).astype(np.float32)
    pair = Pair("a", np.full((80, 80, 3), 128, np.uint8), truth, "m")
    case = Case(pair, average(truth, (10, 10)), np.ones((80, 80), bool))
    targets = {"exact": truth, "flat": np.full_like(truth, 2.0)}
    picture = crop_sheet([case, case], [targets, targets], "x8")
    assert picture.shape[1] > 5 * CROP_ZOOM * CROP_SIDE
    assert 2 * CROP_ZOOM * CROP_SIDE < picture.shape[0] < 3 * CROP_ZOOM * CROP_SIDE
