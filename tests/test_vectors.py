"""The input sets of a check: how many, and how long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.check.amounts import SHORT_LANES, USUAL_LANES, USUAL_SETS
from sim.check.vectors import MAX_SETS, Vectors, call_seed, make_vectors
from sim.kernels import Domain, Inputs, Kernel, KernelError, parse_prototype
from sim.kernels.domain import LARGEST
from sim.kernels.kernel import Outputs, built_in_kernel, kernel_modes
from sim.kernels.names import kernel_names

MODES = [(name, mode) for name in kernel_names() for mode in kernel_modes(name)]
PRODUCT = "void f(const int8_t a[m][k], const int8_t b[k][n], int32_t out[m][n], size_t m, size_t k, size_t n)"


def kernel_of(prototype: str) -> Kernel:
    """One whose outputs are zeros."""
    name, signature = parse_prototype(prototype)

    def zeros(inputs: Inputs) -> Outputs:
        if signature.returns:
            return {"returned": np.zeros((), signature.returns)}
        return {p.name: np.zeros([inputs[str(axis)] for axis in p.shape], p.dtype) for p in signature.outputs}

    return Kernel(name=name, symbol=name, sources=(Path("f.c"),), signature=signature, golden=zeros)


def lanes(outputs: Outputs) -> int:
    return sum(array.size for array in outputs.values())


@pytest.mark.parametrize("prototype", ["int32_t f(int32_t a)", "void f(const int8_t a[n], int8_t out[n], size_t n)"])
def test_the_usual_number_is_told_so_that_it_can_be_given(prototype: str) -> None:
    usual = make_vectors(kernel_of(prototype), None, 1)
    given = make_vectors(kernel_of(prototype), usual.random_lanes, 1)
    assert [repr(one) for one in usual.inputs] == [repr(one) for one in given.inputs]


def test_many_lanes_are_usual_where_they_come_in_few_sets() -> None:
    made = make_vectors(kernel_of("void f(const int8_t a[n], int8_t out[n], size_t n)"), None, 1)
    assert made.random_lanes >= USUAL_LANES
    assert len(made.inputs) < 400


def test_sets_of_one_lane_are_no_more_than_it_takes() -> None:
    kernel = kernel_of("int32_t f(int32_t a)")
    assert SHORT_LANES > USUAL_SETS
    assert len(make_vectors(kernel, None, 1).inputs) == len(list(kernel.corners())) + SHORT_LANES


def test_the_first_lanes_come_in_short_rows() -> None:
    kernel = kernel_of("void f(const int8_t a[n], int8_t out[n], size_t n)")
    corners, made = len(list(kernel.corners())), make_vectors(kernel, 20_000, 1)
    random = made.golden[corners:]
    before = np.cumsum([0, *map(lanes, random[:-1])])
    short = [lanes(golden) <= 64 for golden in random]
    assert short == [bool(count < SHORT_LANES) for count in before]
    assert made.long_from == corners + short.index(False)


def test_a_product_of_matrices_is_not_longer_than_it_may_be() -> None:
    kernel = kernel_of(PRODUCT)
    assert kernel.long_sample is not None
    made = [kernel.long_sample(np.random.default_rng(seed)) for seed in range(20)]
    sizes = [one["a"].size + one["b"].size for one in made]
    assert LARGEST // 8 < max(sizes) <= LARGEST


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_every_built_in_kernel_has_long_input_sets(name: str, mode: str) -> None:
    kernel = built_in_kernel(name, mode)
    assert kernel.long_sample is not None
    long, short = (
        sum(lanes(kernel.expected(sample(np.random.default_rng(seed)))) for seed in range(20))
        for sample in (kernel.long_sample, kernel.sample)
    )
    assert long > 2 * short


def test_no_two_calls_of_different_seeds_have_the_same() -> None:
    seeds = [call_seed(Vectors((), (), seed=seed), number) for seed in range(3) for number in (0, 1, 2, MAX_SETS - 1)]
    assert len(set(seeds)) == len(seeds)


def test_vectors_that_are_given_are_none_that_were_drawn() -> None:
    given = Vectors([], [], 3)
    assert (given.random_lanes, given.long_from, given.count, call_seed(given, 2)) == (0, None, 0, 3 * MAX_SETS + 2)
    assert call_seed(Vectors([], [], 3, call_seeds=(8, 9)), 1) == 9


def test_a_domain_of_what_is_no_input_is_refused() -> None:
    name, signature = parse_prototype("void f(const int8_t x[2], int8_t out[2])")

    def made(domains: dict[str, Domain]) -> Kernel:
        return Kernel(
            name=name, symbol=name, sources=(), signature=signature, golden=lambda given: {"out": given["of"]["x"]},
            arguments=lambda given: {"x": given["of"]["x"]}, domain=domains,
            corners=lambda: iter([{"of": {"x": np.zeros(2, np.int8), "scale": 3}}]), sample=lambda rng: {},
        )  # fmt: skip

    assert len(make_vectors(made({"of.scale": Domain(0, 9)}), 0, 1).inputs) == 1
    with pytest.raises(KernelError, match=r"^f cannot be checked: .*'?of\.factor'?"):
        make_vectors(made({"of.factor": Domain(0, 9)}), 0, 1)
