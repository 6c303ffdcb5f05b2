"""The class table: scalar arithmetic, branches, and what is neither arithmetic nor an access."""

from __future__ import annotations

from sim.timing.class_rows import Row

_SHIFTED = "*R lsl; *R lsr; *R asr; *R ror"
_HINTS = "nop yield sev sevl wfe wfi hint csdb dgh esb psb tsb bti aut* pac* xpaclri"

ARITHMETIC = (
    Row("scalar ALU add/sub reg", "add sub adc sbc neg ngc", "R,R,R; R,R"),
    Row("scalar ALU add imm", "add sub", "R,R,#; R,R,# lsl"),
    Row("scalar ALU add shifted reg (lsl 2)", "add sub neg adds subs negs cmp cmn", "*R lsl", "by up to 4"),
    Row("scalar ALU add shifted reg (lsr 8)", "add sub neg adds subs negs cmp cmn", _SHIFTED),
    Row("scalar ALU add extended reg", "add sub adds subs cmp cmn", "*R uxt*; *R sxt*"),
    Row(
        "scalar subs/cmp flag set",
        "adds subs adcs sbcs negs ngcs cmp cmn",
        "R,R,R; R,R; R,*#; R,*# lsl",
    ),
    Row("scalar logic", "and orr eor bic orn eon mvn", "R,R,R; R,R; R,R,#"),
    Row("scalar logic shifted reg", "and orr eor bic orn eon mvn", _SHIFTED),
    Row("scalar logic flag set", "ands bics tst", "R,R,R; R,R; R,R,#; R,#"),
    Row("scalar logic shifted reg flag set", "ands bics tst", _SHIFTED),
    Row("scalar conditional compare (ccmp)", "ccmp ccmn", "*"),
    Row("scalar shift imm", "lsl lsr asr", "R,R,#"),
    Row("scalar rotate imm (ror)", "ror", "R,R,#"),
    Row("scalar shift reg", "lsl lsr asr ror", "R,R,R"),
    Row("scalar bitfield extract", "[su]bfx [su]bfiz [su]xtb [su]xth sxtw", "R,R; R,R,#,#"),
    Row("scalar bitfield insert (bfi)", "bfi bfxil bfc", "*"),
    Row("scalar register pair extract (extr)", "extr", "*"),
    Row("scalar reverse (rev, rbit)", "rev rev16 rev32 rbit", "R,R"),
    Row("scalar count leading (clz)", "clz cls", "R,R"),
    Row("scalar CRC (crc32)", "crc32*", "*"),
    Row("scalar csel", "csel csinc csneg cset cinc cneg", "*"),
    Row("scalar csel inverted (csinv)", "csinv csetm cinv", "*"),
    Row("scalar move imm", "mov movz movn movk adr adrp", "R,#; R,# lsl"),
    Row("scalar move reg", "mov", "R,R"),
    Row("scalar mul 32", "mul mneg", "w,w,w"),
    Row("scalar mul 64", "mul mneg", "x,x,x"),
    Row("scalar madd 32", "madd msub", "w,*"),
    Row("scalar madd 64", "madd msub", "x,*"),
    Row("scalar smull/smaddl", "[su]mull [su]mnegl [su]maddl [su]msubl", "x,w,w; x,w,w,x"),
    Row("scalar smulh", "[su]mulh", "*"),
    Row("scalar sdiv 32", "[su]div", "w,*"),
    Row("scalar sdiv 64", "[su]div", "x,*"),
)

CONTROL = (
    Row("branch unconditional", "b", "*"),
    Row("branch and link (bl)", "bl", "*"),
    Row("branch to register (br, ret)", "br ret", "*"),
    Row("branch to register and link (blr)", "blr", "*"),
    Row("branch authenticated (retaa)", "retaa retab", "*"),
    Row("branch conditional", "b.cond", "*"),
    Row("branch cbz/cbnz", "cbz cbnz tbz tbnz", "*"),
    Row("exception (svc, brk)", "brk hlt hvc smc svc udf dcps[123]", "*"),
    Row("hint (nop)", _HINTS, "*"),
    Row("barrier (dmb, isb)", "dmb dsb isb sb ssbb pssbb clrex", "*"),
    Row("system register (mrs, msr)", "mrs msr", "*"),
    Row("flag manipulation (rmif, cfinv)", "rmif setf8 setf16 cfinv axflag xaflag", "*"),
)
