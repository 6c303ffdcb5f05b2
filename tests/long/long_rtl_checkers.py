"""The assertions of `rtl_models/integration` in simulation: silent in the units, each told of a fault of its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rtl_models.tools.build_cache import built
from rtl_models.tools.environment import bench_variables, execute
from rtl_models.tools.sources import LANES
from rtl_models.unit_harness import TOP
from rtl_models.unit_run import Built
from rtl_models.units import UNITS

pytestmark = pytest.mark.rtl
INTEGRATION: Final = LANES.parent / "integration"
FAULTS: Final = {
    "": ("", "", ""),
    "result_stays": ("valid_pipeline.sv", "assign enable_o = ready_i | ~valid_o;", "assign enable_o = 1'b1;"),
    "ready_is_room": ("valid_pipeline.sv", "assign ready_o  = enable_o;", "assign ready_o = enable_o & valid_o;"),
    "none_invented": (
        "valid_pipeline.sv", "Depth'({valid_q, valid_i})", "valid_q | Depth'({valid_q, valid_i})",
    ),
    "on_time": ("valid_pipeline.sv", "valid_o  = valid_q[Depth-1]", "valid_o = valid_q[Depth-1] & valid_q[0]"),
    "reset_empties": ("valid_pipeline.sv", "valid_q <= '0;", "valid_q <= '1;"),
}  # fmt: skip
"""By property a fault of which it is told; none of the unit as it is."""


@pytest.mark.parametrize("rule", FAULTS)
def test_a_property_is_silent_in_the_unit_and_told_of_its_fault(rule: str, tmp_path: Path) -> None:
    file, right, wrong = FAULTS[rule]
    if file:
        text = (LANES / file).read_text()
        assert text.count(right) == 1
        (tmp_path / file).write_text(text.replace(right, wrong))
    unit = Built(UNITS["quantize_down"])
    design = unit.design(*((tmp_path,) if file else ()))
    checkers = {name: (INTEGRATION / name).read_text() for name in ("stream_checker.sv", "bind_quantize_down.sv")}
    simulator = built(replace(design, texts={**design.texts, **checkers}))
    (tmp_path / "run").mkdir()
    variables = bench_variables(
        TOP, "rtl_models.benches.unit_scenarios", 1, "frames|reset_inside", tmp_path / "run" / "results.xml"
    )
    said = execute([*simulator.command], tmp_path / "run", 600, **variables, **unit.variables).output
    told = {name for name in FAULTS if name and f"stream_checker: {name}: " in said}
    assert rule in told if rule else not told, said[-2000:]
