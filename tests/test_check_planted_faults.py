"""Faults planted in copies of the kernel: each is caught, and placed at the golden step where it parts.

Here each at one optimisation level; `tests/long/long_planted_faults.py` plants each at every level.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from sim.check.check import Job, check_job
from sim.check.report import Mismatch, Outcome
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import quantize_down
from sim.kernels.kernel import Kernel
from sim.toolchain.levels import LEVELS
from support.sampled import sampled

FOLDER = Path(quantize_down.__file__).parent
KERNEL = quantize_down.KERNEL


class Fault(NamedTuple):
    """A text of the source replaced by another, and the golden step at which outputs then part."""

    name: str
    source: str
    old: str
    new: str
    step: str


C_FAULTS = (
    Fault("shift_fix_up_left_out", "kernel.c", "vrshlq_s32(vqaddq_s32(value, fix), minus_shift)",
          "vrshlq_s32(value, minus_shift)", "shift"),
    Fault("shift_does_not_round", "kernel.c", "vrshlq_s32(vqaddq_s32(value, fix), minus_shift)",
          "vshlq_s32(value, minus_shift)", "shift"),
    Fault("multiply_does_not_round", "kernel.c", "value = vqrdmulhq_n_s32(value, multiplier);",
          "value = vqdmulhq_n_s32(value, multiplier);", "multiply"),
    Fault("offset_saturates", "kernel.c", "vaddq_s32(divide_by_power_of_two(value, minus_shift), offsets)",
          "vqaddq_s32(divide_by_power_of_two(value, minus_shift), offsets)", "offset"),
    Fault("narrowing_to_16_bits_wraps", "kernel.c", "vqmovn_s32(part[1])", "vmovn_s32(part[1])", "clamp"),
    Fault("narrowing_to_8_bits_wraps", "kernel.c", "vqmovun_s16(low)",
          "vmovn_u16(vreinterpretq_u16_s16(low))", "clamp"),
    Fault("upper_bound_left_out", "kernel.c", "vminq_u8(vmaxq_u8(bytes, vdupq_n_u8(lower)), vdupq_n_u8(upper))",
          "vmaxq_u8(bytes, vdupq_n_u8(lower))", "bounds"),
    Fault("halves_swapped", "kernel.c", "vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]))",
          "vcombine_s16(vqmovn_s32(part[1]), vqmovn_s32(part[0]))", "accumulators"),
    Fault("two_lanes_swapped", "kernel.c", "part[k] = vmaxq_s32(value, vdupq_n_s32(0));",
          "part[k] = k == 2 ? vrev64q_s32(vmaxq_s32(value, vdupq_n_s32(0))) : vmaxq_s32(value, vdupq_n_s32(0));",
          "accumulators"),
    Fault("tail_stops_one_early", "kernel.c", "for (; i < length; ++i)", "for (; i + 1 < length; ++i)", "accumulators"),
    Fault("tail_starts_one_late", "kernel.c", "for (; i < length; ++i)", "for (++i; i < length; ++i)", "accumulators"),
    Fault("wrong_load_offset", "kernel.c", "const size_t at = i + 4 * k;", "const size_t at = i + 4 * (k ^ (k == 3));",
          "accumulators"),
    Fault("wrong_bias_offset", "kernel.c", "bias ? bias + at : NULL", "bias ? bias + at - (at > 3) : NULL", "bias"),
    Fault("plain_shift_ties_up", "kernel_plain.c", "(mask >> 1) + (value < 0)", "(mask >> 1)", "shift"),
    Fault("plain_multiply_nudge", "kernel_plain.c", "(INT64_C(1) << 30)", "(INT64_C(1) << 29)", "multiply"),
    Fault("plain_clamp_wraps", "kernel_plain.c", "clamp(clamp(placed, 0, 255), lower, upper)",
          "clamp(placed & 255, lower, upper)", "clamp"),
)  # fmt: skip

PROGRAM_FAULTS = (
    Fault("shift_fix_up_left_out", "program.py", "vrshlq_s32(vqaddq_s32(value, fix), minus_shift)",
          "vrshlq_s32(value, minus_shift)", "shift"),
    Fault("saturation_wraps", "program.py", "vcombine_s16(vqmovn_s32(vectors[2]), vqmovn_s32(vectors[3]))",
          "vcombine_s16(vmovn_s32(vectors[2]), vqmovn_s32(vectors[3]))", "clamp"),
    Fault("halves_swapped", "program.py", "vcombine_s16(vqmovn_s32(vectors[0]), vqmovn_s32(vectors[1]))",
          "vcombine_s16(vqmovn_s32(vectors[1]), vqmovn_s32(vectors[0]))", "accumulators"),
    Fault("tail_stops_one_early", "program.py", "for i in range(end, length):", "for i in range(end, length - 1):",
          "accumulators"),
    Fault("wrong_load_offset", "program.py", "for at in range(0, stored.columns, LANES)]",
          "for at in (min(at, 2 * LANES) for at in range(0, stored.columns, LANES))]", "accumulators"),
)  # fmt: skip


@cache
def vectors() -> Vectors:
    return make_vectors(KERNEL, 300, seed=1)


def faulty_text(fault: Fault) -> str:
    text = (FOLDER / fault.source).read_text()
    assert fault.old in text, f"{fault.source} no longer contains the text that {fault.name} replaces"
    return text.replace(fault.old, fault.new)


def outcome_of_c(fault: Fault, level: str, folder: Path) -> Outcome:
    source = folder / f"{fault.name}.c"
    source.write_text(faulty_text(fault))
    return check_job(KERNEL, Job(source, (f"-{level}",)), vectors(), lambda _: None)


@cache
def mismatch_in_turn(name: str) -> Mismatch:
    """Of the fault of that name in C, at its level."""
    fault, level = next(each for each in IN_TURN if each[0].name == name)
    with TemporaryDirectory() as folder:
        return mismatch_of(outcome_of_c(fault, level, Path(folder)))


def outcome_of_program(fault: Fault, folder: Path) -> Outcome:
    source = folder / f"{fault.name}.py"
    source.write_text(faulty_text(fault).replace("    vmaxq_s32,", "    vmaxq_s32,\n    vmovn_s32,"))
    spec = importlib.util.spec_from_file_location(f"planted_{fault.name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Kernel = replace(KERNEL, program=module.quantize_row)
    return check_job(kernel, Job(None, ()), vectors(), lambda _: None)


def mismatch_of(outcome: Outcome) -> Mismatch:
    assert outcome.mismatch is not None, f"the fault was not caught: {outcome.failure or 'no failure'}"
    return outcome.mismatch


IN_TURN = [(fault, LEVELS[number % len(LEVELS)]) for number, fault in enumerate(C_FAULTS)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", sampled(C_FAULTS, 3), ids=[f"{fault.name}-{level}" for fault, level in IN_TURN])
def test_fault_in_c_is_placed_at_its_step(fault: Fault) -> None:
    assert mismatch_in_turn(fault.name).parted_at == fault.step


@pytest.mark.slow
@pytest.mark.parametrize("fault", PROGRAM_FAULTS, ids=lambda fault: fault.name)
def test_fault_in_program_is_placed_at_its_step(fault: Fault, tmp_path: Path) -> None:
    assert mismatch_of(outcome_of_program(fault, tmp_path)).parted_at == fault.step


def test_the_lane_named_is_one_that_differs() -> None:
    """The swapped lanes are those of the third quarter of a block of sixteen."""
    mismatch = mismatch_in_turn("two_lanes_swapped")
    assert (mismatch.output, mismatch.lane[0] % 16 // 4) == ("output", 2)


@pytest.mark.slow
def test_the_line_named_is_the_planted_one(tmp_path: Path) -> None:
    fault = C_FAULTS[2]
    line = faulty_text(fault).splitlines().index(f"            {fault.new}") + 1
    assert mismatch_of(outcome_of_c(fault, "O0", tmp_path)).source == f"{fault.name}.c:{line}"


def test_the_elements_that_reached_a_swapped_lane_are_named() -> None:
    mismatch = mismatch_in_turn("halves_swapped")
    wanted = mismatch.lane[0] ^ 4
    assert mismatch.came_from[0] == f"accumulators[{wanted}]"


def test_a_lane_that_was_never_written_is_called_so() -> None:
    assert mismatch_in_turn("tail_stops_one_early").came_from == ("nothing: it was never written",)


@pytest.mark.slow
def test_a_kernel_that_floors_is_recognised_as_the_page_convention(tmp_path: Path) -> None:
    text = (FOLDER / "kernel_plain.c").read_text()
    source = tmp_path / "floors.c"
    source.write_text(text.replace("(value >> shift) + ((value & mask) > threshold)", "value >> shift"))
    outcome = check_job(KERNEL, Job(source, ("-O1",)), vectors(), lambda _: None)
    assert mismatch_of(outcome).conventions == ("page",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vst1q_u8(output + i,", "vst1q_u8(output + i + 16,", "over-write: "),
        ("i + 16 <= length", "i < length", "over-"),
        ("output[i] = clamp", "((uint8_t *)accumulators)[i] = clamp", "write to input: "),
    ],
)
def test_an_access_outside_of_the_arrays_is_found_with_its_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    source = tmp_path / "kernel.c"
    source.write_text((FOLDER / "kernel.c").read_text().replace(old, new))
    outcome = check_job(KERNEL, Job(source, ("-O0",)), vectors(), lambda _: None)
    assert message in outcome.failure
    assert "(kernel.c:" in outcome.failure


def test_a_source_that_does_not_compile_fails_with_the_compilers_words_and_has_compared_nothing(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text("int broken(;\n")
    outcome = check_job(KERNEL, Job(source, ("-O2",)), vectors(), lambda _: None)
    assert "expected" in outcome.failure
    assert (outcome.vectors, outcome.lanes_compared, outcome.instructions, outcome.qc_events) == (0, 0, 0, 0)


def test_a_symbol_that_is_no_function_fails_in_one_sentence(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text("int quantize_down = 3;\n")
    failure = check_job(KERNEL, Job(source, ("-O2",)), vectors(), lambda _: None).failure
    assert "'quantize_down'" in failure
    assert "is not a function" in failure


def test_a_program_that_refuses_its_arguments_fails_with_its_words() -> None:
    def refusing(**arguments: object) -> None:
        raise ValueError("shift is 99: the kernel divides by 2^shift for 0..31")

    kernel = replace(KERNEL, program=refusing)
    assert "shift is 99" in check_job(kernel, Job(None, ()), vectors(), lambda _: None).failure


def test_a_call_through_a_null_pointer_fails_at_its_line(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text("void quantize_down(void)\n{\n    ((void (*)(void))0)();\n}\n")
    assert "cannot execute" in check_job(KERNEL, Job(source, ("-O0",)), vectors(), lambda _: None).failure


def test_an_endless_loop_is_stopped(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text((FOLDER / "kernel.c").read_text().replace("for (; i < length; ++i)", "for (;; i ^= 1)"))
    job = Job(source, ("-O1",))
    said = check_job(KERNEL, job, vectors(), lambda _: None, max_instructions=10_000).failure
    assert "goes round kernel.c:63" in said
