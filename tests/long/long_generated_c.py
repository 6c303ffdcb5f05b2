"""Generated C of every recorded word, optimised, on more states than the fast suite has; nothing of it is undefined."""

from __future__ import annotations

import pytest
from test_generated_c import differences, ended, floating_point, outcomes

from support.generated_c import Compiled, words_in_c

CHUNKS, STATES, FLOATING_STATES = 32, 96, 400


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_does_what_the_exact_evaluator_says(chunk: int) -> None:
    words, _ = words_in_c(every=True)
    assert differences({name: words[name] for name in list(words)[chunk::CHUNKS]}, STATES) == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_floating_point_of_the_host_is_that_of_the_exact_evaluator(chunk: int) -> None:
    every, _ = words_in_c(every=True)
    words = [word for name in floating_point()[chunk::CHUNKS] for word in every[name]]
    compiled = Compiled(words, "-O3")
    assert [line for word in words for line in outcomes(compiled, word, FLOATING_STATES) if line] == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_nothing_that_a_form_does_is_undefined(chunk: int) -> None:
    words, _ = words_in_c(every=False)
    assert ended(*list(words)[chunk::CHUNKS], states=STATES) == 0
