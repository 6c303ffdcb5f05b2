"""Words of which Arm leaves open what they do: CONSTRAINED UNPREDICTABLE, decided by the fields of the word.

They are those of the instructions that the table has: where the pseudocode of a page of Arm ARM C6.2 or C7.2 says
`ConstrainUnpredictable`, and where a bit of its encoding is written (0) or (1).  What processors may do then is in
K1.2.  Whether a disassembler knows such a word says nothing: Capstone 5 reads some of them and refuses others.
"""

from __future__ import annotations

from typing import NamedTuple

from isa.table import UnknownInstruction


class UnpredictableInstruction(UnknownInstruction):
    """A word of which Arm leaves open what it does; `text` is its disassembly, `reason` says what makes it so."""


RULE_FIELDS = {"t": 0, "n": 5, "t2": 10, "s": 16}
"""The lowest bit of each field of five bits that names a register: Rt, Rn, Rt2, Rs."""
_SP = 31


class RegisterOverlap(NamedTuple):
    """Words with `value` under `mask` in which field `one` names the same register as one of `others`.

    As Rn, 31 is the stack pointer, which is no other field's register.
    """

    mask: int
    value: int
    one: str
    others: tuple[str, ...]
    says: str

    def reason(self, word: int) -> str:
        """Of such a word; "" where there is none."""
        number = word >> RULE_FIELDS[self.one] & 31
        others = [word >> RULE_FIELDS[other] & 31 for other in self.others]
        return self.says.format(number) if number in others and not (self.one == "n" and number == _SP) else ""


class FixedBits(NamedTuple):
    """Words with `value` under `mask` whose `bits` should all be `bit`, 0 or 1, and are not."""

    mask: int
    value: int
    bits: int
    bit: int
    says: str

    def reason(self, word: int) -> str:
        """Of such a word; "" where there is none."""
        wrong = word & self.bits != self.bits * self.bit
        return f"{self.says} are not all {self.bit}, as they should be" if wrong else ""


_STORED = "it stores x{} and moves it as the base of the address"
_LOADED = "it loads x{} and moves it as the base of the address"
_TWICE = "it loads register {} twice"
_STATUS_STORED = "it stores register {} and writes its status there"
_STATUS_BASE = "it takes its address from x{} and writes its status there"
_RS, _RT2 = 0x001F0000, 0x00007C00

RULES = (
    # STR, STRB, STRH; LDR, LDRB, LDRH; LDRSB, LDRSH; LDRSW: post- and pre-indexed
    RegisterOverlap(0x3FE00400, 0x38000400, "n", ("t",), _STORED),
    RegisterOverlap(0x3FE00400, 0x38400400, "n", ("t",), _LOADED),
    RegisterOverlap(0xBFA00400, 0x38800400, "n", ("t",), _LOADED),
    RegisterOverlap(0xFFE00400, 0xB8800400, "n", ("t",), _LOADED),
    # STP; LDP; LDPSW: post- and pre-indexed
    RegisterOverlap(0x7EC00000, 0x28800000, "n", ("t", "t2"), _STORED),
    RegisterOverlap(0x7EC00000, 0x28C00000, "n", ("t", "t2"), _LOADED),
    RegisterOverlap(0xFEC00000, 0x68C00000, "n", ("t", "t2"), _LOADED),
    # LDP and LDNP of X and W; LDPSW; LDP and LDNP of S and D, of Q; LDXP and LDAXP
    RegisterOverlap(0x7E400000, 0x28400000, "t", ("t2",), _TWICE),
    RegisterOverlap(0xFEC00000, 0x68C00000, "t", ("t2",), _TWICE),
    RegisterOverlap(0xFFC00000, 0x69400000, "t", ("t2",), _TWICE),
    RegisterOverlap(0xBE400000, 0x2C400000, "t", ("t2",), _TWICE),
    RegisterOverlap(0xFE400000, 0xAC400000, "t", ("t2",), _TWICE),
    RegisterOverlap(0xBFE00000, 0x88600000, "t", ("t2",), _TWICE),
    # STXR and STLXR, of bytes and halfwords too; STXP and STLXP
    RegisterOverlap(0x3FE00000, 0x08000000, "s", ("t",), _STATUS_STORED),
    RegisterOverlap(0x3FE00000, 0x08000000, "n", ("s",), _STATUS_BASE),
    RegisterOverlap(0xBFE00000, 0x88200000, "s", ("t", "t2"), _STATUS_STORED),
    RegisterOverlap(0xBFE00000, 0x88200000, "n", ("s",), _STATUS_BASE),
    # LDXR, LDAXR, STXR, STLXR; the loads of them; LDXP, LDAXP; LDAR, LDLAR, STLR, STLLR; LDAPR
    FixedBits(0x3FA00000, 0x08000000, _RT2, 1, "bits 14 to 10"),
    FixedBits(0x3FE00000, 0x08400000, _RS, 1, "bits 20 to 16"),
    FixedBits(0xBFE00000, 0x88600000, _RS, 1, "bits 20 to 16"),
    FixedBits(0x3FA00000, 0x08800000, _RS | _RT2, 1, "bits 20 to 16 and 14 to 10"),
    FixedBits(0x3FE0FC00, 0x38A0C000, _RS, 1, "bits 20 to 16"),
    # SMULH, UMULH; FCMP and FCMPE with zero: S and D, H; CFINV, XAFLAG, AXFLAG; SB
    FixedBits(0xFF608000, 0x9B400000, _RT2, 1, "bits 14 to 10"),
    FixedBits(0xFFA0FC0F, 0x1E202008, _RS, 0, "bits 20 to 16"),
    FixedBits(0xFFE0FC0F, 0x1EE02008, _RS, 0, "bits 20 to 16"),
    FixedBits(0xFFFFF0DF, 0xD500401F, 0x00000F00, 0, "bits 11 to 8"),
    FixedBits(0xFFFFF0FF, 0xD500405F, 0x00000F00, 0, "bits 11 to 8"),
    FixedBits(0xFFFFF0FF, 0xD50330FF, 0x00000F00, 0, "bits 11 to 8"),
)
_BY_PATTERN = [(rule.mask, rule.value, rule) for rule in RULES]


def why_unpredictable(word: int) -> str:
    """Why Arm leaves open what a word does, in one sentence; "" where it does not."""
    reasons = (rule.reason(word) for mask, value, rule in _BY_PATTERN if word & mask == value)
    what = next(filter(None, reasons), "")
    return what and f"{what}, and Arm leaves open what processors do then (CONSTRAINED UNPREDICTABLE, Arm ARM K1.2)"
