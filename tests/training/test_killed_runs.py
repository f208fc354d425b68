"""What a training that was killed leaves behind is gone after the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphsr.files.atomic import remove_leftovers, whole_file

WAITING = (
    "import os, sys, time; from graphsr.training.parent import end_with; end_with({}); print('on'); time.sleep(60)"
)


def test_half_written_checkpoints_are_removed(tmp_path: Path) -> None:
    with whole_file(tmp_path / "last.ckpt") as part:
        part.write_bytes(b"half")
        left = part.rename(part.with_name(".graphsr-0123456789ab.ckpt"))
        part.write_bytes(b"whole")
    assert left.exists()
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["last.ckpt"]


def test_a_worker_whose_trainer_is_gone_already_ends_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", WAITING.format(os.getpid() + 1)], capture_output=True, timeout=50)
    assert done.returncode == 1
    assert done.stdout == b""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell a process")
def test_a_worker_ends_with_its_trainer() -> None:
    program = (
        "import subprocess, sys; worker = subprocess.Popen([sys.executable, '-u', '-c', "
        f"{WAITING.format('os.getppid()')!r}], stdout=subprocess.PIPE); worker.stdout.readline(); "
        "print(worker.pid, flush=True); worker.wait()"
    )
    trainer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    worker = int(trainer.stdout.readline())
    trainer.send_signal(signal.SIGKILL)
    trainer.wait()
    deadline = time.monotonic() + 20
    while _runs(worker) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _runs(worker)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
