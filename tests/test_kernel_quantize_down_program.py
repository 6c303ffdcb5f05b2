"""quantize_down in intrinsics against the golden reference and against the numbers of docs/spec/quantize_down.md."""

import numpy as np
import numpy.typing as npt
import pytest

from isa.acle.program import current_program
from isa.intrinsics import ElementPointer, Program
from sim import Memory, MemoryFault
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array
from sim.kernels.quantize_down.golden import Parameters, effective_bounds, quantize_down
from sim.kernels.quantize_down.program import quantize_row, run

ACCUMULATORS, BIAS, OUTPUT = 0x10000, 0x20000, 0x30000
SIZE = 0x8000
UPSTREAM = Parameters(254601600, 1, 2)
CORNERS = [INT32_MIN, INT32_MIN + 1, -(2**30), -25, -2, -1, 0, 1, 2, 25, 2**30, INT32_MAX - 1, INT32_MAX]
PARAMETERS = [
    UPSTREAM,
    Parameters(254601601, 1, 2, 1, 171),
    Parameters(2**30, 1, 128),
    Parameters(INT32_MIN, 23, 0),
    Parameters(INT32_MAX, 0, 0),
    Parameters(2**30, 0, INT32_MAX),
    Parameters(INT32_MAX, 31, 3, 2, 200),
    Parameters(-1518500250, 24, 100),
]
VECTORS = {
    INT32_MIN: 0, -12000: 0, -30: 0, -26: 0, -25: 0, -17: 1, -9: 1, -8: 1, -5: 1, -4: 2, -1: 2, 0: 2, 1: 2, 4: 2,
    5: 3, 8: 3, 9: 3, 13: 3, 25: 4, 2134: 129, 2143: 129, 6000: 255, INT32_MAX: 255,
}  # fmt: skip
"""Accumulator to output with the parameters `UPSTREAM` (docs/spec/quantize_down.md section 10)."""


def memory_with(accumulators: Int32Array, bias: Int32Array | None) -> Memory:
    memory = Memory()
    for address in (ACCUMULATORS, BIAS, OUTPUT):
        memory.map(address, SIZE)
    memory.write(ACCUMULATORS, accumulators.tobytes())
    memory.write(BIAS, b"" if bias is None else bias.tobytes())
    return memory


def executed(
    accumulators: Int32Array, bias: Int32Array | None, parameters: Parameters
) -> tuple[npt.NDArray[np.uint8], Program, Memory]:
    memory = memory_with(accumulators, bias)
    program = run(
        memory,
        ElementPointer(ACCUMULATORS, "int32"),
        None if bias is None else ElementPointer(BIAS, "int32"),
        ElementPointer(OUTPUT, "uint8"),
        accumulators.shape,
        parameters.multiplier,
        parameters.shift,
        parameters.offset,
        *effective_bounds(parameters),
    )
    data = memory.read(OUTPUT, accumulators.size)
    return np.frombuffer(data, np.uint8).reshape(accumulators.shape), program, memory


def outputs(accumulators: Int32Array, bias: Int32Array | None, parameters: Parameters) -> npt.NDArray[np.uint8]:
    return executed(accumulators, bias, parameters)[0]


def random_int32(seed: int, *shape: int) -> Int32Array:
    """Accumulators of every magnitude, so that all of 0..255 and both clamps come out."""
    generator = np.random.default_rng(seed)
    whole = generator.integers(INT32_MIN, INT32_MAX + 1, shape)
    return (whole >> generator.integers(0, 31, shape)).astype(np.int32)


@pytest.mark.parametrize("length", range(41))
@pytest.mark.parametrize("with_bias", [False, True])
def test_rows_of_every_length_equal_the_golden_reference(length: int, with_bias: bool) -> None:
    accumulators = random_int32(length, length)
    bias = random_int32(length + 100, length) if with_bias else None
    parameters = PARAMETERS[length % len(PARAMETERS)]
    assert np.array_equal(outputs(accumulators, bias, parameters), quantize_down(accumulators, bias, parameters))


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("repeats", [1, 16], ids=["one at a time", "sixteen lanes"])
def test_corner_values_equal_the_golden_reference(parameters: Parameters, repeats: int) -> None:
    accumulators = np.array(CORNERS * repeats, np.int32)
    assert np.array_equal(outputs(accumulators, None, parameters), quantize_down(accumulators, None, parameters))


@pytest.mark.parametrize("shift", range(32))
def test_every_shift_equals_the_golden_reference(shift: int) -> None:
    accumulators = np.concatenate([np.array(CORNERS, np.int32), random_int32(shift, 21)])
    parameters = Parameters(1518500250, shift, 128)
    assert np.array_equal(outputs(accumulators, None, parameters), quantize_down(accumulators, None, parameters))


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("shape", [(19,), (3, 17), (2, 3, 5), (1, 1, 16), (4, 0), (0, 4), (0,)], ids=str)
def test_arrays_of_any_rank_equal_the_golden_reference(shape: tuple[int, ...], with_bias: bool) -> None:
    accumulators = random_int32(7, *shape)
    bias = random_int32(8, shape[-1]) if with_bias else None
    assert np.array_equal(outputs(accumulators, bias, UPSTREAM), quantize_down(accumulators, bias, UPSTREAM))


@pytest.mark.parametrize("length", [16, 1])
@pytest.mark.parametrize(("accumulator", "expected"), VECTORS.items())
def test_the_plain_vectors_of_the_specification(accumulator: int, expected: int, length: int) -> None:
    assert set(outputs(np.full(length, accumulator, np.int32), None, UPSTREAM).tolist()) == {expected}


@pytest.mark.parametrize("length", [16, 1])
def test_ties_go_away_from_zero_in_the_shift(length: int) -> None:
    """-2 x 0.5 is -1, and -1 / 2 is a tie: -1, where ties up would give 0 (docs/spec/quantize_down.md section 5)."""
    assert outputs(np.full(length, -2, np.int32), None, Parameters(2**30, 1, 10))[0] == 9


@pytest.mark.parametrize("length", [16, 1])
def test_ties_go_up_in_the_multiply(length: int) -> None:
    assert outputs(np.full(length, -1, np.int32), None, Parameters(2**30, 0, 10))[0] == 10


@pytest.mark.parametrize("length", [16, 1])
def test_the_offset_wraps(length: int) -> None:
    assert outputs(np.full(length, 10, np.int32), None, Parameters(2**30, 0, INT32_MAX))[0] == 0


@pytest.mark.parametrize("length", [16, 1])
def test_the_bias_wraps(length: int) -> None:
    accumulators, bias = np.full(length, INT32_MAX, np.int32), np.full(length, 1, np.int32)
    assert outputs(accumulators, bias, Parameters(INT32_MAX, 24, 200))[0] == 200 - 128


@pytest.mark.parametrize("length", range(1, 41))
def test_nothing_is_written_past_the_row(length: int) -> None:
    memory = executed(random_int32(1, length), None, UPSTREAM)[2]
    assert memory.read(OUTPUT + length, 64) == bytes(64)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 40])
def test_nothing_is_read_past_the_row(length: int) -> None:
    """The row ends where the mapped memory ends."""
    memory = memory_with(np.zeros(0, np.int32), None)
    start = ElementPointer(ACCUMULATORS + SIZE - 4 * length, "int32")
    run(memory, start, None, ElementPointer(OUTPUT, "uint8"), (length,), 2**30, 0, 77, 0, 255)
    assert memory.read(OUTPUT, length) == bytes([77] * length)


def test_two_runs_give_the_same_listing() -> None:
    accumulators, bias = random_int32(3, 2, 21), random_int32(4, 21)
    first, second = (executed(accumulators, bias, UPSTREAM)[1] for _ in range(2))
    assert first.listing() == second.listing()


def test_the_listing_does_not_depend_on_the_data() -> None:
    zeros, others = (executed(values, None, UPSTREAM)[1] for values in (np.zeros(33, np.int32), random_int32(5, 33)))
    assert zeros.listing() == others.listing()


def test_a_block_of_sixteen_is_made_of_the_instructions_of_the_kernel() -> None:
    mnemonics = [i.form.mnemonic for i in executed(np.zeros(16, np.int32), None, UPSTREAM)[1].instructions]
    counts = {name: mnemonics.count(name) for name in ("ldr", "sqrdmulh", "srshl", "sqxtn", "sqxtun", "str")}
    assert counts == {"ldr": 4, "sqrdmulh": 4, "srshl": 4, "sqxtn": 4, "sqxtun": 2, "str": 1}


def test_a_row_where_nothing_is_mapped_faults() -> None:
    memory = memory_with(np.zeros(0, np.int32), None)
    with pytest.raises(MemoryFault):
        run(memory, ElementPointer(0x90000, "int32"), None, ElementPointer(OUTPUT, "uint8"), (16,), 1, 0, 0, 0, 255)


def test_a_fault_leaves_no_current_program() -> None:
    with pytest.raises(MemoryFault):
        run(Memory(), ElementPointer(0, "int32"), None, ElementPointer(0, "uint8"), (1,), 1, 0, 0, 0, 255)
    assert current_program() is None


@pytest.mark.parametrize("shift", [-1, 32])
def test_a_shift_outside_of_0_to_31_is_refused(shift: int) -> None:
    with Program(Memory()), pytest.raises(ValueError, match=f"shift is {shift}: the kernel divides by 2"):
        quantize_row(ElementPointer(0, "int32"), None, ElementPointer(0, "uint8"), 0, 1, shift, 0, 0, 255)


def test_a_shape_without_axes_is_refused() -> None:
    with pytest.raises(ValueError, match="give at least one axis"):
        run(Memory(), ElementPointer(0, "int32"), None, ElementPointer(0, "uint8"), (), 1, 0, 0, 0, 255)


@pytest.mark.parametrize(("accumulators", "output"), [("uint32", "uint8"), ("int32", "int8")])
def test_pointers_of_other_dtypes_are_refused(accumulators: str, output: str) -> None:
    memory = memory_with(np.zeros(16, np.int32), None)
    with pytest.raises(TypeError, match="takes a pointer to"):
        run(
            memory,
            ElementPointer(ACCUMULATORS, accumulators),
            None,
            ElementPointer(OUTPUT, output),
            (16,),
            1,
            0,
            0,
            0,
            255,
        )
