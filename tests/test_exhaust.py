"""`lanewise exhaust`: all values of an instruction's lanes, what stops it, and that differences are seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.catalogue import instruction_of
from isa.evaluate import c
from sim.verify.exhaust import exhaust as running
from sim.verify.exhaust import loop
from sim.verify.exhaust.exhaust import Exhaustion, words_of
from sim.verify.exhaust.space import Space, space_of
from support.command import lanewise

SQADD, SQSUB = 0x4E220C20, 0x4E222C20
"""sqadd v0.16b, v1.16b, v2.16b and sqsub of the same."""


@pytest.fixture(autouse=True)
def benches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Benches of a test are its own, as what they are made of is changed."""
    loop.bench_of.cache_clear()
    monkeypatch.setattr(running, "SAMPLES", 20)
    yield
    loop.bench_of.cache_clear()


def space_called(text: str) -> Space:
    instruction = instruction_of(text)
    assert instruction is not None
    return space_of(instruction)


def word_called(text: str) -> int:
    instruction = instruction_of(text)
    assert instruction is not None
    (word,) = words_of(instruction.form, instruction.pattern.text)
    return word


@pytest.mark.parametrize(
    ("text", "operands", "chunks"),
    [
        ("sqadd v0.16b, v1.16b, v2.16b", {1: 8, 2: 8}, 1),
        ("sqrdmulh v0.8h, v1.8h, v2.8h", {1: 16, 2: 16}, 2048),
        ("sqrdmulh v0.8h, v1.8h, v2.h[5]", {1: 16, 2: 16}, 2048),
        ("sqxtn2 v0.16b, v1.8h", {1: 16}, 1),
        ("sqrshrn v0.4h, v1.4s, #3", {1: 32}, 2048),
        ("uaddw v0.8h, v1.8h, v2.8b", {1: 16, 2: 8}, 8),
        ("sqadd b0, b1, b2", {1: 8, 2: 8}, 1),
        ("sli v0.8h, v1.8h, #3", {0: 16, 1: 16}, 2048),
    ],
)
def test_the_values_of_lanes_follow_from_the_expressions(text: str, operands: dict[int, int], chunks: int) -> None:
    space = space_called(text)
    found = {one.register: one.bits for one in (space.inner, space.outer) if one}
    assert (found, len(space.chunks)) == (operands, chunks)


@pytest.mark.parametrize("text", ["sqadd v0.16b, v1.16b, v2.16b", "mul v0.4h, v1.4h, v2.h[3]", "sqxtn v0.8b, v1.8h"])
def test_every_value_is_tried_once(text: str) -> None:
    space = space_called(text)
    seen = np.zeros((space.rows, space.inner.values), np.uint8)
    for chunk in space.chunks[:3]:
        inner = elements(space.inner.spread(chunk.first, chunk.count), space.inner.bits, space.inner.lsbs)
        rows = [0]
        if space.outer:
            table = elements(space.outer.repeated(chunk.first_row, chunk.rows), space.outer.bits, space.outer.lsbs)
            assert (table == table[:, :1]).all()
            rows = table[:, 0].tolist()
        for row in rows:
            np.add.at(seen[row], inner.ravel(), 1)
        tried = seen[rows]
        assert (tried == 1).all()
    assert sum(chunk.rows * chunk.count for chunk in space.chunks) == space.values


def elements(table: bytes, bits: int, lsbs: tuple[int, ...]) -> np.ndarray:
    """The elements of registers, by register and lane."""
    registers = np.frombuffer(table, {8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).reshape(-1, 128 // bits)
    return registers[:, [lsb // bits for lsb in lsbs]]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("addp .16b,.16b,.16b", "lanes of one register meet"),
        ("sqrdmlah .8h,.8h,.8h", "a lane of 48 bits of 3 registers: all values are tried of at most 32 bits of two"),
        ("mul .4s,.4s,.4s", "a lane of 64 bits of 2 registers"),
        ("fadd .4s,.4s,.4s", "more than integers in lanes"),
        ("add x,x,x", "does more than to write one vector register"),
        ("ld1 {1}.16b,[x]", "more than integers in lanes"),
        ("tbl .8b,{1}.16b,.8b", "lanes of one register meet"),
        ("smmla .4s,.16b,.16b", "the emulator lacks smmla"),
        ("dup .16b,.b[i]", "several lanes of the same element"),
        ("movi .16b,#", "computes its lanes of different operands"),
    ],
)
def test_what_cannot_be_exhausted_is_refused_with_the_reason(name: str, reason: str) -> None:
    result = lanewise("exhaust", name, "--jobs", 1)
    assert (result.exit_code, result.stdout, reason in result.stderr) == (2, "", True), result.stderr


@pytest.mark.parametrize(
    "name", ["sqadd .16b,.16b,.16b", "sqxtun2 .16b,.8h", "sqrshrun v0.8b, v1.8h, #5", "cmgt .8b,.8b,.8b"]
)
def test_all_values_agree(name: str, cache: Path) -> None:
    result = lanewise("exhaust", name, "--jobs", 1, "--json")
    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["passed"], shown["results"][0]["compared"]) == (0, True, 1 << 16)


def changed(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    """Generated C with a mistake."""
    write = c.instruction

    def wrong(*given: Any) -> str:
        text = write(*given)
        assert before in text
        return text.replace(before, after)

    monkeypatch.setattr(c, "instruction", wrong)


def run(cache: Path) -> dict[str, Any]:
    result = lanewise("exhaust", "sqadd .16b,.16b,.16b", "--jobs", 1, "--json")
    assert result.exit_code == 1
    shown: dict[str, Any] = json.loads(result.stdout)["results"][0]["disagreement"]
    return shown


def test_a_mistake_of_the_model_is_seen(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    changed(monkeypatch, "(int16_t)127", "(int16_t)126")
    monkeypatch.setattr(running, "SAMPLES", 0)
    shown = run(cache)
    sums = sum(number - 256 * (number > 127) for number in shown["operands"].values())
    assert (shown["between"], sums > 126) == ("model and emulator", True)
    assert (shown["model"]["register"], shown["emulator"]["register"], shown["exact"]["register"]) == (126, 127, 127)


def test_a_mistake_of_the_model_is_seen_by_the_sample_too(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    changed(monkeypatch, "(int16_t)127", "(int16_t)126")
    assert run(cache)["between"] == "C and the exact evaluator"


def test_a_saturation_that_is_not_told_is_seen(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    changed(monkeypatch, "saturated |=", "saturated &=")
    monkeypatch.setattr(running, "SAMPLES", 0)
    shown = run(cache)
    assert (shown["lane"], shown["model"]["saturates"], shown["emulator"]["saturates"]) == (None, False, True)


def test_another_result_of_the_emulator_is_seen(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    assembly = loop.ValueBench._assembly
    monkeypatch.setattr(loop.ValueBench, "_assembly", lambda self, _: assembly(self, SQSUB))
    shown = run(cache)
    model, exact = shown["model"], shown["exact"]
    assert (shown["between"], model == exact, model == shown["emulator"]) == ("model and emulator", True, False)


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    word = word_called("uaddw v0.8h, v1.8h, v2.8b")
    first = Exhaustion([word], tmp_path, 1)
    steps = first.run(1)
    assert [next(steps), next(steps)] == [1 << 21, 2 << 21]
    steps.close()
    second = Exhaustion([word], tmp_path, 1)
    assert (second.done, [done >> 21 for done in second.run(1)]) == (2 << 21, [3, 4, 5, 6, 7, 8])
    (result,) = second.results()
    assert (result.kept, result.compared) == (2 << 21, 8 << 21)


@pytest.mark.parametrize("content", ["", "[[0, 1", "[1]", '{"a": 1}', "[[0, 9]]", "[[-1, 0]]"])
def test_what_was_kept_and_is_damaged_is_compared_again(content: str, tmp_path: Path) -> None:
    list(Exhaustion([SQADD], tmp_path, 1).run(1))
    (file,) = tmp_path.iterdir()
    file.write_text(content)
    assert Exhaustion([SQADD], tmp_path, 1).done == 0


def test_nothing_kept_is_taken_where_all_is_asked_anew(tmp_path: Path) -> None:
    list(Exhaustion([SQADD], tmp_path, 1).run(1))
    assert [Exhaustion([SQADD], tmp_path, 1, anew).done for anew in (False, True)] == [1 << 16, 0]


def interrupted(*_: object) -> Any:
    raise KeyboardInterrupt


def test_an_interrupt_gives_no_verdict_and_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(loop.ValueBench, "compare", interrupted)
    result = lanewise("exhaust", "sqadd .16b,.16b,.16b", "--jobs", 1)
    lines = result.stdout.splitlines()
    assert (result.exit_code, lines[1]) == (130, "STOPPED: no verdict; the same command goes on")
    assert lines[0] == "sqadd v0.16b, v1.16b, v2.16b: 0 of 65,536 values of v1 (8 bits) and v2 (8 bits) compared"


@pytest.mark.slow
def test_forms_of_a_mnemonic_that_cannot_be_exhausted_are_listed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(loop.ValueBench, "compare", interrupted)
    shown = json.loads(lanewise("exhaust", "sqxtn", "--jobs", 1, "--json").stdout)
    assert [reason.split(" reads")[0] for reason in shown["left_out"]] == ["sqxtn v0.2s, v1.2d", "sqxtn s0, d1"]


def test_a_result_that_cannot_be_kept_is_one_sentence_and_exit_3(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "write_whole", full)
    result = lanewise("exhaust", "sqadd .16b,.16b,.16b", "--jobs", 1)
    assert (result.exit_code, result.stderr.startswith("lanewise: cannot keep what was compared: ")) == (3, True)
