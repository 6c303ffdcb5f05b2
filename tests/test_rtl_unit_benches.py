"""Every streaming unit in the simulator against its golden reference: `pytest -k quantize_down` runs some.

One profile of each here, both being there; `lanewise rtl test` has all lanes and profiles.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from rtl_models import benches
from rtl_models.benches.units import transpose1xw_bench
from rtl_models.command.junit import PROPERTIES
from rtl_models.mutation.scenarios.units import UnitScenarios
from rtl_models.tools.environment import SimulatorName
from rtl_models.unit_run import PROFILES, Built, run_unit
from rtl_models.units import UNITS
from support.rtl_support import needs_icarus

pytestmark = pytest.mark.rtl
PROFILE_OF = {
    "quantize_down": "deep",
    "quantize_down_channels": "shallow",
    "offset_contribution": "deep",
    "transpose1xw": "deep",
    "quantized_add": "shallow",
    "quantized_add_float": "deep",
    "requantize": "deep",
    "quantized_multiplier": "shallow",
    "integer_scale": "deep",
    "interleave4x4": "shallow",
}
SHORT = r"one_beat_frames/pattern=sometimes|reset_inside/pattern=sometimes|report"


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_it_computes_what_the_golden_reference_says(
    name: str, simulator: SimulatorName, record_property: Callable[[str, object], None]
) -> None:
    outcome = run_unit(Built(UNITS[name], 4, PROFILE_OF[name]), simulator=simulator)
    for key in PROPERTIES:
        record_property(key, outcome.as_json().get(key, ""))
    assert outcome.passed, outcome.told()


def test_both_profiles_are_among_them() -> None:
    assert set(PROFILE_OF.values()) == set(PROFILES)


@needs_icarus
@pytest.mark.parametrize("name", UNITS)
def test_no_unknown_bit_comes_out_after_a_reset(name: str) -> None:
    outcome = run_unit(Built(UNITS[name]), simulator="icarus", scenarios=SHORT)
    assert outcome.passed, outcome.told()


@pytest.mark.slow
def test_what_mutants_are_put_through_are_the_tests_of_the_bench() -> None:
    """But those of the registers, which are mutated alone, those of other people's modules, which may take their time,
    and those that look back on the others."""
    tree = ast.parse((Path(benches.__file__).parent / "unit_scenarios.py").read_text())
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list}
    drawn = UnitScenarios(transpose1xw_bench.BENCH, 4, deep=False, seed=1).by_test()
    of_streams = {"valid_without_ready", "filled_up"}
    assert tests - of_streams - {"illegal_settings", "functional_coverage", "report"} == set(drawn)
    assert all(drawn.values())
