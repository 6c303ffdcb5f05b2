"""The classes of instructions: every form has one, and the table has no gap, no hidden row and no dead row."""

from __future__ import annotations

import pytest

from isa.instruction import Form
from isa.rows import TABLE
from sim.timing.classes.all_classes import CLASSES, ROWS, classes_of, timing_class
from sim.timing.classes.row import CLAUSES, ClassRow

FORMS = tuple(TABLE.forms.values())
EXAMPLES = """\
scalar ALU add/sub reg | add x0, x1, x2
scalar ALU add imm | add x0, x1, #16
scalar ALU add shifted reg (lsl 2) | add x0, x1, x2, lsl #2
scalar ALU add shifted reg (lsr 8) | add x0, x1, x2, lsr #8
scalar ALU add extended reg | add x0, x1, w2, sxtw
scalar subs/cmp flag set | subs x0, x1, x2
scalar logic | and x0, x1, x2
scalar shift imm | lsl x0, x1, #3
scalar shift reg | lsl x0, x1, x2
scalar bitfield extract | ubfx x0, x1, #3, #7
scalar csel | csel x0, x1, x2, eq
scalar move imm | mov x0, #5
scalar mul 32 | mul w0, w1, w2
scalar mul 64 | mul x0, x1, x2
scalar madd 64 | madd x0, x1, x2, x3
scalar smull/smaddl | smaddl x0, w1, w2, x3
scalar smulh | smulh x0, x1, x2
scalar sdiv 32 | sdiv w0, w1, w2
branch unconditional | b #8
branch conditional | b.ne #8
branch cbz/cbnz | cbnz x0, #8
load scalar 64 imm | ldr x0, [x1, #16]
load scalar 64 reg lsl | ldr x0, [x1, x2, lsl #3]
load scalar byte | ldrb w0, [x1]
load scalar signed half | ldrsh w0, [x1]
load pair 64 | ldp x0, x3, [x1]
store scalar 64 | str x0, [x1, #16]
store pair 64 | stp x0, x2, [x1]
prefetch | prfm pldl1keep, [x1, #128]
load vector 128 (ldr q) | ldr q0, [x1, #16]
load vector 128 post-index | ldr q0, [x1], #16
load vector 64 (ldr d) | ldr d0, [x1, #8]
load vector 32 (ldr s) | ldr s0, [x1, #4]
load pair 128 (ldp q) | ldp q0, q1, [x1]
LD1 1 reg 128 | ld1 {v0.16b}, [x1]
LD1 2 regs 128 | ld1 {v0.16b, v1.16b}, [x1]
LD1 3 regs 128 | ld1 {v0.16b, v1.16b, v2.16b}, [x1]
LD1 4 regs 128 | ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x1]
LD1 1 reg 64 | ld1 {v0.8b}, [x1]
LD1 lane (32-bit) | ld1 {v0.s}[2], [x1]
LD1R (32-bit) | ld1r {v0.4s}, [x1]
LD2 128 | ld2 {v0.16b, v1.16b}, [x1]
LD3 128 | ld3 {v0.16b, v1.16b, v2.16b}, [x1]
LD4 128 | ld4 {v0.16b, v1.16b, v2.16b, v3.16b}, [x1]
store vector 128 (str q) | str q0, [x1, #16]
store vector 64 (str d) | str d0, [x1, #8]
store pair 128 (stp q) | stp q0, q1, [x1]
ST1 1 reg 128 | st1 {v0.16b}, [x1]
ST1 4 regs 128 | st1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x1]
ST1 lane (32-bit) | st1 {v0.s}[2], [x1]
ST2 128 | st2 {v0.16b, v1.16b}, [x1]
ST4 128 | st4 {v0.16b, v1.16b, v2.16b, v3.16b}, [x1]
ASIMD add/sub 128 | add v0.4s, v1.4s, v2.4s
ASIMD add/sub 64 | add v0.8b, v1.8b, v2.8b
ASIMD saturating add 128 | sqadd v0.8h, v1.8h, v2.8h
ASIMD add long | uaddl v0.8h, v1.8b, v2.8b
ASIMD add wide | uaddw v0.8h, v1.8h, v2.8b
ASIMD halving add | srhadd v0.16b, v1.16b, v2.16b
ASIMD add narrow high | addhn v0.8b, v1.8h, v2.8h
ASIMD pairwise add | addp v0.4s, v1.4s, v2.4s
ASIMD pairwise add long | uaddlp v0.4s, v1.8h
ASIMD pairwise add accumulate long | uadalp v0.4s, v1.8h
ASIMD reduce add 4S (addv) | addv s0, v1.4s
ASIMD reduce add 16B (addv) | addv b0, v1.16b
ASIMD abs | abs v0.4s, v1.4s
ASIMD absolute difference | uabd v0.16b, v1.16b, v2.16b
ASIMD absolute difference accumulate | uaba v0.16b, v1.16b, v2.16b
ASIMD min/max 128 | smax v0.4s, v1.4s, v2.4s
ASIMD max reduce 16B | umaxv b0, v1.16b
ASIMD compare | cmgt v0.4s, v1.4s, v2.4s
ASIMD logic 128 | and v0.16b, v1.16b, v2.16b
ASIMD bit select (bsl) | bsl v0.16b, v1.16b, v2.16b
ASIMD multiply 4S | mul v0.4s, v1.4s, v2.4s
ASIMD multiply 8H | mul v0.8h, v1.8h, v2.8h
ASIMD multiply by element 4S | mul v0.4s, v1.4s, v2.s[1]
ASIMD multiply-accumulate 4S | mla v0.4s, v1.4s, v2.4s
ASIMD multiply-accumulate by element 4S | mla v0.4s, v1.4s, v2.s[1]
ASIMD multiply-subtract by element 4S | mls v0.4s, v1.4s, v2.s[0]
ASIMD multiply long 8B->8H | umull v0.8h, v1.8b, v2.8b
ASIMD multiply long 4H->4S | smull v0.4s, v1.4h, v2.4h
ASIMD multiply long high half | smull2 v0.4s, v1.8h, v2.8h
ASIMD multiply-accumulate long 8H | umlal v0.8h, v1.8b, v2.8b
ASIMD multiply-accumulate long 4S | umlal v0.4s, v1.4h, v2.4h
ASIMD multiply-accumulate long high 4S | smlal2 v0.4s, v1.8h, v2.8h
ASIMD multiply-accumulate long by element 4S | umlal v0.4s, v1.4h, v2.h[3]
ASIMD saturating doubling multiply long | sqdmull v0.4s, v1.4h, v2.4h
ASIMD saturating doubling multiply-accumulate long | sqdmlal v0.4s, v1.4h, v2.4h
ASIMD saturating doubling multiply high 4S | sqdmulh v0.4s, v1.4s, v2.4s
ASIMD rounding saturating doubling multiply high 4S | sqrdmulh v0.4s, v1.4s, v2.4s
ASIMD rounding saturating doubling multiply high 8H | sqrdmulh v0.8h, v1.8h, v2.8h
ASIMD rounding saturating doubling multiply high by element 4S | sqrdmulh v0.4s, v1.4s, v2.s[0]
ASIMD sqrdmlah 8H (v8.1) | sqrdmlah v0.8h, v1.8h, v2.8h
ASIMD dot product UDOT vector | udot v0.4s, v1.16b, v2.16b
ASIMD dot product SDOT vector | sdot v0.4s, v1.16b, v2.16b
ASIMD dot product SDOT by element | sdot v0.4s, v1.16b, v2.4b[1]
ASIMD matrix multiply SMMLA (v8.6) | smmla v0.4s, v1.16b, v2.16b
ASIMD shift by immediate | shl v0.4s, v1.4s, #3
ASIMD shift right by immediate | sshr v0.4s, v1.4s, #3
ASIMD shift right rounding immediate | srshr v0.4s, v1.4s, #3
ASIMD shift right accumulate | ssra v0.4s, v1.4s, #3
ASIMD shift right rounding accumulate | srsra v0.4s, v1.4s, #3
ASIMD shift by register | sshl v0.4s, v1.4s, v2.4s
ASIMD shift by register rounding | srshl v0.4s, v1.4s, v2.4s
ASIMD shift by register saturating | sqshl v0.4s, v1.4s, v2.4s
ASIMD shift by register saturating rounding | sqrshl v0.4s, v1.4s, v2.4s
ASIMD shift left long | sshll v0.8h, v1.8b, #2
ASIMD widen sxtl/uxtl | ushll v0.8h, v1.8b, #0
ASIMD shift insert | sli v0.4s, v1.4s, #3
ASIMD shift right narrow | shrn v0.4h, v1.4s, #8
ASIMD shift right narrow rounding | rshrn v0.4h, v1.4s, #8
ASIMD shift right narrow saturating rounding | sqrshrn v0.4h, v1.4s, #8
ASIMD shift right narrow saturating rounding unsigned | sqrshrun v0.8b, v1.8h, #4
ASIMD narrow (xtn) | xtn v0.4h, v1.4s
ASIMD narrow saturating (sqxtn) | sqxtn v0.4h, v1.4s
ASIMD narrow saturating high (sqxtn2) | sqxtn2 v0.8h, v1.4s
ASIMD narrow saturating unsigned (sqxtun) | sqxtun v0.8b, v1.8h
ASIMD dup element | dup v0.4s, v1.s[0]
ASIMD dup from GPR | dup v0.4s, w1
ASIMD move immediate | movi v0.4s, #1
ASIMD move register | mov v0.16b, v1.16b
ASIMD insert element | mov v0.s[1], v1.s[0]
transfer GPR->vector (fmov) | fmov d0, x1
transfer vector->GPR (umov) | mov w0, v1.s[1]
ASIMD permute trn/zip/uzp | trn1 v0.4s, v1.4s, v2.4s
ASIMD extract (ext) | ext v0.16b, v1.16b, v2.16b, #4
ASIMD reverse (rev64) | rev64 v0.16b, v1.16b
ASIMD table lookup 1 reg | tbl v0.16b, {v1.16b}, v2.16b
ASIMD table lookup 2 regs | tbl v0.16b, {v1.16b, v2.16b}, v3.16b
ASIMD FP add 4S | fadd v0.4s, v1.4s, v2.4s
ASIMD FP multiply 4S | fmul v0.4s, v1.4s, v2.4s
ASIMD FP fma 4S | fmla v0.4s, v1.4s, v2.4s
ASIMD FP fma by element 4S | fmla v0.4s, v1.4s, v2.s[1]
ASIMD FP fma 8H (fp16) | fmla v0.8h, v1.8h, v2.8h
ASIMD FP max | fmax v0.4s, v1.4s, v2.4s
ASIMD FP convert int->f32 | scvtf v0.4s, v1.4s
ASIMD FP convert f32->int nearest | fcvtns v0.4s, v1.4s
ASIMD FP convert f32->f16 narrow | fcvtn v0.4h, v1.4s
ASIMD FP divide 4S | fdiv v0.4s, v1.4s, v2.4s
"""
"""Class and example of each row of the published tables that the core files were written from."""
DISTINCT = """\
add v0.8b, v1.8b, v2.8b | ASIMD add/sub 64
add d0, d1, d2 | ASIMD add/sub 64
add x0, x1, x2, lsl #4 | scalar ALU add shifted reg (lsl 2)
add x0, x1, x2, lsl #5 | scalar ALU add shifted reg (lsr 8)
cmp w0, w1, asr #2 | scalar ALU add shifted reg (lsr 8)
ushll v0.8h, v1.8b, #1 | ASIMD shift left long
sshll2 v0.8h, v1.16b, #0 | ASIMD widen sxtl/uxtl
shll v0.8h, v1.8b, #8 | ASIMD shift left long
mul v0.8h, v1.8h, v2.h[1] | ASIMD multiply by element 4S
mul v0.4h, v1.4h, v2.h[1] | ASIMD multiply by element 64
fadd v0.8h, v1.8h, v2.8h | ASIMD FP add 8H (fp16)
fadd h0, h1, h2 | FP add 64 (fp16)
fadd s0, s1, s2 | FP add 64
fmadd d0, d1, d2, d3 | FP fma 64
fcvtzs w0, s1 | FP convert float->GPR
fcvtzs s0, s1 | FP convert float->int 64
fmov w0, h1 | transfer vector->GPR whole (fmov) (fp16)
mov d0, v1.d[1] | ASIMD dup element 64
mov x0, v1.d[1] | transfer vector->GPR (umov)
mov x0, x1 | scalar move reg
sqxtn b0, h1 | ASIMD narrow saturating (sqxtn)
ld1 {v0.4s, v1.4s, v2.4s}, [x1], #48 | LD1 3 regs 128
ld1 {v0.1d}, [x1], x2 | LD1 1 reg 64
ld1 {v0.d}[1], [x1] | LD1 lane (64-bit)
ld2 {v0.2d, v1.2d}, [x1] | LD2 128 (2d)
st3 {v0.2s, v1.2s, v2.2s}, [x1] | ST3 64
tbx v0.16b, {v1.16b, v2.16b, v3.16b, v4.16b}, v5.16b | ASIMD table extension 4 regs
ldr q0, [x1], #16 | load vector 128 post-index
ldr q0, [x1, x2] | load vector 128 reg
ldr q0, [x1, x2, lsl #4] | load vector 128 reg scaled
ror x0, x1, #3 | scalar rotate imm (ror)
ldr s0, [x1, w2, sxtw #2] | load vector 64 reg
ldp s0, s1, [x2, #8]! | load pair vector 64 post-index
str w0, [x1, x2, lsl #2] | store scalar 64
ldrh w0, [x1] | load scalar byte
swpal x0, x1, [x2] | atomic read-modify-write (ldadd)
ret | branch to register (br, ret)
tbnz x0, #3, #8 | branch cbz/cbnz
"""
"""What the examples leave open: halves, scalars, bounds of a clause, addressing modes."""


def pairs(table: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" | ")) for line in table.splitlines()]


def class_of(text: str) -> str:
    mnemonic, _, operands = text.partition(" ")
    return timing_class(TABLE.instruction(mnemonic, operands).pattern)


def rows_of(form: Form) -> list[ClassRow]:
    return [row for row in ROWS if row.takes(form)]


@pytest.mark.parametrize(("name", "example"), pairs(EXAMPLES), ids=[name for name, _ in pairs(EXAMPLES)])
def test_the_example_of_a_class_is_in_it(name: str, example: str) -> None:
    assert class_of(example) == name


@pytest.mark.parametrize(("text", "name"), pairs(DISTINCT), ids=[text for text, _ in pairs(DISTINCT)])
def test_forms_that_cost_something_else_have_another_class(text: str, name: str) -> None:
    assert class_of(text) == name


def test_a_form_can_be_of_the_class_of_each_of_its_texts_and_of_no_other() -> None:
    for text in [text for _, text in pairs(EXAMPLES)] + [text for text, _ in pairs(DISTINCT)]:
        if "#" not in text:  # all texts of the form are of one class
            mnemonic, _, operands = text.partition(" ")
            assert classes_of(TABLE.instruction(mnemonic, operands).form) == (class_of(text),)
    shifted = {class_of(f"add x0, x1, x2, lsl #{count}") for count in range(64)}
    found = classes_of(TABLE.instruction("add", "x0, x1, x2, lsl #1").form)
    assert (set(found), len(found)) == (shifted, len(shifted))


def test_there_are_138_examples() -> None:
    assert len({name for name, _ in pairs(EXAMPLES)}) == 138


@pytest.mark.slow
def test_every_form_has_a_class_whatever_its_text_is() -> None:
    """The last row that takes a form asks nothing of the text."""
    without = [form.name for form in FORMS if not any(CLAUSES[row.clause].of_text is None for row in rows_of(form))]
    assert without == []


def test_no_row_is_hidden_behind_one_that_asks_nothing() -> None:
    hidden = [form.name for form in FORMS if any(row.clause == "" for row in rows_of(form)[:-1])]
    assert hidden == []


@pytest.mark.slow
def test_no_row_is_dead() -> None:
    alive = {id(row) for form in FORMS for row in rows_of(form)}
    assert [row.name for row in ROWS if id(row) not in alive] == []


def test_every_class_is_named_by_one_row() -> None:
    assert len(ROWS) == len(CLASSES)


def test_every_clause_is_asked_by_a_row() -> None:
    assert {row.clause for row in ROWS} == CLAUSES.keys()
