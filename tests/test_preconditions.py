"""What a kernel file says of the inputs that its kernel takes: `valid`, and domains of inputs that are no arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.aim.aiming import aim
from sim.check.aim.candidates import candidates
from sim.check.check import Job
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Inputs, Kernel, KernelError, parse_prototype
from sim.kernels.inputs import FIRST_DRAWN
from sim.shrink.failing import shrink
from sim.shrink.trial import alone
from sim.symbolic.numbers.tracing import Untraceable
from sim.symbolic.reference import traced_reference
from support.command import lanewise

CLAMP = "void clamp(const int8_t x[n], int8_t y[n], size_t n, int8_t low, int8_t high)"


def clamped(inputs: Inputs) -> dict[str, Any]:
    """What refuses bounds that cross, as numpy does not."""
    if inputs["low"] > inputs["high"]:
        raise ValueError("the bounds cross")
    return {"y": np.clip(inputs["x"], inputs["low"], inputs["high"])}


def in_order(inputs: Inputs) -> bool:
    return bool(inputs["low"] <= inputs["high"])


def kernel_of(prototype: str, golden: Any, valid: Any = None, **domain: Domain) -> Kernel:
    """A kernel that is never built."""
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, domain=domain, valid=valid)


def test_corners_and_random_sets_are_valid_and_every_length_is_among_them() -> None:
    made = make_vectors(kernel_of(CLAMP, clamped, in_order), 5000, 1).inputs
    assert (all(map(in_order, made)), set(range(49)) - {one["n"] for one in made}) == (True, set())


def test_candidates_are_valid_and_bounds_go_next_to_each_other() -> None:
    found = [one.inputs for one in candidates(kernel_of(CLAMP, clamped, in_order), 1)]
    assert all(map(in_order, found))
    assert {one["high"] - one["low"] for one in found} >= {0, 255}


def test_a_search_for_steps_stays_within_a_bound_on_a_sum() -> None:
    """Both ends of the domain are refused, so that a search must begin nearer."""

    def is_small(inputs: Inputs) -> bool:
        return bool(np.abs(inputs["x"].astype(int)).sum() <= 300)

    def eighths(inputs: Inputs) -> dict[str, Any]:
        assert is_small(inputs)
        return {"y": (inputs["x"] >> 3).astype(np.int8)}

    kernel = kernel_of("void f(const int8_t x[n], int8_t y[n], size_t n)", eighths, is_small, n=Domain(1, 16))
    near = [one.inputs["x"] for one in candidates(kernel, 1) if one.is_near]
    assert len(near) > 20
    assert sum(int((x & 7 == 7).sum() + (x & 7 == 0).sum()) for x in near) > sum(x.size for x in near) / 2


def test_rows_that_may_not_be_long_are_not() -> None:
    kernel = kernel_of(CLAMP, clamped, lambda inputs: inputs["n"] <= 20 and in_order(inputs))
    made = make_vectors(kernel, 2000, 1)
    assert (made.long_from, max(one["n"] for one in made.inputs)) == (None, 20)


@pytest.mark.parametrize(
    ("valid", "message"),
    [
        (lambda inputs: False, f"takes 0 of {FIRST_DRAWN:,} random input sets"),
        (
            lambda inputs: inputs["low"] == 77 and in_order(inputs),
            "random input sets, at least one of 100 is wanted: give narrower domains",
        ),
        (lambda inputs: 1, "valid of clamp must return True or False, not 1"),
        (lambda inputs: inputs["lo"] <= 3, "valid of clamp fails: KeyError: 'lo'"),
        (lambda inputs: inputs["x"] > 0, "must return True or False, not array"),
    ],
)
def test_a_predicate_that_is_none_ends_in_a_sentence(valid: Callable[[Inputs], Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        make_vectors(kernel_of(CLAMP, clamped, valid), 5000, 1)


def test_a_predicate_of_a_file_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    assert lanewise("init", "kernel", "mine", "--folder", str(tmp_path)).exit_code == 0
    file = tmp_path / "mine.py"
    text = file.read_text().replace(
        "    steps=steps,\n", "    steps=steps,\n    valid=lambda inputs: inputs['c'] > 0,\n"
    )
    file.write_text(text)
    line = 1 + text.splitlines().index("    valid=lambda inputs: inputs['c'] > 0,")
    result = lanewise("check", str(file), "--opt", "O1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"valid of {file} fails, line {line}: KeyError: 'c'" in " ".join(result.stderr.split())


def test_own_samples_and_corners_that_are_not_valid_are_left_out() -> None:
    def sample(rng: np.random.Generator) -> dict[str, Any]:
        low, high = rng.integers(-128, 128, 2)
        return {"x": rng.integers(-128, 128, 9).astype(np.int8), "n": 9, "low": int(low), "high": int(high)}

    def corners() -> Iterator[Inputs]:
        yield {"x": np.zeros(1, np.int8), "n": 1, "low": 5, "high": 4}

    kernel = replace(kernel_of(CLAMP, clamped, in_order), sample=sample, corners=corners)
    vectors = make_vectors(kernel, 1000, 1)
    aimed = aim(kernel, [], vectors)
    assert len(vectors.inputs) > 100
    assert all(map(in_order, (*vectors.inputs, *aimed.inputs)))


SCALED = "void f(const int8_t x[n], int32_t y[n], size_t n, int32_t multiplier)"


def scaled(**domain: Domain) -> Kernel:
    """A kernel whose multiplier comes of a scale, which is an input and no argument."""

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        return {"x": rng.integers(-128, 128, 8).astype(np.int8), "scale": float(rng.uniform(0.4, 0.6))}

    def arguments(inputs: Inputs) -> dict[str, Any]:
        return {"x": inputs["x"], "n": len(inputs["x"]), "multiplier": int(inputs["scale"] * 1000)}

    def golden(inputs: Inputs) -> dict[str, Any]:
        return {"y": inputs["x"].astype(np.int32) * int(inputs["scale"] * 1000)}

    name, signature = parse_prototype(SCALED)
    return Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=golden, arguments=arguments, sample=sample,
        corners=lambda: iter([sample(np.random.default_rng(0))]), domain=domain,
    )  # fmt: skip


def test_an_input_that_arguments_are_made_of_is_aimed_at_within_its_domain() -> None:
    """Without the domain, what is made of it counts as undeclared, and is no part of the check."""
    kernel = scaled(scale=Domain(0.25, 0.75), x=Domain())
    aimed = aim(kernel, [], make_vectors(kernel, 200, 1))
    scales = {one["scale"] for one in aimed.inputs}
    assert (aimed.power.beyond, min(scales) >= 0.25, max(scales) <= 0.75, len(scales) > 2) == ("", True, True, True)


def test_without_a_domain_it_is_no_part_of_the_check() -> None:
    kernel = scaled(x=Domain())
    power = aim(kernel, [], make_vectors(kernel, 200, 1)).power
    assert power.beyond.startswith("multiplier")


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"scal": Domain(0.1, 0.2)}, "there is a domain of 'scal', which is no argument: they are x, scale"),
        ({"x": Domain(0, 1000)}, "the domain of 'x' has 1000, which is no int8"),
    ],
)
def test_a_domain_of_what_is_no_input_is_refused(domain: dict[str, Domain], message: str) -> None:
    with pytest.raises((KernelError, ValueError), match=message):
        make_vectors(scaled(**domain), 10, 1)


def test_a_proof_does_not_take_a_predicate_into_account_and_says_so() -> None:
    kernel = kernel_of(CLAMP, clamped, in_order)
    with pytest.raises(Untraceable, match="clamp has a valid\\(inputs\\), which proofs do not take into account"):
        traced_reference(kernel, kernel.sample(np.random.default_rng(1)))


@pytest.mark.parametrize(
    "arguments",
    [
        "const int8_t **a[n][4]",
        "struct { int32_t b; } *a",
        "int8_t (*a)(int8_t) one_of(g)",
        "struct { int b; } a",
        "const struct { int b; } a[n]",
        "const struct { int b : 3; } *a",
    ],
)
def test_a_proof_says_which_argument_it_does_not_know(arguments: str) -> None:
    kernel = kernel_of(f"void f({arguments}, size_t n, int8_t y[n])", dict)
    with pytest.raises(Untraceable, match="a of f is no array, number or vector: proofs know nothing else"):
        traced_reference(kernel, kernel.sample(np.random.default_rng(1)))


GEMM = """
#include <stddef.h>
#include <stdint.h>
void gemm(size_t mr, size_t kc, const int8_t *a, size_t a_stride, const int8_t *b, int32_t *c) {
    for (size_t row = 0; row < mr; row++) {
        int32_t sum = 0;
        size_t k = 0;
        do {  /* as kernels of a matrix product do: never less than one step, here of four */
            for (size_t i = 0; i < 4; i++) sum += *(volatile const int8_t *)(a + row * a_stride + k + i) * b[k + i];
            k += 4;
        } while (k < kc);
        c[row] = sum;
    }
}
"""
GEMM_PROTOTYPE = (
    "void gemm(size_t mr, size_t kc, const int8_t a[mr:a_stride][kc], size_t a_stride, "
    "const int8_t b[(kc + 3) / 4 * 4], int32_t c[mr])"
)


def product(inputs: Inputs) -> dict[str, Any]:
    return {"c": inputs["a"].astype(np.int32) @ inputs["b"][: inputs["kc"]]}


def test_an_over_read_of_a_matrix_product_is_not_shrunk_to_a_product_of_nothing(tmp_path: Path) -> None:
    """With kc = 0 it reads as well, which is another finding: what is not valid is not tried."""
    (tmp_path / "gemm.c").write_text(GEMM)
    name, signature = parse_prototype(GEMM_PROTOTYPE)
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "gemm.c",), signature=signature, golden=product,
        valid=lambda inputs: 0 < inputs["kc"] <= inputs["a_stride"] and inputs["mr"] > 0,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    whole = {
        "mr": 3, "kc": 10, "a_stride": 10, "a": rng.integers(-9, 9, (3, 10)).astype(np.int8),
        "b": np.append(rng.integers(-9, 9, 10), [0, 0]).astype(np.int8),
    }  # fmt: skip
    job = Job(kernel.sources[0], ("-O1",))
    found = shrink(kernel, job, alone(kernel, whole, seed=1), 0)
    assert (found.inputs["mr"], found.inputs["kc"], found.inputs["a"].shape) == (1, 1, (1, 1))
    assert found.outcome is not None
    assert [(one.kind, one.where) for one in found.outcome.findings] == [("over-read", "a")]
    without = shrink(replace(kernel, valid=None), job, alone(kernel, whole, seed=1), 0)
    assert without.inputs["kc"] == 0  # so that the test is one
