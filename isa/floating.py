"""Floating-point formats, and the one node that computes with them.

A floating-point lane is the unsigned number of its bits.  A node names an operation on such lanes; its value is the
exact result rounded once, by the rules of Arm's FPCR, which is always its last operand.  Like QC, the cumulative
exception bits of FPSR are declared nowhere: they are what the nodes of an instruction raise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from isa.lane import Int, Lane, Place, lift, read

FPCR = Place("fpcr")

Operation = Literal[
    "add", "subtract", "multiply", "divide", "square_root", "multiply_add", "multiply_extended",
    "maximum", "minimum", "maximum_number", "minimum_number",
    "reciprocal_estimate", "reciprocal_root_estimate", "reciprocal_exponent", "reciprocal_step", "reciprocal_root_step",
    "from_integer", "to_integer", "to_integer_modulo", "to_integral", "to_integral_exact", "to_integral_bounded",
    "convert", "compare", "compare_signalling", "equal", "greater", "greater_or_equal",
]  # fmt: skip

Rounding = Literal["fpcr", "even", "up", "down", "zero", "away", "odd", "odd_or_infinity"]
"""How a result is rounded: by the mode in FPCR, or always to nearest even, up, down, toward zero, to nearest with
ties away from zero, to odd (Arm ARM, shared pseudocode: FPRounding), to odd but to infinity where out of range
(BFRound)."""


@dataclass(frozen=True)
class Float:
    """An IEEE 754 binary format, or bfloat16."""

    bits: int
    fraction_bits: int

    @property
    def exponent_bits(self) -> int:
        """Bits of the exponent field."""
        return self.bits - 1 - self.fraction_bits

    @property
    def highest_exponent(self) -> int:
        """The unbiased exponent of the largest numbers, which is also the bias."""
        return (1 << self.exponent_bits - 1) - 1

    @property
    def lowest_exponent(self) -> int:
        """The unbiased exponent of the smallest normal number."""
        return 1 - self.highest_exponent

    @property
    def sign_bit(self) -> int:
        """The number of the sign bit alone: minus zero."""
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        """The bits of plus infinity."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def quiet_bit(self) -> int:
        """The highest fraction bit, which tells a quiet NaN from a signalling one."""
        return 1 << self.fraction_bits - 1

    def negated(self, lane: Lane) -> Lane:
        """The lane with its sign bit flipped, whatever the number is (Arm ARM: FPNeg)."""
        return lane ^ self.sign_bit

    def magnitude(self, lane: Lane) -> Lane:
        """The lane with its sign bit cleared, whatever the number is (Arm ARM: FPAbs)."""
        return lane & (self.sign_bit - 1)

    def __str__(self) -> str:
        return "bf16" if self == BF16 else f"f{self.bits}"


F16, BF16, F32, F64 = Float(16, 10), Float(16, 7), Float(32, 23), Float(64, 52)
FLOATS = {16: F16, 32: F32, 64: F64}
"""The format of a lane of so many bits."""


@dataclass(frozen=True)
class FloatOperation:
    """What a floating-point node computes.

    `of` is the format of its operands and `to` that of its result; where one side is an integer, its type.  The
    addend of a `multiply_add` has the format `to`.  `fraction_bits` scales fixed-point conversions; `integer` is the
    type whose range bounds `to_integral_bounded`.  A `silent` operation raises no exceptions.
    """

    name: Operation
    of: Float | Int
    to: Float | Int
    rounding: Rounding = "fpcr"
    fraction_bits: int = 0
    integer: Int | None = None
    silent: bool = False

    def __call__(self, *operands: Lane | int, fpcr: Lane | int | None = None) -> Lane:
        """The node with these operands; `fpcr` replaces the register where an instruction does not heed it."""
        control = read(FPCR) if fpcr is None else lift(fpcr)
        low, high = (self.to.low, self.to.high) if isinstance(self.to, Int) else (0, 2 * self.to.sign_bit - 1)
        return Lane("floating", (*map(lift, operands), control), low, high, self)

    def __str__(self) -> str:
        rounding = "" if self.rounding == "fpcr" else f" to {self.rounding}"
        return f"{self.name} {self.of}->{self.to}{rounding}"
