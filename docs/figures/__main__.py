"""Write figures into the pages that show them: python docs/figures [DATA]

With the root of the data sets, first measures what is not known of the present weights; all of it takes a quarter of an
hour on two cores. A page shows a block between `<!-- figures NAME -->` and `<!-- end of figures -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from blocks import BLOCKS
from measure import Measured, measure, read_measured, write_measured

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "results.md",
    ROOT / "docs" / "real-measurements.md",
    *sorted((ROOT / "src" / "graphsr" / "models" / "weights").glob("*.md")),
)
_BLOCK = re.compile(r"(<!-- figures (\S+) -->\n\n).*?(\n\n<!-- end of figures -->)", re.DOTALL)


def with_figures(text: str, measured: Measured) -> str:
    """Return the text of a page with its blocks as they were measured."""
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]](measured) + found[3], text)


def main(arguments: list[str]) -> None:
    """Measure if a root is given, and write all pages."""
    measured = read_measured()
    if arguments:
        measured = measure(Path(arguments[0]), measured)
        write_measured(measured)
    for page in PAGES:
        page.write_text(with_figures(page.read_text("utf-8"), measured), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
