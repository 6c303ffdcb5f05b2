"""Settings that count too early, too late or although they were refused: the benches of the units notice it."""

from __future__ import annotations

import shutil
from typing import Final

import pytest

from rtl_models.register_map import CHANNELS
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.unit_harness import TOP
from rtl_models.unit_run import Built, run_unit
from rtl_models.units import UNITS
from support.rtl_faults import planted

pytestmark = pytest.mark.rtl
SCENARIOS: Final = "rtl_models.benches.unit_scenarios"
FRAMES: Final = "frames/pattern=sometimes"
REACHES_ITS_OWN_CYCLE: Final = {
    "multiplier": ("multiplier_q;", "Multiplier ? data_i : multiplier_q;"),
    "shift": ("shift_q;", "Shift ? data_i[4:0] : shift_q;"),
}
"""By setting what it is, and what instead where the word on the bus counts at once."""
KEEPS_ITS_ROW: Final = ("channel_tables", "if (restart_i) beat_d", "if (restart_i && !advance_i) beat_d")
TAKES_ILLEGAL_SHIFTS: Final = (
    "config_registers", "table_write_o   = accepted && in_tables", "table_write_o   = write_i && aligned && in_tables",
)  # fmt: skip
ACCEPTS_UNDER_RESET: Final = (
    "valid_pipeline",
    "if (!rst_ni) valid_q <= '0;",
    "if (!rst_ni) valid_q <= Depth'(valid_i);",
)


NEVER_ENDS_ITS_TABLE: Final = ("channel_tables", "ends_row ? '0 :", "ends_row && following != 32'(Channels) ? '0 :")
ALIASES_FROM_64_ON: Final = (
    "channel_tables", "(channel_i >> $clog2(Lanes))", "((channel_i & 12'd63) >> $clog2(Lanes))",
)  # fmt: skip
READS_BLOCK_RAM_A_BEAT_LATE: Final = ("channel_tables", "rst_ni ? beat_d", "rst_ni ? beat_q")


def said(unit: str, fault: tuple[str, str, str], scenario: str, seed: int = 1, channels: int = CHANNELS) -> str:
    """What a scenario says of a unit with a fault in one of its modules."""
    made = Built(UNITS[unit], channels=channels)
    session = Session(unit, TOP, seed, built(made.design(planted(*fault))), made.variables)
    told = session.run(SCENARIOS, scenario)[scenario]
    shutil.rmtree(session.folder)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("setting", REACHES_ITS_OWN_CYCLE)
def test_a_setting_that_counts_in_the_cycle_of_its_write_is_noticed(setting: str) -> None:
    right, bypassed = REACHES_ITS_OWN_CYCLE[setting]
    output = f"assign {setting}_o".ljust(40)
    bypass = f"{output}= accepted && address_i == lanewise_pkg::Address{bypassed}"
    told = said("quantize_down", ("config_registers", f"{output}= {right}", bypass), FRAMES)
    assert "result_o of beat" in told


@pytest.mark.slow
def test_a_row_that_does_not_start_again_while_a_beat_is_accepted_is_noticed() -> None:
    assert "result_o of beat" in said("quantize_down_channels", KEEPS_ITS_ROW, FRAMES)


@pytest.mark.slow
def test_a_refused_number_that_lands_in_a_table_is_noticed() -> None:
    assert "result_o of beat" in said("quantize_down_channels", TAKES_ILLEGAL_SHIFTS, "illegal_settings")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "channels"), [(NEVER_ENDS_ITS_TABLE, 12), (ALIASES_FROM_64_ON, 68), (READS_BLOCK_RAM_A_BEAT_LATE, 260)]
)
def test_a_fault_that_64_channels_do_not_show_is_noticed_by_other_tables(
    fault: tuple[str, str, str], channels: int
) -> None:
    assert "result_o of beat" in said("quantize_down_channels", fault, "frames/pattern=never", channels=channels)


@pytest.mark.slow
def test_a_beat_that_is_accepted_under_reset_is_noticed() -> None:
    told = said("quantize_down", ACCEPTS_UNDER_RESET, "one_beat_frames/pattern=sometimes")
    assert "a result comes for which there was no beat" in told


@pytest.mark.slow
def test_a_smallest_case_counts_its_cycles_from_its_own_reset() -> None:
    fault = planted("valid_pipeline", "ready_i | ~valid_o;", "ready_i;")
    outcome = run_unit(Built(UNITS["quantize_down"]), before=[fault], scenarios="one_beat_frames/pattern=bursts")
    assert ": in cycle 0 ready_o is 0" in outcome.smallest_told
