"""Units that are wrong on purpose: their benches fail, shrink the failure, and show it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from rtl_models.outcome import BenchOutcome
from rtl_models.session import Session
from rtl_models.tools.build_cache import built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.sources import sources_of
from rtl_models.unit_harness import TOP
from rtl_models.unit_run import Built, run_unit
from rtl_models.units import UNITS
from support.rtl_faults import AT_DEPTHS, planted
from support.rtl_support import needs_icarus

pytestmark = pytest.mark.rtl
DOWN = Built(UNITS["quantize_down"])
ROUNDS_TIES_DOWN = ("rounding_doubling_high", "product_i + Half;", "product_i + Half - 1;")
IGNORES_STALLS = ("rescale", "    if (enable_i) result_q", "    result_q")
BOUNDS_DO_NOT_TRAVEL = (
    "quantize_down",
    ".data_o  ({offset, minimum, maximum, is_signed})\n  );",
    ".data_o  ()\n  );\n  assign {offset, minimum, maximum, is_signed} = {offset_i, minimum_i, maximum_i, signed_i};",
)
LETS_ONE_NUMBER_BELOW = (
    "clamp_to_byte",
    "$signed(value_i[8:0]) < $signed(least);",
    "$signed(value_i[8:0]) < $signed(least) && value_i != -32'sd5;",
)
RESETS_ONE_STAGE = ("valid_pipeline", "valid_q <= '0;", "valid_q[Depth-1] <= 1'b0;")
RESETS_NOTHING = ("valid_pipeline", "valid_q <= '0;", "valid_q <= valid_q;")
NEVER_VALID = ("valid_pipeline", "assign valid_o  = valid_q[Depth-1];", "assign valid_o  = 1'b0;")
TAKES_SHIFT_32 = ("config_registers", "is_shift       = data_i <= 32'd31", "is_shift       = data_i <= 32'd32")
Fault = tuple[str, str, str]
"""A module, a text in it, and the wrong one in its place."""
IN_OTHER_UNITS: Final[Mapping[str, tuple[Fault, str]]] = {
    "offset_contribution": (
        ("offset_contribution", "if (enable) constant_q <=", "constant_q <="),
        "frames/pattern=sometimes",
    ),
    "quantize_down_channels": (
        ("channel_tables", "if (restart_i) beat_d = '0;", "if (1'b0) beat_d = '0;"),
        "one_beat_frames/pattern=sometimes",
    ),
    "transpose1xw": (
        ("frame_walk", "first_q ? height_i      : height_q;", "height_i;"),
        "settings_of_the_next_frame_come_early",
    ),
    "quantized_add": (
        ("place_byte", "+ offset_i;", "+ {23'b0, offset_i[8:0]};"),
        "one_beat_frames/pattern=sometimes",
    ),
    "quantized_add_float": (
        ("fmla_byte", "~flags_moved[2] & (is_zero", "(is_zero"),
        "frames/pattern=sometimes",
    ),
    "requantize": (
        ("requantize", "rounding[1] ? biased[", "rounding[0] ? biased["),
        "frames/pattern=sometimes",
    ),
    "quantized_multiplier": (
        ("scale_rounded", "(|right) & ~rounding[0]", "(|right)"),
        "frames/pattern=sometimes",
    ),
    "integer_scale": (
        ("shift_rounded", "shifted[0] & ~down", "shifted[0]"),
        "frames/pattern=sometimes",
    ),
    "interleave4x4": (
        ("interleave4x4", "2 * (k / 8) + k % 2", "2 * (k / 8)"),
        "one_beat_frames/pattern=sometimes",
    ),
}
"""By unit a fault, a stall that a register ignores among them, and a scenario that meets it."""
NOT_SHRUNK: Final[Mapping[str, tuple[Built, Fault, str]]] = {
    "a product too large by one": (
        Built(UNITS["quantize_down"], 4, "deep"),
        ("multiply_high", "{high_q, low_q} +", "{high_q, low_q + 32'd1} +"),
        "rare_frames",
    ),
    "a large product whose tiles lose their carry": (
        Built(UNITS["quantize_down"], 4, "deep"),
        ("multiply_high", "{{15{crossed_q[32]}}, crossed_q,", "{{16{crossed_q[31]}}, crossed_q[31:0],"),
        "rare_frames",
    ),
    "a sum that lost one bit far above a byte": (
        DOWN,
        ("clamp_to_byte", "value_i[31:8] == {24", "(value_i[31:8] ^ {11'b0, value_i[20] ^ value_i[31], 12'b0}) == {24"),
        "rare_frames",
    ),
}
"""By what is wrong the unit, the fault, and a scenario."""
Failing = Callable[..., BenchOutcome]


@pytest.fixture(scope="module")
def failing() -> Failing:
    """Runs some scenarios of a unit with a fault in it."""

    def run(fault: Fault, scenarios: str, simulator: SimulatorName = "verilator", unit: Built = DOWN) -> BenchOutcome:
        used = {*sources_of(unit.unit.name), *sources_of("config_registers")}
        assert f"{fault[0]}.sv" in used, f"{unit.title} has no {fault[0]}"
        return run_unit(unit, simulator=simulator, before=[planted(*fault)], scenarios=scenarios)

    return run


@pytest.fixture(scope="module")
def tie(failing: Failing) -> BenchOutcome:
    return failing(ROUNDS_TIES_DOWN, "frames/pattern=never")


@pytest.mark.slow
def test_a_wrong_rounding_is_shrunk_to_one_beat_with_one_tie(tie: BenchOutcome) -> None:
    (frame,) = tie.smallest["frames"]
    (accumulators,) = frame["operands"]["accumulator_i"]
    halves = [number for number in accumulators if number * frame["settings"]["multiplier"] % 2**31 == 2**30]
    assert [number for number in accumulators if number] == halves
    assert len(halves) == 1


@pytest.mark.slow
def test_a_wrong_number_behind_a_rescaling_is_shrunk_to_that_number_and_plain_settings(failing: Failing) -> None:
    (frame,) = failing(LETS_ONE_NUMBER_BELOW, "frames/pattern=never").smallest["frames"]
    plain = {"multiplier": -(1 << 31), "shift": 0, "offset": 0, "signed": 0, "minimum": 0, "maximum": 255}
    assert frame["settings"] == plain
    assert sorted(frame["operands"]["accumulator_i"][0]) == [0, 0, 0, 5]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "depth", "fault"), AT_DEPTHS.values(), ids=AT_DEPTHS)
def test_a_fault_at_a_depth_between_fails_the_bench(unit: str, depth: int, fault: Fault, failing: Failing) -> None:
    outcome = failing(fault, "no_stalls|frames/pattern=sometimes", unit=Built(UNITS[unit], 4, str(depth)))
    assert not outcome.passed
    assert f"--lanes 4 --profile {depth} " in outcome.told()


@pytest.mark.slow
def test_a_failure_tells_case_waveform_seed_and_command(tie: BenchOutcome) -> None:
    case, waveform, again = tie.told().splitlines()[-3:]
    assert case.startswith("smallest case, one beat without stalls: multiplier ")
    assert waveform == f"waveform: {tie.waves}"
    assert again == (
        "seed 1; again: lanewise rtl test quantize_down --lanes 4 --profile shallow"
        f" --modules {planted(*ROUNDS_TIES_DOWN)} --strict --seed 1 --simulator verilator"
    )


@pytest.mark.slow
def test_the_waveform_has_the_lanes_as_variables(tie: BenchOutcome) -> None:
    assert tie.waves is not None
    text = tie.waves.read_text()
    assert all(f" {name}[{lane}] [" in text for name in ("accumulator_in", "result_out") for lane in range(4))


@pytest.mark.slow
def test_a_register_that_ignores_a_stall_is_shown_by_a_few_beats_and_one_pause(failing: Failing) -> None:
    smallest = failing(IGNORES_STALLS, "rare_frames").smallest
    assert re.fullmatch("1+0+1*", "".join("01"[taken] for taken in smallest["takes"]))
    assert len(smallest["frames"][0]["operands"]["bias_i"]) <= 4


@pytest.mark.slow
def test_a_setting_that_does_not_travel_is_shrunk_to_two_frames_of_different_settings(failing: Failing) -> None:
    first, second = failing(BOUNDS_DO_NOT_TRAVEL, "frames/pattern=sometimes").smallest["frames"]
    assert first["settings"] != second["settings"]


@pytest.mark.slow
def test_what_comes_out_after_a_reset_is_a_failure_with_a_waveform(failing: Failing) -> None:
    outcome = failing(RESETS_ONE_STAGE, "reset_inside/pattern=bursts")
    assert "a result comes for which there was no beat" in outcome.tests["reset_inside/pattern=bursts"]
    assert outcome.waves is not None


@pytest.mark.slow
def test_a_unit_that_hangs_is_a_failure_with_a_sentence(failing: Failing) -> None:
    outcome = failing(NEVER_VALID, "one_beat_frames/pattern=bursts")
    assert outcome.tests["one_beat_frames/pattern=bursts"].startswith(
        "the unit hangs: 150 cycles without a beat in or out"
    )


@pytest.mark.slow
def test_an_illegal_setting_that_is_taken_is_a_failure(failing: Failing) -> None:
    outcome = failing(TAKES_SHIFT_32, "illegal_settings")
    assert outcome.tests["illegal_settings"].startswith("the write of 0x20 to 0x8 is not noted in STATUS")


def test_every_unit_has_a_fault_that_its_bench_must_notice() -> None:
    assert {DOWN.unit.name, *IN_OTHER_UNITS} == set(UNITS)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_OTHER_UNITS)
def test_a_fault_in_another_unit_is_told_with_case_waveform_seed_and_command(failing: Failing, name: str) -> None:
    outcome = failing(*IN_OTHER_UNITS[name], unit=Built(UNITS[name]))
    case, waveform, again = outcome.told().splitlines()[-3:]
    assert case.startswith("smallest case, ")
    assert (waveform, outcome.waves is not None) == (f"waveform: {outcome.waves}", True)
    assert again.startswith(f"seed 1; again: lanewise rtl test {name} --lanes 4 --profile shallow ")


@pytest.mark.slow
def test_what_a_reset_leaves_behind_is_shrunk_with_the_frame_before_it(failing: Failing) -> None:
    outcome = failing(RESETS_ONE_STAGE, "reset_inside/.*")
    assert outcome.smallest["lost"]["cycles"] > 0
    assert "after a reset in cycle" in outcome.smallest_told


@pytest.mark.slow
@pytest.mark.parametrize("wrong", NOT_SHRUNK)
def test_a_fault_fails_the_scenario_that_is_for_it(wrong: str) -> None:
    unit, fault, scenario = NOT_SHRUNK[wrong]
    session = Session(unit.unit.name, TOP, 1, built(unit.design(planted(*fault))), unit.variables)
    said = session.run("rtl_models.benches.unit_scenarios", scenario)[scenario]
    shutil.rmtree(session.folder)
    assert "result_o of beat" in said


@pytest.mark.slow
def test_a_unit_that_is_not_ready_while_it_is_empty_is_a_failure(failing: Failing) -> None:
    outcome = failing(("valid_pipeline", "ready_i | ~valid_o;", "ready_i;"), "one_beat_frames/pattern=bursts")
    assert "ready_o is 0: it must be ready_i or not valid_o, 1" in outcome.tests["one_beat_frames/pattern=bursts"]


@needs_icarus
def test_a_register_that_is_never_reset_is_unknown_in_icarus(failing: Failing) -> None:
    outcome = failing(RESETS_NOTHING, "one_beat_frames/pattern=sometimes", "icarus")
    assert "valid_o is X" in outcome.tests["one_beat_frames/pattern=sometimes"]
