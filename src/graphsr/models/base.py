"""What a model is: guide and source in, a problem or a target out."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Real
from typing import Any

import torch
from torch import nn

from graphsr.centring import WIDE, centred
from graphsr.errors import InputError
from graphsr.graph import Edges
from graphsr.models.calibration import Calibration
from graphsr.models.tensors import digest_of
from graphsr.models.window import Locality, Window
from graphsr.sampling import Sampling
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import Problem, Solution, solve_problem
from graphsr.threads import check_process


@dataclass(frozen=True, eq=False)
class Result:
    """What a model makes of a pair.

    Attributes:
        target: (B, K, H, W).
        problem: What was solved; None for models without a graph.
        solution: How the solve went; None for models without a graph.
        noise: (B, 1, h, w) predicted standard deviation of each source pixel's error, in those of the source, after
            what was removed of it; None where the model predicts none.
    """

    target: torch.Tensor
    problem: Problem | None = None
    solution: Solution | None = None
    noise: torch.Tensor | None = None

    @property
    def edges(self) -> Edges | None:
        """Return the graph of the target; None for models without one."""
        return None if self.problem is None else self.problem.edges


class Model(nn.Module, ABC):
    """What `graphsr.upsample` runs. A model implements `prepare`.

    Attributes:
        rtol: RMS error allowed of solves, see `graphsr.solve`. The default changes the RMSE of targets by
            0.1 % at the most (docs/evidence/tolerance-and-speed.md).
        shift_equivariant: Whether the target of a source plus a constant is the target plus that constant.
        has_graph: Whether its target is the solution of a problem; without one it cannot say how sure it is.
        noise_unit: The noise of a source at x8 whose confidence is a half, in standard deviations of the source
            (`graphsr.measurements.noise`); None: the model has no graph, or weighs source pixels in its own way.
        calibration: The constants of its uncertainty; None: those for models in general.
        predicts_edges: Whether its graph tells where the target has edges better than colours alone do.
    """

    rtol: float = 1e-3
    shift_equivariant: bool = True
    has_graph: bool = True
    noise_unit: float | None = None
    calibration: Calibration | None = None
    predicts_edges: bool = False

    @abstractmethod
    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem | torch.Tensor:
        """Make a problem of a pair; tiles prepare the next one while another is being solved.

        Args:
            guide: (B, C, H, W), real numbers.
            source: (B, K, h, w), real numbers; NaN is missing.
            confidence: (B, 1 or K, h, w), 0 is missing.
            exact: Whether the target has to average back to the source exactly.
            window: Given if the pair is a window of a larger one.

        Returns:
            The problem whose solution is the target, or the target (B, K, H, W) itself where there is no graph.
        """

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        sampling: Sampling | None = None,
        window: Window | None = None,
    ) -> Result:
        """Prepare and solve; arguments as in `prepare`. A source in double precision has its target in that.

        `sampling` says where the source of a pair that is no window lies and what its pixels average over; default
        boxes edge to edge.
        """
        check_process()
        guide = self._converted("guide", guide)
        offset = None
        # The scale of a window has the mean of the whole in it.
        if source.dtype in WIDE and source.ndim == 4 and window is None and self.shift_equivariant:
            source, offset = centred(source.double(), known_pixels(source, confidence))
        source = self._converted("source", source)
        if sampling is not None and window is None:
            window = whole(self.select_channels(guide), source, confidence, sampling)
        prepared, noise = self._prepared(guide, source, confidence, exact, window)
        return replace(self.finish(prepared, offset), noise=noise)

    def _prepared(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        confidence: torch.Tensor | None,
        exact: bool,
        window: Window | None,
    ) -> tuple[Problem | torch.Tensor, torch.Tensor | None]:
        """Return what `prepare` does, and the noise (B, 1, h, w) that was predicted for it, if any was."""
        return self.prepare(guide, source, confidence=confidence, exact=exact, window=window), None

    def finish(self, prepared: Problem | torch.Tensor, offset: torch.Tensor | None = None) -> Result:
        """Solve what `prepare` returned.

        Args:
            prepared: A problem, or a target (B, K, H, W).
            offset: (B, K, 1, 1) what was subtracted from the source before: it is added to the target.
        """
        return finish(prepared if offset is None else _shifted(prepared, offset), rtol=self.rtol)

    def forward(
        self, guide: torch.Tensor, source: torch.Tensor, confidence: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the target (B, K, H, W) of a guide (B, C, H, W) and a source (B, K, h, w), with gradients."""
        return self.run(guide, source, confidence=confidence).target

    def _converted(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Return values of any real type in the precision that the model computes in."""
        if values.ndim != 4:
            raise InputError(f"{name}: must be (B, channels, rows, columns), not {tuple(values.shape)}")
        if values.dtype.is_complex:
            raise InputError(f"{name}: must hold real numbers, not {values.dtype}")
        own = next((p.dtype for p in self.parameters()), None)
        if own is None:  # nothing learned: as precise as what is given
            own = torch.float64 if values.dtype == torch.float64 else torch.float32
        return values.to(own)

    def with_rtol(self, rtol: float | None) -> Model:
        """Return the same model, weights shared, whose solves may have another RMS error; itself if that is None."""
        if rtol is None:
            return self
        check_rtol(rtol)
        other = copy.copy(self)
        other.rtol = float(rtol)
        return other

    def without_reweighting(self) -> Model:
        """Return the same model, weights shared, that does not look at its own target to change edge weights.

        For sources that are estimates themselves: their steps are not to be believed.
        """
        return self

    def without_restoration(self) -> Model:
        """Return the same model, weights shared, that takes the source as it is, noise and all.

        For sources whose errors are stated, or found in another way.
        """
        return self

    @property
    def corrects_shift(self) -> bool:
        """Return whether `graphsr.upsample` moves a source that certainly lies aside, unless it is told how it lies."""
        return False

    @property
    def locality(self) -> Locality | None:
        """Return what tiles of a raster need to know of the model; None: it has to see the whole."""
        return None

    def select_channels(self, guide: torch.Tensor) -> torch.Tensor:
        """Return the channels of a guide (B, C, H, W) that the model reads."""
        return guide

    def bytes_per_pixel(self, channels: int) -> int:
        """Return the most memory a run takes, inputs included, for each target pixel and so many source channels."""
        # Of every channel interpolated source, target and the array returned; the solver takes them block by block. The
        # factors of many channels' matrix beside that.
        return 208 + 20 * (channels - 1) + (500 if channels >= 12 else 0)

    def digest(self) -> str:
        """Return a short word for what it is and all numbers in it: the same for the same, another for any other."""
        about = ("training", "calibration", "rtol")  # which change a target by nothing, or by no more than was asked
        plain = {name: value for name, value in vars(self).items() if name[0] != "_" and name not in about}
        simple: dict[str, Any] = {n: v for n, v in plain.items() if isinstance(v, (int, float, str, tuple))}
        simple |= {n: _differing_fields(v) for n, v in plain.items() if is_dataclass(v)}
        return digest_of(self.state_dict(), f"{type(self).__name__} {sorted(simple.items())}")


def check_rtol(rtol: float | None) -> None:
    """Raise InputError unless it is an error that solves may have, or None."""
    if rtol is not None and not (isinstance(rtol, Real) and 0 < rtol < 1):
        raise InputError(f"rtol: must be a number between 0 and 1, not {rtol!r}")


def _differing_fields(value: Any) -> list[tuple[str, Any]]:
    """Return the fields of a dataclass that are not at their defaults: a field added later changes no digest."""
    named = [(each.name, getattr(value, each.name), each.default) for each in fields(value)]
    return [(name, held) for name, held, default in named if held != default]


def finish(prepared: Problem | torch.Tensor, *, rtol: float) -> Result:
    """Solve what `Model.prepare` returned, if it is a problem.

    Args:
        prepared: A problem, or a target (B, K, H, W).
        rtol: See `graphsr.solve`.
    """
    if isinstance(prepared, torch.Tensor):
        return Result(prepared)
    problem = prepared.with_rtol(rtol)
    solution = solve_problem(problem)
    return Result(solution.target, problem, solution)


def _shifted(prepared: Problem | torch.Tensor, offset: torch.Tensor) -> Problem | torch.Tensor:
    """Return what `Model.prepare` makes of the same source plus `offset` (B, K, 1, 1), in double precision."""
    if isinstance(prepared, torch.Tensor):
        return prepared.double() + offset
    wide = prepared.to(torch.float64)
    return replace(wide, source=wide.source + offset, prior=wide.prior + offset, start=wide.start + offset)


def whole(
    guide: torch.Tensor, source: torch.Tensor, confidence: torch.Tensor | None, sampling: Sampling | None = None
) -> Window:
    """Return the window of a pair that is not part of a larger one.

    Args:
        guide: (B, C, H, W), as `select_channels` returns it.
        source: (B, K, h, w).
        confidence: (B, 1 or K, h, w).
        sampling: Where the source lies and what its pixels average over; default edge to edge, boxes.
    """
    if sampling is None:
        sampling = Sampling((guide.shape[-2], guide.shape[-1]), (source.shape[-2], source.shape[-1]))
    known = known_pixels(source, confidence)
    return Window(sampling, Scale.of(guide, source, known), known)
