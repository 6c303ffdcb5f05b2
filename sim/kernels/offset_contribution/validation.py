"""validate() of the operator as ACL exposes it, for the OpenCL and the NEON kernel.

Source: docs/spec/offset_contribution.md sections 3 and 5.
"""

from collections.abc import Iterator
from math import prod
from typing import Final

from sim.kernels.offset_contribution.golden import MODES
from sim.kernels.operator import Status, TensorInfo, format_faults, padding_faults, status_of

DEFAULT_MODE: Final = "acl_19_08_cl"
ASKS_BOTTOM_PADDING: Final = frozenset({"acl_19_08_neon"})
"""Modes that ask for as many rows of column sums as mm has, although they read only those of the batches."""


def validate(
    mm: TensorInfo | None, column_sums: TensorInfo | None, row_sums: TensorInfo | None, bias: TensorInfo | None,
    a_offset: int, b_offset: int, mode: str = DEFAULT_MODE,
) -> Status:  # fmt: skip
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: mm; bias (OpenCL only): format, rank, length; with a_offset not 0 column sums: null, format, length; with
    b_offset not 0 row sums: null, format, length, batches, and the batches of column sums; padding of mm, column sums
    and bias. Column sums of several batches are not compared with mm when b_offset is 0, and K is not looked at.
    `ValueError`: a bias given to a mode that has none, or an unknown mode.
    """
    rule = MODES[mode]
    if bias is not None and not rule.has_bias:
        raise ValueError(f"bias was given: mode {mode} has none")
    return status_of(_faults(mm, column_sums, row_sums, bias, a_offset, b_offset, mode))


def is_reinterpreted(mm: TensorInfo, row_sums: TensorInfo | None) -> bool:
    """Whether the row sums show that mm is a 3-D reading of a matrix: its rows are dimensions 1 and 2 together."""
    return row_sums is not None and len(mm.dimensions) > 1 and mm.dimension(1) != row_sums.dimension(0)


def _faults(
    mm: TensorInfo | None, column_sums: TensorInfo | None, row_sums: TensorInfo | None, bias: TensorInfo | None,
    a_offset: int, b_offset: int, mode: str,
) -> Iterator[str]:  # fmt: skip
    if mm is None:
        yield "mm is null: give a TensorInfo"
        return
    yield from format_faults("mm", mm, "S32")
    if bias is not None:
        yield from bias_faults(mm, bias)
    yield from column_sum_faults(mm, column_sums, a_offset)
    needed = column_sums if a_offset else None
    yield from row_sum_faults(mm, needed, row_sums, b_offset, ("mm", mm))
    for name, info, right, bottom in paddings(mm, needed, bias, mode):
        yield from padding_faults(name, info, right, bottom)


def bias_faults(mm: TensorInfo, bias: TensorInfo) -> Iterator[str]:
    """What is wrong with a bias: format, rank, length."""
    yield from format_faults("bias", bias, "S32")
    if len(bias.dimensions) > 1:
        yield f"bias has rank {len(bias.dimensions)}, shape {bias.shape}: it must have rank 1"
    yield from _length_faults("bias", bias, mm)


def column_sum_faults(mm: TensorInfo, column_sums: TensorInfo | None, a_offset: int) -> Iterator[str]:
    """What is wrong with the column sums that an offset of A needs."""
    if a_offset and column_sums is None:
        yield "column_sums is null: it is needed where a_offset is not 0"
    elif a_offset and column_sums is not None:
        yield from format_faults("column_sums", column_sums, "S32")
        yield from _length_faults("column_sums", column_sums, mm)


def row_sum_faults(
    mm: TensorInfo, column_sums: TensorInfo | None, row_sums: TensorInfo | None, b_offset: int,
    batched: tuple[str, TensorInfo],
) -> Iterator[str]:  # fmt: skip
    """What is wrong with the row sums that an offset of B needs, and with batches.

    Those of the row sums are compared with the tensor that is `batched`, by its name, unless it has rank 1; those of
    the column sums, None where they are not needed, with the ones of the row sums.
    """
    if b_offset and row_sums is None:
        yield "row_sums is null: it is needed where b_offset is not 0"
    elif b_offset and row_sums is not None:
        yield from format_faults("row_sums", row_sums, "S32")
        is_3d = is_reinterpreted(mm, row_sums)
        rows = mm.dimension(1) * (mm.dimension(2) if is_3d else 1)
        if row_sums.dimension(0) != rows:
            yield f"row_sums: shape {row_sums.shape}, whose last axis must be the rows of mm, {rows}"
        name, info = batched
        batches, wanted = prod(row_sums.dimensions[1:]), prod(info.dimensions[3 if is_3d else 2 :])
        if len(info.dimensions) > 1 and batches != wanted:
            yield f"row_sums has {batches} batches: {name} has {wanted}"
        of_columns = 1 if column_sums is None else prod(column_sums.dimensions[1:])
        if len(info.dimensions) > 1 and of_columns not in (1, batches):
            yield f"column_sums has {of_columns} batches: it must have 1, or those of row_sums, {batches}"


def _length_faults(name: str, info: TensorInfo, mm: TensorInfo) -> Iterator[str]:
    if info.dimension(0) != mm.dimension(0):
        yield f"{name}: shape {info.shape}, whose last axis must be the columns of mm, {mm.dimension(0)}"


def paddings(
    mm: TensorInfo, column_sums: TensorInfo | None, bias: TensorInfo | None, mode: str
) -> Iterator[tuple[str, TensorInfo, int, int]]:
    """The right and bottom padding that each tensor needs, in the order in which it is judged.

    Column sums are None where a_offset is 0: what is not read needs no padding.
    """
    right = -mm.dimension(0) % MODES[mode].columns_per_step
    yield "mm", mm, right, 0
    if column_sums is not None:
        missing = max(0, mm.dimension(1) - column_sums.dimension(1))
        yield "column_sums", column_sums, right, missing if mode in ASKS_BOTTOM_PADDING else 0
    if bias is not None:
        yield "bias", bias, right, 0
