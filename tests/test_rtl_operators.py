"""Every combinational operator in the simulator against the isa semantics: `pytest -k sqrdmulh` runs one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rtl_models.command.junit import PROPERTIES
from rtl_models.cores.names import CORES
from rtl_models.exhaustive.run import can_be_exhausted, compare_every_pair
from rtl_models.operators import OPERATORS
from rtl_models.run import run
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.sources import module_names, sources_of
from rtl_models.units import UNITS

pytestmark = pytest.mark.rtl


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_it_computes_what_the_semantics_say(
    name: str, simulator: SimulatorName, record_property: Callable[[str, object], None]
) -> None:
    outcome = run(OPERATORS[name], simulator=simulator)
    for key in PROPERTIES:
        record_property(key, outcome.as_json().get(key, ""))
    assert outcome.passed, outcome.told()


def test_every_two_operand_operator_can_be_exhausted_at_16_bits() -> None:
    at_16 = [operator for operator in OPERATORS.values() if 16 in operator.widths]
    left_out = {operator.name for operator in at_16 if not can_be_exhausted(operator, 16)}
    assert left_out == {operator.name for operator in at_16 if len(operator.operands) != 2}


@pytest.mark.slow
def test_every_pair_of_bytes_agrees_in_the_loop_of_c() -> None:
    exhausted = compare_every_pair(OPERATORS["sqrdmulh"], 8)
    assert (exhausted.pairs, exhausted.disagreement) == (1 << 16, None)


def test_every_module_is_in_the_bench_of_an_operator_a_unit_or_a_core() -> None:
    tops = [*OPERATORS, *UNITS, *CORES]
    reached = {Path(file).stem for top in tops for file in sources_of(top)}
    assert set(module_names()) - reached == set()
