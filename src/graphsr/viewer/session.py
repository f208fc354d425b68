"""What a page shows at a moment: the layers of a pair, its options, and the solve that is going on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from graphsr.files.camera import camera_of
from graphsr.files.pair import PairOptions
from graphsr.measurements.placement import Alignment
from graphsr.models.base import Model
from graphsr.models.registry import names
from graphsr.upsampling import Upsampled
from graphsr.viewer.layers import ColourScale, Layer, guide_layer, value_layer
from graphsr.viewer.options import as_page, options_from_page
from graphsr.viewer.pair import ViewedPair
from graphsr.viewer.palettes import PALETTES
from graphsr.viewer.results import (
    SolvedLayers,
    colour_scales,
    given_target_layers,
    solve_pair,
    source_layers,
    target_layers,
)
from graphsr.viewer.solving import SolveQueue


class Session:
    """A pair with what was made of it; many pages may look at one.

    Args:
        pair: What is shown.
        options: How it is solved first. A page says what of the camera was guessed.
        result: What was solved with these options already, if it was.
        unit: The unit of the values, as it is shown.
        explain: Returns the one line that an error ends in.

    Raises:
        InputError: Guide and source do not fit together, or the model does not exist.
    """

    def __init__(
        self,
        pair: ViewedPair,
        options: PairOptions,
        *,
        result: Upsampled | None = None,
        unit: str = "",
        explain: Callable[[Exception], str] = str,
    ) -> None:
        self._pair, self._unit, self._explain = pair, unit, explain
        self._camera = camera_of(pair.guide, options.camera)
        self._disparity = options.camera.baseline is not None
        self._model: tuple[str, Model] = options.model, options.load_model()
        self._models = list(dict.fromkeys([*names(), options.model]))
        self._lock = threading.Lock()
        self._revision = 0
        self._error = ""
        self._options = options
        self._fixed = [guide_layer(pair.guide.array)]
        if pair.truth is not None:
            self._fixed.append(value_layer("truth", "Truth", pair.truth, pair.size))
        self._alignment = Alignment() if result is None else Alignment(result.alignment)
        self._source = source_layers(pair, options, unit, self._alignment)
        self._solved = SolvedLayers(())
        self._previous: Layer | None = None
        if result is not None:
            self._solved = target_layers(pair, options, result, unit)
        elif pair.target is not None:
            self._solved = given_target_layers(pair, unit)
        self._scales: dict[str, ColourScale] = {}
        self._refresh()
        self._queue = SolveQueue(self._solve, self._failed)

    @property
    def has_target(self) -> bool:
        """Return whether there is a target to show."""
        return bool(self._solved.layers)

    @property
    def error(self) -> str:
        """Return why the last solve failed; "" if it did not."""
        return self._error

    def solve(self, options: PairOptions | None = None) -> None:
        """Begin to solve; default: with the options as they are."""
        self._queue.submit(options or self._options)

    def solve_from_page(self, content: Any) -> None:
        """Begin to solve with the options that a page sent.

        Raises:
            InputError: One of them is not valid.
        """
        self.solve(options_from_page(content, models=self._models, before=self._options))

    def cancel(self) -> None:
        """Give up the solve that is going on."""
        self._queue.cancel()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is being solved; return whether that is so."""
        return self._queue.wait(seconds)

    def layers(self) -> list[Layer]:
        """Return the layers in the order of the page."""
        with self._lock:
            shown = [*self._fixed[:1], *self._source.layers, *self._solved.layers[:1], *self._fixed[1:]]
            shown += self._solved.layers[1:]
            return shown if self._previous is None else [*shown, self._previous]

    def layer(self, number: int) -> Layer | None:
        """Return the layer of this number, if it is shown."""
        return next((layer for layer in self.layers() if layer.number == number), None)

    def state(self) -> dict[str, Any]:
        """Return all that a page needs to know beside the pixels."""
        layers = [layer.as_json() for layer in self.layers()]
        progress = self._queue.progress
        with self._lock:
            return {
                "revision": self._revision,
                "files": self._files(),
                "height": self._pair.size[0],
                "width": self._pair.size[1],
                "camera": {**asdict(self._camera), "disparity": self._disparity},
                "layers": layers,
                "scales": {name: scale.as_json() for name, scale in self._scales.items()},
                "palettes": {name: palette.table.tolist() for name, palette in PALETTES.items()},
                "models": self._models,
                "options": as_page(self._options),
                "confidence_file": self._pair.confidence_name,
                "report": [*self._solved.lines, *self._source.lines],
                "solving": None if progress is None else progress.as_json(),
                "error": self._error,
            }

    def progress(self) -> dict[str, Any]:
        """Return the part of the state that changes while a page waits."""
        progress = self._queue.progress
        return {
            "revision": self._revision,
            "solving": None if progress is None else progress.as_json(),
            "error": self._error,
        }

    def _files(self) -> dict[str, str]:
        files = {"guide": self._pair.guide, "source": self._pair.source}
        return {
            name: f"{_shown(image.path.name)}, {image.size[1]} × {image.size[0]}, {image.dtype}"
            for name, image in files.items()
        }

    def _solve(self, options: PairOptions) -> None:
        if self._model[0] != options.model:
            self._model = options.model, options.load_model()
        result = solve_pair(self._pair, options, self._model[1])
        solved = target_layers(self._pair, options, result, self._unit)
        alignment, source = Alignment(result.alignment), self._source
        if options.missing != self._options.missing or not alignment.same_place(self._alignment):
            source = source_layers(self._pair, options, self._unit, alignment)
        with self._lock:
            target = self._solved.find("target")
            if target is not None:
                self._previous = replace(target, name="previous", title="Previous target")
            self._solved, self._source, self._options, self._error = solved, source, options, ""
            self._alignment = alignment
        self._refresh()

    def _failed(self, error: Exception) -> None:
        with self._lock:
            self._error = self._explain(error)
            self._revision += 1

    def _refresh(self) -> None:
        scales = colour_scales(tuple(self.layers()), self._unit, alike=self._options.kind == "probabilities")
        with self._lock:
            self._scales = scales
            self._revision += 1


def _shown(name: str) -> str:
    """Return a file's name as text that can be sent: names may hold bytes that are none."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
