"""The report as data and as a table: what it states, and what a narrow terminal keeps."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from sim.call.coverage import Coverage
from sim.call.native.share import NativeShare
from sim.check.aim.power import OperandsMet, Power
from sim.check.repair.fault import FaultLines
from sim.check.report import Mismatch, Outcome, Report
from sim.shrink.literal import statement
from sim.view.report import show_report

DIGEST = "0123456789abcdef"
AGREES = Outcome(
    implementation="kernel_plain.c",
    flags="-O0",
    vectors=1234,
    lanes_compared=7442,
    instructions=290919,
    forms=frozenset({"add"}),
    qc_events=81,
    code=DIGEST,
)
NOT_BUILT = Outcome(
    implementation="kernel.c",
    flags="-O3",
    vectors=0,
    lanes_compared=0,
    instructions=0,
    forms=frozenset(),
    qc_events=0,
    code="",
    failure="the source does not build: [mend] it",
)
DIFFERS = Outcome(
    implementation="program",
    flags="",
    vectors=10,
    lanes_compared=10,
    instructions=10,
    forms=frozenset({"add"}),
    qc_events=0,
    code="",
    failure="output[0]: machine 1, golden 2",
)
PARTLY = Outcome(
    implementation="kernel.c",
    flags="-O2",
    vectors=8,
    lanes_compared=8,
    instructions=5000,
    forms=frozenset({"add"}),
    qc_events=0,
    code=DIGEST,
    unverified={"smmla": 1200, "usdot": 34},
)
STOPPED = Outcome(
    implementation="kernel.c",
    flags="-O1",
    vectors=10,
    lanes_compared=10,
    instructions=10,
    forms=frozenset({"add"}),
    qc_events=0,
    code=DIGEST,
    interrupted=True,
)


def report(*outcomes: Outcome, common_flags: tuple[str, ...] = ()) -> Report:
    return Report(
        kernel="quantize_down",
        compiler="clang 1.2.3",
        seed=1,
        outcomes=outcomes,
        reproduce="lanewise check",
        common_flags=common_flags,
    )


def shown(made: Report, width: int = 80) -> list[str]:
    printed = io.StringIO()
    show_report(made, Console(file=printed, width=width))
    return [line.rstrip() for line in printed.getvalue().splitlines()]


def words_of(name: str, lines: list[str]) -> list[str]:
    """The words of the first line that begins with the name, without it."""
    return next(line.strip().removeprefix(name).split() for line in lines if line.strip().startswith(name))


UNTIL_THEN = "what was compared until then agrees"


@pytest.mark.parametrize(
    ("outcomes", "changes", "says"),
    [
        ([AGREES], {"stopped": True}, f"INTERRUPTED: {UNTIL_THEN}"),
        ([AGREES, DIFFERS], {"stopped": True}, "INTERRUPTED: until then 1 of 2 implementations failed"),
        ([DIFFERS], {"stopped": True}, "INTERRUPTED: until then 1 of 1 implementation failed"),
        ([], {"stopped": True}, "INTERRUPTED: until then nothing was compared"),
        ([AGREES], {"hindrance": "no disk"}, f"STOPPED: no disk; {UNTIL_THEN}"),
        ([AGREES, DIFFERS], {"hindrance": "no disk"}, "STOPPED: no disk; until then 1 of 2 implementations failed"),
        ([AGREES, DIFFERS], {}, "FAILED: 1 of 2 implementations"),
    ],
)
def test_what_did_not_come_to_its_end_is_no_verdict(
    outcomes: list[Outcome], changes: dict[str, Any], says: str
) -> None:
    made = replace(report(*outcomes), **changes)
    assert (says in shown(made), made.passed) == (True, False)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [(AGREES, "agrees"), (NOT_BUILT, "not built"), (DIFFERS, "differs"), (STOPPED, "stopped")],
)
def test_an_outcome_has_a_verdict(outcome: Outcome, verdict: str) -> None:
    assert outcome.verdict == verdict


def test_a_failed_build_keeps_its_flag() -> None:
    assert report(AGREES, NOT_BUILT).as_json()["flags"] == ["-O0", "-O3"]


def test_the_json_form_states_the_common_flags() -> None:
    assert report(AGREES, common_flags=("-g", "-fno-pic")).as_json()["common_flags"] == ["-g", "-fno-pic"]


def test_the_first_divergence_of_a_program_has_no_flags() -> None:
    assert report(DIFFERS).first_divergence == "program: output[0]: machine 1, golden 2"


def test_the_table_states_the_common_flags() -> None:
    assert words_of("common flags", shown(report(AGREES, common_flags=("-g", "-DX=[a]")))) == ["-g", "-DX=[a]"]


def test_the_table_states_the_flags_of_failed_builds() -> None:
    assert words_of("flags", shown(report(AGREES, NOT_BUILT))) == ["-O0", "-O3"]


def test_a_failed_build_has_no_code_and_is_not_built() -> None:
    assert words_of("kernel.c -O3", shown(report(NOT_BUILT)))[-3:] == ["-", "not", "built"]


def test_intrinsics_that_fail_are_still_intrinsics() -> None:
    assert words_of("program", shown(report(DIFFERS)))[-2:] == ["-", "differs"]


def test_the_table_states_what_the_emulator_could_not_check() -> None:
    stated = " ".join(words_of("unverified by emulation", shown(report(PARTLY), 200)))
    assert stated == "1,234 instructions of 2 forms: smmla; usdot"


def test_a_single_form_that_the_emulator_could_not_check_is_one_form() -> None:
    made = report(replace(PARTLY, unverified={"smmla": 1200}))
    assert " ".join(words_of("unverified by emulation", shown(made, 200))) == "1,200 instructions of 1 form: smmla"


def test_a_table_of_a_fully_checked_run_has_no_such_line() -> None:
    assert not any("unverified" in line for line in shown(report(AGREES)))


def test_instructions_in_lockstep_are_those_that_the_emulator_could_check() -> None:
    assert words_of("instructions in lockstep", shown(report(PARTLY, DIFFERS))) == [f"{5000 - 1234:,}"]


NATIVELY = replace(
    PARTLY,
    native=NativeShare(4000, {"smmla: the emulator cannot check it": 700, "usdot: the emulator cannot check it": 34}),
)


def test_the_table_says_what_ran_in_native_code_and_why_not_more() -> None:
    stated = " ".join(words_of("in native code", shown(report(AGREES, NATIVELY, NATIVELY), 200)))
    assert stated == "8,000 of them; 1,468 left to Python: the emulator cannot check it"


@pytest.mark.parametrize(
    ("native", "says"),
    [(NativeShare(), "none: the runs are short"), (NativeShare(without="no compiler"), "none: no compiler")],
)
def test_where_nothing_ran_in_native_code_the_table_says_why(native: NativeShare, says: str) -> None:
    assert " ".join(words_of("in native code", shown(report(replace(AGREES, native=native)), 200))) == says


def test_the_json_form_says_what_ran_in_native_code_by_form() -> None:
    made = report(NATIVELY, AGREES).as_json()["native"]
    left = {"smmla: the emulator cannot check it": 700, "usdot: the emulator cannot check it": 34}
    assert made == {"instructions": 4000, "left": left, "without": ""}


def test_the_json_form_counts_what_the_emulator_could_not_check_by_form() -> None:
    assert report(PARTLY, AGREES, PARTLY).as_json()["unverified"] == {"smmla": 2400, "usdot": 68}


def test_the_json_form_counts_it_for_each_implementation_too() -> None:
    (implementation,) = json.loads(json.dumps(report(PARTLY).as_json()))["implementations"]
    assert implementation["unverified"] == {"smmla": 1200, "usdot": 34}


def test_eighty_columns_have_room_for_everything() -> None:
    headings = "quantize_down lanes instructions forms QC events code golden?"
    assert " ".join(shown(report(AGREES))[1].split()) == headings


def test_a_table_a_little_too_wide_loses_the_code_first() -> None:
    headings = words_of("quantize_down", shown(report(AGREES), 70))
    assert " ".join(headings) == "lanes instructions forms QC events golden?"


def test_forty_columns_keep_name_lanes_and_verdict() -> None:
    lines = shown(report(AGREES, NOT_BUILT), 40)
    assert words_of("quantize_down", lines) == ["lanes", "golden?"]
    assert words_of("kernel_plain.c -O0", lines) == ["7,442", "agrees"]


def test_twenty_columns_fold_the_name_and_keep_the_verdict() -> None:
    lines = shown(report(AGREES), 20)
    assert "agrees" in "".join(lines)
    assert not any("…" in line for line in lines)


def test_no_line_of_the_table_is_wider_than_the_console() -> None:
    lines = shown(report(AGREES, STOPPED, common_flags=("--target=aarch64-linux-gnu", "-ffp-contract=off")), 40)
    assert max(len(line) for line in lines[:-2]) <= 40


def test_of_failures_in_the_same_lane_only_what_differs_is_told_again() -> None:
    first = "output[0]: machine 1, golden 2\n  first different: mul (a.c:3)\n  [every] lane is wrong"
    texts = (first, first.replace("mul", "madd"), first, first.replace("machine 1", "machine 3"))
    failures = [replace(DIFFERS, flags=f"-O{number}", failure=text) for number, text in enumerate(texts)]
    lines = shown(report(*failures))
    begin = lines.index("FAILED program -O0")
    assert lines[begin + 1 : begin + 15] == [
        *first.splitlines(), "",
        "FAILED program -O1: as program -O0, but", "  first different: madd (a.c:3)", "",
        "FAILED program -O2: as program -O0", "",
        "FAILED program -O3", *texts[3].splitlines(), "",
    ]  # fmt: skip


def told_of(**inputs: Any) -> list[str]:
    """How an input set that was shrunk is shown; its JSON has it as it is."""
    lines = "\n".join(f"    {statement(name, value)}" for name, value in inputs.items())
    shrunk = f"shrunk to 1 of 9 output lanes:\n{lines}"
    made = Report(kernel="f", compiler="", seed=1, outcomes=[DIFFERS], reproduce="", shrunk=shrunk)
    out = io.StringIO()
    show_report(made, Console(file=out, width=100))
    assert made.as_json()["shrunk"] == shrunk
    shown = out.getvalue().splitlines()
    at = shown.index("shrunk to 1 of 9 output lanes:") + 1
    return shown[at : at + len(inputs)]


def test_a_shrunk_input_set_of_many_numbers_is_cut_on_the_terminal_alone() -> None:
    rows = np.arange(7, 7 + 129 * 136).reshape(129, 136)
    cut, k = told_of(rows=rows, k=129)
    assert cut.startswith("    rows = np.array([[7, 8, ")
    assert cut.endswith(f", ... ({rows.size:,} numbers; --json has them all)")
    assert len(cut) < 700
    assert k == "    k = 129"


@pytest.mark.parametrize(("array", "text"), [
    (np.where(np.arange(256) == 252, 1, 0).astype(np.uint8), '    a = np.full(256, 0, "uint8"); a[252] = 1'),
    (np.where(np.arange(600) < 2, np.float32("nan"), np.float32(-1.5)).reshape(3, 200),
     '    a = np.full((3, 200), -1.5, "float32"); a[0, 0] = float("nan"); a[0, 1] = float("nan")'),
    (np.where(np.arange(400) == 7, -0.0, 0.0), '    a = np.full(400, 0.0, "float64"); a[7] = -0.0'),
])  # fmt: skip
def test_of_a_long_array_of_one_number_the_others_are_shown_by_statements_that_make_it(array: Any, text: str) -> None:
    (shown,) = told_of(a=array)
    made: dict[str, Any] = {"np": np, "float": float}
    exec(shown.strip(), made)  # it is Python
    assert shown == text
    assert made["a"].tobytes() == array.tobytes()
    assert (made["a"].shape, made["a"].dtype) == (array.shape, array.dtype)


@pytest.mark.parametrize(("count", "told"), [
    (16, ", ".join(f"a[{n}]" for n in range(16))),
    (130, f"130 elements: {', '.join(f'a[{n}]' for n in range(16))}, ..."),
])  # fmt: skip
def test_of_many_elements_that_a_lane_came_from_the_first_are_named(count: int, told: str) -> None:
    mismatch = Mismatch(
        engine="machine", output="out", lane=(0,), got=1, expected=2, inputs="n=1", lanes_different=1, parted_at=None,
        golden_step=None, agreed=(), instruction="", source="", came_from=tuple(f"a[{n}]" for n in range(count)),
        conventions=(), explanation=(),
    )  # fmt: skip
    assert f"  it came from {told}" in str(mismatch).splitlines()
    assert len(mismatch.came_from) == count


@pytest.mark.parametrize(("step", "asked", "clue"), [
    ("shift", "parts from the golden reference at step 'shift', golden 3", "first different: add (f.c:3)"),
    (None, "no golden step tells where it parts; Kernel(steps=...) of", "computed last by add (f.c:3)"),
])  # fmt: skip
def test_where_the_line_at_fault_is_not_known_an_instruction_is_marked_as_a_hint(
    step: str | None, asked: str, clue: str
) -> None:
    mismatch = Mismatch(
        engine="machine", output="out", lane=(0,), got=1, expected=2, inputs="n=1", lanes_different=1, parted_at=step,
        golden_step=3, agreed=(), instruction="add", source="f.c:3", came_from=("a[0]",), conventions=(),
        explanation=(),
    )  # fmt: skip
    unknown = str(replace(mismatch, fault=FaultLines())).splitlines()
    assert f"  hint: {clue}, where the fault need not be" in unknown
    assert [line.startswith(f"  {asked}") and clue not in line for line in unknown].count(True) == 1
    known = str(replace(mismatch, fault=FaultLines(lines=("f.c:4",), repairs=("add as sub",))))
    assert clue not in known
    assert f"; {clue}" in str(mismatch)


@pytest.mark.parametrize(("failure", "told"), [
    ("register not preserved: d8", "1 of 2 in the calls before one was stopped; never kernel.c -O2: f.c:3 b.lo taken"),
    ("", "1 of 2; never kernel.c -O2: f.c:3 b.lo taken"),
])  # fmt: skip
def test_branch_outcomes_are_those_of_the_calls_before_one_was_stopped(failure: str, told: str) -> None:
    """The ways gone beside them are of all inputs."""
    met = Coverage(lines={}, branches={"f.c:3 b.lo taken": False, "f.c:3 b.lo not taken": True})
    lines = shown(report(replace(PARTLY, failure=failure, coverage=met)), width=120)
    assert " ".join(words_of("branch outcomes", lines)) == told


def test_ways_gone_and_branch_outcomes_say_what_they_are_of() -> None:
    """The one may be all of its branches, where the other is not: other builds, other inputs."""
    met = Coverage(lines={}, branches={"f.c:3 b.lo to f.c:5 taken": False, "f.c:3 b.lo to f.c:5 not taken": True})
    ways = [OperandsMet("kernel.c -O2", "f.c:3", "b.lo f.c:5", name, met=True) for name in ("taken", "not taken")]
    ways.append(OperandsMet("plain.c -O2", "p.c:3", "b.lo p.c:5", "taken", met=True))
    both = report(replace(PARTLY, failure="", coverage=met), replace(PARTLY, failure="", flags="-O3", coverage=met))
    lines = shown(replace(both, power=Power(operands=ways)), width=160)
    assert " ".join(words_of("ways gone", lines)) == "3 of 3 in kernel.c -O2, plain.c -O2, with the aimed inputs"
    assert " ".join(words_of("branch outcomes", lines)).startswith("2 of 4 in 2 builds, in lockstep; never kernel.c")


def test_a_build_that_there_is_not_has_stopped_no_call() -> None:
    met = Coverage(lines={}, branches={"f.c:3 b.lo taken": True})
    lost = replace(PARTLY, failure="it defines no symbol 'f'", coverage=None, vectors=0)
    lines = shown(report(replace(PARTLY, failure="", coverage=met), lost), width=120)
    assert " ".join(words_of("branch outcomes", lines)) == "1 of 1"
