"""Immediates too long to be enumerated: where they are in a word, as text of the decoder, and how a form takes them.

The numbers are those of Arm's pages (C4.1, C6.2); that decoding words gives the same is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from isa.lane import U64, Lane, Place, Read, read

Taken = Literal["number", "inverted", "relative", "page"]
"""How a form takes the number of its word: as it is, with all bits inverted, from its own address, from its page."""
PAGE: Final = 1 << 12


@dataclass(frozen=True)
class Encoded:
    """A number in a word: the bits of the word that make it, SystemVerilog of 64 bits for it, and its range."""

    name: str
    bits: int
    text: str
    low: int
    high: int


@dataclass(frozen=True)
class LongImmediate:
    """The immediate of a form, with one of its words; `choosing` are the bits that choose a condition or a bit.

    It is the operand at `place`: the last immediate where that is None.
    """

    form: str
    word: int
    encoded: Encoded
    taken: Taken = "number"
    choosing: tuple[int, ...] = ()
    place: int | None = None

    @property
    def lane(self) -> Lane:
        """What the form's operand is, of what the decoder gives as `imm`."""
        number: Lane = Read(Place("imm"), self.encoded.low, self.encoded.high)
        match self.taken:
            case "number":
                return number
            case "inverted":
                return ~number
            case "relative":
                return U64.wrap(read(Place("pc")) + number)
            case "page":
                return U64.wrap((read(Place("pc")) & -PAGE) + number)


def _signed(name: str, lsb: int, bits: int, scale: int) -> Encoded:
    top = lsb + bits - 1
    parts = f"{{{64 - bits - scale}{{word_i[{top}]}}}}, word_i[{top}:{lsb}]"
    text = f"{{{parts}, {scale}'b0}}" if scale else f"{{{parts}}}"
    return Encoded(name, ((1 << bits) - 1) << lsb, text, -1 << bits - 1 + scale, (1 << bits - 1 + scale) - 1)


def _unsigned12(scale: int) -> Encoded:
    return Encoded(f"unsigned12_{scale}", 0x3FFC00, f"64'(word_i[21:10]) << {scale}", 0, 4095 << scale)


_BRANCH26, _BRANCH19 = _signed("branch26", 0, 26, 2), _signed("branch19", 5, 19, 2)
_BRANCH14, _SIGNED9 = _signed("branch14", 5, 14, 2), _signed("signed9", 12, 9, 0)
_TESTED: Final = (19, 20, 21, 22, 23)
_NEAR: Final = "{{43{word_i[23]}}, word_i[23:5], word_i[30:29]}"
_ADR: Final = Encoded("near", 0x60FFFFE0, _NEAR, -1 << 20, (1 << 20) - 1)
_PAGES = "{{31{word_i[23]}}, word_i[23:5], word_i[30:29], 12'b0}"
_ADRP: Final = Encoded("pages", 0x60FFFFE0, _PAGES, -1 << 32, (1 << 32) - 1)
_WIDE: Final = Encoded("wide", 0x7FFFE0, "64'(word_i[20:5]) << {word_i[22:21], 4'b0}", 0, 2**64 - 1)
_WIDE_W: Final = Encoded("wide_w", 0x3FFFE0, "64'(word_i[20:5]) << {word_i[21], 4'b0}", 0, 2**32 - 1)
_HALF: Final = Encoded("half", 0x1FFFE0, "64'(word_i[20:5])", 0, 2**16 - 1)
_BYTE: Final = Encoded("byte", 0x703E0, "64'({word_i[18:16], word_i[9:5]})", 0, 255)
_FIVE: Final = Encoded("five", 0x1F0000, "64'(word_i[20:16])", 0, 31)
_SPREAD_BITS = ", ".join(
    [*(f"{{8{{word_i[{k}]}}}}" for k in (18, 17, 16)), *(f"{{8{{word_i[{k}]}}}}" for k in range(9, 4, -1))]
)
_SPREAD: Final = Encoded("spread", 0x703E0, f"{{{_SPREAD_BITS}}}", 0, 2**64 - 1)
LOGICAL: Final = Encoded("logical", 0x7FFC00, "bit_mask", 0, 2**64 - 1)
LOGICAL_W: Final = Encoded("logical_w", 0x3FFC00, "64'(bit_mask[31:0])", 0, 2**32 - 1)
"""Bit masks: some words have none, see `bit_mask_valid` in the decoder."""


def _immediates() -> Iterator[LongImmediate]:
    for register, sf in (("x", 1 << 31), ("w", 0)):
        two = f"{register},{register}"
        for name, word in (("add", 0x11000000), ("adds", 0x31000000), ("sub", 0x51000000), ("subs", 0x71000000)):
            yield LongImmediate(f"{name} {two},#", sf | word | 5 << 10 | 0x41, _unsigned12(0))
            yield LongImmediate(f"{name} {two},# lsl", sf | word | 1 << 22 | 5 << 10 | 0x41, _unsigned12(0))
        for name, word in (("cmn", 0x3100001F), ("cmp", 0x7100001F)):
            yield LongImmediate(f"{name} {register},#", sf | word | 5 << 10 | 0x40, _unsigned12(0))
        wide, logical = (_WIDE, LOGICAL) if sf else (_WIDE_W, LOGICAL_W)
        yield LongImmediate(f"mov {register},#", sf | 0x52800001 | 5 << 5, wide)
        yield LongImmediate(f"mov {register},#", sf | 0x12800001 | 5 << 5, wide, "inverted")
        yield LongImmediate(f"movk {register},#", sf | 0x72800001 | 5 << 5, _HALF)
        for half in range(1, 4 if sf else 2):
            yield LongImmediate(f"movk {register},# lsl", sf | 0x72800001 | half << 21 | 5 << 5, _HALF)
        chosen = (0, 1, 2, 3, 12, 13, 14, 15)
        for name, word in (("ccmp", 0x7A400800), ("ccmn", 0x3A400800)):
            yield LongImmediate(f"{name} {register},#,#,cond", sf | word | 5 << 16 | 0x41, _FIVE, "number", chosen, 1)
        mask = sf >> 9 | 0x0C00  # a mask of four ones
        for name, word in (("and", 0x12000000), ("orr", 0x32000000), ("eor", 0x52000000), ("ands", 0x72000000)):
            yield LongImmediate(f"{name} {two},#", sf | word | mask | 0x41, logical)
        yield LongImmediate(f"mov {register},#", sf | 0x320003E1 | mask, logical)
        yield LongImmediate(f"tst {register},#", sf | 0x7200001F | mask | 0x40, logical)
        yield LongImmediate(f"cbz {register},#", sf | 0x34000001 | 2 << 5, _BRANCH19, "relative")
        yield LongImmediate(f"cbnz {register},#", sf | 0x35000001 | 2 << 5, _BRANCH19, "relative")
    for bit, register in ((0, "w"), (1 << 31, "x")):
        yield LongImmediate(f"tbz {register},#,#", bit | 0x36000001 | 2 << 5, _BRANCH14, "relative", _TESTED)
        yield LongImmediate(f"tbnz {register},#,#", bit | 0x37000001 | 2 << 5, _BRANCH14, "relative", _TESTED)
    yield LongImmediate("b #", 0x14000002, _BRANCH26, "relative")
    yield LongImmediate("b.cond cond,#", 0x54000040, _BRANCH19, "relative", (0, 1, 2, 3))
    yield LongImmediate("adr x,#", 0x10000041, _ADR, "relative")
    yield LongImmediate("adrp x,#", 0x90000041, _ADRP, "page")
    yield from _accesses()
    for t, word in ((".8b", 0x0F00E401), (".16b", 0x4F00E401), (".4h", 0x0F008401), (".8h", 0x4F008401),
                    (".2s", 0x0F000401), (".4s", 0x4F000401)):  # fmt: skip
        yield LongImmediate(f"movi {t},#", word | 5 << 5, _BYTE)
        if "b" in t:
            continue
        yield LongImmediate(f"mvni {t},#", word | 1 << 29 | 5 << 5, _BYTE)
        for shift in range(1, 4 if "s" in t else 2):
            yield LongImmediate(f"movi {t},# lsl", word | shift << 13 | 5 << 5, _BYTE)
            yield LongImmediate(f"mvni {t},# lsl", word | shift << 13 | 1 << 29 | 5 << 5, _BYTE)
        for shift in range(4 if "s" in t else 2):
            for name, bit in (("orr", 0), ("bic", 1 << 29)):
                form = f"{name} {t},# lsl" if shift else f"{name} {t},#"
                yield LongImmediate(form, word | shift << 13 | bit | 1 << 12 | 5 << 5, _BYTE)
    yield LongImmediate("movi .2d,#", 0x6F00E401 | 5 << 5, _SPREAD)
    yield LongImmediate("movi d,#", 0x2F00E401 | 5 << 5, _SPREAD)


def _accesses() -> Iterator[LongImmediate]:
    """Loads and stores at an immediate distance from their base."""
    sizes = (("b", 0, 0x3D000000), ("h", 1, 0x7D000000), ("s", 2, 0xBD000000), ("d", 3, 0xFD000000),
             ("q", 4, 0x3D800000), ("w", 2, 0xB9000000), ("x", 3, 0xF9000000))  # fmt: skip
    parts = (("b", 0, 0x39000000), ("h", 1, 0x79000000))
    named = [(f"{load}r {r}", f"{load}ur {r}", k, word | (1 << 22) * (load == "ld"))
             for r, k, word in sizes for load in ("ld", "st")]  # fmt: skip
    named += [(f"{load}r{r} w", f"{load}ur{r} w", k, word | (1 << 22) * (load == "ld"))
              for r, k, word in parts for load in ("ld", "st")]  # fmt: skip
    named += [("ldrsb w", "ldursb w", 0, 0x39C00000), ("ldrsb x", "ldursb x", 0, 0x39800000),
              ("ldrsh w", "ldursh w", 1, 0x79C00000), ("ldrsh x", "ldursh x", 1, 0x79800000),
              ("ldrsw x", "ldursw x", 2, 0xB9800000)]  # fmt: skip
    for scaled, unscaled, scale, word in named:
        near = word & ~(1 << 24) | 5 << 12 | 0x41
        yield LongImmediate(f"{scaled},[x,#]", word | 5 << 10 | 0x41, _unsigned12(scale))
        yield LongImmediate(f"{unscaled},[x,#]", near, _SIGNED9)
        yield LongImmediate(f"{scaled},[x],# post", near | 1 << 10, _SIGNED9)
        yield LongImmediate(f"{scaled},[x,#]!", near | 3 << 10, _SIGNED9)
    for r, scale, word in (
        ("x", 3, 0xA8000000),
        ("w", 2, 0x28000000),
        ("s", 2, 0x2C000000),
        ("d", 3, 0x6C000000),
        ("q", 4, 0xAC000000),
    ):
        for load, bit in (("ldp", 1 << 22), ("stp", 0)):
            for address, mode in (("[x,#]", 2), ("[x],# post", 1), ("[x,#]!", 3)):
                yield LongImmediate(
                    f"{load} {r},{r},{address}", word | bit | mode << 23 | 5 << 15 | 4 << 10 | 0x41,
                    _signed(f"pair7_{scale}", 15, 7, scale),
                )  # fmt: skip


IMMEDIATES: Final = tuple(_immediates())
"""All of them."""
