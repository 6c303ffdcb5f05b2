"""Moves, duplicates, immediates and permutes of the vector registers (Arm ARM C7.2)."""

from __future__ import annotations

from isa.rows.arrangements import BHS, BHSD, BYTES, HS
from isa.semantics import bitwise, permute
from isa.semantics.elementwise import UNSIGNED, each
from isa.table import family

ROWS = (
    family("mov", "T,T", BYTES, each(UNSIGNED, bitwise.copy)),
    family("dup", "T,E", BHSD, each(UNSIGNED, bitwise.copy)),
    family("dup", "T,w", BHS, each(UNSIGNED, bitwise.copy)),
    family("dup", ".2d,x", "", each(UNSIGNED, bitwise.copy)),
    family("mov", "N,E", "b h s d", each(UNSIGNED, bitwise.copy)),
    family("mov", "E,E", "b h s d", permute.insert),
    family("mov", "E,w", "b h s", permute.insert),
    family("mov", ".d[i],x", "", permute.insert),
    family("umov", "w,E", "b h", permute.to_general),
    family("mov", "w,.s[i]", "", permute.to_general),
    family("mov", "x,.d[i]", "", permute.to_general),
    family("smov", "w,E", "b h", permute.to_general_signed),
    family("smov", "x,E", "b h s", permute.to_general_signed),
    family("fmov", "T,T", "s d", each(UNSIGNED, bitwise.copy)),
    family("fmov", "s,w", "", permute.from_general),
    family("fmov", "d,x", "", permute.from_general),
    family("fmov", "w,s", "", permute.to_general),
    family("fmov", "x,d", "", permute.to_general),
    family("fmov", ".d[i],x", "", permute.insert),
    family("fmov", "x,.d[i]", "", permute.to_general),
    family("movi", "T,#", f"{BHSD} d", each(UNSIGNED, bitwise.copy)),
    family("movi", "T,# lsl", HS, each(UNSIGNED, bitwise.copy)),
    family("movi", "T,# msl", ".2s .4s", each(UNSIGNED, bitwise.copy)),
    family("mvni", "T,#(| lsl)", HS, each(UNSIGNED, bitwise.bitwise_not)),
    family("mvni", "T,# msl", ".2s .4s", each(UNSIGNED, bitwise.bitwise_not)),
    family("zip1", "T,T,T", BHSD, permute.zip1),
    family("zip2", "T,T,T", BHSD, permute.zip2),
    family("uzp1", "T,T,T", BHSD, permute.uzp1),
    family("uzp2", "T,T,T", BHSD, permute.uzp2),
    family("trn1", "T,T,T", BHSD, permute.trn1),
    family("trn2", "T,T,T", BHSD, permute.trn2),
    family("ext", "T,T,T,#", BYTES, permute.extract),
    family("rev16", "T,T", BYTES, permute.rev16),
    family("rev32", "T,T", ".8b .16b .4h .8h", permute.rev32),
    family("rev64", "T,T", BHS, permute.rev64),
    family("tbl", "T,{(1|2|3|4)}.16b,T", BYTES, permute.table_lookup),
    family("tbx", "T,{(1|2|3|4)}.16b,T", BYTES, permute.table_extension),
)
