"""Intrinsics that move lanes: they serve elements of every kind."""

from __future__ import annotations

from collections.abc import Iterator

from isa.acle.rules import ALL, INTEGERS, Rule

_BOTH = "{0.first}, {1}, {2}; {0.second}, {1}, {2}"
_PAIRED = "{t.dd}, {1.first.dd}, {1.second.dd}"
_PAIRED_2 = "{t.dd}, {2.first.dd}, {2.second.dd}"


def _of_halves(number: int) -> Iterator[Rule]:
    """VTBL and VTBX of a table of `number` 64-bit vectors, where instructions take 128-bit ones.

    A lookup past a table gives 0: so does one in the zero upper half of its last register.  VTBX keeps these lanes:
    masked where half of the last register is not its.
    """
    table = "T" if number == 1 else f"T*{number}"
    for op, old, (mnemonic, text) in (("tbl", "", _TABLES[number]), ("tbx", "+T, ", _EXTENSIONS[number])):
        for kinds, index in (("su", "T"), ("p", "TU")):
            signature = f"T = {old}{table}, {index}"
            yield Rule(f"{op}{number}", mnemonic, signature, text, form="d", kinds=kinds, widths=(8,))


_TABLES = {
    1: ("tbl", "{0}, {{{1.bb}}}, {2}"),
    2: ("zip1; tbl", f"{_PAIRED}; {{0}}, {{{{{{t.bb}}}}}}, {{2}}"),
    3: ("zip1; mov; tbl", f"{_PAIRED}; {{u.b}}, {{1.third.b}}; {{0}}, {{{{{{t.bb}}, {{u.bb}}}}}}, {{2}}"),
    4: (
        "zip1; zip1; tbl",
        f"{_PAIRED}; {{u.dd}}, {{1.third.dd}}, {{1.fourth.dd}}; {{0}}, {{{{{{t.bb}}, {{u.bb}}}}}}, {{2}}",
    ),
}
"""Mnemonics and operands of VTBL by the number of vectors of its table."""

_EXTENSIONS = {
    1: (
        "tbl; movi; cmhi; bit",
        "{t.b}, {{{2.bb}}}, {3}; {u.b}, #8; {w.b}, {u.b}, {3.b}; {0.b}, {t.b}, {w.b}",
    ),
    2: ("zip1; tbx", f"{_PAIRED_2}; {{0}}, {{{{{{t.bb}}}}}}, {{3}}"),
    3: (
        "zip1; mov; tbl; movi; cmhi; bit",
        f"{_PAIRED_2}; {{u.b}}, {{2.third.b}}; {{w.b}}, {{{{{{t.bb}}, {{u.bb}}}}}}, {{3}}; {{x.b}}, #24; "
        "{y.b}, {x.b}, {3.b}; {0.b}, {w.b}, {y.b}",
    ),
    4: (
        "zip1; zip1; tbx",
        f"{_PAIRED_2}; {{u.dd}}, {{2.third.dd}}, {{2.fourth.dd}}; {{0}}, {{{{{{t.bb}}, {{u.bb}}}}}}, {{3}}",
    ),
}
"""The same of VTBX."""

RULES = (
    # numbers to lanes and back
    Rule("dup_n mov_n", "dup|fmov", "T = general", kinds=INTEGERS),
    Rule("dup_n", "dup|mov", "T = number", "{0}, {1.e}[0]", kinds="fb"),
    Rule("mov_n", "dup|mov", "T = number", "{0}, {1.e}[0]", kinds="f"),
    Rule("create", "fmov", "T = bits64", "{0.q}, {1}", form="d", kinds=ALL),
    Rule("dup_lane", "dup|mov", "T = TH, lane", "{0}, {1.e}[{2}]", kinds=ALL),
    Rule("dup_laneq", "dup|mov", "T = TQ, lane", "{0}, {1.e}[{2}]", kinds=ALL),
    Rule("get_lane", "{s}mov|mov", "general = T, lane", "{0}, {1.e}[{2}]", kinds=INTEGERS),
    Rule("get_lane", "mov", "number = T, lane", "{0}, {1.e}[{2}]", kinds="fb"),
    Rule("set_lane", "mov", "T = general, +T, lane", "{0.e}[{3}], {1}", kinds=INTEGERS),
    Rule("set_lane", "mov", "T = number, +T, lane", "{0.e}[{3}], {1.e}[0]", kinds="fb"),
    # lanes to lanes
    Rule("copy_lane", "mov", "T = +T, lane, TH, lane", "{0.e}[{2}], {3.e}[{4}]", kinds="supb"),
    Rule("copy_lane", "mov", "T = +T, lane, TH, lane", "{0.e}[{2}], {3.e}[{4}]", kinds="f", widths=(32, 64)),
    Rule("copy_laneq", "mov", "T = +T, lane, TQ, lane", "{0.e}[{2}], {3.e}[{4}]", kinds="supb"),
    Rule("copy_laneq", "mov", "T = +T, lane, TQ, lane", "{0.e}[{2}], {3.e}[{4}]", kinds="f", widths=(32, 64)),
    Rule("get_low", "mov", "TH = T", "{0.q}, {1.d}[0]", form="128", kinds=ALL),
    Rule("get_high", "mov", "TH = T", "{0.q}, {1.d}[1]", form="128", kinds=ALL),
    Rule("combine", "mov", "TQ = +T, T", "{0.d}[1], {2.d}[0]", form="d", kinds=ALL),
    Rule("ext", "ext", "T = T, T, first", "{0.b}, {1.b}, {2.b}, {3}", kinds="supf"),
    Rule("rev16 rev32", "{op}", "T = T", kinds=INTEGERS),
    Rule("rev64", "{op}", "T = T", kinds="supf"),
    Rule("zip1 zip2 uzp1 uzp2 trn1 trn2", "{op}", "T = T, T", kinds="supf"),
    *(
        Rule(op, f"{op}1; {op}2", "T*2 = T, T", _BOTH, kinds="supf", widths=(8, 16, 32))
        for op in ("zip", "uzp", "trn")
    ),
    # table lookup
    Rule("qtbl1", "tbl", "T = TQ, TU", "{0}, {{{1.v}}}, {2}", kinds=INTEGERS),
    Rule("qtbx1", "tbx", "T = +T, TQ, TU", "{0}, {{{2.v}}}, {3}", kinds=INTEGERS),
    *(Rule(f"qtbl{n}", "tbl", f"T = TQ*{n}, TU", kinds=INTEGERS) for n in (2, 3, 4)),
    *(Rule(f"qtbx{n}", "tbx", f"T = +T, TQ*{n}, TU", "{0}, {2}, {3}", kinds=INTEGERS) for n in (2, 3, 4)),
    *(rule for n in (1, 2, 3, 4) for rule in _of_halves(n)),
)  # fmt: skip
