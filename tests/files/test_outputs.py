"""No command replaces an input, an output of its own, or an existing file that it was not told to replace."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphsr.errors import InputError
from graphsr.files import check_outputs, make_folder


def test_an_existing_file_needs_consent(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    check_outputs({"--output": path, "--preview": None})
    path.touch()
    with pytest.raises(InputError, match=r"out\.png: exists already; give another name, or replace it by --overwrite"):
        check_outputs({"--output": path})
    check_outputs({"--output": path}, overwrite=True)


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    path, link = tmp_path / "in.png", tmp_path / "link.png"
    path.touch()
    link.symlink_to(path)
    with pytest.raises(InputError, match=r"link\.png: --output would overwrite an input; give another name"):
        check_outputs({"--output": link}, inputs=(None, path), overwrite=True)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    roundabout = tmp_path / ".." / tmp_path.name / "a.png"
    with pytest.raises(InputError, match=r"a\.png: --preview and --output are the same file; give another name"):
        check_outputs({"--output": tmp_path / "a.png", "--preview": roundabout}, overwrite=True)


def test_folders_are_made_with_those_above_them(tmp_path: Path) -> None:
    make_folder(tmp_path / "new" / "folder")
    make_folder(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(InputError, match=rf"{path}: the folder cannot be made \(.+\); choose another"):
            make_folder(path)
