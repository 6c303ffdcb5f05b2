"""Random streams of instructions in lockstep: no state that one leaves behind makes another go wrong."""

from __future__ import annotations

from random import Random

import pytest

from isa.decode import decode
from isa.table import UnknownInstruction
from sim import Emulator, Machine
from sim.check.lockstep import Lockstep

CODE, LENGTH = 0x10000, 250
NOT_EMULATED = ("usdot", "sudot", "smmla", "ummla", "usmmla")
WRITES_MODES = "msr fpcr,x"


def runs_on_registers(name: str, word: int) -> bool:
    """Whether a form can stand anywhere: no memory, no branch, known to the emulator."""
    instruction = decode(word.to_bytes(4, "little"))
    touches_memory = "[x" in name or instruction.is_branch
    return not (touches_memory or name.startswith(NOT_EMULATED) or name == WRITES_MODES)


def with_registers(word: int, rng: Random) -> int:
    """The word with other Rd and Rn, where it stays the same form."""
    other = word & ~0x3FF | rng.getrandbits(10)
    try:
        same = decode(other.to_bytes(4, "little")).form is decode(word.to_bytes(4, "little")).form
    except UnknownInstruction:
        same = False
    return other if same else word


@pytest.mark.parametrize("seed", range(16))
def test_a_random_stream_does_not_diverge(seed: int, form_words: dict[str, tuple[int, ...]]) -> None:
    rng = Random(seed)
    words = [word for name, found in form_words.items() for word in found if runs_on_registers(name, word)]
    stream = [with_registers(rng.choice(words), rng) for _ in range(LENGTH)]
    machine, emulator = Machine(), Emulator()
    for engine in (machine, emulator):
        engine.memory.map(CODE, 0x1000, "rx")
        engine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in stream))
    machine.registers.vectors[:] = rng.randbytes(512)
    machine.registers.general[:] = [rng.getrandbits(64) for _ in range(32)]
    machine.nzcv, machine.pc = rng.getrandbits(4), CODE
    assert Lockstep(machine, emulator).run(CODE + 4 * LENGTH, LENGTH) is None, f"seed {seed}"
    assert machine.pc == CODE + 4 * LENGTH
