"""What `graphsr.solve` has to agree with: the same minimiser from dense least squares in float64.

Least squares and not the normal equations, whose condition is squared: a sharp graph at a small lambda has 1e10.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.linalg import lstsq, null_space

from graphsr import Edges, Problem, Sampling, Solution, affinity
from graphsr.solver import Backend, solve_problem

BACKENDS: tuple[Backend, ...] = ("numba", "torch")
DTYPES = (torch.float32, torch.float64)

# target size, source size
SIZES = {
    "factor 4": ((16, 12), (4, 3)),
    "factor 7.5": ((30, 15), (4, 2)),
    "factor 1.3": ((9, 8), (7, 6)),
    "each axis its own": ((12, 17), (6, 2)),
    "not dividing": ((17, 19), (5, 7)),
    "factor 2.5": ((20, 10), (8, 4)),
}
# The torch backend takes much longer, so it is asked about fewer sizes.
BACKENDS_AND_SIZES = {
    **{f"numba, {name}": ("numba", *sizes) for name, sizes in SIZES.items()},
    **{f"torch, {name}": ("torch", *SIZES[name]) for name in ("factor 4", "factor 1.3", "not dividing")},
}


def solution(edges: Edges, source: torch.Tensor, size: tuple[int, int], **more: object) -> Solution:
    """Solve, and say how it went."""
    how = {name: more.pop(name) for name in ("rtol", "backend") if name in more}
    footprint = str(more.pop("footprint", "box"))
    sampling = Sampling(size, (source.shape[-2], source.shape[-1]), footprint=footprint)
    problem = Problem(edges, sampling, source, **more)  # type: ignore[arg-type]
    return solve_problem(problem, **how)  # type: ignore[arg-type]


def noise(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """The same numbers for every dtype, up to its rounding."""
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


def graph(
    size: tuple[int, int],
    *,
    weight: float = 1e-2,
    sharp: bool = False,
    batch: int = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> Edges:
    """Soft: ties differ by a factor of ten or so. Sharp: regions tied by `weight`, parted by the floor 1e-4."""
    features = noise(batch, 2, *size, seed=seed, dtype=dtype)
    if sharp:
        features = torch.round(features / 1.5) * 10 + 0.1 * features
    return affinity(features, 1.0 if sharp else 1.5, weight=weight)


def a_source(*shape: int, seed: int = 100, holes: float = 0.0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """(B, K, h, w) with a mean far from 0; a part of its pixels is NaN, other ones in each channel."""
    source = 40 + 3 * noise(*shape, seed=seed)
    missing = torch.rand(shape, generator=torch.Generator().manual_seed(seed + 1)) < holes
    missing[..., 0, 0] = False
    return torch.where(missing, torch.nan, source).to(dtype)


def spread(source: torch.Tensor) -> np.ndarray:
    """(B, K) the standard deviation of the known pixels, the unit of every tolerance."""
    return np.nanstd(source.double().numpy(), axis=(2, 3))


def rounding(source: torch.Tensor) -> float:
    """What the dtype takes from a target that is good to the last bits, in standard deviations of the source.

    The dense solution is in double precision, and ties from 1e-4 to 1 take four digits of that.
    """
    bits = 8 * torch.finfo(source.dtype).eps + 1e4 * torch.finfo(torch.float64).eps
    return float(bits * np.nanmax(source.abs().numpy()) / spread(source).min())


def error(target: torch.Tensor, expected: np.ndarray, source: torch.Tensor) -> float:
    """RMS difference in standard deviations of the source: the worst image and channel."""
    difference = target.detach().double().numpy() - expected
    return float((np.sqrt(np.square(difference).mean((2, 3))) / spread(source)).max())


def averaging(size: tuple[int, int], source_size: tuple[int, int], footprint: str = "box") -> np.ndarray:
    """(h w, H W) the matrix D from its definition."""
    along = [one_axis(n, cells, footprint) for n, cells in zip(size, source_size, strict=True)]
    return np.kron(along[0], along[1])


def one_axis(pixels: int, cells: int, footprint: str) -> np.ndarray:
    """(cells, pixels) the weights of a footprint along one axis, edge to edge."""
    step = pixels / cells
    if footprint == "box":
        ends = np.arange(cells + 1) * step
        left, right = np.maximum(ends[:-1, None], np.arange(pixels)), np.minimum(ends[1:, None], 1 + np.arange(pixels))
        return np.maximum(right - left, 0) / step
    distance = np.abs(np.arange(pixels) + 0.5 - (np.arange(cells)[:, None] + 0.5) * step)
    d = distance / step
    if footprint == "point":
        weights = np.maximum(1 - distance, 0)
    elif footprint == "bicubic":
        far = -0.5 * (d**3 - 5 * d**2 + 8 * d - 4)
        weights = np.where(d < 1, 1.5 * d**3 - 2.5 * d**2 + 1, np.where(d < 2, far, 0))
    else:
        sigma = float(footprint.partition(":")[2])
        weights = np.where(d < 4 * sigma - 1e-9, np.exp(-0.5 * (d / sigma) ** 2), 0)
    return weights / weights.sum(1, keepdims=True)


def stepping(size: tuple[int, int]) -> np.ndarray:
    """(edges, H W) the differences y_p - y_q, down edges first."""
    index = np.arange(size[0] * size[1]).reshape(size)
    pairs = [(index[:-1].ravel(), index[1:].ravel()), (index[:, :-1].ravel(), index[:, 1:].ravel())]
    p, q = (np.concatenate([pair[end] for pair in pairs]) for end in (0, 1))
    steps = np.zeros((p.size, index.size))
    steps[np.arange(p.size), p] = 1
    steps[np.arange(p.size), q] = -1
    return steps


def _flat(edges: Edges, image: int, channel: int) -> np.ndarray:
    parts = [e[image] if e.ndim == 3 else e[image, channel] for e in (edges.down, edges.right)]
    return np.concatenate([part.detach().double().numpy().ravel() for part in parts])


def minimiser(
    edges: Edges,
    source: torch.Tensor,
    size: tuple[int, int],
    *,
    confidence: torch.Tensor | None = None,
    offsets: Edges | None = None,
    prior: torch.Tensor | None = None,
    prior_weight: torch.Tensor | float = 0.0,
    exact: bool = False,
    footprint: str = "box",
) -> np.ndarray:
    """(B, K, H, W) the answer `graphsr.solve` is to give to the same arguments."""
    batch, channels = source.shape[:2]
    values = source.detach().double().numpy()
    known_confidence = np.ones_like(values) if confidence is None else confidence.double().expand_as(source).numpy()
    known_confidence = np.where(np.isnan(values), 0, known_confidence)
    pull = np.broadcast_to(torch.as_tensor(prior_weight).double().numpy(), (batch, *size))
    z = np.zeros((batch, channels, *size)) if prior is None else prior.double().numpy()
    average, steps = averaging(size, (source.shape[2], source.shape[3]), footprint), stepping(size)
    target = np.empty((batch, channels, *size))
    for image in range(batch):
        for k in range(channels):
            root = np.sqrt(_flat(edges, image, k))
            wanted = np.zeros_like(root) if offsets is None else _flat(offsets, image, k)
            hold = np.sqrt(pull[image].ravel())
            known = known_confidence[image, k].ravel() > 0
            # About the mean, so that rounding is that of the relief and not of the level.
            level = values[image, k].ravel()[known].mean()
            data, fit = values[image, k].ravel()[known] - level, average[known]
            matrix = np.concatenate([root[:, None] * steps, np.diag(hold)])
            right = np.concatenate([root * wanted, hold * (z[image, k].ravel() - level)])
            if exact:
                on_data = lstsq(fit, data)[0]
                free = null_space(fit)
                move = lstsq(matrix @ free, right - matrix @ on_data)[0] if free.size else np.zeros(0)
                solution = on_data + free @ move
            else:
                sure = np.sqrt(known_confidence[image, k].ravel()[known])
                matrix, right = np.concatenate([matrix, sure[:, None] * fit]), np.concatenate([right, sure * data])
                solution = lstsq(matrix, right, lapack_driver="gelsy")[0]
                left_over = right.astype(np.longdouble) - matrix.astype(np.longdouble) @ solution
                solution = solution + lstsq(matrix, left_over.astype(np.float64), lapack_driver="gelsy")[0]
            target[image, k] = level + solution.reshape(size)
    return target
