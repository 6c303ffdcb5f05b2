"""The rules that ACLE's Neon intrinsics follow: a table, and the types that its words stand for.

A `Rule` says, for a family of names, the mnemonic and how result and arguments follow from the type that the name
ends with.  In a signature each argument is one word:

    T           a vector of the type in the name; letters after it change it, in turn:
                S signed, U unsigned, H 64 bits, Q 128 bits, W wide, N narrow, P pairs, B bytes (see `VectorType`)
    +T          the same, and the instruction's destination begins as a copy of it
    scalar      a number of the element type, in a general register; `bits64` any 64 bits
    broadcast   a number of the element type, in every lane of a vector register
    across      (result) a number, the lowest element of a vector register; `across_wide` one twice as wide
    lane        the number of a lane of the vector before it; `group` of a group of four bytes
    left, right, narrowing   a shift: 0..bits-1, 1..bits, 1..bits/2
    first       a number of elements, in bytes in the instruction
    pointer     an address that may have an offset; `base` one that may not

Source: ACLE, "Advanced SIMD (Neon) intrinsics"; Arm Neon Intrinsics Reference for the instruction of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isa.lane import U64
from isa.parameters import (
    Address,
    Broadcast,
    ElementResult,
    GeneralResult,
    Literal,
    NoResult,
    Parameter,
    Result,
    Scalar,
    Vector,
    VectorResult,
)
from isa.values import VectorType, c_name, shared


@dataclass(frozen=True)
class Rule:
    """A family of intrinsics.

    `ops` are the names after the `v`; `_n`, `_lane`, ... follow the mark that `form` calls for:

        each    64-bit types plain, 128-bit types marked q
        long    64-bit types plain; 128-bit types marked _high, with the mnemonic's `2` form
        narrow  128-bit types, plain and, marked _high, onto a given lower half
        64, 128 types of that size only, no mark

    `mnemonic` may hold `{op}` and `{s}` (s or u by the type), `signed/unsigned` choices and `first|second` ones of
    which the first that the table has is taken.  `text` is the operands, 0 the result, if not all in order.
    Only types of these `signs`, with elements of at most `widest` bits, are tried.
    """

    ops: str
    mnemonic: str
    signature: str
    text: str = ""
    form: str = "each"
    signs: str = "su"
    widest: int = 64


MARKS: dict[str, dict[int, tuple[str, ...]]] = {
    "each": {64: ("",), 128: ("q",)},
    "long": {64: ("",), 128: ("_high",)},
    "narrow": {64: (), 128: ("", "_high")},
    "64": {64: ("",), 128: ()},
    "128": {64: (), 128: ("",)},
}
"""By form and size of the type, the marks in a name after the op."""

_LANES = ("_lane", "T, TH, lane"), ("_laneq", "T, TQ, lane")


def _by_element(ops: str, mnemonic: str, result: str, form: str = "each", scalars: bool = True) -> Iterator[Rule]:
    """The `_lane`, `_laneq` and `_n` intrinsics of an op; `result` is the signature up to the last two vectors."""
    vectors, number = ("{0}, {2}, {3.e}", "{4}") if "+" in result else ("{0}, {1}, {2.e}", "{3}")
    for suffix, rest in _LANES:
        yield Rule(_suffixed(ops, suffix), mnemonic, result + rest, f"{vectors}[{number}]", form)
    if scalars:
        yield Rule(_suffixed(ops, "_n"), mnemonic, f"{result}T, broadcast", f"{vectors}[0]", form)


def _suffixed(ops: str, suffix: str) -> str:
    return " ".join(op + suffix for op in ops.split())


_SWAPPED = "{0}, {2}, {1}"
_WITH_ZERO = "{0}, {1}, #0"
_TWO_LANES = "v0.2s, {1}, {1}"

RULES = (
    # arithmetic
    Rule("add sub mul", "{op}", "T = T, T"),
    Rule("hadd rhadd hsub qadd qsub abd max min qdmulh qrdmulh", "{s}{op}", "T = T, T"),
    Rule("mla mls", "{op}", "T = +T, T, T"),
    Rule("aba qrdmlah qrdmlsh", "{s}{op}", "T = +T, T, T"),
    Rule("uqadd", "suqadd", "T = +T, TU", signs="s"),
    Rule("sqadd", "usqadd", "T = +T, TS", signs="u"),
    Rule("neg abs", "{op}", "T = T", signs="s"),
    Rule("qneg qabs", "s{op}", "T = T", signs="s"),
    Rule("clz", "clz", "T = T"),
    Rule("cls", "cls", "TS = T"),
    Rule("cnt rbit", "{op}", "T = T"),
    *_by_element("mul", "mul", "T = "),
    *_by_element("mla mls", "{op}", "T = +T, "),
    *_by_element("qdmulh qrdmulh", "{s}{op}", "T = "),
    *_by_element("qrdmlah qrdmlsh", "{s}{op}", "T = +T, ", scalars=False),
    # long and wide
    Rule("addl subl abdl mull qdmull", "{s}{op}", "TW = T, T", form="long"),
    Rule("addw subw", "{s}{op}", "TW = TW, T", form="long"),
    Rule("abal mlal mlsl qdmlal qdmlsl", "{s}{op}", "TW = +TW, T, T", form="long"),
    Rule("movl", "{s}shll", "TW = T", _WITH_ZERO, form="long"),
    Rule("shll_n", "{s}shll", "TW = T, left", form="long"),
    *_by_element("mull qdmull", "{s}{op}", "TW = ", form="long"),
    *_by_element("mlal mlsl qdmlal qdmlsl", "{s}{op}", "TW = +TW, ", form="long"),
    # narrowing
    Rule("movn", "xtn", "TN = T", form="narrow"),
    Rule("qmovn", "{s}qxtn", "TN = T", form="narrow"),
    Rule("qmovun", "sqxtun", "TNU = T", form="narrow", signs="s"),
    Rule("addhn subhn raddhn rsubhn", "{op}", "TN = T, T", form="narrow"),
    Rule("shrn_n rshrn_n", "{op}", "TN = T, narrowing", form="narrow"),
    Rule("qshrn_n qrshrn_n", "{s}{op}", "TN = T, narrowing", form="narrow"),
    Rule("qshrun_n qrshrun_n", "s{op}", "TNU = T, narrowing", form="narrow", signs="s"),
    # shifts
    Rule("shl rshl qshl qrshl", "{s}{op}", "T = T, TS"),
    Rule("shl_n", "shl", "T = T, left"),
    Rule("qshl_n", "{s}qshl", "T = T, left"),
    Rule("qshlu_n", "sqshlu", "TU = T, left", signs="s"),
    Rule("shr_n rshr_n", "{s}{op}", "T = T, right"),
    Rule("sra_n rsra_n", "{s}{op}", "T = +T, T, right"),
    Rule("sli_n", "sli", "T = +T, T, left"),
    Rule("sri_n", "sri", "T = +T, T, right"),
    # comparison
    Rule("ceq", "cmeq", "TU = T, T"),
    Rule("cge", "cmge/cmhs", "TU = T, T"),
    Rule("cgt", "cmgt/cmhi", "TU = T, T"),
    Rule("cle", "cmge/cmhs", "TU = T, T", _SWAPPED),
    Rule("clt", "cmgt/cmhi", "TU = T, T", _SWAPPED),
    Rule("tst", "cmtst", "TU = T, T"),
    Rule("ceqz", "cmeq", "TU = T", _WITH_ZERO),
    Rule("cgez", "cmge", "TU = T", _WITH_ZERO, signs="s"),
    Rule("cgtz", "cmgt", "TU = T", _WITH_ZERO, signs="s"),
    Rule("clez", "cmle", "TU = T", _WITH_ZERO, signs="s"),
    Rule("cltz", "cmlt", "TU = T", _WITH_ZERO, signs="s"),
    # bitwise
    Rule("and orr eor bic orn", "{op}", "T = T, T", "{0.b}, {1.b}, {2.b}"),
    Rule("mvn", "mvn", "T = T", "{0.b}, {1.b}", widest=32),
    Rule("bsl", "bsl", "T = +TU, T, T", "{0.b}, {2.b}, {3.b}"),
    # pairwise and across lanes
    Rule("padd", "addp", "T = T, T"),
    Rule("pmax", "{s}maxp", "T = T, T"),
    Rule("pmin", "{s}minp", "T = T, T"),
    Rule("paddl", "{s}addlp", "TP = T", "{0.v}, {1}"),
    Rule("padal", "{s}adalp", "TP = +TP, T", "{0.v}, {2}"),
    Rule("addv", "addv|addp", "across = T"),
    Rule("addv", "addp", "across = T", _TWO_LANES),
    Rule("maxv minv", "{s}{op}", "across = T"),
    Rule("maxv", "{s}maxp", "across = T", _TWO_LANES),
    Rule("minv", "{s}minp", "across = T", _TWO_LANES),
    Rule("addlv", "{s}addlv", "across_wide = T"),
    Rule("addlv", "{s}addlp", "across_wide = T", "v0.1d, {1}"),
    # dot products
    Rule("dot", "{s}dot", "T = +T, TB, TB"),
    Rule("dot_lane", "{s}dot", "T = +T, TB, TBH, group", "{0}, {2}, {3.g}[{4}]"),
    Rule("dot_laneq", "{s}dot", "T = +T, TB, TBQ, group", "{0}, {2}, {3.g}[{4}]"),
    Rule("usdot", "usdot", "T = +T, TBU, TB", signs="s"),
    Rule("usdot_lane", "usdot", "T = +T, TBU, TBH, group", "{0}, {2}, {3.g}[{4}]", signs="s"),
    Rule("sudot_lane", "sudot", "T = +T, TB, TBUH, group", "{0}, {2}, {3.g}[{4}]", signs="s"),
    Rule("mmla", "{s}mmla", "T = +T, TB, TB"),
    Rule("usmmla", "usmmla", "T = +T, TBU, TB", signs="s"),
    # moving lanes
    Rule("dup_n mov_n", "dup|fmov", "T = scalar"),
    Rule("create", "fmov", "T = bits64", "{0.q}, {1}", form="64"),
    Rule("dup_lane", "dup|mov", "T = TH, lane", "{0}, {1.e}[{2}]"),
    Rule("dup_laneq", "dup|mov", "T = TQ, lane", "{0}, {1.e}[{2}]"),
    Rule("get_lane", "{s}mov|mov", "scalar = T, lane", "{0}, {1.e}[{2}]"),
    Rule("set_lane", "mov", "T = scalar, +T, lane", "{0.e}[{3}], {1}"),
    Rule("copy_lane", "mov", "T = +T, lane, TH, lane", "{0.e}[{2}], {3.e}[{4}]"),
    Rule("copy_laneq", "mov", "T = +T, lane, TQ, lane", "{0.e}[{2}], {3.e}[{4}]"),
    Rule("get_low", "mov", "TH = T", "{0.q}, {1.d}[0]", form="128"),
    Rule("get_high", "mov", "TH = T", "{0.q}, {1.d}[1]", form="128"),
    Rule("combine", "mov", "TQ = +T, T", "{0.d}[1], {2.d}[0]", form="64"),
    Rule("ext", "ext", "T = T, T, first", "{0.b}, {1.b}, {2.b}, {3}"),
    Rule("rev16 rev32 rev64", "{op}", "T = T"),
    Rule("zip1 zip2 uzp1 uzp2 trn1 trn2", "{op}", "T = T, T"),
    Rule("qtbl1", "tbl", "T = TQ, TU", "{0}, {{{1.v}}}, {2}"),
    Rule("qtbx1", "tbx", "T = +T, TQ, TU", "{0}, {{{2.v}}}, {3}"),
    # loads and stores
    Rule("ld1", "ldr", "T = pointer", "{0.q}, {1}"),
    Rule("ld1_dup", "ld1r", "T = base", "{{{0.v}}}, {1}"),
    Rule("ld1_lane", "ld1", "T = base, +T, lane", "{{{0.e}}}[{3}], {1}"),
    Rule("st1", "str", "void = pointer, T", "{2.q}, {1}"),
    Rule("st1_lane", "st1", "void = base, T, lane", "{{{2.e}}}[{3}], {1}"),
)

_CHANGES: dict[str, Callable[[VectorType], VectorType]] = {
    "T": lambda t: t,
    "S": lambda t: t.as_signed,
    "U": lambda t: t.as_unsigned,
    "H": lambda t: t.half,
    "Q": lambda t: t.full,
    "W": lambda t: t.wide,
    "N": lambda t: t.narrow,
    "P": lambda t: t.pairs,
    "B": lambda t: t.bytes,
}

_PARAMETERS: dict[str, Callable[[VectorType], Parameter]] = {
    "scalar": lambda t: Scalar(t.element),
    "bits64": lambda t: Scalar(U64),
    "broadcast": lambda t: Broadcast(t.element, t),
    "left": lambda t: Literal("an immediate", 0, t.bits - 1),
    "right": lambda t: Literal("an immediate", 1, t.bits),
    "narrowing": lambda t: Literal("an immediate", 1, t.bits // 2),
    "first": lambda t: Literal("an immediate", 0, t.lanes - 1, t.bits // 8),
    "pointer": lambda t: Address(c_name(t.element), t.total_bits // 8),
    "base": lambda t: Address(c_name(t.element), 0),
}

_RESULTS: dict[str, Callable[[VectorType], Result]] = {
    "scalar": lambda t: GeneralResult(t.element),
    "across": lambda t: ElementResult(t.element),
    "across_wide": lambda t: ElementResult(t.wide.element),
    "void": lambda t: NoResult(),
}


def _vector_type(word: str, base: VectorType) -> VectorType:
    for letter in word:
        base = _CHANGES[letter](base)
    return shared(base)


def parameters_of(words: list[str], base: VectorType) -> tuple[Parameter, ...]:
    """The parameters that a signature's words are at a type.  Raises ValueError for a type that does not exist."""
    parameters: list[Parameter] = []
    vector = base
    for word in words:
        if word in ("lane", "group"):
            parameters.append(Literal("a lane", 0, vector.total_bits // (vector.bits if word == "lane" else 32) - 1))
        elif word in _PARAMETERS:
            parameters.append(_PARAMETERS[word](base))
        else:
            vector = _vector_type(word.removeprefix("+"), base)
            parameters.append(Vector(vector, tied=word.startswith("+")))
    return tuple(parameters)


def result_of(word: str, base: VectorType) -> Result:
    """The result that a signature's word is at a type.  Raises ValueError for a type that does not exist."""
    return _RESULTS[word](base) if word in _RESULTS else VectorResult(_vector_type(word, base))
