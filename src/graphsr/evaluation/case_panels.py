"""The panels that picture sheets show of one case, all in its colours."""

from __future__ import annotations

import numpy as np

from graphsr.evaluation.metrics import shown_unit
from graphsr.evaluation.protocols import Case
from graphsr.pictures import ERRORS, Panel, as_picture, colourise, robust_range
from graphsr.pictures.preview import resized


class CasePanels:
    """Draw the panels of a case: values coloured by the range of the truth, errors up to a tenth of it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.times, self.unit = shown_unit(case.pair.unit)
        self.low, self.high = robust_range(case.pair.target * self.times)

    def guide(self) -> Panel:
        """Draw the guide."""
        return Panel(as_picture(self.case.pair.guide), self.case.pair.name)

    def source(self) -> Panel:
        """Draw the source, its pixels enlarged to the size of the target."""
        source = self.case.source
        picture = resized(self._coloured(source), self.case.pair.size, sharp=True)
        return Panel(picture, f"{source.shape[1]} × {source.shape[0]}")

    def truth(self) -> Panel:
        """Draw the true map."""
        return Panel(self._coloured(self.case.pair.target), f"{self.low:.3g} to {self.high:.3g} {self.unit}")

    def target(self, target: np.ndarray) -> Panel:
        """Draw a result (H, W)."""
        return Panel(self._coloured(target))

    def error(self, target: np.ndarray) -> Panel:
        """Draw the absolute error of a result (H, W)."""
        tenth = 0.1 * (self.high - self.low)
        error = np.abs(target - self.case.pair.target) * self.times
        rms = float(np.sqrt(np.nanmean(error**2)))
        return Panel(colourise(error, 0.0, tenth, ERRORS), f"RMSE {rms:.3g} {self.unit}; white: {tenth:.2g}")

    def uncertainty(self, std: np.ndarray) -> Panel:
        """Draw the standard deviations of a result (H, W), in the colours of its errors."""
        tenth = 0.1 * (self.high - self.low)
        rms = float(np.sqrt(np.mean(np.square(std * self.times))))
        return Panel(colourise(std * self.times, 0.0, tenth, ERRORS), f"RMS {rms:.3g} {self.unit}; white: {tenth:.2g}")

    def edge_weights(self, edges: np.ndarray) -> Panel:
        """Draw the mean weight of the edges of each pixel, (H, W)."""
        logarithm = np.log10(np.maximum(edges, 1e-30))
        return Panel(colourise(logarithm, *robust_range(logarithm)), "log of the mean weight")

    def _coloured(self, values: np.ndarray) -> np.ndarray:
        return colourise(values * self.times, self.low, self.high)
