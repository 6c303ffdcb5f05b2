"""The class table: integer vector arithmetic, permutation and moves.  A class named 64 is of half registers."""

from __future__ import annotations

from collections.abc import Iterator

from sim.timing.classes.row import ClassRow


def _both(name: str, mnemonics: str, operands: int, after: str = "", whole: str = "") -> Iterator[ClassRow]:
    """The rows of the 128-bit and 64-bit forms of operations whose `operands` lanes are all alike."""
    for letter, suffix in (("Q", whole), ("D", " 64")):
        yield ClassRow(f"ASIMD {name}{suffix}", mnemonics, ",".join([letter] * operands) + after)


ARITHMETIC = (
    ClassRow("ASIMD add/sub 128", "add sub neg", "Q,Q,Q; Q,Q"),
    ClassRow("ASIMD add/sub 64", "add sub neg", "D,D,D; D,D"),
    ClassRow("ASIMD saturating add 128", "[su]qadd [su]qsub suqadd usqadd sqneg", "Q,Q,Q; Q,Q"),
    ClassRow("ASIMD saturating add 64", "[su]qadd [su]qsub suqadd usqadd sqneg", "D,D,D; D,D"),
    *_both("saturating abs", "sqabs", 2),
    ClassRow("ASIMD add long", "[su]addl [su]addl2 [su]subl [su]subl2", "*"),
    ClassRow("ASIMD add wide", "[su]addw [su]addw2 [su]subw [su]subw2", "*"),
    *_both("halving add", "[su]hadd [su]hsub [su]rhadd", 3),
    ClassRow("ASIMD add narrow high", "addhn addhn2 subhn subhn2", "*"),
    ClassRow("ASIMD add narrow high rounding", "raddhn raddhn2 rsubhn rsubhn2", "*"),
    ClassRow("ASIMD pairwise add", "addp", "Q,Q,Q"),
    ClassRow("ASIMD pairwise add 64", "addp", "D,D,D; D,Q"),
    ClassRow("ASIMD pairwise add long", "[su]addlp", "Q,Q"),
    ClassRow("ASIMD pairwise add long 64", "[su]addlp", "D,D"),
    ClassRow("ASIMD pairwise add accumulate long", "[su]adalp", "Q,Q"),
    ClassRow("ASIMD pairwise add accumulate long 64", "[su]adalp", "D,D"),
    ClassRow("ASIMD reduce add 4S (addv)", "addv [su]addlv", "D,.4s; D,.4h"),
    ClassRow("ASIMD reduce add 8H (addv)", "addv [su]addlv", "D,.8h; D,.8b"),
    ClassRow("ASIMD reduce add 16B (addv)", "addv [su]addlv", "D,.16b"),
    ClassRow("ASIMD max reduce 4S", "[su]maxv [su]minv", "D,.4s; D,.4h"),
    ClassRow("ASIMD max reduce 8H", "[su]maxv [su]minv", "D,.8h; D,.8b"),
    ClassRow("ASIMD max reduce 16B", "[su]maxv [su]minv", "D,.16b"),
    *_both("abs", "abs", 2),
    *_both("absolute difference", "[su]abd", 3),
    ClassRow("ASIMD absolute difference long", "[su]abdl [su]abdl2", "*"),
    *_both("absolute difference accumulate", "[su]aba", 3),
    ClassRow("ASIMD absolute difference accumulate long", "[su]abal [su]abal2", "*"),
    *_both("min/max", "[su]max [su]min [su]maxp [su]minp", 3, whole=" 128"),
    ClassRow("ASIMD compare", "cmeq cmge cmgt cmhi cmhs cmle cmlt", "Q,Q,Q; Q,Q,#"),
    ClassRow("ASIMD compare 64", "cmeq cmge cmgt cmhi cmhs cmle cmlt", "D,D,D; D,D,#"),
    *_both("test bits (cmtst)", "cmtst", 3),
    ClassRow("ASIMD logic 128", "and orr eor bic orn mvn", "Q,Q,Q; Q,Q; Q,#*"),
    ClassRow("ASIMD logic 64", "and orr eor bic orn mvn", "D,D,D; D,D; D,#*"),
    *_both("bit select (bsl)", "bsl bit bif", 3),
    *_both("count bits (cnt, clz)", "cnt clz", 2),
    *_both("count sign bits (cls)", "cls", 2),
    ClassRow("SHA3 (eor3, bcax, rax1, xar)", "eor3 bcax rax1 xar", "*"),
)

CRYPTOGRAPHY = (
    ClassRow("AES (aese, aesmc)", "aes[de] aesmc aesimc", "*"),
    ClassRow("SHA1 hash (sha1c)", "sha1[cmp]", "*"),
    ClassRow("SHA1 rotate, schedule (sha1h, sha1su1)", "sha1h sha1su1", "*"),
    ClassRow("SHA1 schedule (sha1su0)", "sha1su0", "*"),
    ClassRow("SHA256 hash (sha256h)", "sha256h sha256h2", "*"),
    ClassRow("SHA256 schedule (sha256su0)", "sha256su0", "*"),
    ClassRow("SHA256 schedule (sha256su1)", "sha256su1", "*"),
    ClassRow("SHA512 (sha512h)", "sha512*", "*"),
    ClassRow("SM3 (sm3tt1a)", "sm3*", "*"),
    ClassRow("SM4 (sm4e)", "sm4*", "*"),
)

MULTIPLIES = (
    ClassRow("ASIMD multiply 4S", "mul", ".4s,.4s,.4s"),
    ClassRow("ASIMD multiply 8H", "mul", ".8h,.8h,.8h; .16b,.16b,.16b"),
    ClassRow("ASIMD multiply 64", "mul", "D,D,D"),
    ClassRow("ASIMD multiply by element 4S", "mul", "Q,Q,E"),
    ClassRow("ASIMD multiply by element 64", "mul", "D,D,E"),
    ClassRow("ASIMD multiply-accumulate 4S", "mla mls", "Q,Q,Q"),
    ClassRow("ASIMD multiply-accumulate 64", "mla mls", "D,D,D"),
    ClassRow("ASIMD multiply-accumulate by element 4S", "mla", "Q,Q,E"),
    ClassRow("ASIMD multiply-subtract by element 4S", "mls", "Q,Q,E"),
    ClassRow("ASIMD multiply-accumulate by element 64", "mla mls", "D,D,E"),
    ClassRow("ASIMD multiply long 8B->8H", "[su]mull", ".8h,D,D"),
    ClassRow("ASIMD multiply long 4H->4S", "[su]mull", ".4s,D,D; .2d,D,D"),
    ClassRow("ASIMD multiply long high half", "[su]mull2", "Q,Q,Q"),
    ClassRow("ASIMD multiply long by element 4S", "[su]mull [su]mull2", "Q,*,E"),
    ClassRow("ASIMD multiply-accumulate long 8H", "[su]mlal [su]mlsl [su]mlal2 [su]mlsl2", ".8h,*"),
    ClassRow("ASIMD multiply-accumulate long 4S", "[su]mlal [su]mlsl", ".4s,D,D; .2d,D,D"),
    ClassRow("ASIMD multiply-accumulate long high 4S", "[su]mlal2 [su]mlsl2", ".4s,Q,Q; .2d,Q,Q"),
    ClassRow("ASIMD multiply-accumulate long by element 4S", "[su]mlal [su]mlsl [su]mlal2 [su]mlsl2", "Q,*,E"),
    ClassRow("ASIMD saturating doubling multiply long", "sqdmull sqdmull2", "Q,*"),
    ClassRow("ASIMD saturating doubling multiply long 64", "sqdmull", "D,*"),
    ClassRow("ASIMD saturating doubling multiply-accumulate long", "sqdml[as]l sqdml[as]l2", "Q,*"),
    ClassRow("ASIMD saturating doubling multiply-accumulate long 64", "sqdml[as]l", "D,*"),
    ClassRow("ASIMD saturating doubling multiply high 4S", "sqdmulh", "Q,Q,Q"),
    ClassRow("ASIMD saturating doubling multiply high by element 4S", "sqdmulh", "Q,Q,E"),
    ClassRow("ASIMD rounding saturating doubling multiply high 4S", "sqrdmulh", ".4s,.4s,.4s"),
    ClassRow("ASIMD rounding saturating doubling multiply high 8H", "sqrdmulh", ".8h,.8h,.8h"),
    ClassRow("ASIMD rounding saturating doubling multiply high by element 4S", "sqrdmulh", "Q,Q,E"),
    ClassRow("ASIMD saturating doubling multiply high 64", "sqdmulh sqrdmulh", "D,D,D"),
    ClassRow("ASIMD saturating doubling multiply high by element 64", "sqdmulh sqrdmulh", "D,D,E"),
    ClassRow("ASIMD sqrdmlah 8H (v8.1)", "sqrdml[as]h", "Q,Q,Q; Q,Q,E"),
    ClassRow("ASIMD sqrdmlah 64 (v8.1)", "sqrdml[as]h", "D,D,D; D,D,E"),
    *_both("polynomial multiply", "pmul", 3),
    ClassRow("ASIMD polynomial multiply long", "pmull pmull2", ".8h,*"),
    ClassRow("ASIMD polynomial multiply long 128", "pmull pmull2", ".1q,*"),
    ClassRow("ASIMD dot product UDOT vector", "udot", ".4s,Q,Q"),
    ClassRow("ASIMD dot product SDOT vector", "sdot", ".4s,Q,Q"),
    ClassRow("ASIMD dot product SDOT by element", "[su]dot", ".4s,Q,E"),
    ClassRow("ASIMD dot product 64", "[su]dot", ".2s,*"),
    ClassRow("ASIMD dot product mixed sign (v8.6)", "usdot sudot", "*"),
    ClassRow("ASIMD matrix multiply SMMLA (v8.6)", "smmla ummla usmmla", "*"),
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
    ClassRow("ASIMD widen sxtl/uxtl", "[su]shll [su]shll2", "*", "by 0"),
    ClassRow("ASIMD shift left long", "[su]shll [su]shll2 shll shll2", "*"),
    ClassRow("ASIMD shift right narrow", "shrn", "*"),
    ClassRow("ASIMD shift right narrow high", "shrn2", "*"),
    ClassRow("ASIMD shift right narrow rounding", "rshrn", "*"),
    ClassRow("ASIMD shift right narrow rounding high", "rshrn2", "*"),
    ClassRow("ASIMD shift right narrow saturating rounding", "[su]qrshrn [su]qshrn", "*"),
    ClassRow("ASIMD shift right narrow saturating rounding unsigned", "sqrshrun sqshrun", "*"),
    ClassRow("ASIMD shift right narrow saturating high", "[su]qrshrn2 [su]qshrn2 sqrshrun2 sqshrun2", "*"),
    ClassRow("ASIMD narrow (xtn)", "xtn", "*"),
    ClassRow("ASIMD narrow high (xtn2)", "xtn2", "*"),
    ClassRow("ASIMD narrow saturating (sqxtn)", "[su]qxtn", "*"),
    ClassRow("ASIMD narrow saturating unsigned (sqxtun)", "sqxtun", "*"),
    ClassRow("ASIMD narrow saturating high (sqxtn2)", "[su]qxtn2 sqxtun2", "*"),
)


def _tables(mnemonic: str, name: str) -> Iterator[ClassRow]:
    for count, registers in enumerate(("1 reg", "2 regs", "3 regs", "4 regs"), 1):
        yield ClassRow(f"ASIMD table {name} {registers}", mnemonic, f".16b,{{{count}}}*")
        yield ClassRow(f"ASIMD table {name} {registers} 64", mnemonic, f".8b,{{{count}}}*")


MOVES = (
    ClassRow("ASIMD dup element", "dup", "Q,E"),
    ClassRow("ASIMD dup element 64", "dup mov", "D,E"),
    ClassRow("ASIMD dup from GPR", "dup", "Q,R"),
    ClassRow("ASIMD dup from GPR 64", "dup", "D,R"),
    *_both("move immediate", "movi", 1, ",#*"),
    *_both("move inverted immediate (mvni)", "mvni", 1, ",#*"),
    *_both("move register", "mov", 2),
    ClassRow("ASIMD insert element", "mov", "E,E"),
    ClassRow("ASIMD insert from GPR", "mov fmov", "E,R"),
    ClassRow("transfer vector->GPR (umov)", "mov umov smov fmov", "R,E"),
    *_both("permute trn/zip/uzp", "trn[12] zip[12] uzp[12]", 3),
    *_both("extract (ext)", "ext", 3, ",#"),
    *_both("reverse (rev64)", "rev16 rev32 rev64 rbit", 2),
    *_tables("tbl", "lookup"),
    *_tables("tbx", "extension"),
)
