"""What a report makes of outcomes: the sentence of a lane that differs, the verdict, sums over implementations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.call.coverage import Coverage
from sim.check.aim.power import Power
from sim.check.repair.fault import FaultLines
from sim.check.report import Mismatch, Outcome, Report

MISMATCH = Mismatch(
    engine="machine", output="out", lane=(2, 5), got=1, expected=3, inputs="n=1", lanes_different=1, parted_at="shift",
    golden_step=6, agreed=("first", "sum"), instruction="add w0, w1, w2", source="f.c:3", came_from=("a[0]", "b[1]"),
    conventions=(), explanation=("it is one less", "in one row"),
)  # fmt: skip
HEAD = ["out[2][5]: machine 1, golden 3  (1 lane differs)", "  inputs n=1"]
CAME = ["  it came from a[0], b[1]"]
EXPLAINED = ["  it is one less", "  in one row"]
PARTS = "  parts from the golden reference at step 'shift' after 'sum', golden 6"
AT_FIRST = "  parts from the golden reference at step 'shift', golden 6"
FIRST = "first different: add w0, w1, w2 (f.c:3)"
LAST = "computed last by add w0, w1, w2 (f.c:3)"
NO_STEP = "  no golden step tells where it parts"
ASKED = "; Kernel(steps=...) of the kernel file would: a function that returns each step by its name"
KNOWN = FaultLines(lines=("f.c:4",), repairs=("add as sub",))
UNKNOWN = FaultLines()
MANY = FaultLines(repairs=("add as sub",))
NOT = ", where the fault need not be"


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, [f"{PARTS}; {FIRST}", *CAME]),
        ({"agreed": ()}, [f"{AT_FIRST}; {FIRST}", *CAME]),
        ({"instruction": ""}, [PARTS, *CAME]),
        ({"inlined": "by g at h.c:7"}, [f"{PARTS}; {FIRST[:-1]} by g at h.c:7)", *CAME]),
        ({"parted_at": None}, [f"{NO_STEP}; {LAST}{ASKED}", *CAME]),
        ({"parted_at": None, "instruction": ""}, [f"{NO_STEP}; nothing computed it{ASKED}", *CAME]),
        ({"came_from": ()}, []),
        ({"came_from": (), "fault": UNKNOWN}, [f"  {UNKNOWN}"]),
        ({"fault": KNOWN}, [f"  {KNOWN}", PARTS, *CAME]),
        ({"fault": UNKNOWN}, [f"  {UNKNOWN}", PARTS, f"  hint: {FIRST}{NOT}", *CAME]),
        ({"fault": MANY}, [f"  {MANY}", PARTS, f"  hint: {FIRST}{NOT}", *CAME]),
        ({"fault": UNKNOWN, "instruction": ""}, [f"  {UNKNOWN}", PARTS, *CAME]),
        ({"fault": UNKNOWN, "parted_at": None}, [f"  {UNKNOWN}", f"{NO_STEP}{ASKED}", f"  hint: {LAST}{NOT}", *CAME]),
    ],
)
def test_a_lane_that_differs_is_told_with_where_it_parts_and_what_it_came_from(
    changes: dict[str, Any], lines: list[str]
) -> None:
    assert str(replace(MISMATCH, **changes)).splitlines() == [*HEAD, *lines, *EXPLAINED]


def test_how_many_lanes_differ_is_told_and_of_two_builds_no_one_is_right() -> None:
    assert str(replace(MISMATCH, lanes_different=7)).startswith(
        "out[2][5]: machine 1, golden 3  (7 lanes differ in all "
    )
    between = replace(MISMATCH, between=("f.c -O0", "f.c -O2"), lanes_different=2)
    assert str(between).splitlines() == [
        "out[2][5]: f.c -O0 gives 3, f.c -O2 1; neither is taken as right  (2 lanes differ in all calls)",
        "  inputs n=1",
    ]


def outcome(**given: Any) -> Outcome:
    made: dict[str, Any] = {
        "implementation": "f.c", "flags": "-O2", "vectors": 5, "lanes_compared": 10, "instructions": 100,
        "forms": frozenset({"add"}), "qc_events": 1, "code": "aa",
    }  # fmt: skip
    return Outcome(**(made | given))


def report(*outcomes: Outcome, **given: Any) -> Report:
    return Report(kernel="f", compiler="clang", seed=3, outcomes=outcomes, reproduce="again", **given)


def test_a_fault_on_one_line_is_what_the_mismatch_names_and_one_among_several_is_not() -> None:
    failing = outcome(failure=f"first\n{MISMATCH}", mismatch=MISMATCH)
    on_one = replace(KNOWN, instruction="sub w0, w1, w2", inlined=("by g at h.c:7",))
    told = failing.blaming(on_one)
    expected = replace(MISMATCH, fault=on_one, source="f.c:4", instruction="sub w0, w1, w2", inlined="by g at h.c:7")
    assert (told.mismatch, told.failure) == (expected, f"first\n{expected}")
    at_address = replace(on_one, addresses=("f+0x1c (0x1101c)",), inlined=())
    named = failing.blaming(at_address).mismatch
    assert named is not None
    assert (named.source, named.inlined) == ("f+0x1c (0x1101c)", "")
    for fault in (replace(on_one, lines=("f.c:4", "f.c:5")), UNKNOWN):
        told = failing.blaming(fault)
        expected = replace(MISMATCH, fault=fault)
        assert (told.mismatch, told.failure) == (expected, f"first\n{expected}")
    assert outcome(failure="no").blaming(on_one) == outcome(failure="no")


@pytest.mark.parametrize(
    ("given", "title", "built"),
    [
        ({"flags": "-O2 -march=armv8-a"}, "f.c -O2", True),
        ({"flags": ""}, "f.c", True),
        ({"code": ""}, "f.c -O2", False),
        ({"code": "", "made_as": "16 lanes"}, "f.c -O2", True),
        ({"code": "", "implementation": "program", "flags": ""}, "program", True),
    ],
)
def test_an_outcome_has_a_title_and_is_of_something_that_was_built(
    given: dict[str, Any], title: str, built: bool
) -> None:
    made = outcome(**given)
    assert (made.title, made.built) == (title, built)
    assert replace(made, failure="no").verdict == ("differs" if built else "not built")


WEAK = Power(doubts=("nothing varied",))


@pytest.mark.parametrize(
    ("outcomes", "given", "passed", "weak"),
    [
        ([outcome()], {}, True, False),
        ([outcome(), outcome(lanes_compared=0)], {}, True, False),
        ([outcome(lanes_compared=1)], {}, True, False),
        ([outcome(lanes_compared=0)], {}, False, False),
        ([], {}, False, False),
        ([outcome(), outcome(failure="no")], {}, False, False),
        ([outcome(), outcome(interrupted=True)], {}, False, False),
        ([outcome()], {"stopped": True}, False, False),
        ([outcome()], {"hindrance": "no disk"}, False, False),
        ([outcome()], {"power": Power()}, True, False),
        ([outcome()], {"power": WEAK}, True, True),
        ([outcome(failure="no")], {"power": WEAK}, False, False),
    ],
)
def test_a_check_passes_if_something_was_compared_nothing_failed_and_nobody_stopped_it(
    outcomes: list[Outcome], given: dict[str, Any], passed: bool, weak: bool
) -> None:
    made = report(*outcomes, **given)
    assert (made.passed, made.weak) == (passed, weak)
    interrupted = bool(given.get("stopped")) or any(one.interrupted for one in outcomes)
    assert made.interrupted == interrupted
    ended = "passed" if passed else "interrupted" if interrupted else "failed"
    assert f"f: {ended}, {len(outcomes)} implementations" in repr(made)


def test_outcomes_are_added_up() -> None:
    smaller = outcome(
        flags="-O0", vectors=4, lanes_compared=7, instructions=30, forms=frozenset({"add", "sub"}), code="bb",
        unverified={"smmla": 5, "usdot": 2},
    )  # fmt: skip
    of_intrinsics = outcome(implementation="program", flags="", vectors=9, lanes_compared=9, instructions=1000, code="")
    made = report(
        outcome(unverified={"usdot": 6}),
        smaller,
        outcome(flags="-O0"),
        of_intrinsics,
        outcome(failure="no", flags="-O3"),
    )
    assert made.flags == ["-O0", "-O2", "-O3"]
    assert (made.vectors_compared, made.lanes_compared, made.instructions) == (9, 46, 1330)
    assert (made.forms, made.distinct_binaries) == (frozenset({"add", "sub"}), 2)
    assert list(made.unverified.items()) == [("usdot", 8), ("smmla", 5)]
    assert made.instructions_in_lockstep == 330 - 13
    assert replace(made, engine="machine").instructions_in_lockstep == 0
    assert (made.failures, made.first_divergence) == ([outcome(failure="no", flags="-O3")], "f.c -O3: no")
    assert (report().vectors_compared, report().first_divergence, report(outcome()).first_divergence) == (0, "", "")
    assert made.as_json()["qc_events"] == 5


def test_a_report_is_told_in_a_line() -> None:
    assert repr(report(outcome(), mode="page")) == "Report(f:page: passed, 1 implementations, 5 vectors, seed 3)"
    failing = [outcome(failure="no")] * 2
    assert "3 implementations, 2 of them fail, 5 vectors" in repr(report(outcome(), *failing))
    assert "2 implementations, 1 of them fails, 1,234 vectors" in repr(report(outcome(vectors=1234), failing[0]))


def test_what_builds_met_is_counted_together_but_for_what_nobody_looked_at() -> None:
    one = Coverage({"f.c:1": True, "f.c:2": False}, {"f.c:2 b.lo taken": True})
    other = Coverage({"f.c:2": True, "f.c:3": False}, {"f.c:2 b.lo taken": False})
    made = report(outcome(coverage=one), outcome(flags="-O3", coverage=other), outcome(implementation="program"))
    assert {name: (share.met, share.of, share.never) for name, share in made.coverage.items()} == {
        "source lines": (2, 3, ("f.c:3",)), "branch outcomes": (1, 2, ("f.c -O3: f.c:2 b.lo taken",)),
    }  # fmt: skip
    assert report(outcome()).coverage == {}


def test_the_json_form_says_of_each_implementation_what_came_of_it() -> None:
    made: Any = report(outcome(coverage=Coverage({}, {})), outcome(failure="no", mismatch=MISMATCH)).as_json()
    first, second = made["implementations"]
    assert ("coverage" in first, first["forms"], first["passed"], second["passed"]) == (False, 1, True, False)
    assert (first["mismatch"], second["mismatch"]["came_from"]) == (None, "a[0], b[1]")
    assert (made["separated"], made["power"], made["passed"], made["weak"]) == ([], None, False, False)
    weak = report(outcome(), power=WEAK).as_json()
    assert (weak["weak"], weak["power"] is None) == (True, False)
