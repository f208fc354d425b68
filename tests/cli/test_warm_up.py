"""Kernels are compiled in advance, by several processes: all of them, and what goes wrong in one reaches the user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphsr import GraphSRError, InputError
from graphsr.cli.kernel_groups import compile_groups

_COMPILE = """
import sys
from numba.core import event
from graphsr.cli.kernel_groups import GROUPS, compile_groups

if __name__ == "__main__":
    with event.install_listener("numba:compile", event.RecordingListener()) as recorded:
        # The last two have kernels in common, with other types.
        compile_groups(GROUPS[-2:], int(sys.argv[1]), lambda *_: None)
    print(len(recorded.buffer))
"""
_INTERRUPT = """
import os, signal, threading
from graphsr.cli.kernel_groups import compile_groups

def interrupt():
    os.kill(os.getppid(), signal.SIGINT)
    threading.Event().wait()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a program started in the background ignores it
    try:
        compile_groups([interrupt, interrupt], 2, lambda *_: None)
    except KeyboardInterrupt:
        print("interrupted")
"""


def _nothing() -> None:
    pass


def _mistake() -> None:
    raise InputError("source: there is none")


def _die() -> None:
    os._exit(1)


def _run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600)


@pytest.mark.slow
def test_after_two_processes_nothing_is_left_to_compile(tmp_path):
    assert _run(tmp_path, _COMPILE, "2").stdout == "0\n"  # nothing in the process that started them
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert _run(tmp_path, _COMPILE, "1").stdout == "0\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c_ends_all_processes_without_a_word(tmp_path):
    done = _run(tmp_path, _INTERRUPT)
    assert done.stdout == "interrupted\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_errors_in_a_process_are_raised_here():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(InputError, match="source: there is none"):
        compile_groups([_nothing, _mistake], 2, lambda *_: None)
    with pytest.raises(GraphSRError, match="was ended by the system"):
        compile_groups([_die, _nothing], 2, lambda *_: None)
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_is_told():
    told = []
    compile_groups([_nothing, _nothing], 1, lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]
