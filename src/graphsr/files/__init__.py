"""Files in and out: one format per module, chosen by the suffix of the file's name."""

from graphsr.files.confidence import read_confidence
from graphsr.files.conversion import Change
from graphsr.files.image import Image
from graphsr.files.missing import looks_missing, marked
from graphsr.files.reading import read
from graphsr.files.writing import WriteReport, check_output, write

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
