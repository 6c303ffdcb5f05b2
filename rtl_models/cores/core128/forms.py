"""The one list of what `core128` executes: forms of the instruction table, and the long immediates of their words.

Everything else about a form - which bits of its words are fixed, which name registers, what it computes - is found in
the table and by decoding words of it (`rows`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from isa.encodings import recorded_words
from rtl_models.cores.core128.immediates import IMMEDIATES, LongImmediate


class ListedForm(NamedTuple):
    """A form by its name, words of its encodings, and the immediate in them that is too long to be enumerated."""

    name: str
    words: tuple[int, ...]
    immediate: LongImmediate | None


_WORDS: Final = recorded_words()
_LANES: Final = ".8b .16b .4h .8h .2s .4s"
_D: Final = ".2d"
_NARROW: Final = (
    (".8b", ".8h", ""), (".4h", ".4s", ""), (".2s", ".2d", ""),
    (".16b", ".8h", "2"), (".8h", ".4s", "2"), (".4s", ".2d", "2"),
)  # fmt: skip
_LISTS_OF_ONE: Final = (
    *(f"{m} {{1}}{t}" for m in ("ld1", "st1", "ld1r") for t in f"{_LANES} {_D}".split()),
    *(f"{m} {{1}}.{t}[i]" for m in ("ld1", "st1") for t in "bhsd"),
)
_STORED_LISTS: Final = (
    *(f"st1 {{{n}}}{t}," for n in (2, 3, 4) for t in (".8b", ".4h", ".2s", ".1d")),
    *(f"st{n} {{{n}}}{t}," for n in (2, 3, 4) for t in (".8b", ".4h", ".2s")),
    *(f"st{n} {{2}}{t}," for n in (1, 2) for t in (".16b", ".8h", ".4s", ".2d")),
)
"""Of 32 bytes at most."""
_PAIRED: Final = ((".8b", ".4h"), (".16b", ".8h"), (".4h", ".2s"), (".8h", ".4s"), (".2s", ".1d"), (".4s", ".2d"))
SHIFTED_NARROW: Final = ("shrn", "rshrn", "sqshrn", "sqrshrn", "uqshrn", "uqrshrn", "sqshrun", "sqrshrun")
_WIDE: Final = ("saddw", "uaddw", "ssubw", "usubw")
_LONG: Final = ("saddl", "uaddl", "ssubl", "usubl")
_LONG_MULTIPLIES: Final = ("smull", "umull", "smlal", "umlal", "smlsl", "umlsl")


def _three(mnemonics: str, arrangements: str) -> list[str]:
    return [f"{m} {t},{t},{t}" for m in mnemonics.split() for t in arrangements.split()]


def _two(mnemonics: str, arrangements: str, tail: str = "") -> list[str]:
    return [f"{m} {t},{t}{tail}" for m in mnemonics.split() for t in arrangements.split()]


_VECTOR: Final = [
    # the lanes
    *_three("add sub sqadd uqadd sqsub uqsub", f"{_LANES} {_D}"),
    *_three("smin umin smax umax", _LANES),
    *_three("sshl ushl srshl urshl sqshl uqshl sqrshl uqrshl", f"{_LANES} {_D}"),
    *_three("sqdmulh sqrdmulh", ".4h .8h .2s .4s"),
    *(f"{m} {t},{t},.{t[-1]}[i]" for m in ("sqdmulh", "sqrdmulh") for t in (".4h", ".8h", ".2s", ".4s")),
    *(f"{m}{two} {narrow},{wide}" for m in ("sqxtn", "sqxtun", "uqxtn", "xtn") for narrow, wide, two in _NARROW),
    *(f"{m} .{n}s,.{4 * n}b,{last}" for m in ("sdot", "udot") for n in (2, 4) for last in (f".{4 * n}b", ".4b[i]")),
    # what stands around them
    *_three("mul mla mls", _LANES),
    *(f"{m} {t},{t},.{t[-1]}[i]" for m in ("mul", "mla", "mls") for t in (".4h", ".8h", ".2s", ".4s")),
    *_three("and orr eor bic orn bsl bit bif", ".8b .16b"),
    *_two("mvn", ".8b .16b"),  # MOV of a vector is ORR of it with itself
    *_three("cmeq cmge cmgt cmhs cmhi cmtst", f"{_LANES} {_D}"),
    *_two("cmeq cmge cmgt cmle cmlt", f"{_LANES} {_D}", ",#"),
    *_two("sshr ushr srshr urshr shl", f"{_LANES} {_D}", ",#"),
    *(f"{m}{two} {wide},{narrow},#" for m in ("sshll", "ushll") for narrow, wide, two in _NARROW),
    *_two("ssra usra srsra ursra", f"{_LANES} {_D}", ",#"),
    *(f"{m}{two} {narrow},{wide},#" for m in SHIFTED_NARROW for narrow, wide, two in _NARROW),
    *(f"{m}{two} {wide},{narrow},{narrow}" for m in (*_LONG, *_LONG_MULTIPLIES) for narrow, wide, two in _NARROW),
    *(f"{m}{two} {wide},{wide},{narrow}" for m in _WIDE for narrow, wide, two in _NARROW),
    *(f"{m} {wide},{narrow}" for m in ("saddlp", "uaddlp", "sadalp", "uadalp") for narrow, wide in _PAIRED),
    *(f"{m} {t[-1]},{t}" for m in ("smaxv", "sminv", "umaxv", "uminv") for t in (".8b", ".16b", ".4h", ".8h", ".4s")),
    *(f"tbl {t},{{{count}}}.16b,{t}" for t in (".8b", ".16b") for count in range(1, 5)),
    *_two("abs neg", f"{_LANES} {_D}"),
    *_three("addp", f"{_LANES} {_D}"),
    *(f"addv {t[-1]},{t}" for t in (".8b", ".16b", ".4h", ".8h", ".4s")),
    *_three("zip1 zip2 uzp1 uzp2 trn1 trn2", f"{_LANES} {_D}"),
    *(f"ext {t},{t},{t},#" for t in (".8b", ".16b")),
    *_two("rev64", _LANES),
    *(f"dup {t},.{t[-1]}[i]" for t in f"{_LANES} {_D}".split()),
    *(f"dup {t},w" for t in _LANES.split()), "dup .2d,x",
    *(f"mov {t},.{t}[i]" for t in "bhsd"), *(f"mov .{t}[i],.{t}[i]" for t in "sd"),
    *(f"mov .{t}[i],w" for t in "bhs"), "mov .d[i],x",
    "umov w,.b[i]", "umov w,.h[i]", "mov w,.s[i]", "mov x,.d[i]",
    "smov w,.b[i]", "smov w,.h[i]", "smov x,.b[i]", "smov x,.h[i]", "smov x,.s[i]",
    "fmov s,w", "fmov d,x", "fmov w,s", "fmov x,d",
]  # fmt: skip

_SCALAR: Final = [
    f"{name} {t},{rest.replace('T', t)}"
    for t in "xw"
    for name, rest in (
        *((m, f"T,{last}") for m in ("add", "sub", "subs", "adds") for last in ("T", "T lsl", "T lsr", "T asr")),
        *((m, f"T,{last}") for m in ("and", "orr", "eor", "ands", "bic") for last in ("T", "T lsl", "T lsr", "T asr")),
        *((m, last) for m in ("cmp", "cmn", "neg") for last in ("T", "T lsl")),
        ("mov", "T"), ("mvn", "T"), ("tst", "T"),
        ("madd", "T,T,T"), ("msub", "T,T,T"), ("mul", "T,T"), ("mneg", "T,T"), ("udiv", "T,T"), ("sdiv", "T,T"),
        ("lsl", "T,T"), ("lsr", "T,T"), ("asr", "T,T"), ("lsr", "T,#"), ("asr", "T,#"), ("lsl", "T,#"),
        ("csel", "T,T,cond"), ("csinc", "T,T,cond"), ("csinv", "T,T,cond"), ("csneg", "T,T,cond"),
        ("cset", "cond"), ("csetm", "cond"),
        ("ccmp", "T,#,cond"),
        ("clz", "T"),
    )
]  # fmt: skip
_MORE: Final = [
    "sxtw x,w", "sxtb w,w", "sxth w,w", "uxtb w,w", "uxth w,w", "smull x,w,w", "umull x,w,w", "smaddl x,w,w,x",
    *(f"{m} {t},{t},w {kind}" for m in ("add", "sub") for t in "xw"
      for kind in ("uxtb", "uxth", "uxtw", "sxtb", "sxth", "sxtw") if f"{t} {kind[1:]}" != "w xtw"),
    *(f"ldrsw x,[x,{o}]" for o in ("x", "x lsl", "w sxtw", "w uxtw")),
    "ret", "br x", "nop",
    *(f"{m} {r},[x,{o}]" for m in ("ldr", "str") for r in "xwqdsbh" for o in ("x", "x lsl", "w sxtw", "w uxtw")
      if not (r == "b" and o.endswith("lsl"))),
    *(f"{m} w,[x,x]" for m in ("ldrb", "strb", "ldrsb", "ldrh", "strh")),
    *(f"{one},{address}" for one in _LISTS_OF_ONE for address in ("[x]", "[x],# post", "[x],x post")),
    *(f"{m}{address}" for m in _STORED_LISTS for address in ("[x]", "[x],# post")),
]  # fmt: skip


def listed_forms() -> Iterator[ListedForm]:
    """All of them."""
    for name in (*_SCALAR, *_MORE, *_VECTOR):
        yield ListedForm(name, tuple(_WORDS[name]) if "lsl x,x,#" != name != "lsl w,w,#" else _left_shifts(name), None)
    for immediate in IMMEDIATES:
        yield ListedForm(immediate.form, (immediate.word,), immediate)


def _left_shifts(name: str) -> tuple[int, ...]:
    """LSL by each amount n is UBFM with immr = -n and imms = bits - 1 - n: a word for each (Arm ARM C6.2)."""
    bits, base = (64, 0xD3400000) if "x" in name else (32, 0x53000000)
    return tuple(base | (bits - n) % bits << 16 | (bits - 1 - n) << 10 for n in range(1, bits))
