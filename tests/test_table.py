"""The instruction table: how a row expands, what it refuses, and that every form has recorded machine words."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from isa.decode import decode
from isa.instruction import FEATURES
from isa.rows import TABLE
from isa.semantics.base.branch import nothing
from isa.table import Table, UnknownInstruction, family

Words = dict[str, tuple[int, ...]]


def names(mnemonic: str, shapes: str, arrangements: str) -> list[str]:
    return [form.name for form in family(mnemonic, shapes, arrangements, nothing)]


EXPANSIONS = [
    ("add", "T,T,T", ".8b .2d d", ["add .8b,.8b,.8b", "add .2d,.2d,.2d", "add d,d,d"]),
    ("sqxtn%", "T,W", ".4h .8h h", ["sqxtn .4h,.4s", "sqxtn2 .8h,.4s", "sqxtn h,s"]),
    ("sshll%", "W,T,#", ".8b .16b .2s", ["sshll .8h,.8b,#", "sshll2 .8h,.16b,#", "sshll .2d,.2s,#"]),
    ("saddlp", "P,T", ".8b .16b .4h .4s", ["saddlp .4h,.8b", "saddlp .8h,.16b", "saddlp .2s,.4h", "saddlp .2d,.4s"]),
    ("sdot", "D,T,T", ".8b .16b", ["sdot .2s,.8b,.8b", "sdot .4s,.16b,.16b"]),
    ("mul", "T,T,E", ".4h .8h .4s", ["mul .4h,.4h,.h[i]", "mul .8h,.8h,.h[i]", "mul .4s,.4s,.s[i]"]),
    ("addv", "N,T", ".8b .8h .4s", ["addv b,.8b", "addv h,.8h", "addv s,.4s"]),
    ("saddlv", "L,T", ".8b .8h .4s", ["saddlv h,.8b", "saddlv s,.8h", "saddlv d,.4s"]),
    ("sqdmull%", "W,T,E", "h s", ["sqdmull s,h,.h[i]", "sqdmull d,s,.s[i]"]),
    ("add", "T,T,T(| lsl)", "x w", ["add x,x,x", "add x,x,x lsl", "add w,w,w", "add w,w,w lsl"]),
    ("ldrsb", "(w|x),([x]|[x,#])", "", ["ldrsb w,[x]", "ldrsb w,[x,#]", "ldrsb x,[x]", "ldrsb x,[x,#]"]),
    ("nop", "", "", ["nop"]),
    ("dup", ".2d,x", "", ["dup .2d,x"]),
]


@pytest.mark.parametrize(("mnemonic", "shapes", "arrangements", "expected"), EXPANSIONS)
def test_a_row_expands_to_its_forms(mnemonic: str, shapes: str, arrangements: str, expected: list[str]) -> None:
    assert names(mnemonic, shapes, arrangements) == expected


def test_two_rows_for_one_key_are_refused() -> None:
    rows = [*family("add", "T,T", ".8b", nothing), *family("add", ".8b,T", ".8b", nothing)]
    with pytest.raises(ValueError, match=r"two rows of the instruction table describe 'add \.8b,\.8b'"):
        Table(rows)


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="add: 'sve' is not one of rdm, dotprod"):
        list(family("add", "T,T", ".8b", nothing, "sve"))


@pytest.mark.parametrize("feature", FEATURES)
def test_a_known_feature_is_kept(feature: str) -> None:
    assert [form.features for form in family("add", "T,T", ".8b", nothing, feature)] == [(feature,)]


def test_every_form_name_is_unique() -> None:
    counts = Counter(form.name for form in TABLE.forms.values())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_form_has_a_recorded_word(form_words: Words) -> None:
    assert [form.name for form in TABLE.forms.values() if not form_words.get(form.name)] == []


def test_no_recorded_word_is_of_a_form_that_the_table_lacks(form_words: Words) -> None:
    assert set(form_words) - {form.name for form in TABLE.forms.values()} == set()


def test_every_recorded_word_decodes_to_its_form(form_words: Words) -> None:
    recorded = [(name, word) for name, words in form_words.items() for word in words]
    assert [row for row in recorded if decode(row[1].to_bytes(4, "little")).form.name != row[0]] == []


OPERATIONS = ("add", "clr", "eor", "set", "smax", "smin", "umax", "umin")
LOADS = ("", "a", "l", "al")
# The features by the instructions that Arm's manual says need them (C7.2, "FEAT_..." of each).
NEEDED = {
    "rdm": {"sqrdmlah", "sqrdmlsh"},
    "dotprod": {"sdot", "udot"},
    "i8mm": {"usdot", "sudot", "smmla", "ummla", "usmmla"},
    "aes": {"aesd", "aese", "aesimc", "aesmc"},
    "sha2": {"sha1c", "sha1h", "sha1m", "sha1p", "sha1su0", "sha1su1", "sha256h", "sha256h2", "sha256su0", "sha256su1"},
    "sha3": {"eor3", "bcax", "rax1", "xar"},
    "sha512": {"sha512h", "sha512h2", "sha512su0", "sha512su1"},
    "sm4": {"sm3partw1", "sm3partw2", "sm3ss1", "sm3tt1a", "sm3tt1b", "sm3tt2a", "sm3tt2b", "sm4e", "sm4ekey"},
    "fhm": {"fmlal", "fmlal2", "fmlsl", "fmlsl2"},
    "fcma": {"fcadd", "fcmla"},
    "bf16": {"bfcvt", "bfcvtn", "bfcvtn2", "bfdot", "bfmlalb", "bfmlalt", "bfmmla"},
    "crc": {f"crc32{castagnoli}{size}" for castagnoli in ("", "c") for size in "bhwx"},
    "pmull": {"pmull", "pmull2"},
    "jscvt": {"fjcvtzs"},
    "frintts": {"frint32z", "frint32x", "frint64z", "frint64x"},
    "rcpc": {"ldapr", "ldaprb", "ldaprh"},
    "rcpc2": {f"{name}{size}" for name in ("ldapur", "stlur") for size in ("", "b", "h")}
    | {"ldapursb", "ldapursh", "ldapursw"},
    "flagm": {"cfinv", "rmif", "setf8", "setf16"},
    "flagm2": {"axflag", "xaflag"},
    "lor": {f"{name}{size}" for name in ("ldlar", "stllr") for size in ("", "b", "h")},
    "sb": {"sb"},
    "pauth": {"retaa", "retab"},
    "lse": {
        name + order + size
        for name, orders in (("swp", LOADS), ("cas", LOADS), *((f"ld{operation}", LOADS) for operation in OPERATIONS),
                             *((f"st{operation}", ("", "l")) for operation in OPERATIONS))
        for order in orders
        for size in ("", "b", "h")
    } | {f"casp{order}" for order in LOADS},
}  # fmt: skip


@pytest.mark.parametrize("feature", NEEDED)
def test_exactly_the_instructions_of_a_feature_need_it(feature: str) -> None:
    assert {form.mnemonic for form in TABLE.forms.values() if feature in form.features} == NEEDED[feature]


HALF = re.compile(r"\.[248]h|\bh\b")
CONVERSIONS = {"fcvt", "fcvtl", "fcvtl2", "fcvtn", "fcvtn2"}
"""Conversions from and to half precision are base Armv8-A."""


def test_forms_that_need_fp16_have_operands_of_half_precision() -> None:
    assert [form.name for form in TABLE.forms.values() if "fp16" in form.features and not HALF.search(form.shape)] == []


def test_of_half_precision_only_conversions_need_no_feature() -> None:
    floating = [form for form in TABLE.forms.values() if form.mnemonic.startswith("f") and HALF.search(form.shape)]
    assert {form.mnemonic for form in floating if not form.features} == CONVERSIONS


def test_arithmetic_of_half_precision_needs_fp16_whatever_else_it_needs() -> None:
    floating = [form for form in TABLE.forms.values() if form.mnemonic.startswith("f") and HALF.search(form.shape)]
    assert {form.mnemonic for form in floating if "fp16" not in form.features} == CONVERSIONS | NEEDED["fhm"]


def test_forms_need_no_other_features() -> None:
    assert {feature for form in TABLE.forms.values() for feature in form.features} == {"fp16", *NEEDED}


def test_the_text_of_an_instruction_is_what_was_asked_for() -> None:
    assert TABLE.instruction("add", "v0.4s, v1.4s, v2.4s").text == "add v0.4s, v1.4s, v2.4s"


def test_instructions_that_differ_in_registers_share_a_pattern() -> None:
    one, other = (TABLE.instruction("add", f"x0, x{i}, x2, lsl #3") for i in (1, 5))
    assert one.pattern is other.pattern


def test_instructions_that_differ_in_an_immediate_do_not_share_a_pattern() -> None:
    one, other = (TABLE.instruction("add", f"x0, x1, #{i}") for i in (1, 5))
    assert one.pattern is not other.pattern


def test_a_condition_in_the_mnemonic_is_an_operand() -> None:
    assert TABLE.instruction("b.ge", "#8").form.name == "b.cond cond,#"


def test_a_form_that_the_table_lacks_is_unknown() -> None:
    with pytest.raises(UnknownInstruction, match=r"add v0\.1q, v1\.1q: the instruction table has no such form"):
        TABLE.instruction("add", "v0.1q, v1.1q")


def test_an_operand_that_cannot_be_parsed_makes_the_instruction_unknown() -> None:
    with pytest.raises(UnknownInstruction, match="operand '%' is not understood"):
        TABLE.instruction("add", "x0, %")


def test_an_unknown_instruction_has_its_text() -> None:
    with pytest.raises(UnknownInstruction) as caught:
        TABLE.instruction("frobnicate", "x0, x1")
    assert caught.value.text == "frobnicate x0, x1"


def test_replacing_changes_the_form_of_that_name() -> None:
    replaced = TABLE.replacing("add x,x,x", nothing)
    assert replaced.instruction("add", "x0, x1, x2").writes == ()


def test_replacing_leaves_the_original_table() -> None:
    TABLE.replacing("add x,x,x", nothing)
    assert TABLE.instruction("add", "x0, x1, x2").writes != ()


def test_replacing_leaves_the_other_forms() -> None:
    replaced = TABLE.replacing("add x,x,x", nothing)
    changed = [key for key, form in TABLE.forms.items() if replaced.forms[key].body is not form.body]
    assert changed == [("add", "x,x,x")]


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ("bl #0x10", True),
        ("blr x3", True),
        ("b #0x10", False),
        ("br x30", False),
        ("ret", False),
        ("mov x30, x1", False),
    ],
)
def test_a_call_is_a_branch_that_leaves_where_to_come_back_to(text: str, is_call: bool) -> None:
    assert TABLE.instruction(*text.partition(" ")[::2]).is_call == is_call
