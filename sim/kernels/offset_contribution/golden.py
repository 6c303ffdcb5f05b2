"""Golden reference of offset_contribution: ACL's kernels that add the offsets' share to a matrix product.

    mm + column sums * a_offset + row sums * b_offset + K * a_offset * b_offset (+ bias)

All in int32 with wrap, so that the order of the additions cannot be seen. A *mode* names the kernel: see `MODES`.
Source: docs/spec/offset_contribution.md; conventions of docs/spec/known_differences.md row 15.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, wrap_int32
from sim.golden.gemm_offsets import column_sums_by_batch, column_sums_of_first_batch, wrapped_product
from sim.kernels.names import Modes

HIGHEST_RANK: Final = 6  # an ACL tensor has at most six dimensions
Steps = dict[str, Int32Array]


@dataclass(frozen=True)
class Parameters:
    """K (the number of columns of A) and the offsets that are added to A and B, each in int32.

    `TypeError` or `ValueError` names the one that is not.
    """

    k: int
    a_offset: int
    b_offset: int

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}: give an int")
            if not INT32_MIN <= value <= INT32_MAX:
                raise ValueError(f"{name} is {value}: it must lie in int32, {INT32_MIN}..{INT32_MAX}")

    @property
    def k_term(self) -> int:
        """K * a_offset * b_offset, wrapped: one product of the host."""
        return int(wrapped_product(wrapped_product(self.k, self.a_offset), self.b_offset))


@dataclass(frozen=True)
class Mode:
    """One kernel: what each of its rules is.

    `columns_per_step` columns are computed at once, the last step writing into the padding of the rows; 1 where there
    is a tail loop. `column_sums` chooses those of each batch. `loses_outer_batches`: with a_offset 0, row sums are
    chosen by dimension 2 alone, dimension 3 and up being ignored. `sums_from_window_start`: in a window that does not
    begin with the first row or plane, sums are counted from its start, so that they are those of row and batch 0 on.
    """

    source: str
    columns_per_step: int
    has_bias: bool
    column_sums: Callable[[Int32Array, int], Int32Array]
    loses_outer_batches: bool
    sums_from_window_start: bool = False


MODES: Final = Modes(
    acl_19_08_cl=Mode(
        source=(
            "v19.08, CLGEMMLowpOffsetContributionKernel; without bias also the CPU kernel of later years "
            "(docs/spec/known_differences.md row 15)"
        ),
        columns_per_step=4,
        has_bias=True,
        column_sums=column_sums_by_batch,
        loses_outer_batches=False,
    ),
    acl_19_08_cl_window=Mode(
        source="v19.08, the same kernel in a window: sums of row and batch 0 on, wherever the window starts",
        columns_per_step=4,
        has_bias=True,
        column_sums=column_sums_by_batch,
        loses_outer_batches=False,
        sums_from_window_start=True,
    ),
    acl_19_08_neon=Mode(
        source=(
            "v19.08, NEGEMMLowpOffsetContributionKernel with its three faults (docs/spec/known_differences.md row 15)"
        ),
        columns_per_step=16,
        has_bias=False,
        column_sums=column_sums_of_first_batch,
        loses_outer_batches=True,
    ),
    acl_20_11_neon=Mode(
        source="v20.11, the same kernel: a tail loop, all loops collapsed, column sums of batch 0 still",
        columns_per_step=1,
        has_bias=False,
        column_sums=column_sums_of_first_batch,
        loses_outer_batches=False,
    ),
)


def steps(
    mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    parameters: Parameters, mode: str = "acl_19_08_cl",
) -> Steps:  # fmt: skip
    """Every term, and the result; each a new int32 array of the shape of `mm`.

    `mm` is int32 of rank 1 to 6, [..., rows, columns], [..., depth, height, columns] where a product is read as 3-D.
    `column_sums` is [columns] or [batches, columns], needed where a_offset is not 0. `row_sums` is
    [..., rows], or [..., depth * height]: a last axis unlike the rows of `mm` is what makes it 3-D; needed where
    b_offset is not 0. `bias` is [columns] or None. Sums that are not needed are taken as absent, as upstream's
    callers leave them out. Keys: mm, column term, row term, k term, bias term, result.
    `TypeError`: not an int32 array. `ValueError`: a shape, sums missing, a bias where the mode has none, a mode's name.
    Source: docs/spec/offset_contribution.md sections 2 and 3.
    """
    rule = MODES[mode]
    _require_operands(mm, column_sums, row_sums, bias, parameters, rule)
    outer, planes, rows, columns = shape = folded(mm.shape)
    column_term = row_term = np.zeros(1, np.int32)
    if column_sums is not None and parameters.a_offset:
        depth = depth_of(mm.shape, row_sums if parameters.b_offset else None)
        chosen = np.repeat(rule.column_sums(column_sums, outer * planes // depth), depth, axis=0)
        column_term = wrapped_product(chosen.reshape(outer, planes, 1, columns), parameters.a_offset)
    if row_sums is not None and parameters.b_offset:
        sums = row_sums.reshape(outer, planes, rows, 1)
        loses_outer = rule.loses_outer_batches and parameters.a_offset == 0
        row_term = wrapped_product(sums[:1] if loses_outer else sums, parameters.b_offset)
    terms = {
        "mm": mm.reshape(shape),
        "column term": column_term,
        "row term": row_term,
        "k term": np.array(parameters.k_term, np.int32),
        "bias term": np.array(0, np.int32) if bias is None else bias,
    }
    filled = {name: np.broadcast_to(term, shape).reshape(mm.shape).copy() for name, term in terms.items()}
    return filled | {"result": wrap_int32(np.sum([*filled.values()], axis=0, dtype=np.int64))}


def offset_contribution(
    mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    parameters: Parameters, mode: str = "acl_19_08_cl",
) -> Int32Array:  # fmt: skip
    """The result of `steps`, whose contract and errors it shares.

    >>> zeros, sums = np.zeros((2, 1, 1), np.int32), np.array([[1], [2]], np.int32)
    >>> offset_contribution(zeros, sums, None, None, Parameters(1, 1, 0)).ravel().tolist()
    [1, 2]
    >>> offset_contribution(zeros, sums, None, None, Parameters(1, 1, 0), "acl_19_08_neon").ravel().tolist()
    [1, 1]
    """
    return steps(mm, column_sums, row_sums, bias, parameters, mode)["result"]


class Box(NamedTuple):
    """Planes (dimension 2 and up as one axis) and rows of a product, each from a first one to one behind the last."""

    first_plane: int
    end_plane: int
    first_row: int
    end_row: int

    @property
    def place(self) -> tuple[slice, slice]:
        """Where it lies in [planes, rows, columns]."""
        return slice(self.first_plane, self.end_plane), slice(self.first_row, self.end_row)

    @property
    def beginning(self) -> tuple[slice, slice]:
        """Planes and rows of the same number at the beginning of the product."""
        return slice(0, self.end_plane - self.first_plane), slice(0, self.end_row - self.first_row)


def boxes(window: tuple[slice, ...], shape: tuple[int, ...], mode: str) -> Iterator[Box]:
    """What `mode` computes of a window, a slice with start and stop for each axis of `shape`, box by box.

    Without `sums_from_window_start` the boxes are the window itself. With it they are the launches of the OpenCL
    kernel: where the window is whole in dimension 3 and up, planes are counted through those dimensions up to their
    number times the window's last plane, which is another region when the window ends before the last plane.
    """
    *outer, planes, rows, _ = (slice(0, 1),) * (4 - len(shape)) + window
    sizes = (1,) * (4 - len(shape)) + shape
    is_whole = all((part.start, part.stop) == (0, size) for part, size in zip(outer, sizes, strict=False))
    if is_whole and MODES[mode].sums_from_window_start:
        yield Box(planes.start, planes.stop * prod(sizes[: len(outer)]), rows.start, rows.stop)
        return
    numbers = np.arange(prod(sizes[: len(outer)])).reshape(sizes[: len(outer)])[tuple(outer)]
    for number in numbers.ravel().tolist():
        first = number * sizes[-3]
        yield Box(first + planes.start, first + planes.stop, rows.start, rows.stop)


def in_boxes(terms: Steps, found: Iterator[Box], mode: str) -> Steps:
    """The terms of `steps` where only these boxes are computed; elsewhere they are 0, and the product stays."""
    *outer, rows, columns = (1, 1, *terms["mm"].shape)
    planes = prod(outer), rows, columns
    kept = {name: np.zeros(planes, np.int32) for name in terms if name not in ("mm", "result")}
    for box in found:
        source = box.beginning if MODES[mode].sums_from_window_start else box.place
        for name, values in kept.items():
            values[box.place] = terms[name].reshape(planes)[source]
    shaped = {"mm": terms["mm"]} | {name: values.reshape(terms["mm"].shape) for name, values in kept.items()}
    return shaped | {"result": wrap_int32(np.sum([*shaped.values()], axis=0, dtype=np.int64))}


def folded(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The shape of a product as (outer, planes, rows, columns): dimensions 3 and up, 2, 1 and 0 of ACL."""
    *outer, planes, rows, columns = (1, 1, 1, *shape)
    return prod(outer), planes, rows, columns


def depth_of(shape: tuple[int, ...], row_sums: Int32Array | None) -> int:
    """How many planes make one batch: all of dimension 2 where the row sums show that the product is 3-D, else 1."""
    _, planes, rows, _ = folded(shape)
    return max(planes, 1) if row_sums is not None and row_sums.shape[-1] != rows else 1


def _require_operands(
    mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
    parameters: Parameters, rule: Mode,
) -> None:  # fmt: skip
    _require_int32_array("mm", mm)
    if not 1 <= mm.ndim <= HIGHEST_RANK:
        raise ValueError(f"mm has rank {mm.ndim}: give 1 to {HIGHEST_RANK} axes")
    if parameters.a_offset:
        _require_row_of_columns("column_sums", _present("column_sums", column_sums), mm)
    if parameters.b_offset:
        sums = _present("row_sums", row_sums)
        _require_int32_array("row_sums", sums)
        outer, planes, rows, _ = folded(mm.shape)
        if sums.shape[-1:] not in ((rows,), (planes * rows,)) or sums.size != outer * planes * rows:
            raise ValueError(f"row_sums has shape {sums.shape}: give one sum for each row of mm, {mm.shape}")
    if bias is not None and not rule.has_bias:
        raise ValueError("bias was given: this mode has none")
    if bias is not None:
        _require_row_of_columns("bias", bias, mm)
        if bias.ndim != 1:
            raise ValueError(f"bias has rank {bias.ndim}: it must have rank 1")


def _present(name: str, array: Int32Array | None) -> Int32Array:
    if array is None:
        raise ValueError(f"{name} is missing: it is needed where its offset is not 0")
    return array


def _require_row_of_columns(name: str, array: Int32Array, mm: Int32Array) -> None:
    _require_int32_array(name, array)
    if array.shape[-1:] != mm.shape[-1:]:
        raise ValueError(f"{name} has shape {array.shape}: its last axis must be the columns of mm, {mm.shape[-1]}")


def _require_int32_array(name: str, array: npt.NDArray[Any]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != np.int32:
        raise TypeError(f"{name} is not a numpy array of int32: nothing is cast silently")
