"""Real numbers that become bytes or int16, as rules: the conventions of `sim.golden.byte_rounding` on float32 tensors.

Operands are integers, so a number is told by its place among the distinct ones of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.candidates import used_by
from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden import byte_rounding
from sim.golden.fixed_point import INT32_MAX, INT32_MIN

Convention = Callable[[Any, np.float32, int], npt.NDArray[Any]]
Float32Array = npt.NDArray[np.float32]
_MOST: Final = float(np.finfo(np.float32).max)
_ROUND_FIRST: Final = (
    byte_rounding.round_even_then_offset,
    byte_rounding.round_away_then_offset,
    byte_rounding.reciprocal_round_even_then_offset,
)
"""Those that take any range: they round before the zero point is added."""
_OFFSET_FIRST: Final[Mapping[str, tuple[Convention, ...]]] = {
    "uint8": (
        byte_rounding.offset_then_round_even_fused,
        byte_rounding.offset_then_round_even,
        byte_rounding.offset_then_truncate,
    ),
    "int8": (byte_rounding.int8_offset_then_round_even_fused, byte_rounding.int8_offset_then_round_even),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Quantizing:
    """One convention on the numbers that `operands["number"]` counts, and the same with the output's range.

    `of` says what the numbers were made of, where they may be of something else.
    """

    convention: Convention
    placed: Convention
    numbers: Float32Array
    scale: np.float32
    zero_point: int
    of: str = ""
    rises: bool = False

    @property
    def name(self) -> str:
        return f"{self.convention.__name__} {self.of}".strip()

    @property
    def note(self) -> str:
        return used_by(self.convention)

    def run(self, operands: Operands) -> Integers:
        return self.placed(self.numbers[operands["number"]], self.scale, self.zero_point).astype(np.int64)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        return _steps(self, element)


@dataclass(frozen=True, eq=False)
class QuantizingByQuotient:
    """clamp(rint(float32(zero + float32(v / s)))) of the numbers that `operands["number"]` counts.

    Source: docs/spec/neighbours.md section 31.
    """

    numbers: Float32Array
    scale: np.float32
    zero_point: int
    rises: bool = False

    @property
    def name(self) -> str:
        return "quotient_offset_then_round_even"

    @property
    def note(self) -> str:
        return "ONNX Runtime's averages of windows"

    def run(self, operands: Operands) -> Integers:
        with np.errstate(over="ignore"):
            quotients = self.numbers[operands["number"]] / self.scale
        placed = np.rint(quotients + np.float32(self.zero_point))
        return np.asarray(np.clip(placed, INT32_MIN, INT32_MAX).astype(np.int64))

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        return _steps(self, element)


def _steps(rule: Quantizing | QuantizingByQuotient, element: Mapping[str, int]) -> list[RuleStep]:
    number = float(rule.numbers[element["number"]])
    held = min(max(number, -_MOST), _MOST)  # what is infinite is told as the number next to it
    exact = Fraction(held) / Fraction(float(rule.scale)) + rule.zero_point
    result = int(rule.run(only(element, ("number",)))[0])
    return [RuleStep(f"quantize {number:.9g}", result, exact, "tie" if is_tie(exact) else "")]


def quantizing_rules(
    numbers: Float32Array, scale: np.float32, zero_point: int, dtype: np.dtype[Any], of: str = ""
) -> Iterator[Quantizing]:
    """Every convention for the output's dtype, uint8, int8 or int16."""
    ways: list[tuple[Convention, Convention]] = [(one, partial(one, to=dtype.type)) for one in _ROUND_FIRST]
    ways += [(own, own) for own in _OFFSET_FIRST.get(str(dtype), ())]
    for convention, placed in ways:
        yield Quantizing(
            convention=convention, placed=placed, numbers=numbers, scale=scale, zero_point=zero_point, of=of
        )
