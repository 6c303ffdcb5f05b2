"""Every combinational operator in the simulator against the isa semantics: `pytest -k sqrdmulh` runs one.

The simulator is Verilator unless LANEWISE_SIMULATOR names another.
"""

from __future__ import annotations

import os
from typing import cast

import pytest

from rtl_models.environment import SimulatorName
from rtl_models.exhaustive import can_be_exhausted, compare_every_pair
from rtl_models.operators import OPERATORS
from rtl_models.run import run
from rtl_models.sources import LANES

SIMULATOR = cast(SimulatorName, os.environ.get("LANEWISE_SIMULATOR", "verilator"))


@pytest.mark.parametrize("name", OPERATORS)
def test_it_computes_what_the_semantics_say(name: str) -> None:
    outcome = run(OPERATORS[name], simulator=SIMULATOR)
    assert outcome.passed, outcome.told()


def test_every_lane_module_is_on_the_bench() -> None:
    assert {file.stem for file in LANES.glob("*.sv")} == set(OPERATORS)


def test_every_two_operand_operator_can_be_exhausted_at_16_bits() -> None:
    at_16 = [operator for operator in OPERATORS.values() if 16 in operator.widths]
    left_out = {operator.name for operator in at_16 if not can_be_exhausted(operator, 16)}
    assert left_out == {operator.name for operator in at_16 if len(operator.operands) != 2}


def test_every_pair_of_bytes_agrees_in_the_loop_of_c() -> None:
    exhausted = compare_every_pair(OPERATORS["sqrdmulh"], 8)
    assert (exhausted.pairs, exhausted.disagreement) == (1 << 16, None)
