"""Blame: where the bytes of an output lane came from, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isa import intrinsics as neon
from isa.intrinsics import ElementPointer, Program, VectorValue
from sim import Memory
from sim.call.call import Recorded
from sim.check.blame import Calibration, Lineage, find_parting
from sim.check.check import Job, check_job
from sim.check.origin import LaneOrigin, origin_of
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from support.sampled import sampled

FIRST, SECOND, OUTPUT = 0x10000, 0x20000, 0x30000
ELEMENTS = {"a": frozenset([FIRST]), "b": frozenset([SECOND])}
Binary = Callable[[VectorValue, VectorValue], VectorValue]
ADD = replace(built_in_kernel("quantized_add", "tflite"), conventions={})
"""Steps that end in many zeros and are mostly twice or half of each other; there is no need to explain its faults."""
MULTIPLIED_DOWN = """
    const int32x4_t high = vqdmulhq_n_s32(vshlq_s32(difference, left_shift), by.multiplier);
    return vrshlq_s32(vqaddq_s32(high, vshrq_n_s32(vandq_s32(high, by.shift), 31)), by.shift);
"""


def origin(function: Binary, lane: int, a: list[int], b: list[int]) -> LaneOrigin:
    """Where lane `lane` of a function of two int32x4 came from."""
    memory = Memory()
    for address, values in ((FIRST, a), (SECOND, b), (OUTPUT, [0] * 4)):
        memory.map(address, 4096)
        memory.write(address, np.array(values, np.int32).tobytes())
    with Program(memory) as program:
        loaded = (neon.vld1q_s32(ElementPointer(address, "int32")) for address in (FIRST, SECOND))
        neon.vst1q_s32(ElementPointer(OUTPUT, "int32"), function(*loaded))
    return origin_of([Recorded(None, occurrence) for occurrence in program.trace], OUTPUT + 4 * lane, 4)


def elements(found: LaneOrigin) -> list[str]:
    """The elements whose first byte is among the origins."""
    names = {address: name for base, name in ((FIRST, "a"), (SECOND, "b")) for address in range(base, base + 16, 4)}
    return [f"{names[address]}{address % 4096 // 4}" for address in found.memory if address in names]


def table_of_bytes(a: VectorValue, b: VectorValue) -> VectorValue:
    """The bytes of `a` that `b` names."""
    looked_up = neon.vqtbl1q_u8(neon.vreinterpretq_u8_s32(a), neon.vreinterpretq_u8_s32(b))
    result: VectorValue = neon.vreinterpretq_s32_u8(looked_up)
    return result


def narrowed_and_widened(a: VectorValue, b: VectorValue) -> VectorValue:
    result: VectorValue = neon.vmovl_high_s16(neon.vcombine_s16(neon.vqmovn_s32(a), neon.vqmovn_s32(b)))
    return result


@pytest.mark.parametrize(
    ("function", "lane", "expected"),
    [
        (neon.vaddq_s32, 2, ["a2", "b2"]),
        (lambda a, b: neon.vextq_s32(a, b, 3), 1, ["b0"]),
        (neon.vzip1q_s32, 3, ["b1"]),
        (lambda a, b: neon.vrev64q_s32(a), 0, ["a1"]),
        (neon.vpaddq_s32, 1, ["a2", "a3"]),
        (lambda a, b: neon.vdupq_laneq_s32(b, 2), 0, ["b2"]),
        (narrowed_and_widened, 1, ["b1"]),
        (lambda a, b: neon.vmlaq_s32(a, b, b), 0, ["a0", "b0"]),
    ],
    ids=["add", "ext", "zip", "rev", "pairwise", "lane", "narrow and widen", "accumulate"],
)
def test_a_lane_comes_from_the_elements_that_were_combined_in_it(
    function: Binary, lane: int, expected: list[str]
) -> None:
    assert elements(origin(function, lane, [1, 2, 3, 4], [5, 6, 7, 8])) == expected


def test_a_table_lookup_comes_from_the_byte_it_took_and_from_its_index() -> None:
    found = origin(table_of_bytes, 0, [1, 2, 3, 4], [0x0F0E0D0C, 0, 0, 0])
    assert elements(found) == ["a3", "b0"]


def test_a_lane_that_was_not_written_comes_from_itself() -> None:
    assert origin_of([], OUTPUT, 4).memory == tuple(range(OUTPUT, OUTPUT + 4))


def lineage(function: Binary, steps: dict[str, int]) -> Lineage:
    inputs = {"a": FIRST, "b": SECOND}
    found = origin(function, 0, [10, 0, 0, 0], [4, 0, 0, 0])
    return Lineage(address=OUTPUT, origin=found, steps=steps, inputs=inputs, arrays=ELEMENTS)


@pytest.mark.parametrize(("step", "is_own"), [("a", True), ("b", False)])
def test_a_lane_is_its_own_where_the_inputs_that_are_steps_reached_it(step: str, is_own: bool) -> None:
    assert lineage(lambda a, b: neon.vnegq_s32(a), {step: 10}).is_own is is_own


def right_lineage(found: LaneOrigin, difference: int, arrays: Mapping[str, frozenset[int]]) -> Lineage:
    return Lineage(address=OUTPUT, origin=found, steps={"difference": difference}, inputs={}, arrays=arrays)


@pytest.mark.parametrize(("behind", "parts_at"), [({"same": 6}, "same"), ({}, "difference")])
def test_a_lane_whose_steps_all_appear_parts_behind_the_last_one_that_was_computed(
    behind: dict[str, int], parts_at: str
) -> None:
    steps = {"a": 10, "b": 4, "difference": 6, **behind}
    parted = find_parting(lineage(lambda a, b: neon.vnegq_s32(neon.vsubq_s32(a, b)), steps), Calibration())
    assert parted is not None
    assert parted.node is not None
    assert (parted.step, parted.golden, parted.node.value - (1 << 32)) == (parts_at, 6, -6)


def test_a_lane_parts_at_the_first_step_that_is_missing() -> None:
    found = lineage(lambda a, b: neon.vnegq_s32(neon.vsubq_s32(a, b)), {"a": 10, "difference": 6, "absolute": 6 * 7})
    parted = find_parting(found, Calibration())
    assert parted is not None
    assert (parted.step, parted.agreed) == ("absolute", ("a", "difference"))


def test_the_instruction_after_the_last_agreeing_step_is_named() -> None:
    found = lineage(lambda a, b: neon.vnegq_s32(neon.vsubq_s32(a, b)), {"a": 10, "difference": 6, "absolute": 6 * 7})
    parted = find_parting(found, Calibration())
    assert parted is not None
    assert parted.node is not None
    assert parted.node.recorded.occurrence.instruction.form.name == "neg .4s,.4s"


def test_a_step_is_looked_for_behind_those_of_its_own_branch() -> None:
    steps = {"negated": -10, "doubled": 8, "sum": -99}
    found = lineage(lambda a, b: neon.vaddq_s32(neon.vnegq_s32(a), neon.vshlq_n_s32(b, 1)), steps)
    depends = {"negated": frozenset("a"), "doubled": frozenset("b"), "sum": frozenset("ab")}
    chain, graph = find_parting(found, Calibration()), find_parting(found, Calibration(), depends)
    assert chain is not None
    assert graph is not None
    assert (chain.step, graph.step) == ("doubled", "sum")


@pytest.mark.parametrize(("others", "learned"), [((10, 10), False), ((11, 12), True)])
def test_of_a_step_that_had_one_value_in_all_right_lanes_nothing_is_learned(
    others: tuple[int, int], learned: bool
) -> None:
    origins = [(a, origin(neon.vsubq_s32, 0, [a, 0, 0, 0], [4, 0, 0, 0])) for a in others]
    right = [right_lineage(found, a - 4, ELEMENTS) for a, found in origins]
    calibration = Calibration.of(right, lineage(neon.vsubq_s32, {"a": 10, "difference": 7}))
    assert ("difference" in calibration.makers) is learned


def test_nothing_is_learned_from_a_right_lane_that_came_from_fewer_arrays() -> None:
    """Such as a bound that a branch chose, which passed through the same last instruction."""
    six = origin(lambda a, b: neon.vsubq_s32(neon.vdupq_n_s32(8), neon.vdupq_n_s32(2)), 0, [0] * 4, [0] * 4)
    right = [right_lineage(six, of, {}) for of in (700, 900)]
    calibration = Calibration.of(right, lineage(neon.vsubq_s32, {"a": 10, "difference": 7}))
    assert calibration == Calibration(reads=False)
    assert find_parting(replace(right[0], steps={"a": 1, "b": 2}, inputs={"a": FIRST}), Calibration()) is None
    assert find_parting(replace(right[0], steps={"a": 1, "b": 2}, inputs={"a": FIRST}), calibration) is not None


def test_of_a_bound_a_constant_that_is_the_number_of_a_step_is_not_that_step() -> None:
    def function(a: VectorValue, b: VectorValue) -> VectorValue:
        negated: VectorValue = neon.vnegq_s32(neon.vsubq_s32(a, b))
        result: VectorValue = neon.vaddq_s32(negated, neon.vaddq_s32(neon.vdupq_n_s32(2), neon.vdupq_n_s32(4)))
        return result

    parted = find_parting(replace(lineage(function, {"difference": 6, "twice": 12}), is_bound=True), Calibration())
    assert parted is not None
    assert parted.node is not None
    assert parted.node.recorded.occurrence.instruction.form.mnemonic == "neg"


def test_an_input_that_was_not_read_is_where_a_lane_parts() -> None:
    found = lineage(lambda a, b: neon.vaddq_s32(a, a), {"a": 10, "b": 4, "sum": 14})
    parted = find_parting(found, Calibration())
    assert parted is not None
    assert parted.step == "b"


@pytest.mark.parametrize(("step", "may_be_held"), [(0, True), (-252 << 20, False), (1 << 8, False)])
def test_zeros_in_a_narrow_lane_say_nothing_of_a_number_that_ends_in_them(step: int, may_be_held: bool) -> None:
    beyond_the_table = origin(table_of_bytes, 0, [1, 2, 3, 4], [0x7F7F7F7F, 0, 0, 0])
    assert {node.ends(step) for node in beyond_the_table.nodes} == {may_be_held}


@pytest.mark.parametrize(
    ("held", "value", "ends"),
    [
        (0x8000_0000, -(1 << 31), True),
        (0xFFFF_FFFF, (1 << 32) - 1, True),
        (0x8000_0001, 1, False),
        (0x8000_0000, -(1 << 31) - (1 << 32), False),
    ],
)
def test_of_a_lane_of_64_bits_the_whole_low_word_is_enough_for_a_number_that_fits_a_word(
    held: int, value: int, ends: bool
) -> None:
    (node, *_) = origin(table_of_bytes, 0, [1, 2, 3, 4], [0, 0, 0, 0]).nodes
    assert replace(node, bits=64, value=held).ends(value) is ends


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "right", "wrong", "step"),
    sampled(
        [
            ("tflite.c", "scale_of(a_offset", "scale_of(-a_offset", "a offset"),
            ("tflite.c", "total = vaddq_s32(place", "total = vhaddq_s32(place", "sum"),
            ("tflite.c", "return rescale(vshlq_s32(difference, left_shift), by);", MULTIPLIED_DOWN, "a multiply"),
            ("tflite_plain.c", "INT32_C(1) << left_shift", "(INT32_C(1) << left_shift) / 2", "a left shift"),
        ],
        3,
    ),
    ids=["sign of the offset", "halved sum", "operands multiplied down", "shifted by one less"],
)
def test_steps_that_are_shifts_of_each_other_are_told_apart(
    source: str, right: str, wrong: str, step: str, tmp_path: Path
) -> None:
    text = next(file for file in ADD.sources if file.name == source).read_text()
    assert text.count(right) == 1
    (tmp_path / source).write_text(text.replace(right, wrong))
    job, vectors = Job(tmp_path / source, ("-O1",)), make_vectors(ADD, 0, seed=1)
    mismatch = check_job(ADD, job, vectors, lambda _: None, engine="machine").mismatch
    assert mismatch is not None
    assert mismatch.parted_at == step
