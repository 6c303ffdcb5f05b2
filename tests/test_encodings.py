"""The encoding space as the denominator, and the words that the package records."""

from __future__ import annotations

from functools import cache

import pytest

from isa.decode import decode
from isa.encodings import SPACE, EncodingRow, recorded_words, rows, space, words_of
from isa.rows import TABLE

NAMES = {form.name for form in TABLE.forms.values()}


@cache
def all_rows() -> tuple[EncodingRow, ...]:
    return tuple(rows(space()))


def test_the_space_has_every_word_with_rd_0_and_rn_1_whose_bits_28_to_25_are_x111_once() -> None:
    words = set(space())
    assert len(words) == SPACE == 2**19
    assert all(word & 0x0E0003FF == 0x0E000020 for word in words)


@pytest.mark.slow
def test_no_row_is_named_twice() -> None:
    names = [row.name for row in all_rows()]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_a_row_of_the_table_has_the_name_of_its_form() -> None:
    found = [row for row in all_rows() if row.name in NAMES]
    decoded = [decode(row.word.to_bytes(4, "little")).form.name for row in found]
    assert decoded == [row.name for row in found]


@pytest.mark.parametrize(
    ("word", "name", "kind"),
    [
        (0x4E228420, "add .16b,.16b,.16b", "integer"),
        (0x0F0A9C20, "sqrshrn .8b,.8h,#", "integer"),
        (0x4F8DD820, "sqrdmulh .4s,.4s,.s[i]", "integer"),
        (0x4E22D420, "fadd .4s,.4s,.4s", "floating"),
        (0x1E222820, "fadd s,s,s", "floating"),
        (0x4E284820, "aese .16b,.16b", "integer"),
        (0x5E280820, "sha1h s,s", "integer"),
        (0xCE62C020, "sm3partw1 .4s,.4s,.4s", "integer"),
    ],
)
def test_a_word_has_its_row(word: int, name: str, kind: str) -> None:
    (row,) = rows([word])
    assert (row.name, row.kind) == (name, kind)


def test_a_row_counts_its_words() -> None:
    (row,) = (row for row in all_rows() if row.name == "sshr .2d,.2d,#")
    assert row.words == 64


def test_what_is_no_instruction_is_no_row() -> None:
    assert rows([0x0EE28420]) == []  # add v0.1d, v1.1d, v2.1d is reserved


def test_the_table_has_every_row() -> None:
    assert [row.name for row in all_rows() if row.name not in NAMES] == []


def test_every_form_of_the_table_has_words_and_no_other_has() -> None:
    assert set(recorded_words()) == NAMES
    assert [name for name, words in recorded_words().items() if not words] == []


def test_every_recorded_word_is_one_of_its_form() -> None:
    pairs = [(name, word) for name, words in recorded_words().items() for word in words]
    assert [f"{name}: {word:08x}" for name, word in pairs if decode(word.to_bytes(4, "little")).form.name != name] == []


def test_a_form_without_a_record_has_no_words() -> None:
    assert words_of("no .such,.form") == ()
