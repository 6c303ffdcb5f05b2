"""Which blocks each test reaches, in the process of pytest and in all that it starts; a plugin for pytest.

`LANEWISE_REACH` names a folder.  Every process appends to files of its own there: for the first time that a test
reaches a block, `NUMBER module line`; and pytest's process, as JSON, which tests it collects, what a number stands for
and what became of it.  What a fixture of a wider scope than one test reaches belongs to every test that uses it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pytest

REACH: Final = "LANEWISE_REACH"
_CURRENT: Final = "LANEWISE_REACH_OF"
_files: dict[str, int] = {}
_told: list[set[int]] = []
_current = os.environ.get(_CURRENT, "0")
"""Whose what is reached; 0 while no test runs: at imports, as tests are collected."""


def probe(module: str) -> Callable[[int], None]:
    """What the blocks of a module call with their lines."""
    told: set[int] = set()
    _told.append(told)

    def reached(line: int) -> None:
        if line not in told:
            told.add(line)
            _append("reached", f"{_current} {module} {line}\n")

    return reached


def _append(kind: str, line: str) -> None:
    name = f"{kind}-{os.getpid()}"
    if name not in _files:
        path = os.path.join(os.environ[REACH], name)
        _files[name] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(_files[name], line.encode())


def _switch(number: str) -> str:
    """From now on what is reached belongs to this number; whose it was."""
    global _current
    before, _current = _current, number
    os.environ[_CURRENT] = number
    for told in _told:
        told.clear()
    return before


class Recorder:
    """Numbers tests, and fixtures of wider scope, and says which is at work."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        self._outcome, self._in_fixtures = "passed", 0.0

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(name, f"{os.getpid()}.{len(self._numbers)}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        _append("collected", json.dumps([item.nodeid for item in session.items]) + "\n")

    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        number, begun = self._number(item.nodeid), _processor_seconds()
        self._outcome, self._in_fixtures = "passed", 0.0
        before = _switch(number)
        result = yield
        _switch(before)
        known = getattr(item, "_fixtureinfo", None)
        given = known.name2fixturedefs.values() if known is not None else ()
        fixtures = [self._number(_name(one)) for several in given for one in several if one.scope != "function"]
        record = {
            "number": number, "test": item.nodeid, "fixtures": fixtures,
            "seconds": round(_processor_seconds() - begun - self._in_fixtures, 2), "outcome": self._outcome,
        }  # fmt: skip
        _append("tests", json.dumps(record) + "\n")
        return result

    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        report = yield
        if report.outcome != "passed":
            self._outcome = report.outcome
        return report

    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        number, begun = self._number(_name(fixturedef)), _processor_seconds()
        before = _switch(number)
        try:
            return (yield)
        finally:
            _switch(before)
            seconds = _processor_seconds() - begun
            self._in_fixtures += seconds
            _append("fixtures", f"{number} {seconds:.2f}\n")


def _processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _name(fixture: Any) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Put the recorder in; pytest is imported here only, for programs with probes import this module too."""
    import pytest

    for name in ("pytest_runtest_protocol", "pytest_runtest_makereport", "pytest_fixture_setup"):
        setattr(Recorder, name, pytest.hookimpl(wrapper=True)(getattr(Recorder, name)))
    config.pluginmanager.register(Recorder())
