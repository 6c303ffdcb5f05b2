"""Arguments travel where AAPCS64 says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.lane import Place
from sim.kernels import Pointer, ScalarArgument, Signature
from sim.kernels.signature import ArgumentPiece, Location, Stack, Struct, VectorArgument


def numbers(count: int, dtype: str) -> tuple[ScalarArgument, ...]:
    return tuple(ScalarArgument(f"{dtype}_{i}", dtype) for i in range(count))


def travels(signature: Signature, name: str) -> list[Location]:
    """Where the pieces of an argument are."""
    return [piece.location for piece in signature.passed()[name].pieces]


def v(*numbers: int) -> list[Location]:
    return [Place("v", number) for number in numbers]


def x(*numbers: int) -> list[Location]:
    return [Place("x", number) for number in numbers]


def test_integers_and_pointers_share_x0_to_x7() -> None:
    signature = Signature((Pointer("data", "int8", ("n",)), ScalarArgument("n", "uint64")))
    assert [travels(signature, name) for name in ("data", "n")] == [x(0), x(1)]


def test_floating_point_numbers_travel_in_vector_registers() -> None:
    signature = Signature((ScalarArgument("n", "int32"), ScalarArgument("scale", "float32")))
    assert [travels(signature, name) for name in ("n", "scale")] == [x(0), v(0)]


def test_the_ninth_integer_goes_to_the_stack() -> None:
    assert travels(Signature(numbers(10, "uint8")), "uint8_9") == [Stack(8)]


def test_the_ninth_float_goes_to_the_stack() -> None:
    assert travels(Signature(numbers(9, "float64")), "float64_8") == [Stack(0)]


def test_stack_arguments_keep_sp_aligned_to_16() -> None:
    assert Signature(numbers(9, "int32")).stack_bytes == 16


def test_outputs_are_the_pointers_that_are_written() -> None:
    signature = Signature((Pointer("a", "int8", (4,)), Pointer("b", "int8", (4,), direction="inout")))
    assert [pointer.name for pointer in signature.outputs] == ["b"]


def test_a_repeated_name_is_refused() -> None:
    with pytest.raises(ValueError, match="names 'n' twice"):
        Signature((ScalarArgument("n", "int32"), ScalarArgument("n", "int32")))


def test_a_shape_that_names_no_scalar_is_refused() -> None:
    with pytest.raises(ValueError, match="names 'rows', which is no scalar"):
        Signature((Pointer("a", "int8", ("rows",)),))


FLOATS = Struct("s", (("x", "float32"), ("y", "(2,)float32")))
PAIR = Struct("p", (("a", "int64"), ("b", "int8")))
LARGE = Struct("l", (("a", "(17,)int8"),))


def test_a_homogeneous_aggregate_of_floats_takes_a_register_for_each_member() -> None:
    assert travels(Signature((ScalarArgument("f", "float32"), FLOATS)), "s") == v(1, 2, 3)


def test_an_aggregate_of_floats_that_does_not_fit_goes_whole_to_the_stack_and_ends_the_registers() -> None:
    signature = Signature((*numbers(6, "float32"), FLOATS, ScalarArgument("f", "float32")))
    assert [travels(signature, name) for name in ("s", "f")] == [[Stack(0)], [Stack(16)]]


def test_a_structure_of_16_bytes_takes_two_registers() -> None:
    assert Signature((PAIR,)).passed()["p"].pieces == (
        ArgumentPiece(Place("x", 0), 0, 8),
        ArgumentPiece(Place("x", 1), 8, 8),
    )


def test_a_structure_is_never_split_between_registers_and_stack() -> None:
    signature = Signature((*numbers(7, "int32"), PAIR, ScalarArgument("n", "int32")))
    assert [travels(signature, name) for name in ("p", "n")] == [[Stack(0)], [Stack(16)]]


def test_a_larger_structure_is_passed_by_its_address() -> None:
    passed = Signature((LARGE, ScalarArgument("n", "int32"))).passed()["l"]
    assert (passed.pieces, passed.copy) == ((ArgumentPiece(Place("x", 0), 0, 8),), Stack(0))


def test_a_vector_on_the_stack_is_aligned_to_16_bytes() -> None:
    signature = Signature((*numbers(9, "float32"), VectorArgument("w", "int32", 4)))
    assert travels(signature, "w") == [Stack(16)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Signature((Pointer("a", "int8", (4, 4), strides=(4,)),)), "2 axes and 1 strides"),
        (lambda: Signature((Pointer("a", "int8", (-1,)),)), "no number may be negative"),
        (
            lambda: Signature((ScalarArgument("f", "float32"), Pointer("a", "int8", ("f",)))),
            "names 'f', which is no scalar",
        ),
        (lambda: Signature((ScalarArgument("returned", "int8"),)), "the name of the result"),
        (lambda: Signature((ScalarArgument("c", "complex64"),)), "no type that can be passed"),
        (lambda: Signature((ScalarArgument("c", "int24"),)), "unknown dtype 'int24'"),
    ],
)
def test_a_signature_that_cannot_be_called_is_refused(make: Callable[[], Signature], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
