"""Every streaming unit in the simulator against its golden reference: `pytest -k quantize_down` runs some.

Shallow or deep of each here, both being there, and one depth between of those that have some; `lanewise rtl test` has
all lanes and profiles.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from rtl_models import benches
from rtl_models.benches.units import transpose1xw_bench
from rtl_models.command.junit import PROPERTIES
from rtl_models.latencies import PROFILES
from rtl_models.mutation.scenarios.units import UnitScenarios
from rtl_models.tools.environment import SimulatorName
from rtl_models.unit_run import Built, run_unit
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


BETWEEN = {
    "quantize_down": "9",
    "quantize_down_channels": "7",
    "offset_contribution": "3",
    "quantized_add": "13",
    "requantize": "11",
    "quantized_multiplier": "6",
    "integer_scale": "5",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile"), [*PROFILE_OF.items(), *BETWEEN.items()])
def test_it_computes_what_the_golden_reference_says(
    name: str, profile: str, simulator: SimulatorName, record_property: Callable[[str, object], None]
) -> None:
    outcome = run_unit(Built(UNITS[name], 4, profile), simulator=simulator)
    for key in PROPERTIES:
        record_property(key, outcome.as_json().get(key, ""))
    assert outcome.passed, outcome.told()


def test_both_profiles_are_among_them() -> None:
    assert set(PROFILE_OF.values()) == set(PROFILES)
    assert set(PROFILE_OF) == set(UNITS)


def test_every_unit_with_depths_between_has_one_among_them() -> None:
    assert set(BETWEEN) == {unit.name for unit in UNITS.values() if len(unit.profiles) > 2}


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
    drawn = UnitScenarios(transpose1xw_bench.BENCH, 4, "shallow", seed=1).by_test()
    of_streams = {"valid_without_ready", "filled_up"}
    assert tests - of_streams - {"illegal_settings", "functional_coverage", "report"} == set(drawn)
    assert all(drawn.values())
