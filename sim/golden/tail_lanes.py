"""What stands in the lanes behind the end of a row whose length is no multiple of a register's.

`row` has its elements on the last axis, `padding` those of the same dtype that lie behind it in memory, as many as the
last register lacks; `lanes` is the elements of a register.  The result is a new array of whole registers.
`ValueError`: `padding` has another length.  Source: docs/spec/transpose1xw.md section 3;
docs/spec/known_differences.md row 18.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import convention

AnyArray = npt.NDArray[Any]


@convention(
    formula="row[k] for k < w, else padding[k - w]",
    users="ACL 19.08's Transpose1xW kernel, which copies whole registers",
    rows=("18",),
)
def completed_by_padding(row: AnyArray, padding: AnyArray, lanes: int = 16) -> AnyArray:
    """The row, then whatever lies behind it.

    >>> completed_by_padding(np.array([1, 2, 3]), np.array([9]), 4)
    array([1, 2, 3, 9])
    """
    _require_rest(row, padding, lanes)
    return np.concatenate([row, padding], axis=-1)


@convention(
    formula="row[k] for k < w, else 0",
    users="ACL's reference of Transpose1xW, and by its kernel from 20.11 on",
    rows=("18",),
)
def completed_by_zeros(row: AnyArray, padding: AnyArray, lanes: int = 16) -> AnyArray:
    """The row, then zeros, whatever lies behind it.

    >>> completed_by_zeros(np.array([1, 2, 3]), np.array([9]), 4)
    array([1, 2, 3, 0])
    """
    _require_rest(row, padding, lanes)
    return np.concatenate([row, np.zeros_like(padding)], axis=-1)


def _require_rest(row: AnyArray, padding: AnyArray, lanes: int) -> None:
    length, missing = row.shape[-1], -row.shape[-1] % lanes
    if padding.shape[-1] != missing:
        raise ValueError(
            f"padding has {padding.shape[-1]} elements: a row of {length} lacks {missing} to {lanes} lanes"
        )
