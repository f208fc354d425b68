"""Files in and out: one format per module, chosen by the suffix of the file's name."""

from graphsr.io.confidence import read_confidence
from graphsr.io.conversion import Change
from graphsr.io.image import Image
from graphsr.io.missing import looks_missing, marked
from graphsr.io.reading import read
from graphsr.io.writing import WriteReport, check_output, write

__all__ = [
    "Change",
    "Image",
    "WriteReport",
    "check_output",
    "looks_missing",
    "marked",
    "read",
    "read_confidence",
    "write",
]
