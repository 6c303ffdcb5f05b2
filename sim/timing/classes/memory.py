"""The class table: loads, stores, prefetches and atomic accesses."""

from __future__ import annotations

from sim.timing.classes.row import ClassRow

_ATOMICS = "add clr set eor smax smin umax umin"

SCALAR = (
    ClassRow("prefetch", "prfm prfum", "*"),
    ClassRow("load scalar 64 imm", "ldr ldur ldtr", "R,#; R,[x]; R,[x,#]"),
    ClassRow("load scalar 64 reg lsl", "ldr", "R,[x,R*]"),
    ClassRow("load scalar byte", "ldrb ldrh ldurb ldurh ldtrb ldtrh", "*]"),
    ClassRow("load scalar signed half", "ldrs[bhw] ldurs[bhw] ldtrs[bhw]", "*]; R,#"),
    ClassRow("load scalar post-index", "ldr ldrb ldrh ldrs[bhw]", "R,[x,#]!; R,[x],# post"),
    ClassRow("load pair 64", "ldp ldnp", "x,x,[x]; x,x,[x,#]"),
    ClassRow("load pair 32", "ldp ldnp", "w,w,[x]; w,w,[x,#]"),
    ClassRow("load pair signed (ldpsw)", "ldpsw", "*]"),
    ClassRow("load pair post-index", "ldp ldpsw", "R,R,[x,#]!; R,R,[x],# post"),
    ClassRow("store scalar 64", "str stur sttr strb strh sturb sturh sttrb sttrh", "R,[*]"),
    ClassRow("store scalar post-index", "str strb strh", "R,[x,#]!; R,[x],# post"),
    ClassRow("store pair 64", "stp stnp", "x,x,[x]; x,x,[x,#]"),
    ClassRow("store pair 32", "stp stnp", "w,w,[x]; w,w,[x,#]"),
    ClassRow("store pair post-index", "stp", "R,R,[x,#]!; R,R,[x],# post"),
    ClassRow("load acquire (ldar)", "ldar ldar[bh] ldlar ldlar[bh] ldapr ldapr[bh]", "*"),
    ClassRow("load acquire unscaled (ldapur)", "ldapur*", "*"),
    ClassRow("store release (stlr)", "stlr stlr[bh] stllr stllr[bh]", "*"),
    ClassRow("store release unscaled (stlur)", "stlur*", "*"),
    ClassRow("load exclusive (ldxr)", "ldxr* ldaxr* ldxp ldaxp", "*"),
    ClassRow("store exclusive (stxr)", "stxr* stlxr* stxp stlxp", "*"),
    ClassRow("atomic read-modify-write (ldadd)", " ".join(f"ld{name}*" for name in _ATOMICS.split()) + " swp*", "*"),
    ClassRow("atomic without result (stadd)", " ".join(f"st{name}*" for name in _ATOMICS.split()), "*"),
    ClassRow("atomic compare and swap (cas)", "cas*", "*"),
)

VECTOR = (
    ClassRow("load vector 128 (ldr q)", "ldr ldur", "q,#; q,[x]; q,[x,#]"),
    ClassRow("load vector 128 reg", "ldr", "q,[x,x]"),
    ClassRow("load vector 128 reg scaled", "ldr", "q,[x,R *]"),
    ClassRow("load vector 128 post-index", "ldr", "q,[x,#]!; q,[x],# post"),
    ClassRow("load vector 64 (ldr d)", "ldr ldur", "d,#; d,[x]; d,[x,#]"),
    ClassRow("load vector 32 (ldr s)", "ldr ldur", "s,#; b,[x]; h,[x]; s,[x]; b,[x,#]; h,[x,#]; s,[x,#]"),
    ClassRow("load vector 64 reg", "ldr", "D,[x,R*]"),
    ClassRow("load vector 64 post-index", "ldr", "D,[x,#]!; D,[x],# post"),
    ClassRow("load pair 128 (ldp q)", "ldp ldnp", "q,q,[x]; q,q,[x,#]"),
    ClassRow("load pair 128 post-index", "ldp", "q,q,[x,#]!; q,q,[x],# post"),
    ClassRow("load pair vector 64 (ldp d)", "ldp ldnp", "d,d,[x]; d,d,[x,#]"),
    ClassRow("load pair vector 32 (ldp s)", "ldp ldnp", "s,s,[x]; s,s,[x,#]"),
    ClassRow("load pair vector 64 post-index", "ldp", "D,D,[x,#]!; D,D,[x],# post"),
    ClassRow("store vector 128 (str q)", "str stur", "q,*]"),
    ClassRow("store vector 128 post-index", "str", "q,[x,#]!; q,[x],# post"),
    ClassRow("store vector 64 (str d)", "str stur", "D,[*]"),
    ClassRow("store vector 64 post-index", "str", "D,[x,#]!; D,[x],# post"),
    ClassRow("store pair 128 (stp q)", "stp stnp", "q,q,[x]; q,q,[x,#]"),
    ClassRow("store pair 128 post-index", "stp", "q,q,[x,#]!; q,q,[x],# post"),
    ClassRow("store pair vector 64 (stp d)", "stp stnp", "d,d,[x]; d,d,[x,#]"),
    ClassRow("store pair vector 32 (stp s)", "stp stnp", "s,s,[x]; s,s,[x,#]"),
    ClassRow("store pair vector 64 post-index", "stp", "D,D,[x,#]!; D,D,[x],# post"),
)


def _multiple(kind: str) -> tuple[ClassRow, ...]:
    counts = (("1 reg", 1), ("2 regs", 2), ("3 regs", 3), ("4 regs", 4))
    return tuple(
        ClassRow(f"{kind.upper()}1 {text} {bits}", f"{kind}1", f"{{{count}}}{letter},[x]*")
        for bits, letter in ((128, "Q"), (64, "D"))
        for text, count in counts
    )


def _interleaved(kind: str, count: int) -> tuple[ClassRow, ...]:
    name, mnemonic, registers = f"{kind.upper()}{count}", f"{kind}{count}", f"{{{count}}}"
    return (
        ClassRow(f"{name} 128 (2d)", mnemonic, f"{registers}.2d,*"),
        ClassRow(f"{name} 128", mnemonic, f"{registers}.16b,*; {registers}.8h,*; {registers}.4s,*"),
        ClassRow(f"{name} 64", mnemonic, f"{registers}D,*"),
        *_lane(name, mnemonic, registers),
    )


def _lane(name: str, mnemonic: str, registers: str) -> tuple[ClassRow, ...]:
    narrow = "; ".join(f"{registers}.{letter}[i],*" for letter in "bhs")
    suffix = " (32-bit)" if name[-1] == "1" else ""
    return ClassRow(f"{name} lane{suffix}", mnemonic, narrow), ClassRow(
        f"{name} lane (64-bit)", mnemonic, f"{registers}.d[i],*"
    )


STRUCTURES = (
    *_multiple("ld"),
    *_lane("LD1", "ld1", "{1}"),
    ClassRow("LD1R (32-bit)", "ld1r", "*"),
    *(row for count in (2, 3, 4) for row in _interleaved("ld", count)),
    *(ClassRow(f"LD{count}R", f"ld{count}r", "*") for count in (2, 3, 4)),
    *_multiple("st"),
    *_lane("ST1", "st1", "{1}"),
    *(row for count in (2, 3, 4) for row in _interleaved("st", count)),
)
