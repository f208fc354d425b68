"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from graphsr.errors import InputError
from graphsr.files import read_image, write_image
from graphsr.files.atomic import whole_file

DEPTH = np.ones((4, 4), np.uint16)


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError()])
@pytest.mark.parametrize("existing", [None, b"the old file"])
def test_a_failure_half_way_leaves_what_was_there(
    tmp_path: Path, failure: BaseException, existing: bytes | None
) -> None:
    path = tmp_path / "out.png"
    if existing is not None:
        path.write_bytes(existing)
    expected = InputError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected), whole_file(path) as temporary:  # noqa: PT012
        temporary.write_bytes(b"half of the new")
        raise failure
    assert [p.name for p in tmp_path.iterdir()] == ([] if existing is None else ["out.png"])
    assert existing is None or path.read_bytes() == existing


def test_a_full_disk_is_told_with_the_path(tmp_path: Path) -> None:
    complaint = r"out\.png: cannot be written \(No space left on device\)"
    with pytest.raises(InputError, match=complaint), whole_file(tmp_path / "out.png"):
        raise OSError(28, "No space left on device")


def test_the_file_is_not_there_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    with whole_file(path) as temporary:
        temporary.write_bytes(b"whole")
        assert not path.exists()
        assert temporary.parent == path.parent
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_image(tmp_path / "out.png", DEPTH)
    assert stat.S_IMODE((tmp_path / "out.png").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_replaced_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.png", tmp_path / "link.png"
    real.touch(mode=0o640)
    link.symlink_to(real)
    write_image(link, DEPTH)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    np.testing.assert_array_equal(read_image(real).array, DEPTH)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent/out\.png: the folder .*absent does not exist"):
        write_image(tmp_path / "absent" / "out.png", DEPTH)


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/out\.png: .*file is not a folder"):
        write_image(tmp_path / "file" / "out.png", DEPTH)


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "out.png").mkdir()
    with pytest.raises(InputError, match=r"out\.png: is a folder"):
        write_image(tmp_path / "out.png", DEPTH)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_rights_is_named(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(InputError, match=r"locked/out\.png: .*cannot be written"):
        write_image(locked / "out.png", DEPTH)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that not even root can write to")
def test_a_folder_nobody_can_write_to_is_named() -> None:
    with pytest.raises(InputError, match=r"/proc/out\.png: .*cannot be written"):
        write_image("/proc/out.png", DEPTH)
