"""How many output lanes of a check's vectors tell the arithmetics of a kernel apart, counted and reported."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from sim.call.call import Engine
from sim.check.report import Outcome, Report
from sim.check.separation import Pair, Separation, separation_of
from sim.check.vectors import Vectors, make_vectors
from sim.kernels.kernel import Inputs, Kernel, KernelError, Outputs
from sim.kernels.quantize_down import KERNEL, MODES
from sim.kernels.signature import Pointer, ScalarArgument, Signature
from sim.kernels.tolerance import Tolerance
from sim.view.report import show_report

SETS: tuple[list[int], ...] = ([1, 2, 3], [4, -5], [])
Convention = Callable[[Inputs], Outputs]


def doubling(inputs: Inputs) -> Outputs:
    return {"output": np.array([2 * value for value in inputs["values"]], np.int32)}


def doubling_up_to_four(inputs: Inputs) -> Outputs:
    return {"output": np.array([min(2 * value, 4) for value in inputs["values"]], np.int32)}


def refusing_negatives(inputs: Inputs) -> Outputs:
    if min(inputs["values"], default=0) < 0:
        raise ValueError("negative")
    return doubling_up_to_four(inputs)


def kernel(**conventions: Convention) -> Kernel:
    """int32 doubled, on the sets of SETS; nothing of it is ever compiled."""
    signature = Signature(
        (Pointer("output", "int32", ("length",), direction="out"), ScalarArgument("length", "uint64"))
    )
    return Kernel(
        name="double", symbol="double", sources=(Path("none.c"),), signature=signature, golden=doubling,
        arguments=lambda inputs: {"length": len(inputs["values"])}, corners=lambda: ({"values": s} for s in SETS),
        sample=lambda rng: {"values": []}, conventions=conventions,
    )  # fmt: skip


def separation(**conventions: Convention) -> Separation:
    made = kernel(**conventions)
    return separation_of(made, make_vectors(made, 0, 1))


def test_lanes_that_differ_are_counted_over_all_input_sets() -> None:
    """3 and 4 double to 6 and 8; -5 doubles to -10 in both."""
    assert separation(limited=doubling_up_to_four).pairs == [Pair("golden", "limited", 2, 0)]


def test_a_refused_input_set_counts_as_refused_not_as_different() -> None:
    assert separation(partial=refusing_negatives).pairs == [Pair("golden", "partial", 1, 2)]


def test_conventions_are_compared_among_each_other_too() -> None:
    pairs = separation(limited=doubling_up_to_four, partial=refusing_negatives).pairs
    assert pairs[-1] == Pair("limited", "partial", 0, 2)


def test_a_lane_in_which_several_differ_from_the_checked_arithmetic_counts_once() -> None:
    assert separation(limited=doubling_up_to_four, partial=refusing_negatives).lanes_of_own == 2


def test_the_pairs_of_the_checked_arithmetic_are_those_with_its_mode() -> None:
    made = replace(kernel(limited=doubling_up_to_four, partial=refusing_negatives), mode="plain")
    of_own = separation_of(made, make_vectors(made, 0, 1)).of_own
    assert [(pair.one, pair.other) for pair in of_own] == [("plain", "limited"), ("plain", "partial")]


def test_the_sign_of_a_floating_point_zero_tells_apart_that_of_a_nan_does_not() -> None:
    made = replace(kernel(), conventions={"negative": lambda inputs: {"output": np.array([-0.0, -np.nan], np.float32)}})
    vectors = Vectors([{"values": []}], [{"output": np.array([0.0, np.nan], np.float32)}], 1)
    assert separation_of(made, vectors).pairs == [Pair("golden", "negative", 1, 0)]


def test_what_a_kernel_s_tolerance_accepts_is_not_told_apart() -> None:
    made = replace(
        kernel(), tolerance=Tolerance(absolute=0.5),
        conventions={"near": lambda inputs: {"output": np.array([1.25, 4.0], np.float32)}},
    )  # fmt: skip
    vectors = Vectors([{"values": []}], [{"output": np.array([1.0, 3.0], np.float32)}], 1)
    assert separation_of(made, vectors).pairs == [Pair("golden", "near", 1, 0)]


def test_no_vectors_at_all_separate_nothing() -> None:
    made = kernel(limited=doubling_up_to_four)
    assert separation_of(made, Vectors([], [], 1)).pairs == [Pair("golden", "limited", 0, 0)]


def test_a_kernel_without_conventions_has_no_pairs() -> None:
    assert separation().pairs == []


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        ({}, "the convention 'other' of double fails: KeyError: 'output'"),
        (
            {"output": np.zeros(3)},
            r"the convention 'other' of double returns float64\[3\] as 'output': the golden refe",
        ),
        ({"output": np.zeros(1, np.int32)}, r"returns int32\[1\] as 'output': the golden reference returns int32\[3\]"),
    ],
)
def test_a_convention_that_is_not_like_the_golden_reference_is_one_sentence(outputs: Outputs, sentence: str) -> None:
    with pytest.raises(KernelError, match=sentence):
        separation(other=lambda inputs: outputs)


@pytest.mark.parametrize("mode", MODES)
def test_the_vectors_of_a_mode_separate_it_from_every_mode_that_defines_them_otherwise(mode: str) -> None:
    """ACL 19.08 differs from the left shift of 20.02 and from its own lanes and tail only where it refuses."""
    pairs = separation_of(MODES[mode], make_vectors(MODES[mode], 2000, 1)).of_own
    alike = {"acl_20_02_left_shift", "acl_19_08_lanes_and_tail"}
    equal = alike if mode == "acl_19_08" else {"acl_19_08"} if mode in alike else set()
    assert {pair.other for pair in pairs if pair.lanes == 0} == equal


def report(*pairs: Pair, engine: Engine = "lockstep") -> Report:
    outcome = Outcome(
        implementation="kernel.c",
        flags="-O0",
        vectors=10,
        lanes_compared=20,
        instructions=3000,
        forms=frozenset({"add"}),
        qc_events=0,
        code="0123456789",
    )
    return Report(
        kernel="k",
        compiler="clang",
        seed=1,
        outcomes=[outcome],
        reproduce="lanewise",
        engine=engine,
        separation=Separation("own", pairs),
    )


def shown(made: Report) -> Sequence[str]:
    printed = io.StringIO()
    show_report(made, Console(file=printed, width=200))
    return [" ".join(line.split()) for line in printed.getvalue().splitlines()]


def test_the_report_says_what_the_vectors_separate() -> None:
    lines = shown(report(Pair("own", "page", 1204, 0), Pair("own", "other", 7, 0), Pair("page", "other", 0, 0)))
    assert "separated from page 1,204 lanes, other 7 lanes" in lines


def test_the_report_says_what_they_do_not_separate_and_how_much_is_refused() -> None:
    lines = shown(report(Pair("own", "page", 1, 0), Pair("own", "left", 0, 1602), Pair("own", "alike", 0, 0)))
    assert "not separated from left (refuses 1,602 lanes), alike" in lines


def test_a_check_whose_vectors_separate_nothing_says_so() -> None:
    lines = shown(report(Pair("own", "page", 0, 0)))
    assert "separated from nothing: these vectors cannot tell it from another convention" in lines


def test_a_kernel_without_conventions_is_not_blamed() -> None:
    assert not any("separated" in line for line in shown(report()))


def test_the_json_form_has_every_pair() -> None:
    data = report(Pair("own", "page", 1204, 3), Pair("page", "other", 0, 0)).as_json()
    assert data["separated"] == [
        {"between": ["own", "page"], "lanes": 1204, "lanes_refused": 3},
        {"between": ["page", "other"], "lanes": 0, "lanes_refused": 0},
    ]


def test_a_report_of_the_machine_alone_counts_nothing_in_lockstep() -> None:
    made = report(engine="machine")
    assert (made.as_json()["instructions_in_lockstep"], made.as_json()["engine"]) == (0, "machine")


def test_a_report_of_the_machine_alone_says_so() -> None:
    assert "instructions 3,000 on the machine alone" in shown(report(engine="machine"))


def test_the_default_kernel_separates_what_random_data_nearly_never_does() -> None:
    """The page differs on more than 5 % of the lanes; random data would show it on about 0.05 %."""
    vectors = make_vectors(KERNEL, 2000, 1)
    (page,) = [pair for pair in separation_of(KERNEL, vectors).of_own if pair.other == "page"]
    assert page.lanes > 0.05 * vectors.count
