"""The commands let their threads sleep while they wait; a setting of the user's wins, and so does a program's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from graphsr.wait_policy import PASSIVE, wait_passively

_COMMAND = """
import os, sys
from graphsr.cli import main
assert not {"torch", "numba"} & set(sys.modules)  # they read it when they are loaded
sys.argv = ["graphsr"]
try:
    main()
except SystemExit:
    pass
"""
_IMPORT = "import os, graphsr; graphsr.upsample"
_SAY = "\nprint(os.environ.get('OMP_WAIT_POLICY'), os.environ.get('GOMP_SPINCOUNT'), os.environ.get('KMP_BLOCKTIME'))"


def said(program: str, **settings: str) -> str:
    """What a program prints last, in an environment with these settings about waiting alone."""
    plain = {name: value for name, value in os.environ.items() if name not in PASSIVE}
    command = [sys.executable, "-c", program + _SAY]
    done = subprocess.run(command, env={**plain, **settings}, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_a_command_waits_passively_before_libraries_load() -> None:
    assert said(_COMMAND) == " ".join(PASSIVE.values())


@pytest.mark.parametrize("name", PASSIVE)
def test_a_setting_of_the_user_wins(name: str) -> None:
    environment = {name: "of the user"}
    wait_passively(environment)
    assert environment == {name: "of the user"}


def test_an_import_leaves_the_program_alone() -> None:
    assert said(_IMPORT, KMP_BLOCKTIME="7") == "None None 7"
