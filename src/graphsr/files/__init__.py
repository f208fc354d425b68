"""Reading and writing image files: one format a module in formats/, chosen by the suffix of the file's name."""

from graphsr.files.confidence import read_confidence
from graphsr.files.conversion import Change
from graphsr.files.image import Image
from graphsr.files.missing import mark_missing, suspected_missing
from graphsr.files.outputs import check_outputs, make_folder
from graphsr.files.reading import read_image
from graphsr.files.writing import WriteReport, check_output, check_picture, write_image

__all__ = [
    "Change",
    "Image",
    "WriteReport",
    "check_output",
    "check_outputs",
    "check_picture",
    "make_folder",
    "mark_missing",
    "read_confidence",
    "read_image",
    "suspected_missing",
    "write_image",
]
