"""Arguments travel where AAPCS64 says."""

from __future__ import annotations

import pytest

from isa.lane import Place
from sim.kernels import Pointer, Scalar, Signature
from sim.kernels.signature import Stack


def numbers(count: int, dtype: str) -> tuple[Scalar, ...]:
    return tuple(Scalar(f"{dtype}_{i}", dtype) for i in range(count))


def test_integers_and_pointers_share_x0_to_x7() -> None:
    signature = Signature((Pointer("data", "int8", ("n",)), Scalar("n", "uint64")))
    assert signature.locations() == {"data": Place("x", 0), "n": Place("x", 1)}


def test_floating_point_numbers_travel_in_vector_registers() -> None:
    signature = Signature((Scalar("n", "int32"), Scalar("scale", "float32")))
    assert signature.locations() == {"n": Place("x", 0), "scale": Place("v", 0)}


def test_the_ninth_integer_goes_to_the_stack() -> None:
    assert Signature(numbers(10, "uint8")).locations()["uint8_9"] == Stack(8)


def test_the_ninth_float_goes_to_the_stack() -> None:
    assert Signature(numbers(9, "float64")).locations()["float64_8"] == Stack(0)


def test_stack_arguments_keep_sp_aligned_to_16() -> None:
    assert Signature(numbers(9, "int32")).stack_bytes == 16


def test_outputs_are_the_pointers_that_are_written() -> None:
    signature = Signature((Pointer("a", "int8", (4,)), Pointer("b", "int8", (4,), "inout")))
    assert [pointer.name for pointer in signature.outputs] == ["b"]


def test_a_repeated_name_is_refused() -> None:
    with pytest.raises(ValueError, match="names 'n' twice"):
        Signature((Scalar("n", "int32"), Scalar("n", "int32")))


def test_a_shape_that_names_no_scalar_is_refused() -> None:
    with pytest.raises(ValueError, match="names 'rows', which is no scalar"):
        Signature((Pointer("a", "int8", ("rows",)),))
