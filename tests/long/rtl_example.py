"""The example of a user's own hardware, by its own Makefile alone: cocotb's makefiles compile for half a minute."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.own_unit import EXAMPLE, NONE, ROUNDS, with_faults

pytestmark = pytest.mark.rtl


@pytest.mark.parametrize("fault", [NONE, ROUNDS])
def test_the_example_passes_in_a_folder_of_its_own_and_fails_with_a_fault(fault: int, tmp_path: Path) -> None:
    folder = with_faults().folder
    assert folder is not None
    shutil.copytree(EXAMPLE, tmp_path / "mine")
    for source in folder.glob("*.sv") if fault else ():
        shutil.copy(source, tmp_path / "mine")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["make", f"PYTHON={sys.executable}", f"COCOTB_PLUSARGS=+fault={fault}"]
    done = subprocess.run(
        command, cwd=tmp_path / "mine", env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    said = "numbers differ; the first is number 2 of" if fault else "PASS=1 FAIL=0"
    assert ((done.returncode != 0) == bool(fault), said in done.stdout) == (True, True), done.stdout
