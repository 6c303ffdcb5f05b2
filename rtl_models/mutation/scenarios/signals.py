"""Numbers on ports, side by side as the words of one long port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_FEWEST_WORDS: Final = 3
"""Of 32 bits: Verilator keeps a shorter port as a number, of one type or another."""


@dataclass(frozen=True)
class PortSignal:
    """A port and the numbers on it: an array [rows] or [rows, numbers], each number of so many bits, the first lowest.

    `defined`, an array of bools of the same shape, says which of them are known; None: all.
    """

    bits: int
    numbers: NDArray[Any]
    defined: NDArray[np.bool_] | None = None

    @property
    def port_bits(self) -> int:
        """The bits of the port."""
        return self.bits * int(np.prod(self.numbers.shape[1:]))

    def digits(self) -> NDArray[np.uint8]:
        """[rows, port_bits]: the bits of each row."""
        return _digits(self.numbers, self.bits)

    def known(self) -> NDArray[np.uint8]:
        """[rows, port_bits]: 1 where a bit is known."""
        known = np.ones(self.numbers.shape, bool) if self.defined is None else self.defined
        return _digits(np.where(known, -1, 0), self.bits)


Signals = Mapping[str, PortSignal]
"""By port, each with as many rows."""


def _digits(numbers: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    unsigned = numbers.astype(np.uint64)[..., None]
    digits = (unsigned >> np.arange(bits, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)
    return digits.reshape(len(numbers), bits * int(np.prod(numbers.shape[1:])))


def row_count(signals: Signals) -> int:
    """How many rows there are."""
    return len(next(iter(signals.values())).numbers)


def places(signals: Signals) -> dict[str, tuple[int, int]]:
    """The highest and the lowest bit of each port in the long one: the first port is in the low bits."""
    ends = np.cumsum([signal.port_bits for signal in signals.values()])
    return {p: (int(end) - 1, int(end) - s.port_bits) for (p, s), end in zip(signals.items(), ends, strict=True)}


def word_count(signals: Signals) -> int:
    """The words of the long port; at least one bit of them stands for no port."""
    return max(_FEWEST_WORDS, sum(signal.port_bits for signal in signals.values()) // 32 + 1)


def packed(signals: Signals) -> NDArray[np.uint8]:
    """[rows, bytes]: the long port in each row."""
    return _packed([signal.digits() for signal in signals.values()], word_count(signals))


def packed_known(signals: Signals) -> NDArray[np.uint8]:
    """[rows, bytes]: 1 for the bits of the long port that are known."""
    return _packed([signal.known() for signal in signals.values()], word_count(signals))


def _packed(digits: list[NDArray[np.uint8]], words: int) -> NDArray[np.uint8]:
    rows = np.packbits(np.hstack(digits), axis=1, bitorder="little")
    return np.pad(rows, ((0, 0), (0, 4 * words - rows.shape[1])))
