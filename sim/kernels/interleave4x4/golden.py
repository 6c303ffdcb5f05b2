"""Golden reference of interleave4x4: ACL's NEGEMMInterleave4x4, groups of four rows column by column.

    output[g, 4 * k + r] = input[4 * g + r, k]        r = 0..3

Elements are copied, so that only their size counts, which a *mode* names.  The kernel takes whole groups and whole
steps: what rows and columns lack to them is whatever lies in the padding.
Source: docs/spec/neighbours.md sections 1 and 18.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.gemm_lowp import BLOCK_ROWS, interleave4x4
from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]


class Mode(NamedTuple):
    """The elements, and how many columns are taken a step."""

    source: str
    dtype: np.dtype[Any]
    step: int


MODES: Final = Modes(
    acl_19_08_8bit=Mode("v19.08 on elements of one byte: 8 columns a step, by VST4", np.dtype(np.uint8), 8),
    acl_19_08_16bit=Mode("v19.08 on elements of two bytes: 4 columns a step, by VST4", np.dtype(np.uint16), 4),
    acl_19_08_32bit=Mode("v19.08 on elements of four bytes: 4 columns a step, by VST4", np.dtype(np.uint32), 4),
)
BY_SIZE: Final = {rule.dtype.itemsize: name for name, rule in MODES.items()}
"""The mode of elements of so many bytes."""


def interleaved(memory: AnyArray, mode: str = "acl_19_08_8bit") -> AnyArray:
    """Whole groups and steps, padding among them: [..., 4 * g, k] to [..., g, 4 * k], of elements of the mode's size.

    `TypeError`: elements of another size. `ValueError`: no whole groups or steps, or an unknown mode.

    >>> interleaved(np.arange(32, dtype=np.uint8).reshape(4, 8))[0, :8].tolist()
    [0, 8, 16, 24, 1, 9, 17, 25]
    """
    rule = MODES[mode]
    if not isinstance(memory, np.ndarray) or memory.itemsize != rule.dtype.itemsize:
        raise TypeError(f"memory is not a numpy array of elements of {rule.dtype.itemsize} bytes")
    if memory.ndim < 2 or memory.shape[-2] % BLOCK_ROWS or memory.shape[-1] % rule.step:
        wanted = f"multiples of {BLOCK_ROWS} rows and {rule.step} columns"
        raise ValueError(f"memory has shape {memory.shape}: give {wanted}, with the padding")
    return interleave4x4(memory)


def one_after_another(memory: AnyArray) -> AnyArray:
    """The rows of each group behind each other: what a copy without interleaving gives."""
    return memory.reshape(memory.shape[0] // BLOCK_ROWS, BLOCK_ROWS * memory.shape[1])
