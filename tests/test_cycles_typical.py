"""The call of a kernel that is timed: as long as was asked for, inside of its domain, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.cycles.typical import elements_of, output_elements, row_length, typical_arguments
from sim.kernels.domain import Domain
from sim.kernels.kernel import Kernel, KernelError, built_in_kernel
from sim.kernels.prototype import parse_prototype

NAME, SIGNATURE = parse_prototype(
    "void f(const int8_t a[rows][n], const int8_t *_Nullable b[n], int8_t out[rows][n], size_t rows, size_t n)"
)


def kernel(**domain: Domain) -> Kernel:
    return Kernel(name=NAME, symbol=NAME, sources=(Path("f.c"),), signature=SIGNATURE, golden=dict, domain=domain)


def test_a_call_is_one_row_of_256_elements() -> None:
    arguments = typical_arguments(kernel(), None, 1)
    shapes = arguments["a"].shape, arguments["rows"], arguments["n"], output_elements(SIGNATURE, arguments)
    assert shapes == ((1, 256), 1, 256, 256)


def test_a_call_has_the_length_that_was_asked_for() -> None:
    assert typical_arguments(kernel(), 1000, 1)["a"].shape == (1, 1000)


def test_the_numbers_of_a_row_are_those_of_a_random_call_repeated() -> None:
    row = typical_arguments(kernel(a=Domain(3, 5)), 1000, 1)["a"]
    assert set(row.ravel()) == {3, 4, 5}


def test_the_usual_length_is_the_nearest_of_the_domain() -> None:
    assert typical_arguments(kernel(n=Domain(choices=(16, 64))), None, 1)["n"] == 64


def test_other_sizes_than_the_length_are_the_smallest_of_their_domain() -> None:
    assert typical_arguments(kernel(rows=Domain(2, 5)), None, 1)["a"].shape == (2, 256)


def test_a_length_outside_the_domain_is_refused() -> None:
    with pytest.raises(KernelError, match=r"the domain of 'n' in f has no 17: the nearest is 16"):
        typical_arguments(kernel(n=Domain(choices=(16, 64))), 17, 1)


def valid_up_to(most: int) -> Kernel:
    """Of rows no longer than that, and not all alike."""
    return replace(
        kernel(n=Domain(1, 400)), valid=lambda inputs: inputs["n"] <= most and len(np.unique(inputs["a"], axis=0)) > 1
    )


def test_where_valid_refuses_a_row_the_largest_call_that_it_takes_stands() -> None:
    """The usual row is one alone, in which no two are unlike."""
    picky = valid_up_to(300)
    arguments = typical_arguments(picky, None, 1)
    assert (picky.accepts(arguments), arguments["rows"] > 1) == (True, True)


def test_a_length_that_valid_refuses_is_refused() -> None:
    with pytest.raises(KernelError, match="a row of 64 is none of f: its valid refuses it"):
        typical_arguments(valid_up_to(300), 64, 1)


def test_a_seed_gives_the_same_call_again() -> None:
    first, again = (typical_arguments(kernel(), None, 5)["a"] for _ in range(2))
    assert np.array_equal(first, again)


def test_a_kernel_whose_rows_lie_apart_is_called_as_it_was_drawn() -> None:
    strided = built_in_kernel("offset_contribution")
    assert row_length(strided.signature) is None
    assert output_elements(strided.signature, typical_arguments(strided, None, 1)) > 256


def test_a_length_that_the_signature_does_not_name_cannot_be_chosen() -> None:
    with pytest.raises(KernelError, match="leave --length out"):
        typical_arguments(built_in_kernel("transpose1xw"), 16, 1)


def test_a_kernel_of_nothing_but_empty_arrays_is_refused() -> None:
    empty = replace(kernel(), sample=lambda _: {"a": np.zeros((1, 0), np.int8), "b": None, "rows": 1, "n": 0})
    with pytest.raises(KernelError, match="'a' of the largest of 100 random calls is empty"):
        typical_arguments(empty, None, 1)


GEMM = "void g(const int8_t a[m][k], const int8_t b[k][n], int32_t c[m][n], size_t m, size_t k, size_t n, int32_t zero)"


def gemm(**options: Any) -> Kernel:
    name, signature = parse_prototype(GEMM)
    return Kernel(name=name, symbol=name, sources=(Path("g.c"),), signature=signature, golden=dict, **options)


def test_a_kernel_file_says_which_call_is_typical() -> None:
    made = typical_arguments(gemm(typical={"m": 4, "k": 256, "n": 8, "zero": -3}), None, 1)
    assert (made["a"].shape, made["b"].shape, made["zero"]) == ((4, 256), (256, 8), -3)


def test_a_kernel_with_samples_of_its_own_gives_a_whole_typical_input_set() -> None:
    whole = {"a": np.ones((2, 3), np.int8), "b": np.ones((3, 1), np.int8), "m": 2, "k": 3, "n": 1, "zero": 0}
    assert typical_arguments(gemm(sample=lambda rng: {}, typical=whole), None, 1) == whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"typical": {"kc": 4}}, "typical of g names 'kc' = 4: give numbers of arguments"),
        ({"typical": {"k": 4}, "domain": {"k": Domain(8, 16)}}, "typical of g has k = 4, which is not in its domain"),
        ({"typical": {"k": 4}, "valid": lambda inputs: inputs["k"] % 8 == 0}, "valid of g takes 0 of 1,000"),
        ({"typical": {"k": "4"}}, "names 'k' = '4'"),
        ({"typical": {"k": -1}}, "typical of g has a number that its argument does not hold: .* -1, which is no "),
        ({"typical": {"k": 4}, "sample": lambda rng: {"k": 1, "m": 2, "n": 3}}, "typical of g lacks m, n: give what"),
    ],
)
def test_what_is_typical_must_be_an_input_set(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        typical_arguments(gemm(**options), None, 1)


def test_a_second_output_of_one_element_is_no_element_more() -> None:
    _, signature = parse_prototype("void f(const int8_t a[n], int8_t out[n], int8_t largest[1], size_t n)")
    assert elements_of(signature, {"n": 10}) == 10
