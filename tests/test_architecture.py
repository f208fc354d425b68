"""The shape of the source: no import cycle, nothing imported late without a reason, quick to start, small files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphsr

ROOT = Path(graphsr.__file__).parent
MOST_LINES = 350
NAMES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "misc"}
SLOW_TO_IMPORT = {"numba", "torch"}

# Modules whose functions import others of the package when they are called: to keep starting quick.
MAY_IMPORT_LATE = {
    "graphsr": "names are imported when first used, so that `import graphsr` is quick",
    "graphsr.models": "the same for `graphsr.models`, which is a function and a package",
    "graphsr.solver.matrix": "a backend is imported when it is first used, and with it numba",
}
MAY_IMPORT_LATE_BELOW = {"graphsr.cli": "a command imports what it runs, so that `graphsr --help` is quick"}


def name_of(path: Path) -> str:
    parts = ("graphsr", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(module: str) -> Iterator[tuple[str, bool]]:
    """Yield each module of the package that one imports, and whether it does so late; not those for type checkers."""
    yield from _imports(ast.parse(PATHS[module].read_text()), module, late=False)


def _imports(node: ast.AST, module: str, late: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, late) for alias in node.names if alias.name in PATHS)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{module}: imports are absolute"
        if node.module in PATHS:
            found = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from {(name if name in PATHS else node.module, late) for name in found}
    else:
        late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            children = list(node.orelse)
        for child in children:
            yield from _imports(child, module, late)


GRAPH = {module: {name for name, _ in imports(module)} - {module} for module in PATHS}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that import each other (strongly connected components, by Kosaraju)."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(module: str, edges: dict[str, set[str]], found: list[str]) -> None:
        seen.add(module)
        for other in sorted(edges[module] - seen):
            if other not in seen:
                visit(other, edges, found)
        found.append(module)

    for module in graph:
        if module not in seen:
            visit(module, graph, order)
    reverse = {module: {other for other in graph if module in graph[other]} for module in graph}
    seen.clear()
    components: list[list[str]] = []
    for module in reversed(order):
        if module not in seen:
            components.append([])
            visit(module, reverse, components[-1])
    return [sorted(component) for component in components if len(component) > 1]


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_imports_are_found():
    assert ("graphsr.errors", False) in set(imports("graphsr.sampling"))
    assert any(late for _, late in imports("graphsr.cli.evaluate"))
    assert "graphsr.scenes" in GRAPH["graphsr.data.rendered"]  # a package is its __init__


def test_no_modules_import_each_other():
    assert cycles(GRAPH) == []


def test_late_imports_have_a_reason():
    late = {module for module in PATHS for _, is_late in imports(module) if is_late}
    allowed = {m for m in late if m in MAY_IMPORT_LATE or any(m.startswith(below) for below in MAY_IMPORT_LATE_BELOW)}
    assert late - allowed == set()


def test_commands_are_not_imported_by_anything_but_commands():
    users = {module for module, found in GRAPH.items() if any(name.startswith("graphsr.cli") for name in found)}
    assert {module for module in users if not module.startswith("graphsr.cli")} <= {"graphsr.__main__"}


@pytest.mark.parametrize(
    "program",
    [
        "import graphsr",
        "import sys\nfrom graphsr.cli import main\nsys.argv = ['graphsr', '--help']\ntry:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code",
    ],
    ids=["import graphsr", "graphsr --help"],
)
def test_starting_is_quick(program: str):
    ending = f"\nimport sys\nprint('imported:', *({SLOW_TO_IMPORT!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported:"


@pytest.mark.parametrize("folder", [ROOT, Path(__file__).parent], ids=["src", "tests"])
def test_files_are_named_by_what_is_in_them(folder: Path):
    assert not [path for path in folder.rglob("*.py") if path.stem in NAMES_THAT_SAY_NOTHING]


def test_files_are_small():
    lengths = {module: len(path.read_text().splitlines()) for module, path in PATHS.items()}
    assert {module: length for module, length in lengths.items() if length > MOST_LINES} == {}
