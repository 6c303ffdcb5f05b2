"""How a wrong lane is traced back: what is learned from, its own element of each array, what steps depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.call import CallResult, Recorded
from sim.check import tracing
from sim.check.blame import Lineage, Parting
from sim.check.compare import WrongLane
from sim.check.origin import MEMORY, FloatBits, LaneOrigin
from sim.check.tracing import LaneTracer, TracedLane
from sim.check.vectors import Vectors
from sim.kernels import Inputs, Kernel, Pointer, ScalarArgument, Signature, parse_prototype
from sim.kernels.kernel import Outputs
from sim.kernels.signature import VectorArgument

ADDRESSES = {"x": 0x1000, "bias": 0x2000, "table": 0x4000, "out": 0x3000, "sums": 0x5000}
NAME, SIGNATURE = parse_prototype(
    "void f(const int16_t x[rows][cols], const int32_t bias[cols], const uint8_t table[4], int32_t zero, "
    "int8_t out[rows][cols], int rows, int cols)"
)


def steps(inputs: Inputs) -> dict[str, np.ndarray]:
    total = inputs["x"] + inputs["bias"]
    return {"sum": total, "moved": total + inputs["zero"], "looked up": inputs["table"][total & 3]}


def golden(inputs: Inputs) -> Outputs:
    return {"out": steps(inputs)["looked up"].astype(np.int8)}


KERNEL = Kernel(name=NAME, symbol=NAME, sources=(), signature=SIGNATURE, golden=golden, steps=steps)


def inputs(number: int, rows: int = 2, cols: int = 3) -> dict[str, Any]:
    size = rows * cols
    return {
        "x": np.arange(10 * number + 1, 10 * number + 1 + size, dtype=np.int16).reshape(rows, cols),
        "bias": np.arange(100, 100 + cols, dtype=np.int32), "table": np.array([9, 8, 7, 6], np.uint8), "zero": number,
        "rows": rows, "cols": cols,
    }  # fmt: skip


class Recording:
    """An implementation that only tells where arrays lie; `calls` are those that were recorded."""

    forms: frozenset[str] = frozenset()

    def __init__(self, addresses: dict[str, int] = ADDRESSES) -> None:
        self.calls, self._addresses = list[int](), addresses

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        raise NotImplementedError

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        self.calls.append(int(arguments.get("zero", 0)))
        return self._addresses, []


def node(index: int) -> Any:
    return SimpleNamespace(index=index)


NOWHERE = LaneOrigin((), ())


class Seen:
    """What the parts around a tracer are asked, and what they answer, which the test says."""

    def __init__(self) -> None:
        self.spots, self.decided_spots = list[Any](), list[Any]()
        self.origin = self.decided = NOWHERE
        self.parting: Parting | None = None
        self.lineage: Lineage
        self.learned_from: list[Lineage]
        self.dependences: Mapping[str, frozenset[str]] | None

    def origin_of(self, trace: Any, *spot: Any) -> LaneOrigin:
        self.spots.append(spot)
        return self.origin

    def decided_origin_of(self, trace: Any, *spot: Any) -> LaneOrigin:
        self.decided_spots.append(spot)
        return self.decided

    def find_parting(self, lineage: Lineage, calibration: Any, dependences: Any) -> Parting | None:
        self.lineage, self.dependences = lineage, dependences
        assert calibration == "learned"
        return self.parting

    def of(self, right: list[Lineage], wrong: Lineage) -> str:
        self.learned_from = right
        return "learned"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    made = Seen()
    for name in ("origin_of", "decided_origin_of", "find_parting"):
        monkeypatch.setattr(tracing, name, getattr(made, name))
    monkeypatch.setattr(tracing, "Calibration", made)
    return made


def tracer(*cases: Inputs, kernel: Kernel = KERNEL, implementation: Recording | None = None) -> LaneTracer:
    some = cases or tuple(inputs(number) for number in range(3))
    vectors = Vectors(some, [kernel.expected(one) for one in some], 1)
    return LaneTracer(kernel, vectors, implementation or Recording())


def wrong(row: int = 1, col: int = 2, number: int = 0, output: str = "out") -> WrongLane:
    return WrongLane(number, "machine", output, (row, col))


def test_the_own_element_of_each_array_is_that_of_its_axes_or_as_many_from_the_start(seen: Seen) -> None:
    """x goes along both axes, bias along one; the table has other axes, and no element with that number."""
    tracer().trace(wrong(), [], [])
    assert seen.spots == [(0x3005, 1, MEMORY)]
    assert seen.lineage.address == 0x3005
    assert seen.lineage.inputs == {"x": 0x1000 + 5 * 2, "bias": 0x2000 + 2 * 4, "table": 0x4000 + 5}
    assert seen.lineage.numbers == {"x": 6, "bias": 102}
    assert seen.lineage.steps == {"sum": 108, "moved": 108, "looked up": 9}
    tracer().trace(wrong(1, 0, number=1), [], [])
    assert (seen.lineage.address, seen.lineage.numbers) == (0x3003, {"x": 14, "bias": 100, "table": 6})
    tracer().trace(wrong(1, 1), [], [])  # the fourth: one behind the table's last
    assert seen.lineage.inputs["table"] == 0x4004
    assert seen.lineage.numbers == {"x": 5, "bias": 101}


def test_elements_that_reached_a_lane_are_those_of_its_bytes_in_arrays_that_have_them(seen: Seen) -> None:
    """Single bytes of elements, one before and one behind each array, and those of the output."""
    memory = (0x0FFF, 0x1003, 0x1004, 0x1005, 0x100C, 0x1FFF, 0x2000, 0x2007, 0x200C, 0x3005, 0x4003, 0x4004)
    seen.origin = LaneOrigin((node(4), node(9), node(2)), memory)
    found = tracer().trace(wrong(), [], [])
    assert found == TracedLane(
        None, None, ("x[0][1]", "x[0][2]", "bias[0]", "bias[1]", "table[3]"), True, seen.origin.nodes[1], False
    )
    arrays = {"x": {0x1002, 0x1004}, "bias": {0x2000, 0x2004}, "table": {0x4003}}
    assert seen.lineage.arrays == {name: frozenset(some) for name, some in arrays.items()}
    assert (seen.lineage.origin, seen.lineage.is_bound, seen.decided_spots) == (seen.origin, False, [])


def test_what_decided_is_taken_where_more_arrays_did(seen: Seen) -> None:
    seen.origin, seen.decided = LaneOrigin((), (0x1000,)), LaneOrigin((), (0x1002, 0x2000))
    found = tracer().trace(wrong(), [], [])
    assert (found.elements, found.is_bound, found.came_from) == (("x[0][1]", "bias[0]"), False, ("x[0][1]", "bias[0]"))
    assert seen.decided_spots == seen.spots == [(0x3005, 1, MEMORY)]
    seen.decided = LaneOrigin((), (0x1002,))
    assert tracer().trace(wrong(), [], []).elements == ("x[0][0]",)
    seen.origin = NOWHERE
    found = tracer().trace(wrong(), [], [])
    assert (found.elements, found.is_bound) == (("x[0][1]",), True)
    seen.decided = NOWHERE
    found = tracer().trace(wrong(), [], [])
    assert (found.is_bound, found.written, found.writer) == (True, True, None)
    assert found.came_from == ("no element of any array",)
    seen.origin = LaneOrigin((), (0x3005,))
    found = tracer().trace(wrong(), [], [])
    assert (found.written, found.came_from) == (False, ("nothing: it was never written",))


def test_a_bound_stays_one_where_arrays_only_decided_it(seen: Seen) -> None:
    seen.decided = LaneOrigin((), (0x1000, 0x2000, 0x4000))
    tracer().trace(wrong(), [], [])
    assert (seen.lineage.is_bound, set(seen.lineage.arrays)) == (True, {"x", "bias", "table"})


def test_the_golden_number_is_that_of_the_step_at_which_the_lane_parts(seen: Seen) -> None:
    seen.parting = Parting("moved", 0, ("sum",), None)
    found = tracer().trace(wrong(number=2), [], [])
    assert (found.parting, found.golden_step) == (seen.parting, 26 + 102 + 2)


def learned(seen: Seen) -> list[int]:
    return [lineage.address - 0x3000 for lineage in seen.learned_from]


def test_the_nearest_right_lanes_are_learned_from_then_the_sets_whose_steps_are_told_apart_best(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "NEAREST", 3)
    monkeypatch.setattr(tracing, "CLEAREST", 2)
    made = tracer(*(inputs(number, 3, 3) for number in range(4)))
    clear = {1: 1, 2: 3, 3: 2}
    monkeypatch.setattr(made, "distinct_steps", lambda number, place: clear[number] * (place == (1, 1)))
    right = [(0, 0), (0, 2), (2, 1), (1, 0), (2, 2), (0, 1)]
    made.trace(wrong(1, 1), right, [1, 2, 3])
    assert learned(seen) == [7, 3, 1, 4, 4]
    assert [lineage.numbers["x"] for lineage in seen.learned_from[3:]] == [25, 35]
    made.trace(wrong(1, 1), right[:1], [])
    assert learned(seen) == [0]


def test_a_call_is_recorded_once() -> None:
    implementation = Recording()
    made = tracer(implementation=implementation)
    for place in ((0, 0), (1, 2)):
        made.trace(WrongLane(1, "machine", "out", place), [(0, 1)], [2])
    assert implementation.calls == [1, 2]


def test_what_a_step_depends_on_is_found_by_changing_one_thing_at_a_time(seen: Seen) -> None:
    tracer().trace(wrong(), [], [])
    of_sum = {"x", "bias"}
    assert seen.dependences == {
        "sum": frozenset(of_sum), "moved": frozenset([*of_sum, "zero"]), "looked up": frozenset([*of_sum, "table"])
    }  # fmt: skip
    tracer(*(inputs(number) | {"zero": 5} for number in range(2))).trace(wrong(), [], [])
    assert seen.dependences is not None
    assert seen.dependences["moved"] == of_sum  # there is no other number to change it to
    tracer(*(inputs(number) | {"x": np.ones((2, 3), np.int16)} for number in range(2))).trace(wrong(), [], [])
    assert seen.dependences["sum"] == {"bias"}  # turned round it is the same


def test_extents_are_not_changed_and_where_the_reference_refuses_nothing_is_known(seen: Seen) -> None:
    asked = list[tuple[int, int]]()

    def noted(given: Inputs) -> dict[str, np.ndarray]:
        asked.append((given["rows"], given["zero"]))
        if given["zero"] == 1:
            raise ZeroDivisionError
        return steps(given)

    made = replace(KERNEL, steps=noted)
    tracer(inputs(0), inputs(2, rows=4), kernel=made).trace(wrong(), [], [])
    assert (set(asked), seen.dependences is None) == ({(2, 0), (2, 2)}, False)
    tracer(inputs(0), inputs(1), kernel=made).trace(wrong(), [], [])
    assert seen.dependences is None


@pytest.mark.parametrize(
    ("numbers", "count"),
    [
        ([0, 1, -1, 2, -2, 4, 1 << 20, -(1 << 20)], 0),
        ([3], 1),
        ([3, 6, 24, 3 << 20], 1),
        ([3, -3, 5, 0, 1], 3),
        ([-12, -3], 1),
        ([1536, 6, 7, 14, -7], 3),
    ],
)
def test_steps_are_told_apart_by_their_odd_parts_but_for_one(numbers: list[int], count: int) -> None:
    def of_numbers(given: Inputs) -> dict[str, np.ndarray]:
        return {f"step {at}": np.array([[0, number]]) for at, number in enumerate(numbers)}

    made = tracer(inputs(0, 1, 2), kernel=replace(KERNEL, steps=of_numbers))
    assert (made.distinct_steps(0, (0, 1)), made.distinct_steps(0, (0, 0))) == (count, 0)


def test_of_floating_point_steps_the_bits_count(seen: Seen) -> None:
    def of_floats(given: Inputs) -> dict[str, np.ndarray]:
        return {"real": np.full((2, 3), 1.5, np.float32), "whole": np.full((2, 3), 0x3FC00000)}

    made = tracer(kernel=replace(KERNEL, steps=of_floats))
    made.trace(wrong(), [], [])
    real = seen.lineage.steps["real"]
    assert (isinstance(real, FloatBits), real, made.distinct_steps(0, (1, 2))) == (True, 0x3FC00000, 1)


@pytest.mark.parametrize(
    ("name", "values", "is_input"),
    [
        ("bias", lambda given: np.broadcast_to(given["bias"], (2, 3)), True),
        ("bias", lambda given: given["x"] + given["bias"], False),
        ("bias", lambda given: np.broadcast_to(given["bias"], (2, 3)) + np.eye(2, 3, dtype=np.int32), False),
        ("x", lambda given: given["x"], True),
        ("x", lambda given: given["x"].astype(np.int32), True),
        ("x", lambda given: given["x"] // 2, False),
        ("other", lambda given: given["x"] // 2, True),
        ("table", lambda given: np.resize(given["table"], (2, 3)), False),
    ],
)
def test_a_step_of_an_array_s_name_that_is_not_its_elements_takes_the_name_from_it(
    name: str, values: Any, is_input: bool, seen: Seen
) -> None:
    tracer(kernel=replace(KERNEL, steps=lambda given: {name: values(given)})).trace(wrong(), [], [])
    assert (name in seen.lineage.inputs or name == "other") == is_input
    assert set(seen.lineage.inputs) >= {"x", "bias", "table"} - {name}


def test_of_an_array_with_nan_a_step_that_is_it_is_the_input(seen: Seen) -> None:
    signature = Signature((Pointer("x", "float32", (2,)), Pointer("out", "float32", (2,), direction="out")))

    def same(given: Inputs) -> Outputs:
        return {"out": given["x"]}

    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=same, steps=lambda given: {"x": given["x"]}
    )
    numbers = {"x": np.array([np.nan, 1], np.float32)}
    tracer(numbers, kernel=made).trace(WrongLane(0, "machine", "out", (1,)), [], [])
    assert (seen.lineage.inputs, seen.spots) == ({"x": 0x1004}, [(0x3004, 4, MEMORY)])
    assert seen.lineage.numbers == {"x": 0x3F800000}


def test_rows_that_lie_apart_are_found_by_their_strides_and_their_numbers_are_not_told(seen: Seen) -> None:
    signature = Signature(
        (
            Pointer("x", "int16", (2, 3), strides=(8, 1)),
            Pointer("out", "int32", (2, 3), direction="out", strides=(4, 1)),
        )
    )  # fmt: skip
    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda g: {"out": g["x"].astype(np.int32)}
    )
    numbers = {"x": np.arange(6, dtype=np.int16).reshape(2, 3)}
    seen.origin = LaneOrigin((), (0x1006, 0x1014, 0x1015, 0x1016))  # between the rows, in the second, behind it
    found = tracer(numbers, kernel=made).trace(wrong(), [], [])
    assert (seen.lineage.inputs, seen.lineage.numbers) == ({"x": 0x1000 + 2 * 10}, {})
    assert (seen.spots, found.elements) == ([(0x3000 + 4 * 6, 4, MEMORY)], ("x[1][2]",))


@pytest.mark.parametrize(("returns", "place", "size"), [("int16", Place("x", 0), 2), ("float64", Place("v", 0), 8)])
def test_a_result_is_traced_from_its_register(returns: str, place: Place, size: int, seen: Seen) -> None:
    signature = Signature((Pointer("x", "int16", (3,)), ScalarArgument("zero", "int32")), returns=returns)

    def first(given: Inputs) -> Outputs:
        return {"returned": np.array(given["x"][0], returns)}

    made = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=first)
    numbers = {"x": np.array([7, 8, 9], np.int16), "zero": 0}
    tracer(numbers, kernel=made).trace(WrongLane(0, "machine", "returned", ()), [], [])
    assert seen.spots == [(0, size, place)]
    assert (seen.lineage.address, seen.lineage.inputs, seen.lineage.numbers) == (0, {"x": 0x1000}, {"x": 7})


def test_a_lane_of_a_vector_that_is_returned_is_traced_from_its_bytes(seen: Seen) -> None:
    signature = Signature((Pointer("x", "int16", (3,)),), returned=VectorArgument("returned", "int32", 4, 2))

    def eight(given: Inputs) -> Outputs:
        return {"returned": np.arange(8, dtype=np.int32).reshape(2, 4)}

    made = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=eight)
    numbers = {"x": np.array([7, 8, 9], np.int16)}
    tracer(numbers, kernel=made).trace(WrongLane(0, "machine", "returned", (1, 3)), [], [])
    assert (seen.spots, seen.lineage.address) == ([(12, 4, Place("v", 1))], 0)
    assert seen.lineage.inputs == {"x": 0x1000 + 7 * 2}


def of_axes(
    own: tuple[str, ...], output: tuple[str, ...], seen: Seen, place: tuple[int, ...], **sizes: int
) -> tuple[int, bool]:
    """Which element of an array is a lane's own, and whether a step with its name that is its elements is the input."""
    signature = Signature(
        (
            Pointer("x", "int8", own), Pointer("out", "int8", output, direction="out"),
            *(ScalarArgument(name, "int32") for name in sizes),
        )
    )  # fmt: skip
    shape, extents = tuple(sizes[axis] for axis in output), tuple(sizes[axis] for axis in own)
    numbers = np.arange(int(np.prod(extents)), dtype=np.int8).reshape(extents)
    expanded = np.zeros(shape, np.int8)
    for at in np.ndindex(*shape):
        where = tuple(at[output.index(axis)] for axis in own) if len(own) < len(output) else at
        expanded[at] = numbers[where]
    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda given: {"out": expanded},
        steps=lambda given: {"x": expanded},
    )  # fmt: skip
    tracer({"x": numbers, **sizes}, kernel=made).trace(WrongLane(0, "machine", "out", place), [], [])
    is_input = "x" in seen.lineage.inputs
    return seen.lineage.inputs.get("x", 0x1000) - 0x1000, is_input


def test_an_array_goes_along_the_axes_of_its_names_and_along_the_first_of_two_with_one_name(seen: Seen) -> None:
    assert of_axes(("n",), ("m", "n"), seen, (1, 2), m=2, n=3) == (2, True)
    assert of_axes(("m",), ("m", "n"), seen, (1, 2), m=2, n=3) == (1, True)
    assert of_axes(("n",), ("n", "n"), seen, (1, 2), n=3) == (1, True)
    assert of_axes(("n", "n"), ("n", "n"), seen, (1, 2), n=3) == (1 * 3 + 2, True)
    assert of_axes(("k", "m"), ("m", "n", "k"), seen, (1, 2, 3), m=2, n=3, k=4) == (3 * 2 + 1, True)
    assert of_axes(("m", "m"), ("m", "n", "k"), seen, (1, 2, 0), m=2, n=3, k=4) == (1 * 2 + 1, True)


def test_a_step_of_another_output_takes_no_name_from_an_array(seen: Seen) -> None:
    signature = Signature(
        (
            Pointer("x", "int8", (3,)), Pointer("out", "int8", (2, 3), direction="out"),
            Pointer("sums", "int8", (2,), direction="out"),
        )
    )  # fmt: skip
    zeros = {"out": np.zeros((2, 3), np.int8), "sums": np.zeros(2, np.int8)}
    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda _: zeros,
        steps=lambda _: {"x": np.array([5, 6], np.int8)},
    )  # fmt: skip
    numbers = {"x": np.array([7, 8, 9], np.int8)}
    tracer(numbers, kernel=made).trace(wrong(1, 2), [], [])
    assert (seen.lineage.inputs, seen.lineage.steps) == ({"x": 0x1002}, {})
    tracer(numbers, kernel=made).trace(WrongLane(0, "machine", "sums", (1,)), [], [])
    assert (seen.lineage.inputs, seen.lineage.steps) == ({}, {"x": 6})


def test_of_a_longer_array_a_step_that_is_its_beginning_is_the_input(seen: Seen) -> None:
    """The table has five numbers, the output four lanes; another array is at an odd address, and all are its first."""
    signature = Signature(
        (
            Pointer("table", "uint8", (5,)), Pointer("x", "int16", (3,), strides=(0,)),
            Pointer("out", "uint8", (4,), direction="out"),
        )
    )  # fmt: skip

    def beginning(given: Inputs) -> Outputs:
        return {"table": given["table"][:4]}

    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda given: {"out": given["table"][:4]},
        steps=beginning,
    )  # fmt: skip
    numbers = {"table": np.array([9, 8, 7, 6, 5], np.uint8), "x": np.zeros(3, np.int16)}
    seen.origin = LaneOrigin((), (0x1001, 0x1002, 0x1003, 0x4001))
    implementation = Recording(ADDRESSES | {"x": 0x1001})
    found = tracer(numbers, kernel=made, implementation=implementation).trace(
        WrongLane(0, "machine", "out", (1,)), [], []
    )
    assert (seen.lineage.inputs["table"], found.elements) == (0x4001, ("table[1]", "x[0]"))
    assert seen.lineage.arrays["x"] == frozenset([0x1001])


def test_a_null_pointer_has_no_element(seen: Seen) -> None:
    signature = Signature(
        (Pointer("x", "int16", (3,), nullable=True), Pointer("out", "int16", (3,), direction="out"))
    )  # fmt: skip
    made = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda _: {"out": np.zeros(3, np.int16)}
    )
    seen.origin = LaneOrigin((), (0x1000,))
    found = tracer({"x": None}, kernel=made).trace(WrongLane(0, "machine", "out", (1,)), [], [])
    assert (found.elements, seen.lineage.numbers, seen.lineage.is_bound) == ((), {}, True)
