"""The way of a wrong lane back to the inputs, for every fault that is planted in the kernel's sources at -O0."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check_planted_faults import C_FAULTS, Fault
from test_why import require_faulty_line


@pytest.mark.parametrize("fault", C_FAULTS, ids=lambda fault: fault.name)
def test_the_way_of_a_wrong_lane_has_the_faulty_line(fault: Fault, tmp_path: Path) -> None:
    require_faulty_line(fault, tmp_path)
