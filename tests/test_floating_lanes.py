"""Checks of floating-point outputs and steps: when lanes are equal, how they are shown, where blame places a fault."""

from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.compare import as_value
from sim.check.origin import bits_of
from sim.check.report import Mismatch
from sim.check.vectors import make_vectors
from sim.golden.floating_point import Float32Array
from sim.kernels import Kernel, quantized_add
from sim.kernels.tolerance import agreement
from support.sampled import sampled

FOLDER = Path(quantized_add.__file__).parent
KERNEL, FLOATS = quantized_add.MODES["neon_ties_away"], quantized_add.MODES["u8_f32_to_f32"]


def float32(*values: float) -> Float32Array:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        (1.0, 1.0, True),
        (1.0, np.nextafter(np.float32(1), np.float32(2)), False),
        (0.0, -0.0, False),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.nan, np.nan, True),
        (np.nan, 0.0, False),
        (0.0, np.nan, False),
    ],
)
def test_floating_point_lanes_are_equal_by_their_bits(got: float, expected: float, equal: bool) -> None:
    assert agreement(float32(got), float32(expected)).tolist() == [equal]


def test_which_nan_it_is_does_not_matter() -> None:
    quiet, negative = np.array([0x7FC00000], np.uint32), np.array([0xFFC12345], np.uint32)
    assert agreement(quiet.view(np.float32), negative.view(np.float32)).all()


def test_integers_are_equal_by_their_numbers() -> None:
    assert agreement(np.array([1, 2], np.uint8), np.array([1, 3], np.uint8)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (np.float32(0.1), "0.1 (0x3dcccccd)"),
        (np.float32(-0.0), "-0.0 (0x80000000)"),
        (np.float32(np.nan), "nan (0x7fc00000)"),
        (np.float64(0.1), "0.1 (0x3fb999999999999a)"),
        (np.float16(1), "1.0 (0x3c00)"),
    ],
)
def test_a_floating_point_number_is_reported_with_its_bits(number: np.floating, text: str) -> None:
    assert as_value(number) == text


def test_an_integer_is_reported_as_it_is() -> None:
    assert as_value(np.uint8(7)) == 7


@pytest.mark.parametrize("bits", [0, 0x80000000, 0x3DCCCCCD, 0xFF800000])
def test_floating_point_steps_are_looked_for_by_their_bits(bits: int) -> None:
    assert bits_of(np.uint32(bits).view(np.float32)) == bits


def test_every_nan_is_looked_for_as_the_default_one() -> None:
    assert bits_of(np.uint32(0xFFC00001).view(np.float32)) == 0x7FC00000


FAULTS = (
    ("wrong_addend", "kernel.c", KERNEL, "vfmaq_f32(vfmaq_f32(by.constant, a, by.a_factor), b, by.b_factor)",
     "vfmaq_f32(vfmaq_f32(by.a_factor, a, by.a_factor), b, by.b_factor)", "first", "fmla"),
    ("not_fused", "kernel.c", KERNEL, "vfmaq_f32(vfmaq_f32(by.constant, a, by.a_factor), b, by.b_factor)",
     "vmlaq_f32(vfmaq_f32(by.constant, a, by.a_factor), b, by.b_factor)", "sum", "fadd"),
    ("half_subtracted", "kernel.c", KERNEL, "vaddq_f32(value, half), vsubq", "vsubq_f32(value, half), vsubq", "half",
     "fadd"),
    ("converted_to_nearest", "kernel.c", KERNEL, "vcvtq_s32_f32(vbslq", "vcvtnq_s32_f32(vbslq", "round", "fcvtns"),
    ("zero_point_forgotten", "generic.c", FLOATS, "vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(values)), by.zero)",
     "vreinterpretq_s32_u32(vmovl_u16(values))", "difference", ""),
    ("scaled_twice", "generic.c", FLOATS, "vmulq_f32(vcvtq_f32_s32(difference), by.scale)",
     "vmulq_f32(vcvtq_f32_s32(difference), vmulq_f32(by.scale, by.scale))", "real", ""),
    ("subtracted", "generic.c", FLOATS, "vaddq_f32(a.val[0], b.val[0]), high = vaddq_f32(a.val[1], b.val[1])",
     "vsubq_f32(a.val[0], b.val[0]), high = vsubq_f32(a.val[1], b.val[1])", "sum", "fsub"),
)  # fmt: skip


def mismatch_of(name: str, source: str, kernel: Kernel, old: str, new: str, folder: Path) -> Mismatch:
    text = (FOLDER / source).read_text()
    assert old in text, f"{source} no longer contains the text that {name} replaces"
    planted = folder / f"{name}.c"
    planted.write_text(text.replace(old, new))
    outcome = check_job(
        kernel, Job(planted, ("-O2",)), make_vectors(kernel, 300, seed=1), lambda _: None, engine="machine"
    )
    assert outcome.mismatch is not None, f"the fault was not caught: {outcome.failure or 'no failure'}"
    return outcome.mismatch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "kernel", "old", "new", "step", "instruction"),
    sampled(FAULTS, 3),
    ids=lambda value: str(value)[:20],
)
def test_a_fault_is_placed_at_its_step_and_instruction(
    name: str,
    source: str,
    kernel: Kernel,
    old: str,
    new: str,
    step: str,
    instruction: str,
    tmp_path: Path,
) -> None:
    mismatch = mismatch_of(name, source, kernel, old, new, tmp_path)
    assert (mismatch.parted_at, mismatch.instruction[: len(instruction)]) == (step, instruction), str(mismatch)


@pytest.mark.slow
def test_numbers_of_a_float_mismatch_read_back(tmp_path: Path) -> None:
    """Text and bits of both outputs and of the golden step name one float32 each, and the outputs differ."""
    fault = FAULTS[-1]
    mismatch = mismatch_of(*fault[:5], tmp_path)
    shown = [
        str(value).removesuffix(")").split(" (") for value in (mismatch.got, mismatch.expected, mismatch.golden_step)
    ]
    named = [(np.float32(text).view(np.uint32), int(bits, 16)) for text, bits in shown]
    assert [int(bits) for bits, _ in named] == [bits for _, bits in named]
    assert named[0] != named[1]
