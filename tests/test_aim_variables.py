"""What a search may change of an input set, within which numbers, and the numbers of a domain in their order."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from sim.check.aim.boundaries import Ladder, halfway
from sim.check.aim.variables import MOST_NUMBERS, same_in_all, shown_domains, undeclared_changes, variables_of
from sim.kernels import Domain, Kernel, parse_prototype

Inputs = Mapping[str, Any]


def kernel_of(prototype: str, **given: Any) -> Kernel:
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict, **given)


def test_choices_are_counted_in_order_and_a_number_between_is_the_next_higher_one() -> None:
    ladder = Ladder(Domain(choices=(5, 1, 9, 5)), np.dtype(np.int32))
    assert (ladder.low, ladder.high) == (0, 2)
    assert ladder.rungs(np.array([0, 1, 2, 5, 9, 10], np.int32)).tolist() == [0, 0, 1, 1, 2, 2]
    assert ladder.numbers(np.array([0, 1, 2])).tolist() == [1, 5, 9]


@pytest.mark.parametrize(
    ("dtype", "numbers", "rungs"),
    [
        ("int8", [-128, -1, 0, 127], [-128, -1, 0, 127]),
        ("uint32", [0, 2**32 - 1], [0, 2**32 - 1]),
        ("uint64", [0, 1, 2**63, 2**64 - 1], [-(2**63), 1 - 2**63, 0, 2**63 - 1]),
        ("float32", [-0.0, 0.0, 1.401298464324817e-45, -1.401298464324817e-45, 1.0, -1.0],
         [0, 0, 1, -1, 0x3F80_0000, -0x3F80_0000]),
        ("float16", [1.0, -2.0, 65504.0], [0x3C00, -0x4000, 0x7BFF]),
        ("float64", [1.0, -1.0], [0x3FF0 << 48, -(0x3FF0 << 48)]),
    ],
)  # fmt: skip
def test_a_number_is_on_the_rung_of_its_order(dtype: str, numbers: list[float], rungs: list[int]) -> None:
    array, ladder = np.array(numbers, dtype), Ladder(Domain(), np.dtype(dtype))
    assert ladder.rungs(array).tolist() == rungs
    assert (ladder.numbers(np.array(rungs, np.int64)) == array).all()


def test_the_ends_of_a_domain_are_the_ends_of_its_ladder() -> None:
    ladder = Ladder(Domain(-3, 5), np.dtype(np.int8))
    assert (ladder.low, ladder.high) == (-3, 5)
    whole = Ladder(Domain(), np.dtype(np.uint64))
    assert (whole.low, whole.high) == (-(2**63), 2**63 - 1)


def test_halfway_is_rounded_down() -> None:
    for one, other in product(range(-4, 5), repeat=2):
        assert halfway(np.array([one]), np.array([other])).tolist() == [(one + other) // 2]


PROTOTYPE = (
    "void f(const int32_t x[rows][n], const float y[n], int32_t edge, int16_t out[rows][n], size_t rows, size_t n)"
)


def inputs(**given: Any) -> dict[str, Any]:
    return {
        "edge": 3, "x": np.arange(6, dtype=np.int32).reshape(2, 3), "y": np.array([1, 2, 3], np.float32), "rows": 2,
        "n": 3, **given,
    }  # fmt: skip


KERNEL = kernel_of(PROTOTYPE, domain={"x": Domain(0, 9)})


def test_arrays_and_numbers_may_be_changed_in_the_order_of_the_arguments_but_no_extents() -> None:
    found = variables_of(KERNEL, inputs(), {"x": Domain(0, 9), "edge": Domain(1, 2)})
    assert [(one.name, one.dtype.name, one.axes) for one in found] == [
        ("x", "int32", ("rows", "n")), ("y", "float32", ("n",)), ("edge", "int32", ()),
    ]  # fmt: skip
    assert [one.domain for one in found] == [Domain(0, 9), Domain(), Domain(1, 2)]
    empty = variables_of(KERNEL, inputs(x=np.zeros((0, 3), np.int32), rows=0), {})
    assert [one.name for one in empty] == ["y", "edge"]


def test_of_arrays_as_large_each_has_its_own_axes() -> None:
    kernel = kernel_of("void f(const int32_t y[n], const int32_t z[m], int32_t out[n], size_t n, size_t m)")
    numbers = np.arange(3, dtype=np.int32)
    found = variables_of(kernel, {"y": numbers, "z": numbers, "n": 3, "m": 3}, {})
    assert [(one.name, one.axes) for one in found] == [("y", ("n",)), ("z", ("m",))]


def test_fields_of_a_structure_come_in_the_place_of_the_structure() -> None:
    kernel = kernel_of("void f(struct { int32_t low; int32_t high; } limits, int32_t edge, int32_t out[n], size_t n)")
    found = variables_of(kernel, {"edge": 1, "n": 2, "limits": {"low": 3, "high": 4}}, {})
    assert [one.name for one in found] == ["limits.low", "limits.high", "edge"]


def test_a_variable_is_put_in_its_place_and_its_array_stays_as_it_is() -> None:
    x, y, edge = variables_of(KERNEL, inputs(), {})
    assert (edge.of(inputs()).tolist(), edge.put(inputs(), np.array([7]))["edge"]) == ([3], 7)
    changed = y.put(inputs(), np.array([4, 5, 6], np.float32))["y"]
    assert (changed.tolist(), changed.flags.writeable) == ([4, 5, 6], False)
    assert x.of(inputs()).shape == (2, 3)


def made(given: Inputs) -> dict[str, Any]:
    return {"x": given["of"]["x"], "y": given["y"], "edge": given["of"]["edge"], "rows": 2, "n": 3}


OF_PARTS = kernel_of(PROTOTYPE, arguments=made, sample=lambda rng: {}, domain={"edge": Domain(0, 9)})


def parts(**given: Any) -> dict[str, Any]:
    x, y = np.arange(6, dtype=np.int16).reshape(2, 3), np.array([1, 2, 3], np.float32)
    return {"of": {"x": given.pop("x", x), "edge": given.pop("edge", 3)}, "y": y, **given}


def test_what_arguments_are_made_of_has_its_own_type_and_the_extents_of_an_output() -> None:
    found = variables_of(OF_PARTS, parts(scale=0.5, flag=True, huge=MOST_NUMBERS + 1, other=np.zeros(4)), {})
    assert {one.name: (one.dtype.name, one.axes) for one in found} == {
        "of.x": ("int16", ("rows", "n")), "y": ("float32", ("n",)), "scale": ("float64", ()),
        "other": ("float64", (4,)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "is_searched"),
    [(Domain(0, MOST_NUMBERS), True), (Domain(0, MOST_NUMBERS + 1), False), (Domain(-MOST_NUMBERS - 1, 0), False)],
)
def test_integers_whose_type_is_not_known_are_searched_where_they_are_not_too_large(
    domain: Domain, is_searched: bool
) -> None:
    found = variables_of(OF_PARTS, parts(number=5), {"number": domain})
    assert ("number" in [one.name for one in found]) == is_searched


def test_what_has_no_domain_lies_between_the_numbers_that_were_seen() -> None:
    seen = [inputs(edge=5), inputs(edge=-2, y=np.array([np.nan, np.inf, 0.5], np.float32)), inputs(edge=4)]
    assert shown_domains(KERNEL, seen) == {
        "y": Domain(0.5, 3.0), "edge": Domain(-2, 5), "rows": Domain(2, 2), "n": Domain(3, 3),
    }  # fmt: skip
    nothing = inputs(y=np.array([np.nan], np.float32))
    assert "y" not in shown_domains(KERNEL, [nothing])


@pytest.mark.parametrize(
    ("after", "changes"),
    [
        ({}, []),
        ({"edge": 4}, ["edge"]),
        ({"x": np.full((2, 3), 9, np.int32)}, []),
        ({"x": np.full((2, 3), 10, np.int32)}, None),  # which leaves its domain
        ({"x": np.full((2, 3), -1, np.int32), "edge": 4}, None),
        ({"x": np.array([[0, 0, 0], [0, 0, 10]], np.int32)}, None),
        ({"y": np.array([1, 2, 4], np.float32), "edge": 4}, ["y", "edge"]),
        ({"rows": 1, "x": np.zeros((1, 3), np.int32)}, None),  # an extent
    ],
)
def test_changes_of_arguments_without_a_domain_are_told(after: Inputs, changes: list[str] | None) -> None:
    found = undeclared_changes(KERNEL, inputs(), inputs(**after))
    assert found is None if changes is None else sorted(found or []) == sorted(changes)


def test_a_number_that_is_none_is_no_change_where_it_was_none() -> None:
    before = inputs(y=np.array([1, np.nan, 3], np.float32))
    assert undeclared_changes(KERNEL, before, inputs(y=np.array([1, np.nan, 3], np.float32))) == []
    assert undeclared_changes(KERNEL, before, inputs(y=np.array([1, 2, 3], np.float32))) == ["y"]


@pytest.mark.parametrize(
    ("declared", "after", "changes"),
    [
        ({}, {"edge": 4}, ["edge"]),
        ({"of.edge": Domain(0, 9)}, {"edge": 4}, []),
        ({"of.edge": Domain(0, 3)}, {"edge": 4}, None),
        ({"edge": Domain(0, 9)}, {"edge": 4}, []),
        ({"edge": Domain(0, 3)}, {"edge": 4}, None),
        ({"of.edge": Domain(0, 9)}, {"edge": 4, "x": np.ones((2, 3), np.int16)}, ["edge", "x"]),
        ({}, {"unused": 1}, []),
    ],
)
def test_arguments_that_are_made_of_what_has_a_domain_count_as_declared(
    declared: dict[str, Domain], after: Inputs, changes: list[str] | None
) -> None:
    kernel = kernel_of(PROTOTYPE, arguments=made, sample=lambda rng: {}, domain=declared)
    found = undeclared_changes(kernel, parts(), parts(**after))
    assert found is None if changes is None else sorted(found or []) == sorted(changes)


def test_what_is_the_same_in_all_input_sets_is_told() -> None:
    x, y = np.zeros((2, 3), np.int32), np.zeros(3, np.float32)
    assert same_in_all(KERNEL, []) == []
    assert same_in_all(KERNEL, [inputs(), inputs(edge=4)]) == ["rows = 2", "n = 3", "the same x", "the same y"]
    assert same_in_all(KERNEL, [inputs(), inputs(y=y)]) == ["edge = 3", "rows = 2", "n = 3"]
    assert same_in_all(KERNEL, [inputs(), inputs(), inputs(edge=4, x=x, y=y)]) == ["rows = 2", "n = 3"]
    of_other_shape = inputs(x=np.arange(6, dtype=np.int32).reshape(3, 2), rows=3, n=2, y=np.ones(2, np.float32))
    assert same_in_all(KERNEL, [inputs(), of_other_shape]) == ["edge = 3"]
    held = kernel_of(PROTOTYPE, domain={"edge": Domain(3, 3), "n": Domain(3, 4)})
    assert same_in_all(held, [inputs(), inputs(x=x)]) == ["rows = 2", "n = 3"]
