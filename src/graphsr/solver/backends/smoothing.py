"""The kernels of a multigrid cycle on graphs: sums over groups, and Gauss-Seidel up and down."""

from __future__ import annotations

from numba import njit, prange


@njit(cache=True, nogil=True, parallel=True)
def sum_groups(values, members, begin, out):  # type: ignore[no-untyped-def]
    """out = P^T values: the sums over each group."""
    for g in prange(out.size):
        total = 0.0
        for m in range(begin[g], begin[g + 1]):
            total += values[members[m]]
        out[g] = total


@njit(cache=True, nogil=True, parallel=True)
def spread_groups(values, scales, members, begin, out):  # type: ignore[no-untyped-def]
    """out = P values, each member's times its scale; pixels in no group are left alone."""
    for g in prange(values.size):
        for m in range(begin[g], begin[g + 1]):
            out[members[m]] = values[g] * scales[m]


@njit(cache=True, nogil=True)
def smooth_down(graph, group, b, x, residual):  # type: ignore[no-untyped-def]
    """Run Gauss-Seidel over the nodes from first to last, then residual = P^T (b - A x)."""
    for i in range(x.size):
        total = b[i]
        for edge in range(graph.first[i], graph.first[i + 1]):
            total += graph.weight[edge] * x[graph.other[edge]]
        x[i] = total / graph.diagonal[i]
    residual[:] = 0
    for i in range(x.size):
        if group[i] >= 0:
            total = b[i] - graph.pull[i] * x[i]
            for edge in range(graph.first[i], graph.first[i + 1]):
                total -= graph.weight[edge] * (x[i] - x[graph.other[edge]])
            residual[group[i]] += total


@njit(cache=True, nogil=True)
def smooth_up(graph, group, b, x, correction):  # type: ignore[no-untyped-def]
    """x += P correction, then run Gauss-Seidel from the last node to the first."""
    for i in range(x.size):
        if group[i] >= 0:
            x[i] += correction[group[i]]
    for i in range(x.size - 1, -1, -1):
        total = b[i]
        for edge in range(graph.first[i], graph.first[i + 1]):
            total += graph.weight[edge] * x[graph.other[edge]]
        x[i] = total / graph.diagonal[i]
