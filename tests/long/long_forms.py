"""Every form of the table on four times the lane vectors of the fast suite, on more states and more registers."""

from __future__ import annotations

import pytest
from test_forms_against_emulator import STATES, VECTORS, Words, differences, sets_qc_unclaimed, unnamed_but_heeded

CHUNKS = 64


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_agrees_with_the_emulator_or_its_definition(form_words: Words, chunk: int) -> None:
    wrong = differences(sorted(form_words)[chunk::CHUNKS], 4 * VECTORS)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_register_that_is_not_named_as_read_does_not_matter(form_words: Words, chunk: int) -> None:
    found = unnamed_but_heeded(form_words, sorted(form_words)[chunk::CHUNKS], 12)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_only_an_instruction_that_can_saturate_sets_qc(form_words: Words, chunk: int) -> None:
    found = sets_qc_unclaimed(form_words, sorted(form_words)[chunk::CHUNKS], 2 * STATES)
    assert not found, "\n".join(found)
