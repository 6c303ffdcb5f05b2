"""Lane expressions evaluated on columns of operands: what the benches expect, never written a second time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from isa.evaluate.batch import generate
from isa.evaluate.exact import QC
from isa.lane import Int, Lane, Place, Write

Column = NDArray[Any]
_FIRST_RESULT: Final = 32
"""Operands are in v0 and on, results, however many, behind the registers that there are."""


class Evaluated(list[Column]):
    """A column for each expression, and `saturated`: where some `saturate` of any of them clamped."""

    def __init__(self, columns: Sequence[Column], saturated: NDArray[np.bool_]) -> None:
        super().__init__(columns)
        self.saturated = saturated


@dataclass
class _Frame:
    """The registers of as many members as the columns are long (see `isa.evaluate.batch.Frame`)."""

    vectors: list[Column]
    general: list[Column]
    flags: list[Column]
    members: int


class Expressions:
    """Expressions over registers v0, v1, ..., each with the type of its result: built once, evaluated often."""

    def __init__(self, lanes: Sequence[tuple[Lane, Int]]) -> None:
        places = [Place("v", _FIRST_RESULT + k) for k in range(len(lanes))]
        writes = tuple(Write(place, kind.bits, [lane]) for place, (lane, kind) in zip(places, lanes, strict=True))
        text, constants = generate(writes, 0, "expressions")
        scope = dict(constants)
        exec(compile(text, "<expressions>", "exec"), scope)
        self._run = cast("Callable[[_Frame], object]", cast("Callable[[], object]", scope["bind"])())
        self._types = [kind for _, kind in lanes]

    def on(self, operands: Sequence[Column]) -> Evaluated:
        """The values for columns of operands, column k being the low bits of register v<k>."""
        members = len(operands[0])
        blank = np.zeros((members, 16), "u1")
        rows = [np.zeros((members, 16), "u1") for _ in operands]
        for row, column in zip(rows, operands, strict=True):  # each number in the low 64 bits of a register
            kind = column.dtype.kind
            row.view("u8")[:, 0] = column.astype(np.uint64, copy=False) if kind == "u" else column.view("u8")
        spare = [blank] * (_FIRST_RESULT + len(self._types) - len(rows))
        flags = [np.zeros((members, 1), kind) for kind in ("u1", "u4", "u4")]
        frame = _Frame([*rows, *spare], [], flags, members)
        self._run(frame)
        results = []
        for k, to in enumerate(self._types):
            numbers = frame.vectors[_FIRST_RESULT + k].view(f"{'i' if to.signed else 'u'}{to.bits // 8}")[:, 0]
            results.append(numbers.astype(column_dtype(to)))
        return Evaluated(results, (frame.flags[1][:, 0] & QC) != 0)


def column_dtype(kind: Int) -> np.dtype[Any]:
    """The 64-bit type that columns of numbers of this type have."""
    return np.dtype(np.int64 if kind.signed else np.uint64)
