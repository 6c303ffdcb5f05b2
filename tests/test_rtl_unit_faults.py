"""Units that are wrong on purpose: their benches fail, shrink the failure, and show it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from rtl_faults import planted

from rtl_models.environment import SimulatorName
from rtl_models.outcome import Outcome
from rtl_models.unit_run import Built, run_unit
from rtl_models.units import UNITS

pytestmark = pytest.mark.rtl
DOWN = Built(UNITS["quantize_down"])
ROUNDS_TIES_DOWN = ("sqrdmulh", "product + Half;", "product + Half - 1;")
IGNORES_STALLS = ("rescale", "    if (enable_i) result_q", "    result_q")
BOUNDS_DO_NOT_TRAVEL = (
    "quantize_down",
    ".data_o  ({offset, minimum, maximum})\n  );",
    ".data_o  ()\n  );\n  assign {offset, minimum, maximum} = {offset_i, minimum_i, maximum_i};",
)
RESETS_ONE_STAGE = ("valid_pipeline", "valid_q <= '0;", "valid_q[Depth-1] <= 1'b0;")
RESETS_NOTHING = ("valid_pipeline", "valid_q <= '0;", "valid_q <= valid_q;")
NEVER_VALID = ("valid_pipeline", "assign valid_o  = valid_q[Depth-1];", "assign valid_o  = 1'b0;")
TAKES_SHIFT_32 = ("config_registers", "is_shift       = data_i <= 32'd31", "is_shift       = data_i <= 32'd32")
Failing = Callable[..., Outcome]


@pytest.fixture(scope="module")
def failing() -> Iterator[Failing]:
    """Runs some scenarios of quantize_down with a fault in it; waveforms go at the end."""
    outcomes: list[Outcome] = []

    def run(fault: tuple[str, str, str], scenarios: str, simulator: SimulatorName = "verilator") -> Outcome:
        outcomes.append(run_unit(DOWN, simulator=simulator, before=[planted(*fault)], scenarios=scenarios))
        return outcomes[-1]

    yield run
    for outcome in outcomes:
        if outcome.waves is not None:
            shutil.rmtree(outcome.waves.parent)


@pytest.fixture(scope="module")
def tie(failing: Failing) -> Outcome:
    return failing(ROUNDS_TIES_DOWN, "frames/pattern=never")


def test_a_wrong_rounding_is_shrunk_to_one_beat_with_one_tie(tie: Outcome) -> None:
    (frame,) = tie.smallest["frames"]
    (accumulators,) = frame["operands"]["accumulator_i"]
    halves = [number for number in accumulators if number * frame["settings"]["multiplier"] % 2**31 == 2**30]
    assert [number for number in accumulators if number] == halves
    assert len(halves) == 1


def test_a_failure_tells_case_waveform_seed_and_command(tie: Outcome) -> None:
    case, waveform, again = tie.told().splitlines()[-3:]
    assert case.startswith("smallest case, one beat without stalls: multiplier ")
    assert waveform == f"waveform: {tie.waves}"
    assert again == (
        "seed 1; again: lanewise rtl test quantize_down --lanes 4 --profile shallow --seed 1 --simulator verilator"
    )


def test_the_waveform_has_the_lanes_as_variables(tie: Outcome) -> None:
    assert tie.waves is not None
    text = tie.waves.read_text()
    assert all(f" {name}[{lane}] [" in text for name in ("accumulator_in", "result_out") for lane in range(4))


def test_a_register_that_ignores_a_stall_needs_a_stall_to_be_shown(failing: Failing) -> None:
    smallest = failing(IGNORES_STALLS, "frames/pattern=sometimes").smallest
    assert not all(smallest["takes"])


def test_a_setting_that_does_not_travel_is_shrunk_to_two_frames_of_different_settings(failing: Failing) -> None:
    first, second = failing(BOUNDS_DO_NOT_TRAVEL, "frames/pattern=sometimes").smallest["frames"]
    assert first["settings"] != second["settings"]


def test_what_comes_out_after_a_reset_is_a_failure_with_a_waveform(failing: Failing) -> None:
    outcome = failing(RESETS_ONE_STAGE, "reset_inside/pattern=bursts")
    assert "a result comes for which there was no beat" in outcome.tests["reset_inside/pattern=bursts"]
    assert outcome.waves is not None


def test_a_unit_that_hangs_is_a_failure_with_a_sentence(failing: Failing) -> None:
    outcome = failing(NEVER_VALID, "one_beat_frames/pattern=bursts")
    assert outcome.tests["one_beat_frames/pattern=bursts"].startswith(
        "the unit hangs: 150 cycles without a beat in or out"
    )


def test_an_illegal_setting_that_is_taken_is_a_failure(failing: Failing) -> None:
    outcome = failing(TAKES_SHIFT_32, "illegal_settings")
    assert outcome.tests["illegal_settings"].startswith("the write of 0x20 to 0x8 is not noted in STATUS")


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="the simulator icarus, which knows X, is not installed")
def test_a_register_that_is_never_reset_is_unknown_in_icarus(failing: Failing) -> None:
    outcome = failing(RESETS_NOTHING, "one_beat_frames/pattern=sometimes", "icarus")
    assert "valid_o is X" in outcome.tests["one_beat_frames/pattern=sometimes"]
