"""The wrappers of every unit for AXI behind the buses of `cocotbext-axi`, as an integrator would have them."""

from __future__ import annotations

import pytest

from rtl_models.units import UNITS
from support.axi_wrappers import simulated

pytestmark = pytest.mark.rtl
OUTSIDE = {"bench": "long.axi_outside_bench", "COCOTB_TRUST_INERTIAL_WRITES": "0"}
"""The buses write as they like; the clock does not wait for them."""


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_over_axi_gives_to_the_buses_of_others_what_is_due(unit: str) -> None:
    said = simulated(unit, **OUTSIDE)
    assert (len(said), {name: text for name, text in said.items() if text}) == (4, {})


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        (".enable_i(s_axis_tready),", ".enable_i(1'b1),", "frame"),
        (".Depth(Depth)\n  ) u_last (", ".Depth(Depth - 1)\n  ) u_last (", "results came"),
        ("8*k +: 5", "8*k + 1 +: 5", "frame"),
    ],
)
def test_a_fault_in_a_wrapper_is_told(right: str, wrong: str, told: str) -> None:
    said = simulated("quantized_multiplier", right, wrong, **OUTSIDE)
    assert any(told in text for text in said.values()), said
