"""The testbench of an operator: columns of numbers in, columns of results out, a packed word a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from cocotb.handle import LogicArrayObject
from cocotb.triggers import Timer
from numpy.typing import NDArray

from isa.lane import Int
from rtl_models.expected import Column, column_dtype
from rtl_models.harness import input_bits, lane_count, output_bits, port_name
from rtl_models.operators import Operator


class ObservedRows(NamedTuple):
    """What the hardware gave for each row of operands."""

    result: Column
    saturated: NDArray[np.bool_]


class LaneArray:
    """The lanes of one width.  The hardware is combinational: a step is one unit of time, so that waves show it."""

    def __init__(self, dut: Any, operator: Operator, width: int) -> None:
        self._lanes = lane_count(width)
        self._inputs = _ports(dut, width, input_bits(operator, width))
        self._outputs = _ports(dut, width, output_bits(operator, width))
        self._result = operator.result_of(width)

    async def apply(self, operands: Sequence[Column]) -> ObservedRows:
        """The results of every row; rows beyond the last that fill up its word are zero and not looked at."""
        count = len(operands[0])
        bits = [bits for _, bits in self._inputs]
        words = [packed(column, size, self._lanes) for column, size in zip(operands, bits, strict=True)]
        given = []
        for row in zip(*words, strict=True):
            for (port, _), word in zip(self._inputs, row, strict=True):
                port.value = word
            await Timer(1, "step")
            given.append([port.value.to_unsigned() for port, _ in self._outputs])
        results, flags = ([word[k] for word in given] for k in (0, 1))
        saturated = unpacked(flags, Int(1, False), self._lanes)[:count].astype(np.bool_)
        return ObservedRows(unpacked(results, self._result, self._lanes)[:count], saturated)


def _ports(dut: Any, width: int, bits: dict[str, int]) -> list[tuple[LogicArrayObject, int]]:
    return [(getattr(dut, port_name(width, port)), size) for port, size in bits.items()]


def packed(column: Column, bits: int, lanes: int) -> list[int]:
    """Words of so many lanes, the first number in the low bits, with zeros at the end."""
    padded = np.concatenate([column, np.zeros(-len(column) % lanes, column.dtype)]).astype(np.uint64)
    digits = (padded[:, None] >> np.arange(bits, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)
    rows = np.packbits(digits.reshape(-1, lanes * bits), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def unpacked(words: Sequence[int], kind: Int, lanes: int) -> Column:
    """The numbers in packed words, as a column of 64-bit numbers."""
    size = -(-lanes * kind.bits // 8)
    rows = np.frombuffer(b"".join(word.to_bytes(size, "little") for word in words), np.uint8).reshape(-1, size)
    digits = np.unpackbits(rows, axis=1, count=lanes * kind.bits, bitorder="little").reshape(-1, kind.bits)
    weights = np.uint64(1) << np.arange(kind.bits, dtype=np.uint64)
    unsigned = (digits * weights).sum(axis=1, dtype=np.uint64)
    negative = (digits[:, -1] == 1) & kind.signed
    extended = np.where(negative, unsigned | ~np.uint64((1 << kind.bits) - 1), unsigned)
    column: Column = extended.view(column_dtype(kind))
    return column
