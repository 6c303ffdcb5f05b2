"""Golden reference of fused_output_stage: ACL's kernel that contributes the offsets and scales to bytes in one pass.

    mm + column sums * a_offset + row sums * b_offset + K * a_offset * b_offset + bias -> an output stage -> uint8

Every step is one of `offset_contribution`, `quantize_down` or `requantize`, whose references are called; a *mode* says
which of theirs: see `MODES`. Source: docs/spec/neighbours.md sections 4, 5 and 25.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.golden.bounds import bounds_fault_19_08, no_fault
from sim.golden.fixed_point import Int32Array, divide_by_power_of_two_ties_up, wrap_int32
from sim.kernels.names import Modes
from sim.kernels.offset_contribution import golden as contribution
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.quantize_down import golden as fixed_point
from sim.kernels.quantize_down.golden import Parameters as Stage
from sim.kernels.requantize.golden import IntegerScale, integer_scale_steps

Steps = dict[str, Int32Array]
OutputStage = Callable[[Int32Array, Int32Array | None, Stage], Steps]
"""What is made of the contributed product, the bias and the stage's numbers, step by step."""


@dataclass(frozen=True)
class Mode:
    """One path: its output stage, by ACL's name of the stage's type, and whose offsets it contributes.

    `offsets` is a mode of offset_contribution. `bounds_fault` gives the sentence with which (minimum, maximum) are
    refused, or None.
    """

    source: str
    stage_type: str
    stage: OutputStage
    offsets: str
    bounds_fault: Callable[[int, int], str | None]


def by_fixed_point(accumulators: Int32Array, bias: Int32Array | None, stage: Stage, mode: str = "acl_19_08") -> Steps:
    """The steps of that mode of quantize_down, from the sum with the bias on."""
    found = fixed_point.steps(accumulators, bias, stage, mode)
    return {name: values for name, values in found.items() if name != "accumulator"}


def by_integer_scale(
    accumulators: Int32Array, bias: Int32Array | None, stage: Stage, mode: str = "acl_integer_scale"
) -> Steps:
    """The steps of that mode of requantize; the offset is added before the multiply."""
    scale = IntegerScale(stage.offset, stage.multiplier, stage.shift, stage.minimum, stage.maximum)
    return integer_scale_steps(accumulators, bias, scale, mode)


def by_assembly(accumulators: Int32Array, bias: Int32Array | None, stage: Stage) -> Steps:
    """As quantize_down's mode acl_19_08_fused; where minimum >= offset the shift has no fix-up, and ties go up.

    That is seen only where the addition of the offset wraps: all else that the fix-up changes lies below minimum.
    """
    found = by_fixed_point(accumulators, bias, stage, "acl_19_08_fused")
    if stage.minimum < stage.offset:
        return found
    shifted = divide_by_power_of_two_ties_up(found["multiply"], stage.shift)
    placed = wrap_int32(shifted.astype(np.int64) + stage.offset)
    bounded = fixed_point.bound_then_low_byte(placed, (stage.minimum, stage.maximum), np.dtype(np.uint8))
    return found | {"shift": shifted, "offset": placed} | bounded


_KERNEL_OFFSETS: Final = "acl_20_11_neon"  # a tail loop, all loops collapsed, column sums of batch 0

MODES: Final = Modes(
    acl_19_08=Mode(
        source=(
            "v19.08, NEGEMMLowpOffsetContributionOutputStageKernel, QUANTIZE_DOWN_FIXEDPOINT: column sums of batch 0 "
            "(docs/spec/known_differences.md row 15)"
        ),
        stage_type="QUANTIZE_DOWN_FIXEDPOINT",
        stage=by_fixed_point,
        offsets=_KERNEL_OFFSETS,
        bounds_fault=bounds_fault_19_08,
    ),
    acl_19_08_integer_scale=Mode(
        source=(
            "v19.08, the same kernel, QUANTIZE_DOWN: an integer multiplier, the shift rounds down "
            "(docs/spec/known_differences.md rows 4, 15)"
        ),
        stage_type="QUANTIZE_DOWN",
        stage=by_integer_scale,
        offsets=_KERNEL_OFFSETS,
        bounds_fault=bounds_fault_19_08,
    ),
    acl_19_08_assembly=Mode(
        source=(
            "v19.08, the fused AArch64 path in its place: always bounded, on int32, then the low byte; column sums of "
            "each batch (docs/spec/known_differences.md rows 9, 9b, 9c)"
        ),
        stage_type="QUANTIZE_DOWN_FIXEDPOINT",
        stage=by_assembly,
        offsets="acl_19_08_cl",
        bounds_fault=no_fault,
    ),
)


def rivals(mode: str) -> dict[str, Mode]:
    """Arithmetics that a mode is taken for: the other modes, sums of other batches, other roundings of its shift."""
    rule = MODES[mode]
    has_fault = rule.offsets == _KERNEL_OFFSETS
    name = "column_sums_by_batch" if has_fault else "column_sums_of_first_batch"
    offsets = "acl_19_08_cl" if has_fault else _KERNEL_OFFSETS
    stages: dict[str, dict[str, OutputStage]] = {
        "acl_19_08": {"shift_rounds_down": partial(by_fixed_point, mode="page")},
        "acl_19_08_integer_scale": {"shift_rounds_ties_away": partial(by_integer_scale, mode="gemmlowp_integer_scale")},
        "acl_19_08_assembly": {"fix_up_always": partial(by_fixed_point, mode="acl_19_08_fused")},
    }
    others = {other: record for other, record in MODES.items() if other != mode}
    others[name] = replace(rule, offsets=offsets)
    return others | {rounding: replace(rule, stage=stage) for rounding, stage in stages[mode].items()}


def steps_by(
    rule: Mode, mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    offsets: Offsets, stage: Stage,
) -> Steps:  # fmt: skip
    """`steps` of any record of a mode."""
    terms = contribution.steps(mm, column_sums, row_sums, None, offsets, rule.offsets)
    contributed = terms.pop("result")
    del terms["bias term"]  # the stage adds it
    return terms | {"contribution": contributed} | rule.stage(contributed, bias, stage)


def steps(
    mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    offsets: Offsets, stage: Stage, mode: str = "acl_19_08",
) -> Steps:  # fmt: skip
    """Every term and every intermediate value, keyed by step; each a new int32 array of the shape of `mm`.

    `mm`, `column_sums` and `row_sums` are those of offset_contribution, int32; `bias` is int32 of the columns, or None.
    `offsets` are K and what is added to A and B, `stage` the numbers of the output stage: by fixed point a Q0.31
    multiplier and an offset after the shift, by integers a whole multiplier and an offset before it. Keys: mm, column
    term, row term, k term, contribution; then bias, multiply, shift, offset, clamp, bounds, or with the offset second,
    or ending in bounds, low byte, as the stage has them.
    `TypeError`: not an int32 array. `ValueError`: a shape, sums missing, a shift outside of 0..31, bounds that the mode
    refuses, a mode's name.
    """
    return steps_by(MODES[mode], mm, column_sums, row_sums, bias, offsets, stage)


def fused_output_stage(
    mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    offsets: Offsets, stage: Stage, mode: str = "acl_19_08",
) -> npt.NDArray[np.uint8]:  # fmt: skip
    """The uint8 output, of the shape of `mm`: the last of `steps`, whose contract and errors it shares.

    >>> mm, stage = np.array([[300, -40]], np.int32), Stage(2**30, 1, 10, 0, 200)
    >>> fused_output_stage(mm, np.array([1, 2], np.int32), None, None, Offsets(3, -4, 0), stage)
    array([[84,  0]], dtype=uint8)
    """
    *_, last = steps(mm, column_sums, row_sums, bias, offsets, stage, mode).values()
    return last.astype(np.uint8)
