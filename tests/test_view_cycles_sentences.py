"""Sentences with numbers in them."""

from __future__ import annotations

import pytest

from sim.timing.analysis.report import UnmodelledRow
from sim.view.cycles.sentences import unmodelled


@pytest.mark.parametrize(("executed", "words"), [(1, "1 instruction of"), (2, "2 instructions of")])
def test_instructions_are_counted(executed: int, words: str) -> None:
    assert unmodelled(UnmodelledRow("scalar csel", executed, "absent", "latency 1")).startswith(words)


@pytest.mark.parametrize(("executed", "words"), [(1, "is absent; assumed: latency 1"), (2, "are absent; assumed")])
def test_one_instruction_is_and_two_are(executed: int, words: str) -> None:
    assert words in unmodelled(UnmodelledRow("scalar csel", executed, "absent", "latency 1"))
