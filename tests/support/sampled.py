"""Which slow tests are left to `make long`: further values of a claim, and what another test shows too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

ParameterSet = type(pytest.param())


def sampled(values: Iterable[object], every: int) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`: the first and every so many'th is run with the other slow tests, and
    the rest by `make long` alone.

    A plain tuple is what several parameters take, as there.
    """
    return [value if number % every == 0 else _in_long_runs(value) for number, value in enumerate(values)]


def _in_long_runs(value: Any) -> Any:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.long], id=value.id)
    return pytest.param(*(value if type(value) is tuple else (value,)), marks=pytest.mark.long)


def shown_too_by(test: str) -> pytest.MarkDecorator:
    """Marks a slow test for `make long` alone, as another one, FILE::NAME, fails too where its claim does not hold."""
    return pytest.mark.long(test)
