"""The class table: integer vector arithmetic, permutation and moves.  A class named 64 is of half registers."""

from __future__ import annotations

from collections.abc import Iterator

from sim.timing.class_rows import Row


def _both(name: str, mnemonics: str, operands: int, after: str = "", whole: str = "") -> Iterator[Row]:
    """The rows of the 128-bit and 64-bit forms of operations whose `operands` lanes are all alike."""
    for letter, suffix in (("Q", whole), ("D", " 64")):
        yield Row(f"ASIMD {name}{suffix}", mnemonics, ",".join([letter] * operands) + after)


ARITHMETIC = (
    Row("ASIMD add/sub 128", "add sub neg", "Q,Q,Q; Q,Q"),
    Row("ASIMD add/sub 64", "add sub neg", "D,D,D; D,D"),
    Row("ASIMD saturating add 128", "[su]qadd [su]qsub suqadd usqadd sqneg", "Q,Q,Q; Q,Q"),
    Row("ASIMD saturating add 64", "[su]qadd [su]qsub suqadd usqadd sqneg", "D,D,D; D,D"),
    *_both("saturating abs", "sqabs", 2),
    Row("ASIMD add long", "[su]addl [su]addl2 [su]subl [su]subl2", "*"),
    Row("ASIMD add wide", "[su]addw [su]addw2 [su]subw [su]subw2", "*"),
    *_both("halving add", "[su]hadd [su]hsub [su]rhadd", 3),
    Row("ASIMD add narrow high", "addhn addhn2 subhn subhn2", "*"),
    Row("ASIMD add narrow high rounding", "raddhn raddhn2 rsubhn rsubhn2", "*"),
    Row("ASIMD pairwise add", "addp", "Q,Q,Q"),
    Row("ASIMD pairwise add 64", "addp", "D,D,D; D,Q"),
    Row("ASIMD pairwise add long", "[su]addlp", "Q,Q"),
    Row("ASIMD pairwise add long 64", "[su]addlp", "D,D"),
    Row("ASIMD pairwise add accumulate long", "[su]adalp", "Q,Q"),
    Row("ASIMD pairwise add accumulate long 64", "[su]adalp", "D,D"),
    Row("ASIMD reduce add 4S (addv)", "addv [su]addlv", "D,.4s; D,.4h"),
    Row("ASIMD reduce add 8H (addv)", "addv [su]addlv", "D,.8h; D,.8b"),
    Row("ASIMD reduce add 16B (addv)", "addv [su]addlv", "D,.16b"),
    Row("ASIMD max reduce 4S", "[su]maxv [su]minv", "D,.4s; D,.4h"),
    Row("ASIMD max reduce 8H", "[su]maxv [su]minv", "D,.8h; D,.8b"),
    Row("ASIMD max reduce 16B", "[su]maxv [su]minv", "D,.16b"),
    *_both("abs", "abs", 2),
    *_both("absolute difference", "[su]abd", 3),
    Row("ASIMD absolute difference long", "[su]abdl [su]abdl2", "*"),
    *_both("absolute difference accumulate", "[su]aba", 3),
    Row("ASIMD absolute difference accumulate long", "[su]abal [su]abal2", "*"),
    *_both("min/max", "[su]max [su]min [su]maxp [su]minp", 3, whole=" 128"),
    Row("ASIMD compare", "cmeq cmge cmgt cmhi cmhs cmle cmlt", "Q,Q,Q; Q,Q,#"),
    Row("ASIMD compare 64", "cmeq cmge cmgt cmhi cmhs cmle cmlt", "D,D,D; D,D,#"),
    *_both("test bits (cmtst)", "cmtst", 3),
    Row("ASIMD logic 128", "and orr eor bic orn mvn", "Q,Q,Q; Q,Q; Q,#*"),
    Row("ASIMD logic 64", "and orr eor bic orn mvn", "D,D,D; D,D; D,#*"),
    *_both("bit select (bsl)", "bsl bit bif", 3),
    *_both("count bits (cnt, clz)", "cnt clz", 2),
    *_both("count sign bits (cls)", "cls", 2),
    Row("SHA3 (eor3, bcax, rax1, xar)", "eor3 bcax rax1 xar", "*"),
)

MULTIPLIES = (
    Row("ASIMD multiply 4S", "mul", ".4s,.4s,.4s"),
    Row("ASIMD multiply 8H", "mul", ".8h,.8h,.8h; .16b,.16b,.16b"),
    Row("ASIMD multiply 64", "mul", "D,D,D"),
    Row("ASIMD multiply by element 4S", "mul", "Q,Q,E"),
    Row("ASIMD multiply by element 64", "mul", "D,D,E"),
    Row("ASIMD multiply-accumulate 4S", "mla mls", "Q,Q,Q"),
    Row("ASIMD multiply-accumulate 64", "mla mls", "D,D,D"),
    Row("ASIMD multiply-accumulate by element 4S", "mla", "Q,Q,E"),
    Row("ASIMD multiply-subtract by element 4S", "mls", "Q,Q,E"),
    Row("ASIMD multiply-accumulate by element 64", "mla mls", "D,D,E"),
    Row("ASIMD multiply long 8B->8H", "[su]mull", ".8h,D,D"),
    Row("ASIMD multiply long 4H->4S", "[su]mull", ".4s,D,D; .2d,D,D"),
    Row("ASIMD multiply long high half", "[su]mull2", "Q,Q,Q"),
    Row("ASIMD multiply long by element 4S", "[su]mull [su]mull2", "Q,*,E"),
    Row("ASIMD multiply-accumulate long 8H", "[su]mlal [su]mlsl [su]mlal2 [su]mlsl2", ".8h,*"),
    Row("ASIMD multiply-accumulate long 4S", "[su]mlal [su]mlsl", ".4s,D,D; .2d,D,D"),
    Row("ASIMD multiply-accumulate long high 4S", "[su]mlal2 [su]mlsl2", ".4s,Q,Q; .2d,Q,Q"),
    Row("ASIMD multiply-accumulate long by element 4S", "[su]mlal [su]mlsl [su]mlal2 [su]mlsl2", "Q,*,E"),
    Row("ASIMD saturating doubling multiply long", "sqdmull sqdmull2", "Q,*"),
    Row("ASIMD saturating doubling multiply long 64", "sqdmull", "D,*"),
    Row("ASIMD saturating doubling multiply-accumulate long", "sqdml[as]l sqdml[as]l2", "Q,*"),
    Row("ASIMD saturating doubling multiply-accumulate long 64", "sqdml[as]l", "D,*"),
    Row("ASIMD saturating doubling multiply high 4S", "sqdmulh", "Q,Q,Q"),
    Row("ASIMD saturating doubling multiply high by element 4S", "sqdmulh", "Q,Q,E"),
    Row("ASIMD rounding saturating doubling multiply high 4S", "sqrdmulh", ".4s,.4s,.4s"),
    Row("ASIMD rounding saturating doubling multiply high 8H", "sqrdmulh", ".8h,.8h,.8h"),
    Row("ASIMD rounding saturating doubling multiply high by element 4S", "sqrdmulh", "Q,Q,E"),
    Row("ASIMD saturating doubling multiply high 64", "sqdmulh sqrdmulh", "D,D,D"),
    Row("ASIMD saturating doubling multiply high by element 64", "sqdmulh sqrdmulh", "D,D,E"),
    Row("ASIMD sqrdmlah 8H (v8.1)", "sqrdml[as]h", "Q,Q,Q; Q,Q,E"),
    Row("ASIMD sqrdmlah 64 (v8.1)", "sqrdml[as]h", "D,D,D; D,D,E"),
    *_both("polynomial multiply", "pmul", 3),
    Row("ASIMD polynomial multiply long", "pmull pmull2", ".8h,*"),
    Row("ASIMD polynomial multiply long 128", "pmull pmull2", ".1q,*"),
    Row("ASIMD dot product UDOT vector", "udot", ".4s,Q,Q"),
    Row("ASIMD dot product SDOT vector", "sdot", ".4s,Q,Q"),
    Row("ASIMD dot product SDOT by element", "[su]dot", ".4s,Q,E"),
    Row("ASIMD dot product 64", "[su]dot", ".2s,*"),
    Row("ASIMD dot product mixed sign (v8.6)", "usdot sudot", "*"),
    Row("ASIMD matrix multiply SMMLA (v8.6)", "smmla ummla usmmla", "*"),
)

SHIFTS = (
    *_both("shift by immediate", "shl", 2, ",#"),
    *_both("shift by immediate saturating", "[su]qshl sqshlu", 2, ",#"),
    *_both("shift right by immediate", "[su]shr", 2, ",#"),
    *_both("shift right rounding immediate", "[su]rshr", 2, ",#"),
    *_both("shift right accumulate", "[su]sra", 2, ",#"),
    *_both("shift right rounding accumulate", "[su]rsra", 2, ",#"),
    *_both("shift by register", "[su]shl", 3),
    *_both("shift by register rounding", "[su]rshl", 3),
    *_both("shift by register saturating", "[su]qshl", 3),
    *_both("shift by register saturating rounding", "[su]qrshl", 3),
    *_both("shift insert", "sli sri", 2, ",#"),
    Row("ASIMD widen sxtl/uxtl", "[su]shll [su]shll2", "*", "by 0"),
    Row("ASIMD shift left long", "[su]shll [su]shll2 shll shll2", "*"),
    Row("ASIMD shift right narrow", "shrn", "*"),
    Row("ASIMD shift right narrow high", "shrn2", "*"),
    Row("ASIMD shift right narrow rounding", "rshrn", "*"),
    Row("ASIMD shift right narrow rounding high", "rshrn2", "*"),
    Row("ASIMD shift right narrow saturating rounding", "[su]qrshrn [su]qshrn", "*"),
    Row("ASIMD shift right narrow saturating rounding unsigned", "sqrshrun sqshrun", "*"),
    Row("ASIMD shift right narrow saturating high", "[su]qrshrn2 [su]qshrn2 sqrshrun2 sqshrun2", "*"),
    Row("ASIMD narrow (xtn)", "xtn", "*"),
    Row("ASIMD narrow high (xtn2)", "xtn2", "*"),
    Row("ASIMD narrow saturating (sqxtn)", "[su]qxtn", "*"),
    Row("ASIMD narrow saturating unsigned (sqxtun)", "sqxtun", "*"),
    Row("ASIMD narrow saturating high (sqxtn2)", "[su]qxtn2 sqxtun2", "*"),
)


def _tables(mnemonic: str, name: str) -> Iterator[Row]:
    for count, registers in enumerate(("1 reg", "2 regs", "3 regs", "4 regs"), 1):
        yield Row(f"ASIMD table {name} {registers}", mnemonic, f".16b,{{{count}}}*")
        yield Row(f"ASIMD table {name} {registers} 64", mnemonic, f".8b,{{{count}}}*")


MOVES = (
    Row("ASIMD dup element", "dup", "Q,E"),
    Row("ASIMD dup element 64", "dup mov", "D,E"),
    Row("ASIMD dup from GPR", "dup", "Q,R"),
    Row("ASIMD dup from GPR 64", "dup", "D,R"),
    *_both("move immediate", "movi", 1, ",#*"),
    *_both("move inverted immediate (mvni)", "mvni", 1, ",#*"),
    *_both("move register", "mov", 2),
    Row("ASIMD insert element", "mov", "E,E"),
    Row("ASIMD insert from GPR", "mov fmov", "E,R"),
    Row("transfer vector->GPR (umov)", "mov umov smov fmov", "R,E"),
    *_both("permute trn/zip/uzp", "trn[12] zip[12] uzp[12]", 3),
    *_both("extract (ext)", "ext", 3, ",#"),
    *_both("reverse (rev64)", "rev16 rev32 rev64 rbit", 2),
    *_tables("tbl", "lookup"),
    *_tables("tbx", "extension"),
)
