"""Input sets drawn from domains: inside of them, of the right form, corners met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sim.kernels.domain import LENGTHS, Domain, corner_sets, sample_set
from sim.kernels.prototype import parse_prototype
from sim.kernels.signature import Signature

SIGNATURE = parse_prototype(
    "void f(const int8_t a[rows:stride][n], const int8_t *_Nullable b[n], uint8_t out[rows][n], size_t rows, "
    "size_t stride, size_t n, int32_t k, float s, struct {uint8_t low; uint8_t high[2];} c)"
).signature
DOMAINS = {
    "a": Domain(-5, 9, corners=(4,)), "k": Domain(choices=(2, 4, 8)), "s": Domain(0.25, 0.5, corners=(float("inf"),)),
    "rows": Domain(1, 3), "c.low": Domain(7, 7),
}  # fmt: skip


def all_sets() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    return [*corner_sets(SIGNATURE, DOMAINS), *(sample_set(SIGNATURE, DOMAINS, rng) for _ in range(300))]


def test_arrays_have_the_shapes_that_their_sizes_say() -> None:
    assert all(inputs["a"].shape == (inputs["rows"], inputs["n"]) for inputs in all_sets())


def test_rows_never_overlap() -> None:
    assert all(inputs["stride"] >= inputs["n"] for inputs in all_sets())


def test_outputs_are_not_given() -> None:
    assert not any("out" in inputs for inputs in all_sets())


def test_numbers_lie_in_their_domain() -> None:
    seen = {int(value) for inputs in all_sets() for value in inputs["a"].flat}
    assert seen == set(range(-5, 10))


def test_choices_are_all_made_and_nothing_else() -> None:
    assert {inputs["k"] for inputs in all_sets()} == {2, 4, 8}


def test_a_corner_of_a_float_may_lie_outside_its_bounds() -> None:
    seen = {inputs["s"] for inputs in all_sets()}
    assert (float("inf") in seen, all(0.25 <= value <= 0.5 for value in seen - {float("inf")})) == (True, True)


@pytest.mark.parametrize("bounds", [(-np.inf, 1.0), (0.0, np.inf), (np.nan, 1.0), (0.0, np.nan), (None, np.nan)])
def test_bounds_that_are_not_finite_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"a bound of a Domain is .*: give finite numbers or None"):
        Domain(*bounds)


def test_bounds_may_lie_as_far_apart_as_the_dtype_goes() -> None:
    most = np.finfo(np.float64).max
    drawn = Domain(-most, most).draw(np.dtype("f8"), (300,), np.random.default_rng(1))
    assert np.isfinite(drawn).all()
    assert drawn.min() < -1e300 < 1e300 < drawn.max()


def test_fields_of_structures_have_domains() -> None:
    assert {int(inputs["c"]["low"]) for inputs in all_sets()} == {7}


def test_every_length_is_met() -> None:
    assert set(LENGTHS) <= {inputs["n"] for inputs in corner_sets(SIGNATURE, DOMAINS)}


def test_a_pointer_that_may_be_null_is_null_at_times() -> None:
    assert {inputs["b"] is None for inputs in corner_sets(SIGNATURE, DOMAINS)} == {True, False}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_without_a_domain_both_ends_of_the_type_are_corners(dtype: str) -> None:
    limits = np.iinfo(dtype)
    assert {limits.min, limits.max} <= set(Domain().edges(np.dtype(dtype)).tolist())


def test_the_same_seed_draws_the_same_set() -> None:
    signature = Signature(SIGNATURE.arguments)
    first, second = (sample_set(signature, {}, np.random.default_rng(5)) for _ in range(2))
    assert str(first) == str(second)


def test_every_length_of_pixels_with_fixed_channels_is_met() -> None:
    signature = parse_prototype("void f(const uint8_t rgb[n][3], uint8_t gray[n], size_t n)").signature
    assert {inputs["n"] for inputs in corner_sets(signature, {})} == set(LENGTHS)


def test_an_axis_outside_of_many_fixed_numbers_stays_short() -> None:
    signature = parse_prototype("void f(const uint8_t page[n][64], uint8_t sum[n], size_t n)").signature
    assert max(inputs["n"] for inputs in corner_sets(signature, {})) == 5


def test_arrays_cannot_be_changed_in_place() -> None:
    assert not any(inputs["a"].flags.writeable for inputs in all_sets())


def test_a_number_in_a_structure_is_a_plain_one() -> None:
    assert all(inputs["c"]["low"] == 7 and isinstance(inputs["c"]["low"], int) for inputs in all_sets())


THREE = parse_prototype("void f(const int8_t a[m * n], const int8_t b[n][k], uint8_t out[m], int m, int n, int k)")


def test_of_several_lengths_each_has_every_tail_and_is_above_and_below_the_other() -> None:
    sizes = [(inputs["m"], inputs["n"]) for inputs in corner_sets(THREE.signature, {})]
    assert {m % 16 for m, _ in sizes} == {n % 16 for _, n in sizes} == set(range(16))
    assert {(m > n) - (m < n) for m, n in sizes if m and n} == {-1, 0, 1}


def test_of_several_lengths_random_ones_are_mostly_unlike() -> None:
    rng = np.random.default_rng(1)
    drawn = [sample_set(THREE.signature, {}, rng) for _ in range(300)]
    unlike = [len({inputs["m"], inputs["n"], inputs["k"]}) for inputs in drawn]
    assert (unlike.count(3) > 200, set(unlike)) == (True, {1, 2, 3})


def test_of_several_numbers_of_rows_too() -> None:
    signature = parse_prototype("void f(const int8_t a[h][w][c], int8_t out[1], int h, int w, int c)").signature
    sizes = {(inputs["h"], inputs["w"]) for inputs in corner_sets(signature, {})}
    assert {(h > w) - (h < w) for h, w in sizes if h and w} == {-1, 0, 1}


def test_sizes_that_must_be_alike_are_found() -> None:
    sets = corner_sets(THREE.signature, {}, lambda inputs: inputs["m"] == inputs["n"])
    assert set(LENGTHS) <= {inputs["n"] for inputs in sets}
