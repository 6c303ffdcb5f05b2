"""The base A64 instructions on general registers, and branches (Arm ARM C6.2)."""

from __future__ import annotations

from isa.lane import S8, S16, S32, U8, U16, Place
from isa.semantics import bitwise
from isa.semantics.base import bits, branch, checksum, conditional, flags, multiply, system
from isa.semantics.base import integer as base
from isa.table import family

R = "x w"
ARITHMETIC = "(T|T lsl|T lsr|T asr|#|# lsl|w uxtb|w uxth|w uxtw|w sxtb|w sxth|w sxtw|T uxtx|T sxtx)"
NEGATED = "(T|T lsl|T lsr|T asr)"
LOGICAL = "(T|T lsl|T lsr|T asr|T ror|#)"
LOGICAL_REGISTER = "(T|T lsl|T lsr|T asr|T ror)"
FPCR, FPSR, TPIDR = Place("fpcr"), Place("fpsr"), Place("tpidr")
CHECKSUM_WORDS = (("b", 8), ("h", 16), ("w", 32))
HINTS = (
    "yield", "wfe", "wfi", "sev", "sevl", "esb", "csdb", "dgh", "xpaclri",
    "paciasp", "paciaz", "pacia1716", "pacibsp", "pacibz", "pacib1716",
    "autiasp", "autiaz", "autia1716", "autibsp", "autibz", "autib1716",
)  # fmt: skip
"""Hints without operands.  Those of pointer authentication do nothing because no key is enabled."""

ROWS = (
    family("add", f"T,T,{ARITHMETIC}", R, base.add),
    family("sub", f"T,T,{ARITHMETIC}", R, base.subtract),
    family("adds", f"T,T,{ARITHMETIC}", R, base.add_setting_flags),
    family("subs", f"T,T,{ARITHMETIC}", R, base.subtract_setting_flags),
    family("cmp", f"T,{ARITHMETIC}", R, base.compare),
    family("cmn", f"T,{ARITHMETIC}", R, base.compare_negative),
    family("neg", f"T,{NEGATED}", R, base.negate),
    family("negs", f"T,{NEGATED}", R, base.negate_setting_flags),
    family("adc", "T,T,T", R, base.add_with_carry),
    family("adcs", "T,T,T", R, base.add_with_carry_setting_flags),
    family("sbc", "T,T,T", R, base.subtract_with_carry),
    family("sbcs", "T,T,T", R, base.subtract_with_carry_setting_flags),
    family("ngc", "T,T", R, base.negate_with_carry),
    family("ngcs", "T,T", R, base.negate_with_carry_setting_flags),
    # logic and moves
    family("and", f"T,T,{LOGICAL}", R, base.logical(bitwise.bitwise_and)),
    family("orr", f"T,T,{LOGICAL}", R, base.logical(bitwise.bitwise_or)),
    family("eor", f"T,T,{LOGICAL}", R, base.logical(bitwise.exclusive_or)),
    family("bic", f"T,T,{LOGICAL_REGISTER}", R, base.logical(bitwise.clear_bits)),
    family("orn", f"T,T,{LOGICAL_REGISTER}", R, base.logical(bitwise.or_not)),
    family("eon", f"T,T,{LOGICAL_REGISTER}", R, base.logical(base.exclusive_or_not)),
    family("ands", f"T,T,{LOGICAL}", R, base.and_setting_flags),
    family("bics", f"T,T,{LOGICAL_REGISTER}", R, base.clear_setting_flags),
    family("tst", f"T,{LOGICAL}", R, base.test),
    family("mvn", f"T,{LOGICAL_REGISTER}", R, base.invert),
    family("mov", "T,(T|#)", R, base.move),
    family("movz", "T,# lsl", R, base.move),
    family("movn", "T,# lsl", R, base.move_inverted),
    family("movn", "w,#", "", base.move_inverted),
    family("movk", "T,(#|# lsl)", R, base.move_keeping),
    # shifts and bit fields
    family("lsl", "T,T,(T|#)", R, base.shift_left),
    family("lsr", "T,T,(T|#)", R, base.shift_right),
    family("asr", "T,T,(T|#)", R, base.shift_right_signed),
    family("ror", "T,T,(T|#)", R, base.rotate_right),
    family("extr", "T,T,T,#", R, base.extract),
    family("sbfx", "T,T,#,#", R, bits.field_extract(True)),
    family("ubfx", "T,T,#,#", R, bits.field_extract(False)),
    family("sbfiz", "T,T,#,#", R, bits.field_insert_in_zero(True)),
    family("ubfiz", "T,T,#,#", R, bits.field_insert_in_zero(False)),
    family("bfi", "T,T,#,#", R, bits.field_insert),
    family("bfxil", "T,T,#,#", R, bits.field_insert_low),
    family("bfc", "T,#,#", R, bits.field_clear),
    family("sxtb", "T,w", R, bits.extend(S8)),
    family("sxth", "T,w", R, bits.extend(S16)),
    family("sxtw", "x,w", "", bits.extend(S32)),
    family("uxtb", "w,w", "", bits.extend(U8)),
    family("uxth", "w,w", "", bits.extend(U16)),
    family("clz", "T,T", R, bits.per_register(bitwise.leading_zeros)),
    family("cls", "T,T", R, bits.per_register(bits.leading_sign_bits)),
    family("rbit", "T,T", R, bits.per_register(bitwise.reverse_bits)),
    family("rev16", "T,T", R, bits.reverse_bytes(16)),
    family("rev32", "x,x", "", bits.reverse_bytes(32)),
    family("rev", "w,w", "", bits.reverse_bytes(32)),
    family("rev", "x,x", "", bits.reverse_bytes(64)),
    # multiplication and division
    family("mul", "T,T,T", R, multiply.multiply),
    family("mneg", "T,T,T", R, multiply.multiply_negate),
    family("madd", "T,T,T,T", R, multiply.multiply_add),
    family("msub", "T,T,T,T", R, multiply.multiply_subtract),
    family("smull", "x,w,w", "", multiply.multiply_long(True)),
    family("umull", "x,w,w", "", multiply.multiply_long(False)),
    family("smnegl", "x,w,w", "", multiply.multiply_long_negate(True)),
    family("umnegl", "x,w,w", "", multiply.multiply_long_negate(False)),
    family("smaddl", "x,w,w,x", "", multiply.multiply_long_add(True)),
    family("umaddl", "x,w,w,x", "", multiply.multiply_long_add(False)),
    family("smsubl", "x,w,w,x", "", multiply.multiply_long_subtract(True)),
    family("umsubl", "x,w,w,x", "", multiply.multiply_long_subtract(False)),
    family("smulh", "x,x,x", "", multiply.multiply_high(True)),
    family("umulh", "x,x,x", "", multiply.multiply_high(False)),
    family("sdiv", "T,T,T", R, multiply.divide_registers(True)),
    family("udiv", "T,T,T", R, multiply.divide_registers(False)),
    # checksums
    *(family(f"crc32{n}", "w,w,w", "", checksum.checksum(checksum.CRC32, k), "crc") for n, k in CHECKSUM_WORDS),
    *(family(f"crc32c{n}", "w,w,w", "", checksum.checksum(checksum.CRC32C, k), "crc") for n, k in CHECKSUM_WORDS),
    family("crc32x", "w,w,x", "", checksum.checksum(checksum.CRC32, 64), "crc"),
    family("crc32cx", "w,w,x", "", checksum.checksum(checksum.CRC32C, 64), "crc"),
    # conditions
    family("csel", "T,T,T,cond", R, conditional.conditional(conditional.same)),
    family("csinc", "T,T,T,cond", R, conditional.conditional(conditional.incremented)),
    family("csinv", "T,T,T,cond", R, conditional.conditional(conditional.inverted)),
    family("csneg", "T,T,T,cond", R, conditional.conditional(conditional.negated)),
    family("cinc", "T,T,cond", R, conditional.conditional_or_same(conditional.incremented)),
    family("cinv", "T,T,cond", R, conditional.conditional_or_same(conditional.inverted)),
    family("cneg", "T,T,cond", R, conditional.conditional_or_same(conditional.negated)),
    family("cset", "T,cond", R, conditional.condition_set),
    family("csetm", "T,cond", R, conditional.condition_set_mask),
    family("ccmp", "T,(T|#),#,cond", R, conditional.conditional_compare(base.compare)),
    family("ccmn", "T,(T|#),#,cond", R, conditional.conditional_compare(base.compare_negative)),
    # flags
    family("cfinv", "", "", flags.invert_carry, "flagm"),
    family("rmif", "x,#,#", "", flags.insert_rotated, "flagm"),
    family("setf8", "w", "", flags.evaluate(8), "flagm"),
    family("setf16", "w", "", flags.evaluate(16), "flagm"),
    family("axflag", "", "", flags.to_external, "flagm2"),
    family("xaflag", "", "", flags.from_external, "flagm2"),
    # addresses, system registers, hints
    family("adr", "x,#", "", base.page_address),
    family("adrp", "x,#", "", base.page_address),
    family("mrs", "x,fpcr", "", system.read_system(FPCR)),
    family("mrs", "x,fpsr", "", system.read_system(FPSR)),
    family("mrs", "x,nzcv", "", system.read_flags),
    family("mrs", "x,tpidr_el0", "", system.read_system(TPIDR)),
    family("msr", "fpcr,x", "", system.write_system(FPCR, system.FPCR_BITS)),
    family("msr", "fpsr,x", "", system.write_system(FPSR, system.FPSR_BITS)),
    family("msr", "nzcv,x", "", system.write_flags),
    family("msr", "tpidr_el0,x", "", system.write_system(TPIDR, 2**64 - 1)),
    family("nop", "", "", branch.nothing),
    family("bti", "(|c|j|jc)", "", branch.nothing),
    *(family(name, "", "", branch.nothing) for name in HINTS),
    family("hint", "#", "", branch.nothing),
    family("psb", "csync", "", branch.nothing),
    family("tsb", "csync", "", branch.nothing),
    family("dmb", "(scope|#)", "", branch.nothing),
    family("dsb", "(scope|#)", "", branch.nothing),
    family("isb", "(|#)", "", branch.nothing),
    *(family(name, "", "", branch.nothing) for name in ("ssbb", "pssbb")),
    family("sb", "", "", branch.nothing, "sb"),
    # branches
    family("b", "#", "", branch.branch),
    family("b.cond", "cond,#", "", branch.branch_if),
    family("bl", "#", "", branch.call),
    family("br", "x", "", branch.branch_to_register),
    family("blr", "x", "", branch.call_register),
    family("ret", "", "", branch.return_to_link),
    family("ret", "x", "", branch.branch_to_register),
    family("retaa", "", "", branch.return_to_link, "pauth"),
    family("retab", "", "", branch.return_to_link, "pauth"),
    family("cbz", "T,#", R, branch.branch_if_zero),
    family("cbnz", "T,#", R, branch.branch_if_not_zero),
    family("tbz", "T,#,#", R, branch.branch_if_bit_clear),
    family("tbnz", "T,#,#", R, branch.branch_if_bit_set),
    # exceptions on purpose: isa.refusals.TRAPS
    *(family(name, "#", "", branch.stay) for name in ("svc", "hvc", "smc", "brk", "hlt", "udf")),
    *(family(name, "(|#)", "", branch.stay) for name in ("dcps1", "dcps2", "dcps3")),
)
