"""The pytest test that is running, if any: its options, and the properties of its report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import pytest

SEED: Final = 1
_running: ContextVar[pytest.Item | None] = ContextVar("lanewise_running_test", default=None)


@contextmanager
def running(item: pytest.Item) -> Iterator[None]:
    """Until the end, this test runs."""
    token = _running.set(item)
    try:
        yield
    finally:
        _running.reset(token)


def session_seed() -> int:
    """That of the option, or the usual one."""
    item = _running.get()
    return SEED if item is None else int(item.config.getoption("lanewise_seed"))


def record(name: str, value: object) -> None:
    """Add a property to the report of the test."""
    item = _running.get()
    if item is not None:
        item.user_properties.append((name, value))
