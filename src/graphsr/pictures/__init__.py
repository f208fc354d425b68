"""Pictures of images and maps: colour scales, panels with captions, sheets, the preview of a result."""

from graphsr.pictures.colour import Scale, as_picture, colourise, robust_range
from graphsr.pictures.layout import Panel, panels, sheet
from graphsr.pictures.palette import ERRORS, VALUES, Palette, Picture
from graphsr.pictures.preview import preview

__all__ = [
    "ERRORS",
    "VALUES",
    "Palette",
    "Panel",
    "Picture",
    "Scale",
    "as_picture",
    "colourise",
    "panels",
    "preview",
    "robust_range",
    "sheet",
]
