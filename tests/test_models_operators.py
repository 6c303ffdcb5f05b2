"""What docs/models.md says is computed is what the program computes, operator by operator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.models.computed import OPERATORS
from sim.models.onnx_pairs import OPERANDS

PAGE = Path(__file__).parent.parent / "docs" / "models.md"


def rows() -> list[list[str]]:
    """Of both tables of operators, without their heads."""
    _, _, behind = PAGE.read_text().partition("## What is computed")
    section, _, _ = behind.partition("\n## ")
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [cells for cells in found if cells[0].startswith("`")]


def named(cells: list[list[str]]) -> list[str]:
    return [name for first, *_ in cells for name in re.findall("`([^`]+)`", first)]


@pytest.mark.parametrize("columns", [2, 3], ids=["TensorFlow Lite", "ONNX"])
def test_every_operator_that_is_computed_is_in_its_table_once(columns: int) -> None:
    of_format = [name for name in OPERATORS if name.isupper() == (columns == 2)]
    assert sorted(named([cells for cells in rows() if len(cells) == columns])) == sorted(of_format)


def test_what_may_stand_in_pairs_is_what_is_read_as_pairs() -> None:
    assert sorted(named([cells for cells in rows() if cells[1] == "yes"])) == sorted(OPERANDS)
