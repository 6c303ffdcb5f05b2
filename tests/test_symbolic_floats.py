"""What numpy makes of unknown floating-point numbers, evaluated, is what it makes of the numbers, NaNs apart."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Int, Place, Read
from sim.kernels.kernel import built_in_kernel
from sim.prove.claim import ClaimInputs
from sim.symbolic.kernel_proof import KernelProof
from sim.symbolic.numbers.arrays import SymbolicArray
from sim.symbolic.numbers.floats import BY_FORMULA, FLOATING, bits_of, format_of, operation
from sim.symbolic.numbers.known_names import lanes_passed_on
from sim.symbolic.numbers.tracing import Untraceable
from sim.symbolic.numbers.value_by_value import value_by_value
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.objects import open_image
from support.sampled import sampled

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 1e-40, 3.4e38, -3.4e38, 0.1, 7e9, np.inf, -np.inf, np.nan]


def numbers(dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        return np.concatenate([rng.choice(SPECIAL, 60), rng.uniform(-300, 300, 20)]).astype(dtype)


class Unknown:
    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def array(self, known: Any) -> SymbolicArray:
        elements = np.empty(known.shape, object)
        for at in np.ndindex(known.shape):
            name = f"n{len(self.values)}"
            is_float = known.dtype.kind == "f"
            self.values[name] = bits_of(known[at], known.dtype) if is_float else int(known[at])
            low, high = (
                (0, 2 ** (8 * known.itemsize) - 1)
                if is_float
                else (np.iinfo(known.dtype).min, np.iinfo(known.dtype).max)
            )
            elements[at] = Read(Place(name), int(low), int(high))
        return SymbolicArray(elements, known.dtype)

    def known(self, result: Any) -> Any:
        evaluation = Evaluation(ClaimInputs(self.values))
        bits = [evaluation.value(lane) for lane in result.elements.ravel()]
        if result.dtype.kind != "f":
            return np.array(bits, result.dtype)
        return np.array(bits, f"u{result.dtype.itemsize}").view(result.dtype)


def agrees(function: Callable[..., Any], *operands: Any) -> bool:
    """Whether both are of one dtype and, but for which NaN is one, of the same bits."""
    unknown = Unknown()
    with np.errstate(all="ignore"):
        wanted = np.asarray(function(*operands))
        with lanes_passed_on({}):
            symbolic = function(*map(unknown.array, operands))
    made = unknown.known(symbolic)
    if wanted.dtype != symbolic.dtype:
        return False
    if wanted.dtype.kind != "f":
        return np.array_equal(wanted, made)
    same = made.view(f"u{made.itemsize}") == wanted.view(f"u{wanted.itemsize}")
    return bool(np.all(same | (np.isnan(made) & np.isnan(wanted))))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("ufunc", FLOATING, ids=lambda ufunc: ufunc.__name__)
def test_a_function_of_unknown_numbers_is_numpys(ufunc: np.ufunc, dtype: str) -> None:
    assert agrees(ufunc, *(numbers(dtype, seed) for seed in range(ufunc.nin)))


CONVERSIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "longer": (lambda a: a.astype(np.float64), ("f4",)),
    "shorter": (lambda a: a.astype(np.float32), ("f8",)),
    "by name": (lambda a: np.float32(a[3]) + np.asarray(a, np.float64), ("f8",)),
    "a number of Python's": (lambda a: (a * 3 + 0.1) / 7, ("f4",)),
    "both precisions": (lambda a, b: a + b, ("f4", "f8")),
    "chosen": (lambda a, b: np.where(a > b, a, np.float32(2)), ("f4", "f4")),
    "the square of an array": (lambda a: a**2, ("f4",)),
    "turned round": (lambda a: a[::-1].copy(), ("f4",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_of_unknown_numbers_is_numpys(name: str) -> None:
    function, types = CONVERSIONS[name]
    assert agrees(function, *(numbers(dtype, seed) for seed, dtype in enumerate(types)))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("to", ["f4", "f8"])
def test_an_unknown_integer_is_rounded_once(dtype: str, to: str) -> None:
    info = np.iinfo(dtype)
    known = np.random.default_rng(3).integers(info.min, info.max, 42, dtype, endpoint=True)
    known[:2] = info.min, info.max
    assert agrees(lambda a: a.astype(to), known)


@pytest.mark.parametrize("name", BY_FORMULA)
def test_a_named_conversion_is_what_its_formula_says(name: str) -> None:
    module, _, own = name.rpartition(".")
    function = getattr(import_module(module), own)
    operands = [numbers("f4", seed) for seed in range({"fused_multiply_add": 3}.get(own, 1))]
    if own == "scale_float_ties_even":
        operands = [np.random.default_rng(1).integers(-(2**31), 2**31, 80), np.float32(0.375 * 2.0**-20)]
    unknown = Unknown()
    symbolic = [unknown.array(np.asarray(operand)) for operand in operands]
    names = {"named": function}
    with lanes_passed_on(names):
        made = names["named"](*symbolic)
    wanted = function(*operands)
    assert np.array_equal(unknown.known(made), wanted, equal_nan=wanted.dtype.kind == "f")
    assert (made.dtype, names["named"]) == (wanted.dtype, function)


REFUSED: dict[str, Callable[..., Any]] = {
    "bits": lambda a: a.view(np.uint32),
    "an integer": lambda a: a.astype(np.int32),
    "a condition": lambda a: a.astype(np.bool_),
    "an extreme, of which zeros of both signs are one": lambda a: np.maximum(a, a),
    "a sum, whose order is numpy's own": lambda a: a.sum(),
    "half precision": lambda a: a.astype(np.float16),
    "a sign": lambda a: np.copysign(a, a),
    "a remainder": lambda a: a % 2,
    "a number of Python's": lambda a: float(a[0]),
    "an item": lambda a: a[0].item(),
    "a list": lambda a: a.tolist(),
    "zero or not": lambda a: bool(a[0]),
    "a cube, which C's pow rounds once": lambda a: a**3,
    "the square of one number, which C's pow makes": lambda a: a[0] ** 2,
    "a range": lambda a: np.clip(a, -1, 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_does_otherwise_is_refused(name: str) -> None:
    unknown = Unknown().array(numbers("f4", 1))
    with lanes_passed_on({}), pytest.raises(Untraceable, match=r"test_symbolic_floats\.py:\d+: "):
        REFUSED[name](unknown)


BYTES: dict[str, Callable[..., Any]] = {
    "exponential": lambda a: np.exp(a.astype(np.float64) / 50),
    "exponential in float32": lambda a: np.exp(a.astype(np.float32) / np.float32(50)),
    "of two": lambda a: np.copysign(np.float32(0.5), a.astype(np.float32) - np.float32(3)),
    "a condition": lambda a: np.signbit(a.astype(np.float32)),
    "cut": lambda a: (a.astype(np.float64) * -0.75).astype(np.int32),
    "cut to bytes": lambda a: (a.astype(np.float32) / np.float32(1.3)).astype(np.int8),
    "one after the other": lambda a: (np.tanh(a.astype(np.float64) / 64).astype(np.float32) * 127).astype(np.int64),
    "beside known numbers": lambda a: np.tanh(np.concatenate([a.astype(np.int32), np.full(3, 1, np.int32)]) / 9),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(BYTES, 3))
def test_what_a_byte_decides_is_numpys_for_each(name: str) -> None:
    assert agrees(BYTES[name], np.arange(-128, 128).astype(np.int8))


OF_MORE: dict[str, Callable[..., Any]] = {
    "two bytes": lambda a: np.exp(a[:1].astype(np.float64) + a[1:2]),
    "16 bits": lambda a: np.exp(a.view(np.int16).astype(np.float64)),
    "not a number": lambda a: np.signbit(a.astype(np.float64) / 0.0),
    "made to be none": lambda a: np.log(a.astype(np.float64)),
    "cut to what lacks it": lambda a: (a.astype(np.float64) * 1.5).astype(np.int8),
    "infinity cut": lambda a: (a.astype(np.float64) * 1e307 * 1e307).astype(np.int64),
    "cut to a condition": lambda a: (a.astype(np.float64) / 2).astype(np.bool_),
    "two results": lambda a: np.modf(a.astype(np.float64)),
}


@pytest.mark.parametrize("name", OF_MORE)
def test_what_a_byte_does_not_decide_is_refused(name: str) -> None:
    unknown = Unknown().array(np.array([-3, 0, 7, 120], np.int8))
    with np.errstate(all="ignore"), lanes_passed_on({}), pytest.raises(Untraceable, match=r"test_symbolic_floats\.py:"):
        OF_MORE[name](unknown)


UNEVEN: dict[str, Callable[[Any], bool]] = {
    "alone": lambda numbers: len(numbers) == 1,
    "apart": lambda numbers: numbers.strides[0] > numbers.itemsize,
}


@pytest.mark.parametrize("name", UNEVEN)
def test_a_function_that_makes_another_number_by_how_it_lies_is_refused(name: str) -> None:
    class Uneven:
        __name__ = "uneven"

        def __call__(self, numbers: Any) -> Any:
            return np.exp(numbers) + UNEVEN[name](numbers)

    byte, double = Read(Place("byte"), 0, 255), np.dtype("f8")
    lane = operation("from_integer", Int(8, signed=False), format_of(double))(byte)
    uneven: Any = Uneven()
    with pytest.raises(Untraceable, match=r"np\.uneven in float64 is one number in an array and another in one"):
        value_by_value(uneven, [lane], [double, double])


def test_the_input_of_many_values_is_what_would_have_to_be_known() -> None:
    byte, word = Read(Place("byte"), 0, 255), Read(Place("word"), 0, 2**16 - 1)
    lane = operation("from_integer", Int(32, signed=False), format_of(np.dtype("f8")))(byte + word)
    with pytest.raises(Untraceable) as refused:
        value_by_value(np.exp, [lane], [np.dtype("f8")] * 2)
    assert refused.value.needs == {word.place}


def proved(mode: str, function: str | None = None, source: int = 0) -> KernelProof:
    """The golden reference of one mode against the compiled function of that or another mode."""
    kernel = replace(built_in_kernel("quantized_add", mode), symbol=f"quantized_add_{function or mode}")
    builds = {mode: open_image(kernel.sources[source], kernel.symbol, "-O2", *kernel.flags)}
    given: dict[str, Any] = {"each": {}, "known": frozenset(), "seconds": 10, "jobs": 1, "kept_in": None}
    return Prover(kernel, builds, shapes_of(kernel, [1, 17]), **given).run()


MODES = ("neon_ties_away", "neon_ties_away_unfused", "neon_ties_even", "neon_ties_even_unfused", "base")


@pytest.mark.parametrize("mode", MODES)
def test_a_build_is_proved_whatever_bytes_factors_and_constant_are(mode: str) -> None:
    found = proved(mode)
    assert (found.outcome, found.builds[0].proved) == ("proved", 18)
    assert not {"folded.a_factor", "folded.b_factor", "folded.constant", "a", "b"} & found.known


@pytest.mark.slow
@pytest.mark.parametrize("function", [mode for mode in MODES if mode != "neon_ties_even"])
def test_contraction_rounding_and_precision_are_no_details(function: str) -> None:
    wanted = ("counter-example",) if function.startswith("neon_ties_away") else ("counter-example", "unknown")
    assert proved("neon_ties_even", function).outcome in wanted


@pytest.mark.slow
def test_operations_that_differ_are_named() -> None:
    (failure, *_) = proved("neon_ties_even", source=1).builds[0].failures
    assert failure.outcome == "unknown"
    assert "maximum_number f32->f32" in failure.reason
    assert "to_integer f32->s32 to even" in failure.reason
