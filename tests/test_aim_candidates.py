"""Input sets by the hundred: what they are made of, and where the lanes of a golden reference are to step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from sim.check.aim.boundaries import LaneSteps, _pairs, _shared_elements, boundary_sets, number_sets
from sim.check.aim.candidates import (
    BASES,
    ELEMENTS,
    SIZES,
    CandidateSet,
    candidate_of,
    candidates,
    changed_candidates,
    drawn,
    elements_of,
)
from sim.check.aim.variables import variables_of
from sim.kernels import Domain, Kernel, Pointer, parse_prototype
from sim.kernels.domain import LARGEST, extreme_sets

Inputs = Mapping[str, Any]


def doubled(inputs: Inputs) -> dict[str, Any]:
    return {"out": inputs["x"] * np.int32(2) + np.int32(inputs["more"])}


def kernel_of(golden: Any = doubled, prototype: str = "", **given: Any) -> Kernel:
    name, signature = parse_prototype(prototype or "void f(const int32_t x[n], int32_t more, int32_t out[n], size_t n)")
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, **given)


def set_of(kernel: Kernel, *numbers: int, more: int = 0) -> CandidateSet:
    inputs = {"x": np.array(numbers, np.int32), "more": more, "n": len(numbers)}
    return CandidateSet(inputs, kernel.expected(inputs))


def test_lanes_and_elements_are_counted() -> None:
    one = set_of(kernel_of(), 1, 2, 3)
    assert (one.lanes, one.elements, elements_of(one.inputs)) == (3, 6, 3)
    assert one == CandidateSet(one.inputs, one.golden, is_near=False, is_long=False, undeclared=())


def own_of(domain: Mapping[str, Domain]) -> Kernel:
    return kernel_of(domain=domain, sample=lambda rng: {})


def test_others_are_made_of_a_kernel_s_own_sets_but_not_of_empty_or_large_ones() -> None:
    kernel = own_of({"x": Domain(-9, 9), "more": Domain(0, 3)})
    large = set_of(kernel, *[1] * (ELEMENTS // 2 + 1))
    assert list(changed_candidates(kernel, [set_of(kernel), large], 1)) == []
    assert next(changed_candidates(kernel, [set_of(kernel, *[1] * (ELEMENTS // 2))], 1), None) is not None
    found = list(changed_candidates(kernel, [set_of(kernel, 1, 2), large, set_of(kernel)], 1))
    assert {one.inputs["n"] for one in found} == {2}
    assert any(one.is_near for one in found)
    assert any(not one.is_near for one in found)
    assert {one.undeclared for one in found} == {()}
    numbers = np.concatenate([one.inputs["x"] for one in found])
    assert -9 <= numbers.min() < numbers.max() <= 9
    assert {one.inputs["more"] for one in found} <= {0, 1, 2, 3}
    for one in found:
        assert (one.golden["out"] == doubled(one.inputs)["out"]).all()


def test_so_many_of_a_kernel_s_own_sets_are_changed_each_by_its_own_size() -> None:
    kernel = own_of({"x": Domain(-9, 9), "more": Domain(0, 3)})
    own = [set_of(kernel, *[1] * size) for size in range(1, 2 * BASES)]
    assert len({one.inputs["n"] for one in changed_candidates(kernel, own, 1)}) == BASES


def test_what_no_domain_declares_is_told_and_stays_between_what_was_seen() -> None:
    kernel = own_of({"more": Domain(0, 3)})
    found = list(changed_candidates(kernel, [set_of(kernel, -5, 2), set_of(kernel, 7)], 1))
    assert {one.undeclared for one in found} == {(), ("x",)}
    numbers = np.concatenate([one.inputs["x"] for one in found])
    assert (numbers.min(), numbers.max()) == (-5, 7)


def test_what_the_golden_reference_refuses_is_left_out() -> None:
    def refusing(inputs: Inputs) -> dict[str, Any]:
        if inputs["more"] == 2:
            raise ValueError("two is too much")
        return doubled(inputs)

    kernel = kernel_of(refusing, domain={"x": Domain(-9, 9), "more": Domain(choices=(1, 2))}, sample=lambda rng: {})
    found = list(changed_candidates(kernel, [set_of(kernel, 1, 2, more=1)], 1))
    assert {one.inputs["more"] for one in found} == {1}
    base = set_of(kernel, 1, 2, more=1).inputs
    assert candidate_of(kernel, base, {**base, "more": 2}) is None
    valid = replace(kernel, golden=doubled, valid=lambda inputs: inputs["more"] == 1)
    assert candidate_of(valid, base, {**base, "more": 2}) is None


@pytest.mark.parametrize(("is_drawn", "undeclared"), [(True, ()), (False, ("x",))])
def test_a_set_that_was_made_of_another_tells_what_no_domain_declares_if_the_kernel_has_its_own(
    is_drawn: bool, undeclared: tuple[str, ...]
) -> None:
    kernel = kernel_of() if is_drawn else own_of({})
    base = set_of(kernel, 1, 2).inputs
    made = candidate_of(kernel, base, {**base, "x": np.array([1, 3], np.int32)})
    assert made is not None
    assert (made.undeclared, made.golden["out"].tolist()) == (undeclared, [2, 6])
    assert not made.is_near
    assert candidate_of(kernel, base, {**base, "n": 1, "x": np.array([1], np.int32)}) is None


def test_a_pointer_that_may_be_null_is_null_in_the_fewer_of_the_sets_near_steps() -> None:
    name, signature = parse_prototype("void f(const int32_t x[n], const int32_t bias[n], int32_t out[n], size_t n)")
    arguments = tuple(
        replace(one, nullable=True) if isinstance(one, Pointer) and one.name == "bias" else one
        for one in signature.arguments
    )

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"out": (inputs["x"].astype(np.int64) + (0 if inputs["bias"] is None else inputs["bias"]) >> 8) % 64}

    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=replace(signature, arguments=arguments),
        golden=lambda inputs: {"out": golden(inputs)["out"].astype(np.int32)},
    )  # fmt: skip
    nulls = [one.inputs["bias"] is None for one in islice(candidates(kernel, 1), 300) if one.is_near]
    assert 0 < sum(nulls) < len(nulls) / 4


def test_lengths_of_one_input_set_are_as_far_apart_as_is_needed_and_no_further() -> None:
    """Only lengths one apart are accepted."""
    kernel = kernel_of(
        lambda inputs: {"out": inputs["x"].astype(np.int32)},
        "void f(const int8_t x[n], const int8_t y[m], int32_t out[n], size_t n, size_t m)",
        valid=lambda inputs: abs(inputs["n"] - inputs["m"]) == 1,
    )
    found = [*islice(candidates(kernel, 1), 40)]
    assert {abs(one.inputs["n"] - one.inputs["m"]) for one in found} == {1}
    for accepted in (kernel, replace(kernel, valid=None)):
        (one,) = drawn(accepted, 31, 1, np.random.default_rng(1))
        assert one["n"] != one["m"]


def of_shape(*extents: str, **domain: Domain) -> Kernel:
    """The last bits of the numbers of two arrays."""
    axes = "".join(f"[{extent}]" for extent in extents)
    sizes = "".join(f", size_t {extent}" for extent in extents if not extent.isdecimal())
    return kernel_of(
        lambda inputs: {"out": (inputs["x"] ^ inputs["y"]) & np.int8(1)},
        f"void f(const int8_t x{axes}, const int8_t y{axes}, int8_t out{axes}{sizes})", domain=domain,
    )  # fmt: skip


def test_sets_are_of_few_elements_but_for_those_that_are_long() -> None:
    found = [*candidates(of_shape("rows", "n", "16"), 1)]
    small, long = ([elements_of(one.inputs) for one in found if one.is_long == is_long] for is_long in (False, True))
    assert ELEMENTS // 2 < max(small) <= ELEMENTS < min(long)


def test_sets_of_one_size_are_made_once_and_none_that_is_too_large() -> None:
    """Away from steps one at random, as many as steps are looked for with arguments at some extremes, and the ends."""

    def away(kernel: Kernel) -> int:
        return sum(not one.is_near for one in candidates(kernel, 1))

    for kernel in (of_shape("9"), of_shape("n", n=Domain(9, 9)), of_shape(str(LARGEST // 2))):
        assert away(kernel) == 1 + SIZES[0][2] + len([*extreme_sets(kernel.signature, kernel.domain, 9, 1)])
    assert away(of_shape(str(LARGEST // 2 + 1))) == 0


def test_sets_in_which_a_number_among_the_arguments_is_next_to_a_step_come_last() -> None:
    assert [*candidates(kernel_of(domain={"x": Domain(0, 9), "more": Domain(0, 9)}), 1)][-1].is_near


def steps_of(kernel: Kernel, count: int) -> LaneSteps:
    return LaneSteps(kernel, "out", set_of(kernel, *[0] * count).inputs, (count,))


def test_where_a_lane_steps_is_chosen_once_between_its_ends() -> None:
    steps, rng = steps_of(kernel_of(), 4), np.random.default_rng(1)
    lanes = (np.arange(4),)
    low, high = np.array([0, 5, 9, -3]), np.array([100, 5, 8, -2])
    first = steps.choose(lanes, low, high, rng)
    assert 0 < first[0] <= 100
    assert (first[2], first[3]) == (9, -2)
    assert steps.chosen.tolist() == [True, False, True, True]
    for _ in range(20):
        again = steps.choose(lanes, np.array([200, 5, 20, 7]), np.array([300, 25, 30, 9]), rng)
        assert again[[0, 2, 3]].tolist() == first[[0, 2, 3]].tolist()
        assert 5 < again[1] <= 25


@pytest.mark.parametrize(
    ("name", "lanes"), [("x", 3 * 5), ("of_row", 3), ("of_column", 5), ("table", 1), ("number", 1)]
)
def test_so_many_lanes_are_searched_at_once_as_an_argument_has_elements_for(name: str, lanes: int) -> None:
    kernel = kernel_of(
        lambda inputs: {"out": inputs["x"]},
        "void f(const int32_t x[rows][n], const int32_t of_row[rows], const int32_t of_column[n], "
        "const int32_t table[7], int32_t number, int32_t out[rows][n], size_t rows, size_t n)",
    )
    arrays = {"x": (3, 5), "of_row": (3,), "of_column": (5,), "table": (7,)}
    inputs = {"number": 1, "rows": 3, "n": 5, **{of: np.zeros(shape, np.int32) for of, shape in arrays.items()}}
    (variable,) = [one for one in variables_of(kernel, inputs, {}) if one.name == name]
    steps = LaneSteps(kernel, "out", inputs, (3, 5))
    assert _shared_elements(variable, steps) == lanes
    elements, places = _pairs(variable, steps, np.random.default_rng(1))
    whole = np.zeros((3, 5), int)
    assert {array.size for array in (*elements, *places)} == {lanes}
    numbers = np.arange(variable.of(inputs).size).reshape(variable.of(inputs).shape)[elements]
    assert len({*numbers.tolist()}) == lanes  # each element once
    whole[places] += 1
    rows, columns = places
    shared = {"x": {*zip(rows, columns, strict=True)}, "of_row": {*rows}, "of_column": {*columns}}
    assert len(shared.get(name, {0})) == lanes
    assert whole.sum() == lanes


def test_the_golden_numbers_of_lanes_are_told_at_their_places() -> None:
    kernel = kernel_of()
    steps = steps_of(kernel, 3)
    assert steps.at(set_of(kernel, 5, -1, 7, more=1).inputs, (np.array([2, 0]),)).tolist() == [15, 11]
    assert (steps.axes, steps.extent("n")) == (("n",), 3)


def test_a_number_among_the_arguments_goes_next_to_a_step_and_the_arrays_stay() -> None:
    kernel = kernel_of(
        lambda inputs: {"out": (inputs["x"].astype(np.int64) * inputs["more"] // 1000).astype(np.int32)},
        domain={"more": Domain(0, 100_000)},
    )
    inputs = set_of(kernel, 3, 5, 7, more=400).inputs
    variables = variables_of(kernel, inputs, kernel.domain)
    for seed in range(6):
        one, other = number_sets(kernel, inputs, variables, np.random.default_rng(seed))
        assert abs(one["more"] - other["more"]) == 1
        assert (kernel.expected(one)["out"] != kernel.expected(other)["out"]).any()
        assert one["x"] is inputs["x"]


def test_no_set_is_near_a_step_where_no_lane_steps() -> None:
    kernel = kernel_of(lambda inputs: {"out": np.zeros(inputs["n"], np.int32)})
    inputs = set_of(kernel, 3, 5).inputs
    assert list(boundary_sets(kernel, inputs, variables_of(kernel, inputs, {}), np.random.default_rng(1))) == []
    assert list(boundary_sets(kernel, inputs, [], np.random.default_rng(1))) == []
    assert list(number_sets(kernel, inputs, variables_of(kernel, inputs, {}), np.random.default_rng(1))) == []


def test_steps_are_looked_for_of_outputs_that_have_lanes() -> None:
    def golden(inputs: Inputs) -> dict[str, Any]:
        edge = (inputs["x"] >= 100).astype(np.int32)
        return {"of_each": np.repeat(edge[:, None], inputs["n"], axis=1), "out": edge}

    prototype = "void f(const int32_t x[rows], int32_t of_each[rows][n], int32_t out[rows], size_t rows, size_t n)"
    kernel = kernel_of(golden, prototype, domain={"x": Domain(0, 500)})
    for seed in range(6):
        inputs = {"x": np.array([3, 5, 7], np.int32), "rows": 3, "n": 0}
        rng = np.random.default_rng(seed)
        before, behind = boundary_sets(kernel, inputs, variables_of(kernel, inputs, kernel.domain), rng)
        assert {*before["x"].tolist(), *behind["x"].tolist()} == {99, 100}
    nothing = {"x": np.zeros(0, np.int32), "rows": 0, "n": 2}
    assert [*boundary_sets(kernel, nothing, variables_of(kernel, inputs, kernel.domain), rng)] == []


def test_a_number_that_a_function_returns_is_next_to_its_step() -> None:
    kernel = kernel_of(
        lambda inputs: {"returned": np.array(inputs["edge"] // 1000, np.int32)}, "int32_t f(int32_t edge)",
        domain={"edge": Domain(0, 100_000)},
    )  # fmt: skip
    inputs = {"edge": 7}
    one, other = boundary_sets(kernel, inputs, variables_of(kernel, inputs, kernel.domain), np.random.default_rng(1))
    low, high = sorted((one["edge"], other["edge"]))
    assert (high - low, high % 1000) == (1, 0)


def test_ends_that_a_kernel_does_not_accept_are_gone_back_from() -> None:
    """Numbers up to 700 are accepted, and it steps at 300."""

    def golden(inputs: Inputs) -> dict[str, Any]:
        if np.abs(inputs["x"]).max(initial=0) > 700:
            raise ValueError("too large")
        return {"out": (inputs["x"] >= 300).astype(np.int32)}

    kernel = kernel_of(golden, domain={"x": Domain(-1000, 1000)}, valid=lambda i: bool(np.abs(i["x"]).max() <= 700))
    inputs = set_of(kernel, 3, 5, 7).inputs
    variables = [one for one in variables_of(kernel, inputs, kernel.domain) if one.name == "x"]
    sets = list(boundary_sets(kernel, inputs, variables, np.random.default_rng(1)))
    for one, other in zip(sets[::2], sets[1::2], strict=True):
        assert {*one["x"].tolist(), *other["x"].tolist()} == {299, 300}
    assert sets
