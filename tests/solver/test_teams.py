"""Threads of a team wait for each other inside a kernel, and never for one that will not come."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from graphsr.solver.backends.barrier import ABANDONED, LAST, Team, arrive, release

ROUNDS = 200


@numba.njit(nogil=True)
def _add_neighbours(rank, size, barrier, values, totals):
    """Replace each value by the sum of all, again and again: right only if everyone has written before any reads."""
    for n in range(ROUNDS):
        values[rank] = n + rank
        role = arrive(barrier, size)
        if role == LAST:
            totals[n] = values.sum()
            release(barrier, size)
        if role == ABANDONED:
            return n
    return ROUNDS


@pytest.mark.parametrize("size", [1, 2, 3])
def test_everyone_has_come_before_anyone_goes_on(size):
    totals = np.zeros(ROUNDS)
    assert Team(size).run(_add_neighbours, np.zeros(size), totals) == ROUNDS
    assert totals.tolist() == [size * n + size * (size - 1) / 2 for n in range(ROUNDS)]


def test_a_team_may_run_again():
    team = Team(2)
    for _ in range(3):
        assert team.run(_add_neighbours, np.zeros(2), np.zeros(ROUNDS)) == ROUNDS


@pytest.mark.parametrize("failing", [0, 1])
def test_nobody_waits_for_one_that_failed(failing):
    ends = []

    def kernel(rank, size, barrier, *arguments):
        if rank == failing:
            raise MemoryError("no room")
        ends.append(_add_neighbours(rank, size, barrier, *arguments))
        return ends[-1]

    with pytest.raises(MemoryError):
        Team(2).run(kernel, np.zeros(2), np.zeros(ROUNDS))
    assert ends in ([], [0])  # the other had not begun, or ended at the first barrier
