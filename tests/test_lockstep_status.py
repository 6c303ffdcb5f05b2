"""What the emulator computes its status registers from: where that is, and that it tells them."""

from __future__ import annotations

from contextlib import suppress
from ctypes import string_at
from random import Random

import pytest

from isa.encodings import recorded_words
from isa.lane import Place
from sim.call.native import status
from sim.call.native.in_place import InPlace, registers_in_place
from sim.emulator import Emulator
from sim.machine.errors import ExecutionError
from sim.machine.registers import RegisterStorage
from support.lockstep_pairs import CODE

FILES = ("nzcv", "fpsr", "fpcr", "tpidr")
CORNERS = (0, 1, 2**63 - 1, 2**64 - 1)


def emulator_and_place() -> tuple[Emulator, InPlace]:
    emulator = Emulator()
    place = registers_in_place(emulator)
    assert place is not None
    return emulator, place


@pytest.mark.slow
def test_no_instruction_changes_a_status_register_and_none_of_its_pieces() -> None:
    """All forms, on random registers: the same bytes never stand for other values."""
    emulator, place = emulator_and_place()
    pieces = status.pieces_of_status(emulator, place)
    emulator.memory.map(CODE, 4096, "rx")
    random, told = Random(5), dict[bytes, list[int]]()
    changing = {file: set[str]() for file in FILES}
    for name, words in recorded_words().items():
        emulator.memory.write(CODE, words[0].to_bytes(4, "little"))
        emulator.drop_code()
        for _ in range(3):
            registers = RegisterStorage()
            registers.vectors[:] = random.randbytes(512)
            registers.general[:] = [random.choice([*CORNERS, random.getrandbits(64)]) for _ in range(32)]
            registers.flags[0] = random.getrandbits(4)
            emulator.load_registers(registers)
            before = [emulator.read(Place(file)) for file in FILES]
            emulator.pc = CODE
            with suppress(ExecutionError):  # nothing is mapped where it loads
                emulator.run(max_instructions=1)
            now = [emulator.read(Place(file)) for file in FILES]
            found = b"".join(string_at(piece, status.PIECE) for piece in pieces)
            assert told.setdefault(found, now) == now, name
            for file, old, new in zip(FILES, before, now, strict=True):
                if old != new:
                    changing[file].add(name)
    assert {file: len(names) > 100 for file, names in changing.items()} == {
        "nzcv": True, "fpsr": True, "fpcr": False, "tpidr": False,
    }  # fmt: skip
    assert all(changing.values())


@pytest.mark.parametrize("left_out", ["nothing", "flags", "saturation", "exceptions", "thread pointer"])
def test_pieces_that_do_not_tell_all_are_refused(left_out: str) -> None:
    emulator, place = emulator_and_place()
    flags, floating, thread = (
        [*range(place.vectors + start, place.vectors + end, status.PIECE)] for start, end in status._spans()
    )
    missing = {"flags": flags[1:], "saturation": floating[:1], "exceptions": floating[1:], "thread pointer": thread}
    kept = [piece for piece in (*flags, *floating, *thread) if piece not in missing.get(left_out, [])]
    assert status._tell_all(emulator, kept) == (left_out == "nothing")


def test_of_an_emulator_that_keeps_them_elsewhere_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    emulator, place = emulator_and_place()
    spans = status._spans()
    assert len(status.pieces_of_status(emulator, place)) <= status.MOST_PIECES
    for moved in range(3):
        elsewhere = [(0, 16) if number == moved else span for number, span in enumerate(spans)]
        monkeypatch.setattr(status, "_spans", lambda now=tuple(elsewhere): now)
        assert status.pieces_of_status(emulator, place) == ()
    monkeypatch.setattr(status, "_spans", lambda: ())
    assert status.pieces_of_status(emulator, place) == ()
