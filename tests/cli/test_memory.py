"""Memory that was freed is used again, and not cleared anew by the system."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource
import numpy as np
from graphsr.cli.memory import keep_freed_memory

keep_freed_memory()

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.empty(64 * 2**20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults(), faults())
"""

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library allocates by itself")


def faults(**settings: str) -> tuple[int, int]:
    """Of the first and of the second time that 64 MB are filled."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES"))}
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS], env={**plain, **settings}, capture_output=True, text=True, check=True
    )
    first, second = map(int, done.stdout.split())
    return first, second


def test_the_second_time_costs_no_page() -> None:
    first, second = faults()
    assert second < first / 5


@pytest.mark.slow
def test_what_the_user_says_of_it_counts() -> None:
    first, second = faults(MALLOC_MMAP_THRESHOLD_="1048576")
    assert second > first / 2
