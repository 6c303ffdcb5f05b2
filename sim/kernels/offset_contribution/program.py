"""offset_contribution as a sequence of intrinsics, step by step what kernel.c does.

Arithmetic and faults: docs/spec/offset_contribution.md sections 2 and 4. The arguments are those of kernel.c; pointers
are to int32, None for null. Both raise TypeError for pointers of other dtypes and what the memory raises for an
access it does not allow.
"""

from __future__ import annotations

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_s32,
    vdupq_n_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmlaq_n_s32,
    vmulq_n_s32,
    vst1q_s32,
)

LANES = 4
CL_STEP, NEON_STEP = 4, 16  # columns


def k_terms(k: int, a_offset: int, b_offset: int) -> VectorValue:
    """K * a_offset * b_offset in every lane, wrapped."""
    terms: VectorValue = vmulq_n_s32(vmulq_n_s32(vdupq_n_s32(k), a_offset), b_offset)
    return terms


def with_row_term(terms: VectorValue, row_sum: ElementPointer | None, b_offset: int) -> VectorValue:
    """int32x4 plus one row sum times b_offset."""
    return terms if row_sum is None else vmlaq_n_s32(terms, vld1q_dup_s32(row_sum), b_offset)


def with_column_terms(terms: VectorValue, column_sums: ElementPointer | None, a_offset: int) -> VectorValue:
    """int32x4 plus four column sums times a_offset."""
    return terms if column_sums is None else vmlaq_n_s32(terms, vld1q_s32(column_sums), a_offset)


def add_to_four(mm: ElementPointer, terms: VectorValue) -> None:
    """Four columns of one row, in place."""
    vst1q_s32(mm, vaddq_s32(vld1q_s32(mm), terms))


def add_like_cl(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None,
    columns: int, stride: int, rows: int, depth: int, batches: int, column_batches: int,
    k: int, a_offset: int, b_offset: int,
) -> None:  # fmt: skip
    """offset_contribution_cl, inside of a `Program`."""
    constant, batch_step = k_terms(k, a_offset, b_offset), stride if column_batches > 1 else 0
    for row in range(batches * depth * rows):
        sums = column_sums and column_sums + row // (depth * rows) * batch_step
        terms = with_row_term(constant, row_sums and row_sums + row, b_offset)
        for x in range(0, columns, CL_STEP):
            offsets = with_column_terms(terms, sums and sums + x, a_offset)
            add_to_four(mm + (row * stride + x), vaddq_s32(offsets, vld1q_s32(bias + x)) if bias else offsets)


def add_like_cl_in_window(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None,
    columns: int, stride: int, rows: int, depth: int, batches: int, column_batches: int,
    k: int, a_offset: int, b_offset: int, first_plane: int, end_plane: int, first_row: int, end_row: int,
) -> None:  # fmt: skip
    """offset_contribution_cl_window, inside of a `Program`."""
    constant, batch_step = k_terms(k, a_offset, b_offset), stride if column_batches > 1 else 0
    for z in range(end_plane - first_plane):
        sums = column_sums and column_sums + z // depth * batch_step
        for y in range(end_row - first_row):
            terms = with_row_term(constant, row_sums and row_sums + (z * rows + y), b_offset)
            row = mm + ((first_plane + z) * rows + first_row + y) * stride
            for x in range(0, columns, CL_STEP):
                offsets = with_column_terms(terms, sums and sums + x, a_offset)
                add_to_four(row + x, vaddq_s32(offsets, vld1q_s32(bias + x)) if bias else offsets)


def add_like_neon(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    columns: int, stride: int, rows: int, planes: int, outer: int, depth: int,
    column_batches: int, column_z_stride: int, k: int, a_offset: int, b_offset: int,
) -> None:  # fmt: skip
    """offset_contribution_neon, inside of a `Program`."""
    if a_offset == 0 and b_offset == 0:
        return
    constant, batch_step = k_terms(k, a_offset, b_offset), column_z_stride if column_batches > 1 else 0
    for row in range(outer * planes * rows):
        plane, y = divmod(row, rows)
        z = plane if a_offset and b_offset else plane % planes
        sums = column_sums + z // depth * batch_step if column_sums and a_offset else None
        terms = with_row_term(constant, row_sums + (z * rows + y) if row_sums and b_offset else None, b_offset)
        for x in range(0, -(-columns // NEON_STEP) * NEON_STEP, LANES):
            add_to_four(mm + (row * stride + x), with_column_terms(terms, sums and sums + x, a_offset))
