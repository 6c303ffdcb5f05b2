"""Steps of native code: a pattern is compiled once, by whatever process and whatever is beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from isa.rows import TABLE
from sim.call.native import steps
from sim.machine import host_compiler
from sim.machine.executable import executable
from sim.toolchain.host import engine_library

NOP, ADD, ORR, MUL, SUB = 0xD503201F, 0x91000483, 0xAA0403FE, 0x9B027C20, 0xCB030041
INSTRUCTIONS = {word: executable(word.to_bytes(4, "little"), 0x10000) for word in (NOP, ADD, ORR, MUL, SUB)}


class Process:
    """Knows the steps that it asked for, as a process of its own does, and finds those that others keep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._made: list[str] = []

    def _compile(self, key: str, text: Callable[[], str]) -> Path:
        def noted() -> str:
            self._made.append(text())
            return self._made[-1]

        return engine_library(key, noted)

    def compiled_for(self, *words: int) -> list[int]:
        """Of the words the patterns that have to be compiled so that there is a step for each."""
        self._made.clear()
        compiler = self._compile
        self._monkeypatch.setattr(host_compiler, "compiler_handed_over", lambda: compiler)
        made = steps.steps_of([INSTRUCTIONS[word] for word in words], TABLE)
        assert all(step.function for step in made)
        assert len({step.function for step in made}) == len(words)
        titles = {word: each.pattern.text for word, each in INSTRUCTIONS.items()}
        return [word for word, title in titles.items() if any(title in text for text in self._made)]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Process:
    return Process(monkeypatch)


def test_a_process_compiles_a_pattern_once_whatever_is_beside_it(process: Process) -> None:
    assert process.compiled_for(NOP, ADD) == [NOP, ADD]
    assert process.compiled_for(ADD) == process.compiled_for(ADD, NOP) == []
    assert process.compiled_for(ORR, ADD) == [ORR]


def test_another_process_finds_what_was_kept_in_whatever_order_it_asks(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.compiled_for(NOP, ADD)
    process.compiled_for(ADD, ORR)
    assert Process(monkeypatch).compiled_for(ORR, NOP) == []
    assert Process(monkeypatch).compiled_for(ORR, MUL, ADD) == [MUL]


@pytest.mark.parametrize("left", ['["0123", ["nop", ', "5", "[]", '["0123", 5]'])
def test_a_line_that_was_not_finished_is_passed_over(
    left: str, process: Process, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    process.compiled_for(NOP)
    (listed,) = cache.glob("steps/*.txt")
    with listed.open("a") as file:
        file.write(left)
    assert process.compiled_for(ADD) == [ADD]
    assert Process(monkeypatch).compiled_for(NOP, ADD) == []


def test_what_is_listed_and_gone_is_made_again(process: Process, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    process.compiled_for(NOP, ADD)
    for library in cache.glob("*.so"):
        library.unlink()
    assert Process(monkeypatch).compiled_for(ADD) == [ADD]


def test_a_list_that_was_begun_again_is_read_from_its_start(
    process: Process, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    process.compiled_for(NOP, ADD, ORR)
    process.compiled_for(SUB)
    (listed,) = cache.glob("steps/*.txt")
    listed.unlink()
    assert Process(monkeypatch).compiled_for(MUL, NOP) == [NOP, MUL]
    assert process.compiled_for(MUL) == []


def test_what_another_process_lists_meanwhile_is_found(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    process.compiled_for(NOP)
    process.compiled_for(ADD)
    assert Process(monkeypatch).compiled_for(ORR, MUL) == [ORR, MUL]
    assert process.compiled_for(MUL, ORR) == []


def test_what_is_kept_elsewhere_is_made_again(
    process: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So that another process finds it where things are kept now."""
    process.compiled_for(NOP)
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "elsewhere"))
    assert process.compiled_for(NOP) == [NOP]
    assert Process(monkeypatch).compiled_for(NOP) == []


def test_steps_of_edited_sources_are_others(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    process.compiled_for(NOP)
    genuine = steps.source
    monkeypatch.setattr(steps, "source", lambda name: genuine(name) + "\n")
    assert process.compiled_for(NOP) == [NOP]
