"""The constants of a model that turn evidence into a standard deviation, in a file beside the model's own.

`graphsr calibrate MODEL` fits and writes them. They belong to the weights they were fitted to: beside other weights
they are not used.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.settings import build

SUFFIX = ".uncertainty.json"
# How many standard deviations hold 95 % of the errors.
INTERVAL_95 = 2.0
_GENERAL = resources.files("graphsr.models") / "weights" / f"general{SUFFIX}"


@dataclass(frozen=True)
class Calibration:
    """The logarithm of a standard deviation, in those of the source, as a sum over features.

    Attributes:
        digest: Of the model that it was fitted to (`Model.digest`); "": of several, for any.
        level: The constant.
        factor, posterior, energy, change, contrast, roughness, noise: What the features of
            `measurements.evidence.Evidence` are multiplied by.
        interval_50, interval_80: How many standard deviations hold so many percent of the errors. These have long
            tails, so that the multiples are not those of a Gaussian. Two hold 95 %, by which the level is chosen: the
            root of their mean square would be that of a few gross errors.
    """

    digest: str
    level: float
    factor: float
    posterior: float
    energy: float
    change: float
    contrast: float
    roughness: float
    noise: float
    interval_50: float
    interval_80: float

    @property
    def intervals(self) -> dict[float, float]:
        """Return how many standard deviations hold which part of the errors."""
        return {0.5: self.interval_50, 0.8: self.interval_80, 0.95: INTERVAL_95}


def beside(path: Path) -> Path:
    """Return where the calibration of a model file is."""
    return path.with_name(path.stem + SUFFIX)


def general_calibration() -> Calibration:
    """Return the constants for models without their own."""
    with resources.as_file(_GENERAL) as path:
        return read_calibration(path)


def read_calibration(path: Path) -> Calibration:
    """Read the constants in a file."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as the calibration of a model: {error}") from error
    return build(Calibration, content, str(path))


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write constants to a file, whole or not at all."""
    check_folder(path)
    with whole_file(path) as part:
        part.write_text(json.dumps(asdict(calibration), indent=1) + "\n")
