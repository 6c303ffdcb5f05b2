"""Golden reference of transpose1xw: ACL's NEGEMMTranspose1xW, which cuts rows in chunks of 16 bytes and stacks them.

    output[block, y * W + k] = input[y, block * W + k]        W = 16 / element size, 0 <= k < W

It does not transpose: chunk `block` of all rows, in row order, becomes output row `block`. Elements are copied, so that
only their size counts. A *mode* names what stands behind the end of a row: see `MODES`.
Source: docs/spec/transpose1xw.md; conventions of docs/spec/known_differences.md row 18.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]

CHUNK_BYTES: Final = 16  # one 128-bit register
MODES: Final[dict[str, str]] = {
    "acl_19_08": "v19.08 to v20.08: the last chunk of a row is loaded whole, with whatever lies in the padding",
    "acl_20_11": "v20.11, and upstream's own reference: element by element, 0 for those that are missing",
}
"""The conventions for the right edge, with their source."""


def chunk_width(element_size: int) -> int:
    """W, the elements of one chunk: 16, 8, 4 or 2 for elements of 1, 2, 4 or 8 bytes.  `ValueError` for other sizes.

    19.08 has no type of 8 bytes; later versions take any.
    """
    if element_size not in (1, 2, 4, 8):
        raise ValueError(f"elements have {element_size} bytes: give 1, 2, 4 or 8")
    return CHUNK_BYTES // element_size


def transpose1xw(values: AnyArray, padding: AnyArray | None = None, mode: str = "acl_19_08") -> AnyArray:
    """The chunks of every plane, stacked; a new array of the dtype of `values`.

    `values` is [..., h, w] (or [w]) of any dtype of 1, 2, 4 or 8 bytes, its leading axes separate planes; the result is
    [..., ceil(w / W), h * W]. `padding` is [..., h, p] of the same dtype, p >= -w mod W: what lies behind each row;
    None stands for zeros. Mode acl_20_11 does not read it.
    `TypeError`: the dtype of padding. `ValueError`: its shape, another element size, or an unknown mode.
    Source: docs/spec/transpose1xw.md sections 2 and 3.

    >>> transpose1xw(np.arange(6, dtype=np.int32).reshape(1, 6), np.full((1, 2), 90, np.int32)).tolist()
    [[0, 1, 2, 3], [4, 5, 90, 90]]
    >>> transpose1xw(np.arange(6, dtype=np.int32).reshape(1, 6), mode="acl_20_11").tolist()
    [[0, 1, 2, 3], [4, 5, 0, 0]]
    """
    width, rows = chunk_width(values.dtype.itemsize), np.atleast_2d(values)
    missing = -rows.shape[-1] % width
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}: give one of {', '.join(MODES)}")
    tail = np.zeros((*rows.shape[:-1], missing), rows.dtype)
    if padding is not None and mode != "acl_20_11":
        behind = np.atleast_2d(padding)
        if behind.dtype != rows.dtype:
            raise TypeError(f"padding has dtype {behind.dtype}: it must be that of the values, {rows.dtype}")
        if behind.shape[:-1] != rows.shape[:-1] or behind.shape[-1] < missing:
            raise ValueError(f"padding has shape {behind.shape}: give {tail.shape}, or more on the last axis")
        tail = behind[..., :missing]
    *planes, height, columns = whole = (*rows.shape[:-1], rows.shape[-1] + tail.shape[-1])
    chunks = np.concatenate([rows, tail], axis=-1).reshape(*whole[:-1], columns // width, width)
    return np.swapaxes(chunks, -3, -2).reshape(*planes, columns // width, height * width)
