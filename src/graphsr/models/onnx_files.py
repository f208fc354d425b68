"""Models as ONNX files: the part that makes the graph, for programs without PyTorch."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import torch

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.models.base import Model
from graphsr.models.traced_graph import TracedColour, TracedGraph, traced_graph

OPSET = 17  # of 2022: the first with layer normalisation; ONNX Runtime reads it since 1.12
_TRACED_SIZE, _TRACED_SOURCE_SIZE = (64, 96), (8, 12)
_GUIDE, _SOURCE = ("height", "width"), ("source_height", "source_width")
_SIZES = {
    "guide": _GUIDE,
    "source": _SOURCE,
    "interpolated": _GUIDE,
    "first_target": _GUIDE,
    "second_target": _GUIDE,
    "confidence": _SOURCE,
    "restored": _SOURCE,
    **{f"{of}down": ("height_less_1", "width") for of in ("", "offset_", "first_", "second_")},
    **{f"{of}right": ("height", "width_less_1") for of in ("", "offset_", "first_", "second_")},
}


def check_onnx() -> None:
    """Raise an `InputError` if the library that writes ONNX files is not installed."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise InputError("ONNX files need the package onnx: pip install 'graphsr[export]'") from None


def write_onnx(model: Model, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write what a model makes of a guide and a source, up to the solve, for images of any size.

    Inputs are `guide` (B, 3, H, W) and `source` (B, 1, h, w), float32, in any units and edge to edge; NaN in the
    source is missing. Outputs are the edge weights `down` (B, H-1, W) and `right` (B, H, W-1) and, where the model
    predicts them, `offset_down` and `offset_right` in the units of the source, `confidence` (B, 1, h, w), and
    `restored` (B, 1, h, w), the source without noise, which takes its place in the solve.
    `colour` takes a guide of any number of channels. A checkpoint of the reference implementation takes a guide in
    0..1, and `interpolated` (B, 1, H, W), the source as that interpolates it. A model that looks at a first target
    takes `first_target` (B, 1, H, W), and also returns the graph to find it with, `first_down` and `first_right`; one
    that re-weights edges takes `second_target`, whose graph is `second_down` and `second_right`.

    Args:
        model: Any graph model.
        path: The file to write; ends in .onnx. Written whole or not at all.

    Returns:
        The names of the outputs.

    Raises:
        InputError: The model has no graph, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise InputError(f"{path}: an ONNX file ends in .onnx")
    check_onnx()
    check_folder(path)
    graph = traced_graph(model)
    with whole_file(path) as temporary:
        _export(graph.eval(), temporary)
        _describe(graph, temporary)
    return graph.outputs


def _export(graph: TracedGraph | TracedColour, path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    examples = {
        "guide": torch.rand(1, 3, *_TRACED_SIZE, generator=generator),
        "source": torch.rand(1, 1, *_TRACED_SOURCE_SIZE, generator=generator),
        "interpolated": torch.rand(1, 1, *_TRACED_SIZE, generator=generator),
        "first_target": torch.rand(1, 1, *_TRACED_SIZE, generator=generator),
        "second_target": torch.rand(1, 1, *_TRACED_SIZE, generator=generator),
    }
    with warnings.catch_warnings(), torch.enable_grad():  # with gradients networks run without tricks for the CPU
        warnings.simplefilter("ignore")  # of the tracer, of which the tests say whether they matter
        torch.onnx.export(
            graph,
            tuple(examples[name] for name in graph.inputs),
            str(path),
            input_names=list(graph.inputs),
            output_names=list(graph.outputs),
            dynamic_axes={name: _axes(graph, name) for name in (*graph.inputs, *graph.outputs)},
            opset_version=OPSET,
            dynamo=False,  # traced: the other exporter would fix the sizes
        )


def _axes(graph: TracedGraph | TracedColour, name: str) -> dict[int, str]:
    """Return the axes of any size, with their names."""
    planes = name in (*graph.inputs, "confidence", "restored")  # (B, C, H, W), and not (B, H, W)
    rows, columns = _SIZES[name]
    axes = {0: "batch", 2 if planes else 1: rows, 3 if planes else 2: columns}
    return {**axes, 1: "channels"} if name == "guide" and isinstance(graph, TracedColour) else axes


def _describe(graph: TracedGraph | TracedColour, path: Path) -> None:
    """Add what the solve needs to know, and check the file."""
    import onnx

    content = onnx.load(str(path))
    about: dict[str, Any] = {"outputs": list(graph.outputs), "prior_weight": getattr(graph.model, "prior_weight", 0.0)}
    onnx.helper.set_model_props(content, {"graphsr": json.dumps(about)})
    onnx.checker.check_model(content, full_check=True)
    onnx.save(content, str(path))
