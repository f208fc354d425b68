"""The camera that took a guide: what the user says of it, what the photograph says, or a guess."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL.JpegImagePlugin import JpegImageFile

from graphsr.errors import InputError
from graphsr.files.image import Image
from graphsr.files.limits import check_regular_file
from graphsr.point_cloud import Pair, check_focal, focal_from_film, guess_focal

_EXIF, _FOCAL_LENGTH_ON_FILM = 0x8769, 0xA405  # tags of EXIF 2.3, section 4.6.5
_FORM = "four numbers, fx,fy,cx,cy, in pixels of the guide"
_LONGEST_FILE = 1 << 16


@dataclass(frozen=True)
class CameraOptions:
    """What the user says of the camera, in pixels of the guide; the baseline is in units of depth.

    Attributes:
        focal: The focal length, along x and y; None: not said.
        centre: Where the optical axis meets the guide, x and y; None: not said.
        baseline: The distance of two cameras, whose disparity the source is; None: it is a depth.
    """

    focal: Pair | None = None
    centre: Pair | None = None
    baseline: float | None = None


UNKNOWN_CAMERA = CameraOptions()


@dataclass(frozen=True)
class Camera:
    """A pinhole camera: lengths in pixels of its image, and where the focal length comes from, in words."""

    focal: Pair
    centre: Pair
    origin: str
    guessed: bool = False

    def __str__(self) -> str:
        """Return the focal length in words."""
        fx, fy = (f"{length:.6g}" for length in self.focal)
        better = "; --focal says it" if self.guessed else ""
        return f"focal length {fx if fx == fy else f'{fx} x {fy}'} px, {self.origin}{better}"


def parse_camera(
    focal: float | None, intrinsics: str | os.PathLike[str] | None, baseline: float | None, *, wanted: bool = True
) -> CameraOptions:
    """Return what the options of a command say of the camera.

    Args:
        focal: The focal length in pixels.
        intrinsics: "fx,fy,cx,cy", or the name of a text file with these or the nine numbers of a camera matrix, or of
            a JSON file as Open3D writes it.
        baseline: The distance of the two cameras of a disparity.
        wanted: Whether there is anything that needs a camera.

    Raises:
        InputError: Something is no camera, the focal length is said twice, or nothing needs it.
    """
    given = {"--focal": focal, "--intrinsics": intrinsics, "--baseline": baseline}
    if not wanted and any(value is not None for value in given.values()):
        option = next(name for name, value in given.items() if value is not None)
        raise InputError(f"{option} is about the points of --ply FILE; add that, or leave it out")
    if baseline is not None and not 0 < baseline < math.inf:
        raise InputError(f"--baseline {baseline:g}: must be positive, the distance of the two cameras")
    if intrinsics is not None:
        if focal is not None:
            raise InputError("--focal and --intrinsics both say the focal length; leave one out")
        fx, fy, cx, cy = _intrinsics(Path(intrinsics))
        return CameraOptions((fx, fy), (cx, cy), baseline)
    if focal is not None and not 0 < focal < math.inf:
        raise InputError(f"--focal {focal:g}: must be positive, the focal length in pixels of the guide")
    return CameraOptions(None if focal is None else check_focal(focal), None, baseline)


def camera_of(guide: Image, options: CameraOptions) -> Camera:
    """Return the camera of a guide: as said, else as its EXIF data say, else guessed.

    Args:
        guide: The image that the camera took.
        options: What the user says.

    Raises:
        InputError: The optical axis does not meet the guide.
    """
    height, width = guide.size
    cx, cy = options.centre or (width / 2, height / 2)
    if not (0 <= cx <= width and 0 <= cy <= height):
        raise InputError(
            f"--intrinsics: the centre {cx:g}, {cy:g} is not in the guide of {width} x {height} pixels; the numbers "
            "are those of the guide, not of the source"
        )
    if options.focal is not None:
        return Camera(options.focal, (cx, cy), "as given")
    on_film = _focal_on_film(guide.path)
    if on_film is not None:
        length = focal_from_film(on_film, guide.size)
        return Camera((length, length), (cx, cy), f"from the EXIF data of {guide.path.name}")
    length = guess_focal(guide.size)
    return Camera((length, length), (cx, cy), "guessed: 0.8 of the longer side", guessed=True)


def _focal_on_film(path: Path) -> float | None:
    """Return the focal length on 35 mm film that a JPEG states, in millimetres."""
    if path.suffix.lower() not in (".jpg", ".jpeg"):
        return None
    try:
        with JpegImageFile(path) as photograph:
            found = float(photograph.getexif().get_ifd(_EXIF).get(_FOCAL_LENGTH_ON_FILM, 0))
    except Exception:  # damaged tags raise nearly anything, and the image itself was read
        return None
    return found if 0 < found < math.inf else None


def _intrinsics(given: Path) -> Sequence[float]:
    """Return fx, fy, cx, cy."""
    exists = os.path.exists(given)  # which takes any text, however long
    text = _read(given) if exists else str(given)
    try:
        numbers = _numbers(text)
    except (ValueError, KeyError, TypeError, RecursionError):
        numbers = []
    if len(numbers) == 9:
        numbers = _of_matrix(numbers)
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        missing = "" if exists or not given.suffix.strip(".").isalpha() else "no such file; "
        raise InputError(f"--intrinsics {given}: {missing}must be {_FORM}, or a file with them or with a camera matrix")
    check_focal((numbers[0], numbers[1]))
    return numbers


def _read(path: Path) -> str:
    check_regular_file(path, "a text file of intrinsics")
    try:
        with path.open(encoding="utf-8") as stream:
            return stream.read(_LONGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text; intrinsics are {_FORM}") from error


def _numbers(text: str) -> list[float]:
    if text.lstrip().startswith("{"):
        return [float(number) for number in json.loads(text)["intrinsic_matrix"]]
    return [float(word) for word in re.split(r"[\s,;\[\]]+", text) if word]


def _of_matrix(numbers: list[float]) -> list[float]:
    """Return fx, fy, cx, cy of a camera matrix, given by rows or, as in Open3D, by columns."""
    if numbers[2] == numbers[5] == 0:
        numbers = [numbers[3 * column + row] for row in range(3) for column in range(3)]
    fx, skew, cx, zero, fy, cy, *last = numbers
    if skew or zero or last != [0, 0, 1]:
        raise InputError("--intrinsics: the camera matrix must be fx 0 cx, 0 fy cy, 0 0 1")
    return [fx, fy, cx, cy]
