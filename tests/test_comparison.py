"""The results of calls beside the golden reference: which lanes differ, and which do not, on results written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim.call.call import CallResult
from sim.check.compare import Comparison, WrongLane
from sim.check.vectors import Vectors
from sim.kernels import Inputs, Kernel, KernelError, Pointer, ScalarArgument, Signature
from sim.kernels.kernel import Outputs
from sim.kernels.tolerance import Tolerance

SETS = ([1, 2, 3], [4, 5], [6, 7, 8], [9, 10, 11])
"""The last one was not run."""
Lane = tuple[int, str, str, int]
"""Input set, engine, output, place."""


def golden(inputs: Inputs) -> Outputs:
    return {"out": inputs["x"] * 2, "low": inputs["x"] % 4}


def kernel(**conventions: Callable[[Inputs], Outputs]) -> Kernel:
    signature = Signature(
        (
            Pointer("x", "int32", ("n",)), Pointer("out", "int32", ("n",), direction="inout", nullable=True),
            Pointer("low", "int32", ("n",), direction="out"), ScalarArgument("n", "uint64"),
        )
    )  # fmt: skip
    return Kernel(name="f", symbol="f", sources=(), signature=signature, golden=golden, conventions=conventions)


def compared(*wrong: Lane, made: Kernel | None = None, absent: int | None = None, run: int = 3) -> Comparison:
    """The results of the first sets on two engines, each of the lanes one more; in one set the first output is null."""
    inputs = [{"x": np.array(numbers, np.int32), "out": 0, "n": len(numbers)} for numbers in SETS]
    outputs = [{name: array for name, array in golden(one).items() if (name, at) != ("out", absent)}
               for at, one in enumerate(inputs)]  # fmt: skip
    results = []
    for at, own in enumerate(outputs[:run]):
        given: dict[str, dict[str, Any]] = {engine: {n: a.copy() for n, a in own.items()} for engine in ENGINES}
        for number, engine, name, place in wrong:
            if number == at:
                given[engine][name][place] += 1
        results.append(CallResult(given, 1, 0))
    return Comparison(made or kernel(), Vectors(inputs, outputs, 1), results)


ENGINES = ("machine", "emulator")
WRONG: tuple[Lane, ...] = ((2, "machine", "low", 0), (0, "emulator", "low", 2), (0, "machine", "out", 1))


def test_lanes_that_differ_are_told_by_input_set_then_by_engine_then_by_output() -> None:
    assert compared(*WRONG).wrong == [
        WrongLane(0, "machine", "out", (1,)), WrongLane(0, "emulator", "low", (2,)),
        WrongLane(2, "machine", "low", (0,)),
    ]  # fmt: skip
    assert compared().wrong == []
    places = [type(at) for lane in compared(*WRONG).wrong for at in lane.place]
    assert places == [int, int, int]  # which JSON takes


def test_what_was_run_is_counted_once_and_for_each_engine() -> None:
    """Two outputs of three, two and three lanes."""
    assert [(compared(run=run).vectors, compared(run=run).lanes) for run in (0, 1, 3)] == [(0, 0), (6, 12), (16, 32)]


def test_both_numbers_of_a_lane_are_told() -> None:
    found = compared(*WRONG)
    assert [(found.got(lane), found.expected(lane)) for lane in found.wrong] == [(5, 4), (4, 3), (3, 2)]
    assert found.inputs_of(found.wrong[0]) == "x[1]=2, out=0, n=3"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ([(0, "machine", "out", 1)], [(0,), (2,)]),
        ([(0, "machine", "out", 1), (0, "emulator", "out", 2)], [(0,)]),
        ([(0, "machine", "out", 1), (0, "machine", "low", 0), (2, "machine", "out", 0)], [(0,), (2,)]),
    ],
)
def test_the_lanes_beside_one_that_no_engine_has_wrong_are_right(wrong: list[Lane], right: list[tuple[int]]) -> None:
    found = compared(*wrong)
    assert found.right_lanes(WrongLane(0, "machine", "out", (1,))) == right


@pytest.mark.parametrize(
    ("wrong", "lane", "right"),
    [
        ([(0, "machine", "out", 1)], (0, "out", 1), [1, 2]),
        ([(0, "machine", "out", 2)], (0, "out", 2), [2]),  # of which the second set has none
        ([(0, "machine", "out", 1), (2, "emulator", "out", 1)], (0, "out", 1), [1]),
        ([(0, "machine", "out", 1), (2, "machine", "low", 1), (1, "machine", "out", 0)], (0, "out", 1), [1, 2]),
        ([(2, "machine", "out", 0)], (2, "out", 0), [0, 1]),
    ],
)
def test_the_sets_in_which_no_engine_has_the_same_place_wrong_are_right(
    wrong: list[Lane], lane: tuple[int, str, int], right: list[int]
) -> None:
    number, output, place = lane
    assert compared(*wrong).right_sets(WrongLane(number, "machine", output, (place,))) == right


def test_of_an_output_that_may_be_null_a_set_without_it_is_no_right_one() -> None:
    found = compared((0, "machine", "out", 1), absent=1)
    assert found.right_sets(found.wrong[0]) == [2]
    assert (found.vectors, found.lanes) == (14, 28)


def test_of_two_axes_a_place_must_be_within_both() -> None:
    signature = Signature((Pointer("out", "int8", ("m", "n"), direction="out"),
                           ScalarArgument("m", "int32"), ScalarArgument("n", "int32")))  # fmt: skip
    made = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=dict)
    shapes = [(2, 3), (1, 3), (2, 2), (3, 4)]
    golden_of = [{"out": np.zeros(shape, np.int8)} for shape in shapes]
    results = [CallResult({"machine": outputs}, 1, 0) for outputs in golden_of]
    found = Comparison(made, Vectors([{"m": m, "n": n} for m, n in shapes], golden_of, 1), results)
    assert found.right_sets(WrongLane(0, "machine", "out", (1, 2))) == [0, 3]


def one_more(inputs: Inputs) -> Mapping[str, Any]:
    return {name: array + 1 for name, array in golden(inputs).items()}


def refuses_short(inputs: Inputs) -> Outputs:
    if inputs["n"] == 2:
        raise ValueError("too short")
    return golden(inputs)


def one_more_at_last(inputs: Inputs) -> Mapping[str, Any]:
    """Of the set that was not run."""
    return one_more(inputs) if 9 in inputs["x"] else golden(inputs)


def of_engine(*engines: str, numbers: tuple[int, ...] = (0, 1, 2)) -> list[Lane]:
    """All lanes of these sets."""
    return [(number, engine, name, place) for number in numbers for engine in engines for name in ("out", "low")
            for place in range(len(SETS[number]))]  # fmt: skip


def test_a_convention_agrees_that_gives_all_outputs_of_all_engines_in_all_sets_that_were_run() -> None:
    made = kernel(one_more=one_more, refuses=refuses_short, at_last=one_more_at_last)
    agreeing = {
        "all": of_engine(*ENGINES), "one engine": of_engine("machine"), "two sets": of_engine(*ENGINES, numbers=(0, 1)),
        "the last two": of_engine(*ENGINES, numbers=(1, 2)), "nothing": [],
    }  # fmt: skip
    found = {name: compared(*wrong, made=made).agreeing_conventions() for name, wrong in agreeing.items()}
    assert found == {
        "all": ("one_more",), "one engine": (), "two sets": (), "the last two": (), "nothing": ("at_last",),
    }  # fmt: skip


def test_a_convention_that_fails_is_told() -> None:
    def fails(inputs: Inputs) -> Outputs:
        raise KeyError("scale")

    with pytest.raises(KernelError, match="the convention 'fails' of f fails"):
        compared(made=kernel(fails=fails)).agreeing_conventions()


def test_a_tolerance_holds_for_lanes_and_for_conventions() -> None:
    def halves(inputs: Inputs) -> Outputs:
        return {"out": (inputs["x"] / 2).astype(np.float32)}

    def a_little_more(inputs: Inputs) -> Outputs:
        return {"out": (inputs["x"] / 2 + 0.75).astype(np.float32)}

    signature = Signature(
        (Pointer("x", "int32", (3,)), Pointer("out", "float32", (3,), direction="out"))
    )  # fmt: skip
    exact = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=halves, conventions={"more": a_little_more}
    )
    inputs = {"x": np.array([1, 2, 3], np.int32)}
    results = [CallResult({"machine": {"out": np.array([0.5, 1.25, 1.75], np.float32)}}, 1, 0)]
    for tolerance, places, agreeing in ((0.0, [1, 2], ()), (0.25, [], ()), (0.75, [], ("more",))):
        made = replace(exact, tolerance=Tolerance(absolute=tolerance))
        found = Comparison(made, Vectors([inputs], [halves(inputs)], 1), results)
        assert ([at for lane in found.wrong for at in lane.place], found.agreeing_conventions()) == (places, agreeing)
