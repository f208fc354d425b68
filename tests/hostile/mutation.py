"""Damage files by a seed."""

from __future__ import annotations

import numpy as np

# Numbers that headers are misread by: none, one, the largest of 16, 31, 32 and 63 bits.
_NUMBERS = (0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF)


def damaged(data: bytes, seed: int) -> bytes:
    """Return a file with one to four damages, most of them near its beginning, where headers are."""
    rng = np.random.default_rng(seed)
    for _ in range(rng.integers(1, 5)):
        place = int(min(rng.exponential(60), len(data) - 1)) if rng.random() < 0.6 else int(rng.integers(len(data)))
        data = _KINDS[rng.integers(len(_KINDS))](data, place, rng)
        if not data:
            return b""
    return data


def _flip(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]


def _number(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    size = int(rng.choice([1, 2, 4, 8]))
    value = int(rng.choice(_NUMBERS)) & ((1 << 8 * size) - 1)
    return data[:place] + value.to_bytes(size, "little" if rng.random() < 0.5 else "big") + data[place + size :]


def _cut(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    return data[: max(place, 1)]


def _remove(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    return data[:place] + data[place + int(rng.integers(1, 40)) :]


def _repeat(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    end = place + int(rng.integers(1, 40))
    return data[:end] + data[place:]


def _noise(data: bytes, place: int, rng: np.random.Generator) -> bytes:
    noise = rng.bytes(int(rng.integers(1, 16)))
    return data[:place] + noise + data[place + len(noise) :]


_KINDS = (_flip, _flip, _number, _number, _cut, _remove, _repeat, _noise)
