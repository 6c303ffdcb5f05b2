"""The assertions of `rtl_models/integration` in simulation: silent in the units, each told of a fault of its kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from rtl_models.tools.build_cache import COUNTS, Purpose, TopModule, built
from rtl_models.tools.environment import bench_variables, execute
from rtl_models.tools.sources import LANES

pytestmark = pytest.mark.rtl
INTEGRATION: Final = LANES.parent / "integration"
UNIT: Final = "quantize_down"
FAULTS: Final = {
    "": ("", ""),
    "result_stays": ("else if (enable_o) valid_q", "else valid_q"),
    "ready_is_room": ("assign ready_o  = enable_o;", "assign ready_o = enable_o & ready_i;"),
    "none_invented": ("Depth'({valid_q, valid_i})", "valid_q | Depth'({valid_q, valid_i})"),
    "none_lost": ("Depth'({valid_q, valid_i})", "Depth'({valid_q, valid_i & ~valid_q[0]})"),
    "on_time": ("Depth'({valid_q, valid_i})", "Depth'({valid_q, valid_i & valid_q[0]})"),
    "reset_empties": ("valid_q <= '0;", "valid_q <= '1;"),
}
"""By property a fault in `valid_pipeline.sv` of which it is told; none of the unit as it is."""


_PROPERTY: Final = re.compile(r"^  (\w+) :\n  cover property", re.MULTILINE)
_REACHED: Final = re.compile(r"^C '[^']*\x01t\x02user\x01[^']*\x01o\x02(\w+)\x01[^']*' [1-9]\d*$", re.MULTILINE)
"""A cover property in the file of counts that was met once and more."""


def said_of(folder: Path, valid_pipeline: str, purpose: Purpose = "bench") -> str:
    """What the simulator of the unit says with the checker bound to it and this part, in the folder that it runs in."""
    (folder / "valid_pipeline.sv").write_text(valid_pipeline)
    names = (LANES / f"{UNIT}.sv", INTEGRATION / "stream_checker.sv", INTEGRATION / f"bind_{UNIT}.sv")
    ports = "".join(
        f'public_flat_rw -module "{UNIT}" -var "{port}"\n'
        for port in ("clk_i", "rst_ni", "valid_i", "ready_i", "accumulator_i")
    )
    texts = {file.name: file.read_text() for file in names} | {"ports.vlt": f"`verilator_config\n{ports}"}
    simulator = built(TopModule(UNIT, texts, (folder, LANES)), purpose=purpose)
    variables = bench_variables(UNIT, "support.random_traffic", 1, ".*", folder / "results.xml")
    return execute([*simulator.command], folder, 600, **variables).output


@pytest.mark.parametrize("rule", FAULTS)
def test_a_property_is_silent_in_the_unit_and_told_of_its_fault(rule: str, tmp_path: Path) -> None:
    right, wrong = FAULTS[rule]
    text = (LANES / "valid_pipeline.sv").read_text()
    assert not rule or text.count(right) == 1
    said = said_of(tmp_path, text.replace(right, wrong) if rule else text)
    told = {name for name in FAULTS if name and f"stream_checker: {name}: " in said}
    ran = (tmp_path / "results.xml").read_text()
    assert rule in told if rule else (not told and "<testcase" in ran and "<failure" not in ran), said[-2000:]


def test_random_traffic_reaches_every_cover_property(tmp_path: Path) -> None:
    said_of(tmp_path, (LANES / "valid_pipeline.sv").read_text(), "coverage")
    names = _PROPERTY.findall((INTEGRATION / "stream_checker.sv").read_text())
    assert names
    assert sorted(_REACHED.findall((tmp_path / COUNTS).read_text())) == sorted(names)
