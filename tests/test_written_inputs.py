"""Input sets as JSON, and read again: exact, or refused in one sentence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.written_inputs import InputsError, plain, read_inputs, written_inputs
from sim.kernels import Domain, Kernel, built_in_kernel, parse_prototype

PROTOTYPE = "void f(const int8_t *_Nullable x[n], float y[rows][n], size_t rows, size_t n)"


def own() -> Kernel:
    name, signature = parse_prototype(PROTOTYPE)
    return Kernel(name=name, symbol=name, sources=(Path("f.c"),), signature=signature, golden=nothing,
                  domain={"n": Domain(0, 8), "rows": Domain(0, 3)})  # fmt: skip


def nothing(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"y": np.zeros((inputs["rows"], inputs["n"]), np.float32)}


def test_an_input_set_of_a_users_kernel_is_read_with_its_types() -> None:
    read = read_inputs(own(), '{"x": [-128, 5], "rows": 1, "n": 2}')
    assert (read["x"].dtype, read["x"].tolist(), read["rows"], read["n"]) == (np.dtype("int8"), [-128, 5], 1, 2)


def test_an_array_without_a_row_has_its_other_extents() -> None:
    name, signature = parse_prototype("void g(const int8_t x[rows][n], int8_t y[rows][n], size_t rows, size_t n)")
    domain = {"n": Domain(3, 3), "rows": Domain(0, 2)}
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=nothing, domain=domain)
    assert read_inputs(kernel, '{"x": [], "rows": 0, "n": 3}')["x"].shape == (0, 3)
    assert read_inputs(kernel, '{"x": [[1, 2, 3]], "rows": 1, "n": 3}')["x"].tolist() == [[1, 2, 3]]


def test_a_null_pointer_is_null() -> None:
    assert read_inputs(own(), '{"x": null, "rows": 1, "n": 2}')["x"] is None


@pytest.mark.parametrize(
    ("kernel", "mode"),
    [("quantize_down", None), ("requantize", None), ("requantize", "xnnpack_fp32_qs8"), ("fully_connected", None),
     ("offset_contribution", "acl_19_08_cl_window"), ("quantized_add", "f32_u8_to_f32"), ("pool", "average_s8")],
)  # fmt: skip
def test_inputs_that_are_structures_are_read_to_the_bit(kernel: str, mode: str | None) -> None:
    chosen, rng = built_in_kernel(kernel, mode), np.random.default_rng(7)
    for _ in range(5):
        inputs = chosen.sample(rng)
        text = written_inputs(chosen, inputs)
        assert text is not None
        read = read_inputs(chosen, text)
        golden, again = chosen.expected(inputs), chosen.expected(read)
        assert {name: array.tobytes() for name, array in again.items()} == {
            name: array.tobytes() for name, array in golden.items()
        }
        assert json.dumps(plain(read)) == json.dumps(plain(inputs))


def test_inputs_whose_types_differ_from_set_to_set_are_not_written() -> None:
    transpose, rng = built_in_kernel("transpose1xw"), np.random.default_rng(5)
    drawn = [transpose.sample(rng) for _ in range(20)]
    widths = {inputs["values"].dtype.itemsize for inputs in drawn if written_inputs(transpose, inputs) is None}
    assert widths >= {2, 4}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "an input set of f is a JSON object of its inputs by name, not '[1]'"),
        ("{", "inputs are given as JSON, and '{' is none"),
        ("@nowhere.json", "nowhere.json cannot be read (No such file or directory)"),
        ('{"x": [1], "rows": 1}', "these are no inputs of f: they are n, rows, x, not x, rows"),
        ('{"x": [200], "rows": 1, "n": 1}', "x is [200], and 200 is outside of int8, which holds -128..127"),
        ('{"x": [1.5], "rows": 1, "n": 1}', "x is [1.5], and it must be integers for int8"),
        ('{"x": [1, 2], "rows": 1, "n": 1}', "x has 2 elements, not 1"),
        ('{"x": [[1]], "rows": 1, "n": 1}', "x is [[1]], of 2 and not 1 dimensions"),
        ('{"x": "one", "rows": 1, "n": 1}', "x is 'one', and it must be integers for int8"),
        ('{"x": [1], "rows": [1], "n": 1}', "rows is [1], of 1 and not 0 dimensions"),
        ('{"x": null, "rows": 1, "n": 9}', "f is not called with these inputs: they are not in its domain"),
    ],
)
def test_what_is_no_input_set_is_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InputsError) as raised:
        read_inputs(own(), text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_number_beyond_64_bits_with_a_sign_is_read() -> None:
    name, signature = parse_prototype("void f(float y[1], uint64_t key)")
    kernel = Kernel(name=name, symbol=name, sources=(Path("f.c"),), signature=signature, golden=nothing)
    assert read_inputs(kernel, '{"key": 18446744073709551615}')["key"] == 2**64 - 1
