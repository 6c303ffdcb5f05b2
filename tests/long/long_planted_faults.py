"""Every fault that is planted in the kernel's sources, at every optimisation level: caught, and placed at its step."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check_planted_faults import C_FAULTS, Fault, mismatch_of, outcome_of_c

from sim.toolchain.levels import LEVELS


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("fault", C_FAULTS, ids=lambda fault: fault.name)
def test_fault_in_c_is_placed_at_its_step(fault: Fault, level: str, tmp_path: Path) -> None:
    assert mismatch_of(outcome_of_c(fault, level, tmp_path)).parted_at == fault.step
