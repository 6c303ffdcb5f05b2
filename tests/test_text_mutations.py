"""Damaged texts end in a reader's own error: a short run of tests/long/text_mutations.py."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from long.text_mutations import readers
from sim.call.captured import Bytes, read_line
from sim.replay.run import replay
from support.text_mutations import captured_call, damaged_call, save_bytes

SEEDS = range(100_000, 100_300)


@pytest.mark.parametrize("name", ["prototypes", "arguments", "captured calls", "npz files"])
def test_a_damaged_text_never_ends_in_a_strange_error(name: str, tmp_path: Path) -> None:
    read = readers(tmp_path)[name]
    assert [read(Random(seed)) for seed in SEEDS] == [None] * len(SEEDS)


def test_the_call_that_is_damaged_passes_as_it_is(tmp_path: Path) -> None:
    line = read_line(1, json.dumps(captured_call()), Bytes(save_bytes(tmp_path)))
    assert replay(line, "lockstep", limit=10).kind == "passed"


def test_damaged_calls_come_in_every_kind(tmp_path: Path) -> None:
    data = Bytes(save_bytes(tmp_path))
    lines = [read_line(1, damaged_call(Random(seed)), data) for seed in SEEDS]
    kinds = {replay(line, "machine", limit=10).kind for line in lines}
    assert kinds >= {"passed", "unreadable", "output mismatch", "memory fault"}
