"""Every streaming unit in the simulator against its golden reference: `pytest -k quantize_down` runs some.

One profile of each here, both being there; `lanewise rtl test` has all lanes and profiles.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rtl_support import needs_icarus

from rtl_models.bench_junit import PROPERTIES
from rtl_models.environment import SimulatorName
from rtl_models.unit_run import PROFILES, Built, run_unit
from rtl_models.units import UNITS

pytestmark = pytest.mark.rtl
PROFILE_OF = {
    "quantize_down": "deep",
    "quantize_down_channels": "shallow",
    "offset_contribution": "deep",
    "transpose1xw": "deep",
    "quantized_add": "shallow",
}
SHORT = r"one_beat_frames/pattern=sometimes|reset_inside/pattern=sometimes|report"


@pytest.mark.parametrize("name", UNITS)
def test_it_computes_what_the_golden_reference_says(
    name: str, simulator: SimulatorName, record_property: Callable[[str, object], None]
) -> None:
    outcome = run_unit(Built(UNITS[name], 4, PROFILE_OF[name]), simulator=simulator)
    for key in PROPERTIES:
        record_property(key, outcome.as_json()[key])
    assert outcome.passed, outcome.told()


def test_both_profiles_are_among_them() -> None:
    assert set(PROFILE_OF.values()) == set(PROFILES)


@needs_icarus
@pytest.mark.parametrize("name", UNITS)
def test_no_unknown_bit_comes_out_after_a_reset(name: str) -> None:
    outcome = run_unit(Built(UNITS[name]), simulator="icarus", scenarios=SHORT)
    assert outcome.passed, outcome.told()
