"""The arguments of one call as texts: what each is read as, what is refused in which words, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.call.single import LARGEST_COUNT, LONGEST_TOLD, ArgumentError, array_of, read_arguments, written_arguments
from sim.kernels.signature import (
    Argument,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    VectorArgument,
)

BOUNDS = (("low", "int8"), ("high", "(2,)int16"))


def read(argument: Argument, text: str) -> tuple[Any, Any]:
    """An argument as it is once its text is read, and its value."""
    signature, values = read_arguments(Signature((argument,)), [text])
    return signature.arguments[0], values[argument.name]


def refused(argument: Argument, text: str) -> str:
    """Why a text is no value."""
    with pytest.raises(ArgumentError) as caught:
        read(argument, text)
    told, _, why = str(caught.value).partition(f" is no value of the argument {argument.name!r}: ")
    assert told == repr(text)
    return why


def same(made: Any, dtype: str, numbers: Any) -> bool:
    return bool(made.dtype == np.dtype(dtype) and made.tolist() == numbers)


@pytest.mark.parametrize(
    ("dtype", "text", "numbers"),
    [
        ("int8", "1, -2,0x10", [1, -2, 16]),
        ("int8", "7,", [7]),
        ("int8", "", []),
        ("uint16", "0b11,0o17", [3, 15]),
        ("float32", "0.5,1e3,-inf", [0.5, 1000.0, -np.inf]),
        ("int32", "zeros:3", [0, 0, 0]),
        ("int32", "zeros:0x2", [0, 0]),
        ("int32", "zeros:0", []),
        ("int16", "[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("int16", "[true, 5]", [1, 5]),
        ("float32", "[1, 0.25]", [1.0, 0.25]),
    ],
)
def test_an_array_is_read_as_its_numbers(dtype: str, text: str, numbers: list[Any]) -> None:
    assert same(read(Pointer("a", dtype, (9,)), text)[1], dtype, numbers)


@pytest.mark.parametrize("given", ["in", "out", "inout", "scratch"])
def test_an_array_has_the_shape_that_is_given_and_goes_both_ways_where_it_may_be_changed(given: Any) -> None:
    pointer = Pointer("a", "int8", (9, 9), direction=given, strides=(20, 1), over_read=3, alignment=8)
    expected = Pointer(
        "a", "int8", (2, 3), direction="in" if given == "in" else "inout", nullable=True, over_read=3, alignment=8
    )
    assert read(pointer, "[[1, 2, 3], [4, 5, 6]]")[0] == expected


def test_an_output_that_may_be_an_input_is_an_array_of_its_own() -> None:
    signature = Signature((Pointer("b", "int8", (2,)), Pointer("a", "int8", (2,), direction="out", may_be="b")))
    made, _ = read_arguments(signature, ["1,2", "zeros:2"])
    assert made.arguments[1] == Pointer("a", "int8", (2,), direction="inout", nullable=True)


def test_null_is_an_array_of_nothing_and_of_a_table_one_of_two_axes() -> None:
    pointer, value = read(Pointer("a", "int8", (9,)), "null")
    assert (pointer.shape, value) == ((0,), None)
    pointer, value = read(Pointer("a", "int8", (9, 9), indirect=True, shared=True), "null")
    assert (pointer.shape, pointer.shared, value) == ((0, 0), False, None)


def test_a_table_of_pointers_needs_an_array_of_two_axes() -> None:
    table = Pointer("a", "int8", (9, 9), indirect=True)
    assert read(table, "[[1, 2]]")[0].shape == (1, 2)
    for text in ("1,2", "[1, 2]", "zeros:4"):
        assert refused(table, text) == "it is a table of pointers: give JSON, a list of lists"


@pytest.mark.parametrize(
    ("dtype", "text", "why"),
    [
        ("int8", "1.5", "give numbers, with commas; of an array also zeros:COUNT, @FILE.npy or JSON"),
        ("int8", "128", "128 is outside of int8, which holds -128..127"),
        ("uint8", "-1", "-1 is outside of uint8, which holds 0..255"),
        ("int8", "[1.0]", "it must be integers for int8, in lists of one length"),
        ("float32", '["1"]', "it must be numbers for float32, in lists of one length"),
        ("int8", "[[1], [2, 3]]", "it must be integers for int8, in lists of one length"),
        ("float32", "1e39", "it has a number beyond float32"),
        ("int8", "[", "it is no JSON (Expecting value: line 1 column 2 (char 1))"),
        ("int8", f"zeros:{LARGEST_COUNT + 1}", f"zeros: takes 0 to {LARGEST_COUNT} elements"),
        ("int8", "zeros:-1", f"zeros: takes 0 to {LARGEST_COUNT} elements"),
        ("int8", "zeros:", f"zeros: takes 0 to {LARGEST_COUNT} elements"),
        ("int8", "@none.npy", "none.npy cannot be read as .npy: No such file or directory"),
        ("int8", "@none.json", "none.json cannot be read (No such file or directory)"),
    ],
)
def test_what_is_no_array_is_told(
    dtype: str, text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert why in refused(Pointer("a", dtype, (9,)), text)


def test_an_array_of_as_many_zeros_as_there_may_be() -> None:
    assert read(Pointer("a", "int8", (9,)), f"zeros:{LARGEST_COUNT}")[1].shape == (LARGEST_COUNT,)


def test_an_array_comes_from_a_file_of_its_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    numbers = np.array([[1, 2, 3], [4, 5, 6]], np.int16)
    np.save("a.npy", numbers.T)
    Path("a.json").write_text("[[7, 8]]")
    Path("bad.json").write_bytes(b"\xff")
    Path("empty.npy").write_bytes(b"")
    np.savez("two.npy.npz", numbers, numbers)
    Path("two.npy.npz").rename("two.npy")
    pointer = Pointer("a", "int16", (9,))
    made, value = read(pointer, "@a.npy")
    assert (made.shape, value.tolist(), value.flags["C_CONTIGUOUS"]) == ((3, 2), [[1, 4], [2, 5], [3, 6]], True)
    assert read(pointer, "@a.json")[1].tolist() == [[7, 8]]
    assert refused(Pointer("a", "int8", (9,)), "@a.npy") == "a.npy must hold an array of int8, not int16"
    assert refused(pointer, "@two.npy") == "two.npy cannot be read as .npy: it is no .npy file"
    assert refused(pointer, "@bad.json") == "bad.json is not text in UTF-8"
    assert refused(pointer, "@empty.npy") == "empty.npy cannot be read as .npy: it is no .npy file"
    Path("cut.npy").write_bytes(Path("two.npy").read_bytes()[:40])
    assert refused(pointer, "@cut.npy") == "cut.npy cannot be read as .npy: it is no .npy file"


class Touches:
    """What touches a file where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("touched"),)


def test_a_file_is_not_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.array([Touches()], object), allow_pickle=True)
    assert refused(Pointer("a", "int16", (9,)), "@a.npy") == (
        "a.npy cannot be read as .npy: it holds objects of Python, which are not read: save numbers"
    )
    assert not Path("touched").exists()
    np.load("a.npy", allow_pickle=True)
    assert Path("touched").exists()


def test_a_number_a_vector_and_a_function() -> None:
    number, value = read(ScalarArgument("k", "int32"), "0x7f")
    assert (number, value, value.dtype) == (ScalarArgument("k", "int32"), 127, np.int32)
    assert refused(ScalarArgument("k", "int32"), "1,2") == "give 1 numbers, with commas"
    assert same(read(VectorArgument("v", "int16", 4), "1,2,3,4")[1], "int16", [1, 2, 3, 4])
    two = VectorArgument("v", "int8", 8, count=2)
    expected = [[*range(8)], [*range(8, 16)]]
    for text in (",".join(map(str, range(16))), json.dumps(expected), json.dumps([*range(16)])):
        assert same(read(two, text)[1], "int8", expected)
    assert refused(two, "1,2") == "give 16 numbers, with commas"
    function = FunctionArgument("f", ("other",))
    assert read(function, "relu") == (FunctionArgument("f", ("relu",)), "relu")
    assert read(function, "null") == (FunctionArgument("f", (None,)), None)


def test_a_structure_is_read_from_its_fields_in_order_or_by_name() -> None:
    struct = Struct("s", BOUNDS)
    for text in ("1,2,-3", '{"low": 1, "high": [2, -3]}', '{"high": [2, -3], "low": 1}'):
        made, value = read(struct, text)
        assert made == struct
        assert (same(value["low"], "int8", 1) or value["low"].tolist() == [1], value["high"].tolist()) == (
            True,
            [2, -3],
        )
        assert (value["low"].dtype, value["high"].dtype) == (np.int8, np.int16)
    assert refused(struct, "1,2") == "give 3 numbers, with commas: its fields in order"
    assert refused(struct, "[1, 2, 3]") == "give its fields as JSON: low, high"
    assert refused(struct, '[{"low": 1, "high": [2, 3]}]') == "give its fields as JSON: low, high"
    assert "low" in refused(struct, '{"low": 1}')
    several = Struct("s", BOUNDS, by_pointer=True)
    assert refused(several, '[{"low": 1, "high": [2, 3]}, 5]') == "give its fields as JSON: low, high"


@pytest.mark.parametrize("given", ["in", "out", "inout"])
def test_a_structure_by_pointer_may_be_one_several_or_none(given: Any) -> None:
    struct = Struct("s", BOUNDS, by_pointer=True, direction=given, shape=("n",), nullable=False)
    to = "in" if given == "in" else "inout"
    signature = Signature((struct, ScalarArgument("n", "int32")))

    def of(text: str) -> tuple[Any, Any]:
        made, values = read_arguments(signature, [text, "1"])
        return made.arguments[0], values["s"]

    made, value = of("null")
    assert (made.direction, made.nullable, value) == (to, True, None)
    made, value = of('{"low": 1, "high": [2, 3]}')
    assert (made.direction, made.nullable, made.shape, value["high"].tolist()) == (to, True, (), [2, 3])
    made, value = of('[{"low": 1, "high": [2, 3]}, {"low": 4, "high": [5, 6]}]')
    assert (made.direction, made.nullable, made.shape) == (to, True, (2,))
    assert (same(value["low"], "int8", [1, 4]), same(value["high"], "int16", [[2, 3], [5, 6]])) == (True, True)


def test_arrays_that_fields_point_to_are_given_in_the_structure() -> None:
    fields = (("count", "int32"),)
    pointers = ((8, Pointer("s.data", "int8", (9,), direction="out")), (16, None))
    struct = Struct("s", fields, by_pointer=True, pointers=pointers)
    signature, values = read_arguments(Signature((struct,)), ['{"count": 2, "data": [5, 6]}'])
    (made,) = signature.arguments
    assert isinstance(made, Struct)
    expected = Pointer("s.data", "int8", (2,), direction="inout", nullable=True)
    assert made.pointers == ((8, expected), (16, None))
    assert same(values["s.data"], "int8", [5, 6])
    assert values["s"]["count"].tolist() == 2
    assert list(values["s"]) == ["count"]
    for text in ('{"count": 2}', '{"count": 2, "data": null}'):
        signature, values = read_arguments(Signature((struct,)), [text])
        assert values["s.data"] is None


def test_as_many_texts_are_needed_as_there_are_arguments() -> None:
    k, m = ScalarArgument("k", "int32"), ScalarArgument("m", "int32")
    for arguments, texts, says in (
        ((), ["1"], "the function takes 0 arguments (none), not 1"),
        ((k,), [], "the function takes 1 argument (k), not 0"),
        ((k, m), ["1"], "the function takes 2 arguments (k, m), not 1"),
    ):
        with pytest.raises(ArgumentError) as caught:
            read_arguments(Signature(arguments), texts)
        assert str(caught.value) == says
    signature, values = read_arguments(Signature((k, m), "int8"), ["1", "2"])
    assert (values, signature.returns) == ({"k": 1, "m": 2}, "int8")


@pytest.mark.parametrize(("length", "is_cut"), [(LONGEST_TOLD, False), (LONGEST_TOLD + 1, True)])
def test_of_a_long_text_the_beginning_is_told(length: int, is_cut: bool) -> None:
    text = "x" * length
    with pytest.raises(ArgumentError) as caught:
        read(ScalarArgument("k", "int32"), text)
    told = f"'{'x' * LONGEST_TOLD}'..." if is_cut else repr(text)
    assert str(caught.value).startswith(f"{told} is no value of the argument 'k': ")


def test_numbers_of_lists_are_of_their_type() -> None:
    assert same(array_of("uint8", 255), "uint8", 255)
    assert same(array_of("float32", [True, 2, 0.5]), "float32", [1.0, 2.0, 0.5])
    for dtype, value in (("int8", [1.0]), ("int8", ["1"]), ("float32", [None]), ("int8", [[1], 2])):
        with pytest.raises(ValueError, match="in lists of one length"):
            array_of(dtype, value)
    with pytest.raises(ValueError, match="beyond float32"):
        array_of("float32", [1e39])


ALL = Signature(
    (
        Pointer("a", "int16", ("k",)),
        Pointer("out", "int8", ("k", 2), direction="out"),
        ScalarArgument("k", "int32"),
        ScalarArgument("b", "bool"),
        VectorArgument("v", "float32", 2),
        Struct("s", (("low", "int8"), ("of.high", "(2,)int16"))),
    )
)


def test_values_are_written_as_texts_that_are_read_as_these_values() -> None:
    values = {
        "a": np.array([-1, 300, 5], np.int16), "k": 3, "b": True, "v": np.array([0.5, 2], np.float32),
        "s": {"low": np.int8(4), "of": {"high": np.array([1, 2])}},
    }  # fmt: skip
    texts = written_arguments(ALL, values)
    assert texts == ["-1,300,5", "zeros:6", "3", "1", "0.5,2.0", '{"low": 4, "of": {"high": [1, 2]}}']
    _, again = read_arguments(ALL, texts)
    assert (again["a"].tolist(), again["k"], again["b"], again["v"].tolist()) == ([-1, 300, 5], 3, True, [0.5, 2.0])
    assert again["s"]["of"]["high"].tolist() == [1, 2]
    empty = written_arguments(ALL, {**values, "a": np.zeros(0, np.int16), "k": 0})
    assert empty is not None
    assert empty[:3] == ["zeros:0", "zeros:0", "0"]
    null = written_arguments(ALL, {**values, "a": None})
    assert null is not None
    assert null[0] == "null"


@pytest.mark.parametrize(
    "argument",
    [
        Pointer("a", "int8", (2, 2), strides=(4, 1)),
        Pointer("a", "int8", (2, 2), indirect=True),
        Pointer("a", "int8", (2,), direction="out", may_be="b"),
        FunctionArgument("a", ("f",)),
        Struct("a", (("n", "int32"),), by_pointer=True, pointers=((8, Pointer("a.data", "int8", (2,))),)),
    ],
)
def test_what_has_no_text_is_not_written(argument: Argument) -> None:
    others = (Pointer("b", "int8", (2,)),)
    values = {"a": np.zeros((2, 2), np.int8), "b": np.zeros(2, np.int8)}
    assert written_arguments(Signature((argument, *others)), values) is None
    assert written_arguments(Signature(others), values) == ["0,0"]
