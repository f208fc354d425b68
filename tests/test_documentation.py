"""The documentation is true: its code runs, its commands are accepted, its names and files exist."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import typer.main
from PIL import Image
from typer.testing import CliRunner

import graphsr
from graphsr.cli import app

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
RUN = [ROOT / "README.md", DOCS / "index.md", DOCS / "how-it-works.md", *sorted((DOCS / "tutorials").glob("*.md"))]
SLOW = ("README.md", "files.md", "index.md", "onnx.md", "rasters.md", "training.md")

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>.+?) -->\n)?```(?P<language>\w+)(?P<title>[^\n]*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    title: str  # the file that a block of TOML stands for
    text: str
    why_not_run: str | None

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block that call graphsr, continued ones joined."""
        if self.language not in ("bash", "console"):
            return []
        return [line for line in self.text.replace("\\\n", " ").splitlines() if line.startswith("graphsr ")]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        title = re.search(r'title="(.+?)"', found["title"])
        line = text.count("\n", 0, found.start("text")) + 1
        yield Block(page, line, found["language"], title[1] if title else "", found["text"], found["why"])


def named(paths: list[Path]) -> list[Any]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in SLOW else [])
        for page in RUN
        if any(block.language == "python" for block in blocks(page))
    ],
)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":
        write_files_that_readers_have()
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.why_not_run is not None:
            continue
        if block.language == "python":
            # As many lines before it as in the page, so that a traceback shows where it is.
            exec(compile("\n" * (block.line - 1) + block.text, str(block.page), "exec"), names)
        elif block.title:
            Path(block.title).write_text(block.text, "utf-8")
        for command in block.commands:
            result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
            assert result.exit_code == 0, f"{page.name}:{block.line}: {command}\n{result.output}\n{result.exception!r}"


def write_files_that_readers_have() -> None:
    """The files that the README names: a photograph with a depth map, an orthophoto with heights."""
    import rasterio
    from rasterio.transform import from_origin

    rng = np.random.default_rng(0)
    photo = rng.integers(0, 256, (48, 64, 3), np.uint8)
    depth = rng.integers(500, 5000, (6, 8), np.uint16)
    Image.fromarray(photo).save("photo.jpg")
    Image.fromarray(depth).save("depth.png")
    for name, values, metres in (("orthophoto", np.moveaxis(photo, 2, 0), 1), ("heights", depth[None], 8)):
        count, height, width = values.shape
        with rasterio.open(
            f"{name}.tif", "w", driver="GTiff", dtype=values.dtype, count=count, height=height, width=width,
            crs="EPSG:32632", transform=from_origin(600000, 5400000, metres, metres),
        ) as raster:  # fmt: skip
            raster.write(values)


@pytest.mark.parametrize("page", named(PAGES))
def test_commands_on_a_page_are_accepted(page: Path) -> None:
    for block in blocks(page):
        for command in block.commands:
            arguments = shlex.split(command, comments=True)[1:]
            parser = typer.main.get_command(app)
            while arguments and arguments[0] in getattr(parser, "commands", {}):
                parser = parser.commands[arguments.pop(0)]  # type: ignore[attr-defined]
            with parser.make_context("graphsr", arguments):
                pass


@pytest.mark.parametrize("page", named(PAGES))
def test_python_on_a_page_uses_names_that_exist(page: Path) -> None:
    for block in blocks(page):
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "graphsr":
                module = import_module(str(node.module))
                for name in node.names:
                    assert hasattr(module, name.name), f"{page.name}:{block.line}: {node.module}.{name.name}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "graphsr":
                assert node.attr in graphsr.__all__, f"{page.name}:{block.line}: graphsr.{node.attr}"


@pytest.mark.parametrize("page", named(PAGES))
def test_files_that_a_page_names_exist(page: Path) -> None:
    for name in re.findall(r"`((?:src|tests|docs|\.ci)/[\w./*-]+)`", page.read_text("utf-8")):
        assert list(ROOT.glob(name.rstrip("/"))), f"{page.name}: {name}"


def test_the_table_of_folders_is_complete() -> None:
    table = (DOCS / "design.md").read_text("utf-8").split("## Where things are")[1].split("##")[0]
    firsts = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    listed = {name.rstrip("/") for first in firsts for name in re.findall(r"`(.+?)`", first)}
    package = ROOT / "src" / "graphsr"
    folders = {path.name for path in package.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    assert listed == folders | modules


def test_the_reference_has_every_public_name() -> None:
    text = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    documented = {name.split(".")[-1] for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)}
    documented |= set(re.findall(r"\{#graphsr\.(\w+)\}", text))
    modules = {name for name in graphsr.__all__ if type(getattr(graphsr, name)) is ModuleType}
    assert set(graphsr.__all__) - modules <= documented
    assert all(f"graphsr.{name}" in text for name in modules)


@pytest.mark.parametrize("page", named(PAGES))
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    other_words = r"\bties?\b|\btied\b|\brivals?\b|\bcontenders?\b|\bmisfit\b|(?:fused|plain) path"
    assert not re.findall(other_words, page.read_text("utf-8"), re.IGNORECASE)


def test_versions_agree() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert graphsr.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[0] == version


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    pages = [path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.html")]
    # Nothing is loaded from elsewhere: the site works without a network.
    foreign = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]+(?:src|href)="https?:')
    assert not any(foreign.search(page) for page in pages)
