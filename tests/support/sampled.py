"""Which values a slow test that repeats one claim takes: some for `make test-slow`, the rest for `make long`."""

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
