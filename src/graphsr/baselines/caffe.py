"""Read the weights in a .caffemodel file without Caffe.

Such a file is a protocol buffer: a sequence of fields, each a number, a type and a content, where a content may be such
a sequence again. Of the hundreds of fields that are defined, ten matter here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

# Field numbers, from caffe.proto: of a network, a layer, an array of numbers, and the shape of one.
_LAYER = 100
_NAME, _KIND, _BOTTOM, _TOP, _BLOB = 1, 2, 3, 4, 7
_DATA, _SHAPE, _OLD_SHAPE = 5, 7, (1, 2, 3, 4)
_SIDES = 1

_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5

Content = int | bytes


@dataclass(frozen=True)
class Layer:
    """One layer: what it is, the arrays it reads and writes by name, and its weights."""

    name: str
    kind: str
    reads: str
    writes: str
    blobs: tuple[torch.Tensor, ...]


def read(path: Path) -> dict[str, torch.Tensor]:
    """Read the weights of a .caffemodel file.

    Args:
        path: The file.

    Returns:
        LAYER.weight and LAYER.bias of every convolution, LAYER.slope of the PReLU that follows it.

    Raises:
        ValueError: If it is not such a file.
    """
    layers = [_layer(content) for number, content in _fields(path.read_bytes()) if number == _LAYER]
    state: dict[str, torch.Tensor] = {}
    writer: dict[str, str] = {}  # of an array: the last convolution that wrote it
    for layer in layers:
        if layer.kind in ("Convolution", "Deconvolution") and layer.blobs:
            weight, *bias = layer.blobs
            state[f"{layer.name}.weight"] = weight
            if bias:
                state[f"{layer.name}.bias"] = bias[0].flatten()
            writer[layer.writes] = layer.name
        elif layer.kind == "PReLU" and layer.blobs and layer.reads in writer:
            state[f"{writer[layer.reads]}.slope"] = layer.blobs[0].flatten()
    if not state:
        raise ValueError("it holds no convolution with weights")
    return state


def _layer(content: Content) -> Layer:
    words: dict[int, str] = {}
    blobs = []
    for number, inside in _fields(content):
        if number in (_NAME, _KIND, _BOTTOM, _TOP):
            words.setdefault(number, _bytes(inside).decode())
        elif number == _BLOB:
            blobs.append(_blob(inside))
    name, kind, reads, writes = (words.get(number, "") for number in (_NAME, _KIND, _BOTTOM, _TOP))
    return Layer(name, kind, reads, writes, tuple(blobs))


def _blob(content: Content) -> torch.Tensor:
    shape: list[int] = []
    old_shape: list[int] = []
    numbers = np.empty(0, np.float32)
    for number, inside in _fields(content):
        if number == _DATA:
            numbers = np.frombuffer(_bytes(inside), "<f4")
        elif number == _SHAPE:
            shape = [side for field, sides in _fields(inside) if field == _SIDES for side in _whole_numbers(sides)]
        elif number in _OLD_SHAPE and isinstance(inside, int):
            old_shape.append(inside)
    return torch.from_numpy(numbers.astype(np.float32)).reshape(shape or old_shape or [-1])


def _fields(content: Content) -> Iterator[tuple[int, Content]]:
    """Yield the fields of a message: their numbers and contents."""
    data, at = _bytes(content), 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == _COUNTED:
            count, at = _varint(data, at)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            count = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError("it is not a protocol buffer")
        if at + count > len(data):
            raise ValueError("it ends too early")
        yield key >> 3, data[at : at + count]
        at += count


def _whole_numbers(content: Content) -> Iterator[int]:
    """Yield the numbers of a repeated field: packed into one content, or one by one."""
    if isinstance(content, int):
        yield content
        return
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read the number that begins at a position, seven bits a byte; return it and where it ends."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("it is not a protocol buffer, or ends too early")
        value |= (data[at] & 127) << shift
        at += 1
        shift += 7
        if data[at - 1] < 128:
            return value, at


def _bytes(content: Content) -> bytes:
    if isinstance(content, int):
        raise ValueError("it is not a protocol buffer of Caffe")
    return content
