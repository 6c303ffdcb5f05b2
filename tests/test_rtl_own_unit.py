"""A streaming unit of somebody else: a skid buffer, another latency, a synchronous reset, other ports, warnings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rtl_models import unit_run
from rtl_models.outcome import BenchOutcome
from rtl_models.tools.build_cache import Simulator, TopModule, built
from rtl_models.tools.environment import SimulatorName
from rtl_models.tools.linter import warnings_of
from rtl_models.unit_run import Built
from support.own_unit import (
    CHANGES,
    DOUBLES,
    DROPS,
    EXAMPLE,
    GIVES_UP,
    LESS,
    NO_RESET,
    NONE,
    REORDERS,
    ROUNDS,
    WAITS,
    WAITS_IN_A_REGISTER,
    own_bench_says,
    said_of,
    with_faults,
)

pytestmark = pytest.mark.rtl
SCENARIOS: Final = "rtl_models.benches.unit_scenarios"
NEVER, SOMETIMES, FILLED = "frames/pattern=never", "one_beat_frames/pattern=sometimes", "filled_up"
WITHOUT, RESET = "valid_without_ready", "reset_inside/pattern=bursts"


@pytest.fixture(scope="module")
def unit() -> Built:
    return with_faults()


@pytest.mark.slow
def test_its_three_warnings_are_told(unit: Built) -> None:
    assert unit.folder is not None
    said = warnings_of(unit.design(unit.folder))
    assert [one.rpartition(" ")[2] for one in said] == ["(WIDTHEXPAND)", "(WIDTHEXPAND)", "(WIDTHTRUNC)"]
    assert all(Path(one.partition(":")[0]).name == "requantizer.sv" for one in said)


@pytest.mark.slow
def test_it_passes(unit: Built) -> None:
    scenarios = rf"no_stalls|{SOMETIMES}|{FILLED}|{WITHOUT}|{RESET}|report"
    said = said_of(unit, NONE, SCENARIOS, scenarios)
    assert (len(said), {text for text in said.values() if text}) == (6, set())


@pytest.mark.slow
def test_a_reset_that_is_said_to_be_asynchronous_must_act_without_a_clock(unit: Built) -> None:
    assert unit.adapter is not None
    said = said_of(replace(unit, adapter=replace(unit.adapter, asynchronous=True)), NONE, SCENARIOS, RESET)
    due = "the reset must be asynchronous, as reset.kind says"
    assert said[RESET] == f"valid_o is 1 under reset before the next edge: {due}"


@pytest.mark.slow
def test_a_reset_of_the_other_level_is_asked_for_where_nothing_comes_out(unit: Built) -> None:
    assert unit.adapter is not None
    said = said_of(replace(unit, adapter=replace(unit.adapter, reset_active_high=False)), NONE, SCENARIOS, "no_stalls")
    hint = "nothing has come out since the reset: is its active level the other (reset.active)?"
    assert said == {"no_stalls": f"the unit hangs: 1000 cycles without a beat in or out; {hint}"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "scenario", "said_so"), [(DROPS, "(?<!_)frames/pattern=sometimes", False), (NONE, "no_such", True)]
)
def test_nothing_was_compared_where_nothing_ran_and_not_where_all_that_ran_is_wrong(
    unit: Built, fault: int, scenario: str, said_so: bool
) -> None:
    said = said_of(unit, fault, SCENARIOS, f"{scenario}|report")
    assert said["report"] == ("nothing was compared" if said_so else "")
    assert [name for name in said if name != "report"] == ["frames/pattern=sometimes"] * (not said_so)
    assert "sometimes" not in "".join(name for name, words in said.items() if not words)


@pytest.mark.slow
def test_by_the_cycles_of_the_package_it_fails(unit: Built) -> None:
    said = said_of(Built(unit.unit, 4, strict=True, adapter=unit.adapter), NONE, SCENARIOS, f"no_stalls|{FILLED}")
    assert said == {"no_stalls": "the latency is [6] cycles, the package says 4"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "scenario", "words"),
    [
        (DROPS, "frames/pattern=sometimes", "since the reset, beat 13 is lost"),
        (DOUBLES, SOMETIMES, "since the reset, beat 0 comes twice"),
        (REORDERS, FILLED, "since the reset, beats "),
        (CHANGES, SOMETIMES, "a result that was valid and not taken changed: outputs must hold"),
        (WAITS, SOMETIMES, "valid_o becomes 1 when ready_i rises: valid and data must not wait for ready"),
        (WAITS_IN_A_REGISTER, WITHOUT, "ready_i was 0, and valid must not wait for ready"),
        (ROUNDS, NEVER, ", number 2: "),
        (GIVES_UP, FILLED, "result_o of beat "),
        (NO_RESET, RESET, "valid_o is 1 under reset, after 16 edges of the clock"),
    ],
)
def test_a_fault_in_it_is_found_and_told(unit: Built, fault: int, scenario: str, words: str) -> None:
    assert words in said_of(unit, fault, SCENARIOS, scenario)[scenario]


def outcome_of(unit: Built, fault: int, scenario: str, monkeypatch: pytest.MonkeyPatch) -> BenchOutcome:
    """What a run says of the module with one of the faults, shrunk."""

    def with_fault(design: TopModule, simulator: SimulatorName) -> Simulator:
        made = built(design, simulator)
        return Simulator((*made.command, f"+fault={fault}"), made.tracing)

    monkeypatch.setattr(unit_run, "built", with_fault)
    assert unit.folder is not None
    return unit_run.run_unit(unit, before=[unit.folder], scenarios=scenario)


@pytest.mark.slow
def test_what_is_wrong_is_told_with_the_ports_of_the_module(unit: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = outcome_of(unit, WAITS, SOMETIMES, monkeypatch)
    rule = "m_valid becomes 1 when m_ready rises: valid and data must not wait for ready"
    assert outcome.tests[SOMETIMES].endswith(rule)
    assert outcome.smallest_told.endswith(rule)
    assert {"s_acc", "s_bias"} <= {*re.findall(r"\w+", outcome.smallest_told)}
    assert not re.search(r"\w+_[io]\b", outcome.smallest_told)
    assert "coverpoints" not in outcome.counted, "of nothing that was compared none is met"


@pytest.mark.slow
def test_a_beat_that_never_comes_is_told_as_lost_and_not_as_a_hang_alone(
    unit: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = outcome_of(unit, DROPS, "frames/pattern=sometimes", monkeypatch).smallest_told
    said = "the last beat never comes: it is lost, or the unit hangs, after 1000 cycles without a beat in or out"
    assert told.endswith(said), told


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["rare_frames", NEVER, SOMETIMES])
@pytest.mark.parametrize("fault", [ROUNDS, LESS])
def test_where_numbers_alone_are_wrong_no_beat_is_said_to_be_lost(unit: Built, fault: int, scenario: str) -> None:
    said = said_of(unit, fault, SCENARIOS, scenario)[scenario]
    assert (", expected " in said, "since the reset" in said) == (True, False), said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "words"), [(NONE, ""), (DOUBLES, "numbers differ"), (ROUNDS, "the first is number 2 of")]
)
def test_a_bench_of_ones_own_asks_the_golden_arithmetic(
    unit: Built, fault: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    said = own_bench_says(unit, fault)["agrees_with_the_golden_arithmetic"]
    assert words in said if words else not said


def test_the_example_needs_nothing_of_the_benches_here() -> None:
    imported = re.findall(r"^(?:from|import) (\w+)", (EXAMPLE / "requantizer_bench.py").read_text(), re.MULTILINE)
    assert {"cocotb", "numpy", "sim"} <= set(imported)
    assert "rtl_models" not in imported
