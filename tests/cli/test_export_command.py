"""graphsr export: ONNX files of models by name, and what is refused."""

from __future__ import annotations

from pathlib import Path

import onnxruntime
import pytest

from tests.cli.files_and_runs import Run


def test_a_model_by_name_becomes_an_onnx_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "colour.onnx"
    outcome = run("export", "colour", out)
    assert outcome.code == 0, outcome.err
    assert f"{out}, " in outcome.out
    assert "down, right" in outcome.out
    inputs = [entry.name for entry in onnxruntime.InferenceSession(str(out)).get_inputs()]
    assert inputs == ["guide", "source"]
    assert run("export", "colour", out).code == 2  # it exists
    assert run("export", "colour", out, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("colour", "colour.pt"), "model files end in .safetensors or .onnx"),
        (("colour", "colour.onnx", "--half"), "--half is for .safetensors files"),
        (("colour", "colour.safetensors"), "made of a training run's checkpoint"),
        (("bicubic", "bicubic.onnx"), "predicts no graph"),
        (("colur", "colour.onnx"), "colour"),
        (("no-such.ckpt", "out.onnx"), "no-such.ckpt"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("export", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert not list(tmp_path.iterdir())
