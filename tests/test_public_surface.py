"""The public surface: which names there are, that they can be used, and that they are documented."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphsr
from graphsr.models.registry import names

NAMES = [
    "Architecture", "ConvergenceError", "Edges", "GraphSR", "GraphSRError", "InputError", "Model", "Problem", "Report",
    "Sampling", "Solution", "Upsampled", "affinity", "complete", "data", "energy", "features", "load", "models",
    "raster", "save", "solve", "upsample", "upsample_frames",
]  # fmt: skip
MODULES = ("data", "features", "raster")


def functions() -> dict[str, Callable[..., object]]:
    """Return the public functions of the package and of its public modules by name."""
    places = {"graphsr": graphsr, **{f"graphsr.{name}": getattr(graphsr, name) for name in MODULES}}
    found = {f"{place}.{name}": getattr(module, name) for place, module in places.items() for name in module.__all__}
    found["graphsr.models"] = names  # what the call of the package does
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


def test_the_names_are_these():
    assert sorted(graphsr.__all__) == NAMES
    assert set(NAMES) <= set(dir(graphsr))


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name):
    assert getattr(graphsr, name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_modules_work_after_the_import_of_the_package(name):
    program = f"import graphsr\nfor name in graphsr.{name}.__all__:\n    getattr(graphsr.{name}, name)"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_a_misspelt_name_is_an_error_that_helps():
    with pytest.raises(AttributeError, match="upsample"):
        graphsr.upsampel  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(graphsr, "__wrapped__")  # which inspect asks for


@pytest.mark.slow
def test_a_misspelt_name_is_an_error_for_type_checkers(tmp_path: Path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "right.py").write_text("import graphsr\nresult = graphsr.upsample\nmodels = graphsr.models()\n")
    (tmp_path / "wrong.py").write_text("import graphsr\nresult = graphsr.upsampel\n")
    # The package itself is read, and not what it imports: the names are what matters.
    flags = ["--follow-imports=skip", f"--cache-dir={tmp_path / 'cache'}"]
    told, _, code = api.run([*flags, graphsr.__file__, str(tmp_path / "right.py"), str(tmp_path / "wrong.py")])
    assert code == 1, told
    assert 'wrong.py:2: error: Module has no attribute "upsampel"' in told
    assert "right.py" not in told


@pytest.mark.parametrize("name", sorted(functions()))
def test_functions_are_documented_with_an_example(name):
    function = functions()[name]
    text = inspect.getdoc(function) or ""
    assert "Returns:" in text
    assert ">>> " in text
    if inspect.signature(function).parameters:
        assert "Args:" in text


@pytest.mark.parametrize("name", [name for name in NAMES if name[0].isupper()])
def test_classes_are_documented(name):
    kind = getattr(graphsr, name)
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{name}(")  # what dataclasses write where nobody else does
