"""Which classes of operands the lanes of an instruction meet: said of every byte, and of pairs of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from isa.evaluate.exact import Occurrence
from isa.lane import Lane, Place
from sim.check.operand_classes import EXECUTIONS, OperandCoverage, class_conditions, vector_arithmetic
from support.one_instruction import State, named, register_of

EDGES = [-128, -127, -65, -64, -3, -2, -1, 0, 1, 2, 3, 5, 6, 63, 64, 126, 127]
Holds = Callable[[int, int], bool]


def classes_of(text: str) -> Mapping[str, Lane]:
    """The classes of the first lane."""
    lane = next(write.lanes[0] for write in vector_arithmetic(named(text)))
    return {str(name): condition for name, condition in class_conditions(lane).items()}


CLASSES: dict[str, dict[str, Holds]] = {
    "add v0.16b, v1.16b, v2.16b": {
        "min": lambda a, b: 0 in (a, b), "max": lambda a, b: -1 in (a, b), "zero": lambda a, b: 0 in (a, b),
        "wrapped": lambda a, b: a % 256 + b % 256 > 255,
    },
    "sqadd v0.16b, v1.16b, v2.16b": {
        "min": lambda a, b: -128 in (a, b), "max": lambda a, b: 127 in (a, b), "zero": lambda a, b: 0 in (a, b),
        "saturated low": lambda a, b: a + b < -128, "saturated high": lambda a, b: a + b > 127,
    },
    "uqsub v0.16b, v1.16b, v2.16b": {
        "min": lambda a, b: 0 in (a, b), "max": lambda a, b: -1 in (a, b), "zero": lambda a, b: 0 in (a, b),
        "saturated low": lambda a, b: a % 256 < b % 256,
    },
    "srshr v0.16b, v1.16b, #2": {
        "min": lambda a, b: a == -128, "max": lambda a, b: a == 127, "zero": lambda a, b: a == 0,
        "tie": lambda a, b: a % 4 == 2,
    },
    "sqrshrn v0.8b, v1.8h, #3": {  # of two bytes that are alike
        "zero": lambda a, b: a == 0, "tie": lambda a, b: (257 * a) % 8 == 4,
        "saturated low": lambda a, b: 256 * a + a % 256 + 4 >> 3 < -128,
        "saturated high": lambda a, b: 256 * a + a % 256 + 4 >> 3 > 127,
    },
    "srhadd v0.16b, v1.16b, v2.16b": {
        "min": lambda a, b: -128 in (a, b), "max": lambda a, b: 127 in (a, b), "zero": lambda a, b: 0 in (a, b),
    },
    "smax v0.16b, v1.16b, v2.16b": {
        "min": lambda a, b: -128 in (a, b), "max": lambda a, b: 127 in (a, b), "zero": lambda a, b: 0 in (a, b),
    },
}  # fmt: skip


@pytest.mark.parametrize("text", CLASSES)
def test_a_lane_meets_a_class_where_its_numbers_say_so(text: str) -> None:
    conditions = classes_of(text)
    for a, b in product(EDGES, EDGES[::3]):
        state = State({"v1": register_of([a] * 16, 8), "v2": register_of([b] * 16, 8)})
        met = {name: bool(state.value(conditions[name])) for name in CLASSES[text]}
        assert met == {name: holds(a, b) for name, holds in CLASSES[text].items()}, (a, b)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("add v0.16b, v1.16b, v2.16b", {"min", "max", "zero", "wrapped"}),
        ("sqadd v0.16b, v1.16b, v2.16b", {"min", "max", "zero", "saturated low", "saturated high"}),
        ("uqadd v0.16b, v1.16b, v2.16b", {"min", "max", "zero", "saturated high"}),
        ("uqsub v0.16b, v1.16b, v2.16b", {"min", "max", "zero", "saturated low"}),
        ("smax v0.16b, v1.16b, v2.16b", {"min", "max", "zero"}),
        ("saddl v0.8h, v1.8b, v2.8b", {"min", "max", "zero"}),
        ("srshr v0.16b, v1.16b, #2", {"min", "max", "zero", "tie"}),
        ("sshr v0.16b, v1.16b, #2", {"min", "max", "zero"}),
    ],
)
def test_an_instruction_has_the_classes_that_its_expression_has(text: str, classes: set[str]) -> None:
    (write,) = vector_arithmetic(named(text))
    assert {name for lane in write.lanes for name in class_conditions(lane)} == classes


@pytest.mark.parametrize(
    ("text", "is_arithmetic"),
    [
        ("add v0.4s, v1.4s, v2.4s", True), ("mul v0.4s, v1.4s, v2.4s", True), ("sshll v0.8h, v1.8b, #0", True),
        ("smin v0.4s, v1.4s, v2.4s", True), ("sqxtn v0.4h, v1.4s", True), ("neg v0.4s, v1.4s", True),
        ("sub d0, d1, d2", True), ("ushr v0.4s, v1.4s, #3", True),
        ("mov v0.16b, v1.16b", False), ("and v0.16b, v1.16b, v2.16b", False), ("eor v0.16b, v1.16b, v2.16b", False),
        ("orr v0.16b, v1.16b, v2.16b", False), ("zip1 v0.4s, v1.4s, v2.4s", False), ("xtn v0.4h, v1.4s", False),
        ("ldr q0, [x1]", False), ("ld1 {v0.4s}, [x1], #16", False), ("str q0, [x1]", False),
        ("add w0, w1, w2", False), ("umov w0, v1.b[2]", False), ("fadd v0.4s, v1.4s, v2.4s", False),
        ("dup v0.4s, w1", False), ("cmp w1, w2", False),
    ],
)  # fmt: skip
def test_only_integer_arithmetic_of_vector_registers_is_looked_at(text: str, is_arithmetic: bool) -> None:
    assert bool(vector_arithmetic(named(text))) == is_arithmetic


def looked(covered: OperandCoverage, pc: int, text: str, number: int) -> None:
    instruction = named(text)
    covered.look(pc, Occurrence(instruction, {Place("v", 1): number, Place("v", 2): 0}, {}))


ADD = "sqadd v0.16b, v1.16b, v2.16b"


def test_what_lanes_met_is_told_of_each_instruction_by_its_place() -> None:
    covered = OperandCoverage()
    looked(covered, 8, ADD, register_of([5, 127] + [5] * 14, 8))
    looked(covered, 4, "mov v0.16b, v1.16b", 0)
    image: Any = SimpleNamespace(place_of=lambda pc: f"f.c:{pc}")
    met = {"max": True, "min": False, "saturated high": False, "saturated low": False, "zero": True}
    assert covered.classes(image) == {f"f.c:8 {ADD} at 0x8: {name}": each for name, each in met.items()}


def test_so_many_executions_with_different_operands_are_looked_at() -> None:
    covered, lowest = OperandCoverage(), register_of([-128], 8)
    for _ in range(3):
        looked(covered, 8, ADD, 1)
    assert len(covered.seen[8]) == 1
    for number in range(2, EXECUTIONS):
        looked(covered, 8, ADD, number << 64)
    looked(covered, 8, ADD, lowest)
    assert (8, "min") in covered.met
    assert len(covered.seen[8]) == EXECUTIONS
    looked(covered, 8, ADD, register_of([127], 8))
    assert len(covered.seen[8]) == EXECUTIONS


def test_operands_that_are_alike_by_their_hash_are_different_ones() -> None:
    """Of a number Python keeps the rest by 2^61 - 1: a bit 61 places higher is the same one."""
    covered = OperandCoverage()
    for number in (1, 1 << 61):
        looked(covered, 8, ADD, number)
    assert len(covered.seen[8]) == 2
