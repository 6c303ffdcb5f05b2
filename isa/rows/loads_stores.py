"""Loads and stores of general and vector registers (Arm ARM C6.2 and C7.2)."""

from __future__ import annotations

from isa.lane import S8, S16, S32, U8, U16
from isa.rows.arrangements import BHSD, SCALARS
from isa.semantics import memory
from isa.table import family

ADDRESS = "([x]|[x,#]|[x,x]|[x,x lsl]|[x,x sxtx]|[x,w uxtw]|[x,w sxtw]|[x,#]!|[x],# post)"
UNSCALED = "([x]|[x,#])"
PAIR = "([x]|[x,#]|[x,#]!|[x],# post)"
POINTER = "([x]|[x],# post|[x],x post)"
REGISTERS = "x w b h s d q"
ROWS = (
    family("ldr", f"T,{ADDRESS}", REGISTERS, memory.load_register),
    family("str", f"T,{ADDRESS}", REGISTERS, memory.store_register),
    family("ldur", f"T,{UNSCALED}", REGISTERS, memory.load_register),
    family("stur", f"T,{UNSCALED}", REGISTERS, memory.store_register),
    family("ldrb", f"w,{ADDRESS}", "", memory.load_part(U8)),
    family("ldrh", f"w,{ADDRESS}", "", memory.load_part(U16)),
    family("ldrsb", f"(w|x),{ADDRESS}", "", memory.load_part(S8)),
    family("ldrsh", f"(w|x),{ADDRESS}", "", memory.load_part(S16)),
    family("ldrsw", f"x,{ADDRESS}", "", memory.load_part(S32)),
    family("strb", f"w,{ADDRESS}", "", memory.store_part(U8)),
    family("strh", f"w,{ADDRESS}", "", memory.store_part(U16)),
    family("ldurb", f"w,{UNSCALED}", "", memory.load_part(U8)),
    family("ldurh", f"w,{UNSCALED}", "", memory.load_part(U16)),
    family("ldursb", f"(w|x),{UNSCALED}", "", memory.load_part(S8)),
    family("ldursh", f"(w|x),{UNSCALED}", "", memory.load_part(S16)),
    family("ldursw", f"x,{UNSCALED}", "", memory.load_part(S32)),
    family("sturb", f"w,{UNSCALED}", "", memory.store_part(U8)),
    family("sturh", f"w,{UNSCALED}", "", memory.store_part(U16)),
    # unprivileged
    family("ldtr", f"T,{UNSCALED}", "x w", memory.load_register),
    family("sttr", f"T,{UNSCALED}", "x w", memory.store_register),
    family("ldtrb", f"w,{UNSCALED}", "", memory.load_part(U8)),
    family("ldtrh", f"w,{UNSCALED}", "", memory.load_part(U16)),
    family("ldtrsb", f"(w|x),{UNSCALED}", "", memory.load_part(S8)),
    family("ldtrsh", f"(w|x),{UNSCALED}", "", memory.load_part(S16)),
    family("ldtrsw", f"x,{UNSCALED}", "", memory.load_part(S32)),
    family("sttrb", f"w,{UNSCALED}", "", memory.store_part(U8)),
    family("sttrh", f"w,{UNSCALED}", "", memory.store_part(U16)),
    # from an address near the program counter
    family("ldr", "T,#", "x w s d q", memory.load_literal),
    family("ldrsw", "x,#", "", memory.load_literal_signed_word),
    # pairs
    family("ldp", f"T,T,{PAIR}", "x w s d q", memory.load_pair),
    family("stp", f"T,T,{PAIR}", "x w s d q", memory.store_pair),
    family("ldnp", f"T,T,{UNSCALED}", "x w s d q", memory.load_pair),
    family("stnp", f"T,T,{UNSCALED}", "x w s d q", memory.store_pair),
    family("ldpsw", f"x,x,{PAIR}", "", memory.load_pair_signed_words),
    # structures
    family("ld1", f"{{(1|2|3|4)}}T,{POINTER}", f"{BHSD} .1d", memory.load_consecutive),
    family("ld2", f"{{2}}T,{POINTER}", BHSD, memory.load_structures),
    family("ld3", f"{{3}}T,{POINTER}", BHSD, memory.load_structures),
    family("ld4", f"{{4}}T,{POINTER}", BHSD, memory.load_structures),
    family("st1", f"{{(1|2|3|4)}}T,{POINTER}", f"{BHSD} .1d", memory.store_consecutive),
    family("st2", f"{{2}}T,{POINTER}", BHSD, memory.store_structures),
    family("st3", f"{{3}}T,{POINTER}", BHSD, memory.store_structures),
    family("st4", f"{{4}}T,{POINTER}", BHSD, memory.store_structures),
    family("ld1r", f"{{1}}T,{POINTER}", f"{BHSD} .1d", memory.load_and_replicate),
    family("ld2r", f"{{2}}T,{POINTER}", f"{BHSD} .1d", memory.load_and_replicate),
    family("ld3r", f"{{3}}T,{POINTER}", f"{BHSD} .1d", memory.load_and_replicate),
    family("ld4r", f"{{4}}T,{POINTER}", f"{BHSD} .1d", memory.load_and_replicate),
    *(family(f"ld{n}", f"{{{n}}}E,{POINTER}", SCALARS, memory.load_one_structure) for n in (1, 2, 3, 4)),
    *(family(f"st{n}", f"{{{n}}}E,{POINTER}", SCALARS, memory.store_one_structure) for n in (1, 2, 3, 4)),
    family("prfm", "(prfop|#),(#|[x]|[x,#]|[x,x]|[x,x lsl]|[x,x sxtx]|[x,w uxtw]|[x,w sxtw])", "", memory.prefetch),
    family("prfum", f"(prfop|#),{UNSCALED}", "", memory.prefetch),
)
