"""The class table: scalar arithmetic, branches, and what is neither arithmetic nor an access."""

from __future__ import annotations

from sim.timing.classes.row import ClassRow

_SHIFTED = "*R lsl; *R lsr; *R asr; *R ror"
_HINTS = "nop yield sev sevl wfe wfi hint csdb dgh esb psb tsb bti aut* pac* xpaclri"

ARITHMETIC = (
    ClassRow("scalar ALU add/sub reg", "add sub adc sbc neg ngc", "R,R,R; R,R"),
    ClassRow("scalar ALU add imm", "add sub", "R,R,#; R,R,# lsl"),
    ClassRow("scalar ALU add shifted reg (lsl 2)", "add sub neg adds subs negs cmp cmn", "*R lsl", "by up to 4"),
    ClassRow("scalar ALU add shifted reg (lsr 8)", "add sub neg adds subs negs cmp cmn", _SHIFTED),
    ClassRow("scalar ALU add extended reg", "add sub adds subs cmp cmn", "*R uxt*; *R sxt*"),
    ClassRow(
        "scalar subs/cmp flag set",
        "adds subs adcs sbcs negs ngcs cmp cmn",
        "R,R,R; R,R; R,*#; R,*# lsl",
    ),
    ClassRow("scalar logic", "and orr eor bic orn eon mvn", "R,R,R; R,R; R,R,#"),
    ClassRow("scalar logic shifted reg", "and orr eor bic orn eon mvn", _SHIFTED),
    ClassRow("scalar logic flag set", "ands bics tst", "R,R,R; R,R; R,R,#; R,#"),
    ClassRow("scalar logic shifted reg flag set", "ands bics tst", _SHIFTED),
    ClassRow("scalar conditional compare (ccmp)", "ccmp ccmn", "*"),
    ClassRow("scalar shift imm", "lsl lsr asr", "R,R,#"),
    ClassRow("scalar rotate imm (ror)", "ror", "R,R,#"),
    ClassRow("scalar shift reg", "lsl lsr asr ror", "R,R,R"),
    ClassRow("scalar bitfield extract", "[su]bfx [su]bfiz [su]xtb [su]xth sxtw", "R,R; R,R,#,#"),
    ClassRow("scalar bitfield insert (bfi)", "bfi bfxil bfc", "*"),
    ClassRow("scalar register pair extract (extr)", "extr", "*"),
    ClassRow("scalar reverse (rev, rbit)", "rev rev16 rev32 rbit", "R,R"),
    ClassRow("scalar count leading (clz)", "clz cls", "R,R"),
    ClassRow("scalar CRC (crc32)", "crc32*", "*"),
    ClassRow("scalar csel", "csel csinc csneg cset cinc cneg", "*"),
    ClassRow("scalar csel inverted (csinv)", "csinv csetm cinv", "*"),
    ClassRow("scalar move imm", "mov movz movn movk adr adrp", "R,#; R,# lsl"),
    ClassRow("scalar move reg", "mov", "R,R"),
    ClassRow("scalar mul 32", "mul mneg", "w,w,w"),
    ClassRow("scalar mul 64", "mul mneg", "x,x,x"),
    ClassRow("scalar madd 32", "madd msub", "w,*"),
    ClassRow("scalar madd 64", "madd msub", "x,*"),
    ClassRow("scalar smull/smaddl", "[su]mull [su]mnegl [su]maddl [su]msubl", "x,w,w; x,w,w,x"),
    ClassRow("scalar smulh", "[su]mulh", "*"),
    ClassRow("scalar sdiv 32", "[su]div", "w,*"),
    ClassRow("scalar sdiv 64", "[su]div", "x,*"),
)

CONTROL = (
    ClassRow("branch unconditional", "b", "*"),
    ClassRow("branch and link (bl)", "bl", "*"),
    ClassRow("branch to register (br, ret)", "br ret", "*"),
    ClassRow("branch to register and link (blr)", "blr", "*"),
    ClassRow("branch authenticated (retaa)", "retaa retab", "*"),
    ClassRow("branch conditional", "b.cond", "*"),
    ClassRow("branch cbz/cbnz", "cbz cbnz tbz tbnz", "*"),
    ClassRow("exception (svc, brk)", "brk hlt hvc smc svc udf dcps[123]", "*"),
    ClassRow("hint (nop)", _HINTS, "*"),
    ClassRow("barrier (dmb, isb)", "dmb dsb isb sb ssbb pssbb clrex", "*"),
    ClassRow("system register (mrs, msr)", "mrs msr", "*"),
    ClassRow("flag manipulation (rmif, cfinv)", "rmif setf8 setf16 cfinv axflag xaflag", "*"),
)
