"""The colour maps that a page offers."""

from __future__ import annotations

from graphsr.pictures.palette import ERRORS, VALUES, Palette

# Fifteen equidistant colours of turbo (A. Mikhailov, 2019; Apache-2.0).
_TURBO = Palette(
    ("30123b", "4145ab", "4675ed", "39a2fc", "1bcfd4", "24eca6", "61fc6c", "a4fc3b",
     "d1e834", "f3c63a", "fe9b2d", "f36315", "d93806", "b11901", "7a0402")
)  # fmt: skip

PALETTES: dict[str, Palette] = {
    "viridis": VALUES,
    "magma": ERRORS,
    "turbo": _TURBO,
    "grey": Palette(("000000", "ffffff")),
    "blue-red": Palette(("2166ac", "67a9cf", "d1e5f0", "f7f7f7", "fddbc7", "ef8a62", "b2182b")),
}
