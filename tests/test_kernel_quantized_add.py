"""quantized_add: golden steps, Init and Forward against docs/spec/quantized_add.md."""

from collections.abc import Mapping

import numpy as np
import pytest

from sim.golden.addition import (
    RELU,
    AddParameters,
    Quantization,
    add_base,
    add_neon_ties_away,
    add_neon_ties_away_unfused,
    add_neon_ties_even,
    add_neon_ties_even_unfused,
    add_page,
    fold,
    fold_contracted,
)
from sim.golden.byte_rounding import round_even_then_offset
from sim.kernels.kernel import Inputs, Outputs
from sim.kernels.operator import ConfigurationError
from sim.kernels.quantized_add import MODES as KERNELS
from sim.kernels.quantized_add.configure import MODES, InputTensor, QuantizedAdd, validate
from sim.kernels.quantized_add.golden import Tensor, generic_steps

A, B = (part.astype(np.uint8) for part in np.meshgrid(np.arange(256), np.arange(256), indexing="ij"))
"""Every pair of bytes."""
ADDITIONS = {
    "neon_ties_away": add_neon_ties_away, "neon_ties_away_unfused": add_neon_ties_away_unfused,
    "neon_ties_even": add_neon_ties_even, "neon_ties_even_unfused": add_neon_ties_even_unfused,
    "base": add_base, "page": add_page,
}  # fmt: skip
TYPES = ("UINT8", "FP32")
DTYPES: dict[str, type[np.generic]] = {"UINT8": np.uint8, "FP32": np.float32}


def operator(
    types: tuple[str, str, str], shape: tuple[int, ...], scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
    zeros: tuple[int, int, int] = (0, 0, 0), activation: str = "Identity", mode: str = "neon_ties_away",
) -> QuantizedAdd:  # fmt: skip
    a, b, output = (InputTensor(t, shape, z, s) for t, z, s in zip(types, zeros, scales, strict=True))
    return QuantizedAdd(a, b, output, activation, mode)


def sums(made: QuantizedAdd, a: Tensor, b: Tensor, dtype: type[np.generic] = np.uint8) -> Tensor:
    output = np.full(a.shape, 77, dtype)
    made.forward(a, b, output)
    return output


def float32(*values: float) -> Tensor:
    return np.array(values, np.float32)


def uint8(*values: int) -> Tensor:
    return np.array(values, np.uint8)


BYTES = ("UINT8", "UINT8", "UINT8")
CENTS = (0.01, 0.01, 0.02)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("scales", "zeros"),
    [(CENTS, (0, 0, 0)), ((0.010, 0.020, 0.015), (47, 30, 38)), ((0.06571889, 0.06253845, 0.10072092), (171, 195, 98))],
)
def test_forward_on_bytes_is_the_named_addition(
    mode: str, scales: tuple[float, float, float], zeros: tuple[int, int, int]
) -> None:
    a, b, output = (Quantization(scale, zero) for scale, zero in zip(scales, zeros, strict=True))
    expected = ADDITIONS[mode](A, B, AddParameters(a, b, output))
    assert np.array_equal(sums(operator(BYTES, A.shape, scales, zeros, mode=mode), A, B), expected)


def test_the_backends_differ_at_the_smallest_tie() -> None:
    given = {mode: operator(BYTES, (1,), CENTS, mode=mode) for mode in MODES}
    results = {mode: int(sums(made, uint8(0), uint8(1))[0]) for mode, made in given.items()}
    assert {mode for mode, result in results.items() if result} == {"neon_ties_away", "neon_ties_away_unfused"}


def test_relu_is_ignored_for_bytes() -> None:
    """a = b = 0, scales 1, zero points 10, 10, 20: the library gives 0, the page 20."""
    given = (BYTES, (1,), (1.0, 1.0, 1.0), (10, 10, 20), "ReLU")
    zero = np.zeros(1, np.uint8)
    assert [sums(operator(*given, mode=mode), zero, zero)[0] for mode in ("neon_ties_away", "base", "page")] == [
        0,
        0,
        20,
    ]


def test_the_contraction_of_the_constant_can_be_chosen() -> None:
    scales, zeros = (0.06571889, 0.06253845, 0.10072092), (171, 195, 98)
    a, b, output = (InputTensor("UINT8", (1,), z, s) for z, s in zip(zeros, scales, strict=True))
    made = [QuantizedAdd(a, b, output, mode="base", make_folded=how) for how in (fold, fold_contracted)]
    assert [int(sums(one, uint8(145), uint8(112))[0]) for one in made] == [30, 29]


GENERIC = [(a, b, to) for a in TYPES for b in TYPES for to in TYPES if "FP32" in (a, b, to)]


def reals(kind: str, scale: float, zero: int) -> tuple[Tensor, Tensor]:
    """The elements 0, 4, 10, 16 of a type with this quantization, and what they stand for."""
    elements = np.array([0, 4, 10, 16], DTYPES[kind])
    return elements, elements if kind == "FP32" else (elements.astype(np.float32) - zero) * np.float32(scale)


@pytest.mark.parametrize("activation", ["Identity", "ReLU"])
@pytest.mark.parametrize("types", GENERIC)
def test_a_float32_tensor_ignores_its_quantization(types: tuple[str, str, str], activation: str) -> None:
    """Scales that are powers of two, so that every step is exact and only the formula is seen."""
    made = operator(types, (4,), (0.5, 0.25, 4.0), (7, 9, 100), activation)
    (a, a_real), (b, b_real) = reals(types[0], 0.5, 7), reals(types[1], 0.25, 9)
    total = np.maximum(a_real + b_real, 0) if activation == "ReLU" else a_real + b_real
    expected = total if types[2] == "FP32" else round_even_then_offset(total.astype(np.float32), 4.0, 100)
    assert sums(made, a, b, DTYPES[types[2]]).tolist() == expected.tolist()


def test_float32_is_quantized_by_the_reciprocal() -> None:
    """45.5 / 7 is 6.5 and goes to 6; the float32 next to 1/7 lies above it, and 45.5 times that above the tie."""
    made = operator(("FP32", "FP32", "UINT8"), (1,), (1.0, 1.0, 7.0))
    assert (sums(made, float32(45.5), float32(0))[0], round(45.5 / 7)) == (7, 6)


def test_the_zero_point_is_added_after_rounding() -> None:
    """0.5 goes to 0 and then to 1; were 1 added first, the tie at 1.5 would go to 2."""
    made = operator(("FP32", "FP32", "UINT8"), (1,), zeros=(0, 0, 1))
    assert sums(made, float32(0.5), float32(0)).tolist() == [1]


def test_relu_keeps_nan_and_minus_zero() -> None:
    made = operator(("FP32", "FP32", "FP32"), (3,), activation="ReLU")
    result = sums(made, float32(np.nan, -0.0, -1.0), float32(0.0, -0.0, 0.0), np.float32)
    assert [str(value) for value in result] == ["nan", "-0.0", "0.0"]


def test_a_sum_outside_int32_saturates_before_the_offset_wraps() -> None:
    """On AArch64: 2^31 - 1 + 1 wraps to -2^31, so 0; without an offset it is 255."""
    wrapped = operator(("FP32", "FP32", "UINT8"), (1,), zeros=(0, 0, 1))
    plain = operator(("FP32", "FP32", "UINT8"), (1,))
    assert [int(sums(made, float32(1e10), float32(0))[0]) for made in (wrapped, plain)] == [0, 255]


def test_the_difference_to_a_zero_point_wraps() -> None:
    """255 - (-2^31) is 2^31 + 255, as int32 -2^31 + 255, which float32 rounds to -2^31 + 256."""
    made = operator(("UINT8", "FP32", "FP32"), (1,), zeros=(-(2**31), 0, 0))
    assert sums(made, uint8(255), float32(0), np.float32).tolist() == [-(2**31) + 256]


@pytest.mark.parametrize(("types", "name"), [(("INT8", "UINT8", "UINT8"), "a has data type INT8"),
                                             (("UINT8", "INT32", "INT8"), "b has data type INT32"),
                                             (("UINT8", "FP32", "FP16"), "output has data type FP16")])  # fmt: skip
def test_init_refuses_other_types(types: tuple[str, str, str], name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        operator(types, (1,))


@pytest.mark.parametrize("other", [(2, 2), (4, 1), (1,), (5,), ()])
def test_init_refuses_unequal_shapes(other: tuple[int, ...]) -> None:
    status = validate(InputTensor("UINT8", (4,)), InputTensor("UINT8", other), InputTensor("UINT8"))
    assert (bool(status), "equal" in status.description) == (False, True)


def test_the_type_is_refused_before_the_shape() -> None:
    status = validate(InputTensor("UINT8", (4,)), InputTensor("UINT8", (5,)), InputTensor("INT8"))
    assert "output has data type INT8" in status.description


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("zero", [-(2**31), 2**31 - 1])
def test_init_accepts_any_scale_and_any_zero_point(scale: float, zero: int) -> None:
    assert validate(*(InputTensor("UINT8", (4,), zero, scale) for _ in range(3)))


def test_a_null_scale_is_one() -> None:
    operand = InputTensor("UINT8", (1,))
    assert sums(QuantizedAdd(operand, operand, operand), uint8(3), uint8(4)).tolist() == [7]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "base"])
def test_init_accepts_an_activation_that_forward_cannot_run(mode: str) -> None:
    made = operator(BYTES, (1,), activation="Elu", mode=mode)
    with pytest.raises(ConfigurationError, match="NULL pointer"):
        sums(made, uint8(0), uint8(0))


def test_base_ignores_any_activation_of_bytes() -> None:
    made = operator(BYTES, (1,), activation="Elu", mode="base")
    assert sums(made, uint8(3), uint8(4)).tolist() == [7]


def test_no_backend_runs_another_activation_of_float32() -> None:
    with pytest.raises(ConfigurationError, match="NULL pointer"):
        sums(operator(("FP32", "UINT8", "UINT8"), (1,), activation="Elu", mode="base"), float32(0), uint8(0))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 2, 3, 4, 5, 1, 2)], ids=str)
def test_tensors_of_any_rank_are_added(shape: tuple[int, ...]) -> None:
    a = np.arange(np.prod(shape, dtype=int), dtype=np.uint8).reshape(shape)
    assert np.array_equal(sums(operator(BYTES, shape), a, a), np.minimum(2 * a.astype(int), 255))


def test_a_window_leaves_the_rest_untouched() -> None:
    a, output = np.full((3, 5), 20, np.uint8), np.full((3, 5), 77, np.uint8)
    operator(BYTES, (3, 5)).forward(a, a, output, (slice(1, 2), slice(2, None)))
    assert output.tolist() == [[77] * 5, [77, 77, 40, 40, 40], [77] * 5]


def test_the_output_may_be_an_input() -> None:
    a, b = A.copy(), B.copy()
    made = operator(BYTES, A.shape, CENTS)
    expected = sums(made, A, B)
    made.forward(a, b, a)
    made.forward(A, b, b)
    assert (np.array_equal(a, expected), np.array_equal(b, expected)) == (True, True)


@pytest.mark.parametrize(
    ("a", "error", "message"),
    [
        (np.zeros(3, np.uint8), ValueError, "a has shape"),
        (np.zeros(4, np.int8), TypeError, "a is not a numpy array of uint8"),
    ],
)
def test_forward_refuses_other_arrays(a: Tensor, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        operator(BYTES, (4,)).forward(a, np.zeros(4, np.uint8), np.zeros(4, np.uint8))


def test_forward_refuses_a_window_beyond_the_tensor() -> None:
    four = np.zeros(4, np.uint8)
    with pytest.raises(ValueError, match="window has"):
        operator(BYTES, (4,)).forward(four, four, four, (slice(0, 5),))


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="no axis can be negative"):
        InputTensor("UINT8", (-1,))


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="give one of neon_ties_away, "):
        operator(BYTES, (1,), mode="neon")


@pytest.mark.parametrize("mode", KERNELS)
def test_the_last_step_is_the_output(mode: str) -> None:
    kernel = KERNELS[mode]
    inputs = kernel.sample(np.random.default_rng(5))
    assert np.array_equal(kernel.steps(inputs)["output"], kernel.golden(inputs)["output"], equal_nan=True)


def separated(mode: str, lanes: int) -> Mapping[str, int]:
    """How many lanes tell the mode from each of its conventions."""
    kernel, rng = KERNELS[mode], np.random.default_rng(1)
    cases: list[tuple[Inputs, Outputs]] = []
    while sum(expected["output"].size for _, expected in cases) < lanes:
        inputs = kernel.sample(rng)
        cases.append((inputs, kernel.golden(inputs)))
    return {
        name: sum(_different(convention(inputs)["output"], expected["output"]) for inputs, expected in cases)
        for name, convention in kernel.conventions.items()
    }


def _different(one: Tensor, other: Tensor) -> int:
    return int(np.count_nonzero((one != other) & ~(np.isnan(one) & np.isnan(other))))


@pytest.mark.parametrize("mode", KERNELS)
def test_random_vectors_separate_a_mode_from_all_its_conventions(mode: str) -> None:
    """At least one lane in 200, where plain random parameters give next to none."""
    counts = separated(mode, 6000)
    assert {name: count for name, count in counts.items() if count < 30} == {}


def test_there_is_a_mode_for_every_combination_of_types() -> None:
    """Of bytes and floats; of 16 bits there is one."""
    typed = {tuple(pointer.dtype for pointer in kernel.signature.pointers) for kernel in KERNELS.values()}
    assert len(typed) == 2**3 + 1


def test_steps_of_bytes_and_floats_follow_each_other() -> None:
    given = AddParameters(Quantization(0.5, 4), Quantization(1.0), Quantization(0.25, 3), RELU)
    steps = generic_steps(uint8(0, 8), float32(1, 1), given, "uint8")
    assert {name: values.tolist() for name, values in steps.items()} == {
        "a": [0, 8], "b": [1, 1], "difference": [-4, 4],
        "real": [-2, 2], "sum": [-1, 3], "relu": [0, 3],
        "scale": [0, 12], "round": [0, 12], "offset": [3, 15], "output": [3, 15],
    }  # fmt: skip
