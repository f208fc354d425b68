"""Build the gallery: python docs/pictures/gallery [NAME...]

Makes the files of every example in gallery/NAME/, runs its command there, and writes its picture to
docs/images/gallery/ and, when all are built, docs/gallery.md with the figures.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import fill

import land
import numpy as np
import rooms
from example import Example, Made
from PIL import Image

import graphsr
from graphsr.files import read_image
from graphsr.pictures import Panel, as_picture, sheet
from graphsr.pictures.preview import resized
from graphsr.pictures.zoom import most_different, outlined

ROOT = Path(__file__).parents[3]
WORK, PICTURES, PAGE = ROOT / "gallery", ROOT / "docs" / "images" / "gallery", ROOT / "docs" / "gallery.md"
EXAMPLES = (*rooms.EXAMPLES[:4], *land.EXAMPLES, *rooms.EXAMPLES[4:])
_WIDTH = 320  # of a panel
_QUALITY = 88
_LINE = 120
_INTRODUCTION = (
    "What graphsr makes of sources as people have them. The pairs are rendered or made up, as each entry says, so "
    "that the truth is known and everybody may have them: `make gallery` writes the files to `gallery/`, runs the "
    "commands and draws this page. Below each picture is a closer look at the frame, which is where interpolation "
    "and target differ most. Figures on real data: [Results](results.md)."
)


def build(example: Example) -> tuple[float, float]:
    """Make the files of an example, run its command, draw its picture; return the scores of bicubic and target."""
    folder = WORK / example.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = example.make(folder)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-m", *shlex.split(example.command)], cwd=folder, env=environment, check=True)
    target = read_image(folder / example.output).array
    bicubic = graphsr.upsample(made.guide, made.source, model="bicubic").target
    scores = example.score(bicubic, made.truth), example.score(target, made.truth)
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(_picture(made, bicubic, target))
    picture.save(PICTURES / f"{example.name}.jpg", quality=_QUALITY, optimize=True)
    return scores


def _picture(made: Made, bicubic: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return guide, source, interpolation, target and truth, and below a closer look at each."""
    height, width = made.truth.shape[:2]
    size = round(_WIDTH * height / width), _WIDTH
    part = most_different(bicubic, target)
    assert part is not None
    source = resized(made.show(made.source), (height, width), sharp=True)
    maps = as_picture(made.guide), source, made.show(bicubic), made.show(target), made.show(made.truth)
    names = "guide", "source", "bicubic", "graphsr", "truth"
    rows = [
        [
            Panel(outlined(resized(each, size), part, (height, width)), name)
            for each, name in zip(maps, names, strict=True)
        ],
        [Panel(resized(each[part], size, sharp=True)) for each in maps],
    ]
    return sheet(rows)


def write_page(scores: dict[str, tuple[float, float]]) -> None:
    """Write the page of the documentation."""
    parts = [
        "# Gallery",
        "<!-- written by make gallery -->",
        fill(_INTRODUCTION, _LINE, break_on_hyphens=False),
    ]
    for example in EXAMPLES:
        bicubic, target = (f"{score:.{example.digits}f}" for score in scores[example.name])
        parts += [
            f"## {example.title}",
            fill(example.text, _LINE, break_on_hyphens=False),
            f"```bash\n{example.command}\n```",
            f"![{example.title}: guide, source, bicubic interpolation, graphsr and truth]"
            f"(images/gallery/{example.name}.jpg)",
            f"| {example.words} | bicubic | graphsr |\n|---|---:|---:|\n| | {bicubic} | {target} |",
        ]
    PAGE.write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    chosen = [example for example in EXAMPLES if example.name in (sys.argv[1:] or [each.name for each in EXAMPLES])]
    found = {}
    for one in chosen:
        found[one.name] = build(one)
        print(f"{one.name}: {one.words}: bicubic {found[one.name][0]:.4g}, graphsr {found[one.name][1]:.4g}")
    if len(found) == len(EXAMPLES):
        write_page(found)
