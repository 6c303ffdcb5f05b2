"""Random streams of instructions on symbols and on numbers: at their end both must have come to the same."""

from __future__ import annotations

from random import Random

from isa.lane import Place
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.symbolic.nodes import Simplifier
from sim.symbolic.pieces import BitPiece
from support.streams import fill
from support.streams_addresses import address_registers
from support.streams_items import CODE, CODE_SIZE, DATA, DATA_SIZE, SP
from support.streams_vocabulary import address_of, decoded, varied, vocabulary
from support.symbolic_states import differences, note_raised, symbolic_machine, symbolic_state

HEAVY = ("crc32", "pmull", "sdiv", "udiv", "aes", "sha", "sm4", "sm3")
"""Instructions whose results on symbols have so many terms that what is computed from them takes long."""


def stream_difference(rng: Random, s: Simplifier, length: int) -> tuple[int, str]:
    """How many instructions a stream of so many executed, and what came out otherwise; "" for nothing."""
    words = vocabulary()
    names = [name for name in (*words.plain, *words.accesses) if not name.startswith(HEAVY)]
    machine = Machine()
    machine.memory.map(CODE, CODE_SIZE, "rwx")
    machine.memory.map(DATA, DATA_SIZE, "rw")
    machine.memory.write(DATA, rng.randbytes(DATA_SIZE))
    fill(machine.registers, rng)
    machine.pc = CODE
    state, leaves = symbolic_state(s, machine, rng, ())
    before = machine.memory.read(DATA, DATA_SIZE)
    symbolic = symbolic_machine(s, machine, leaves, rng)
    executed, texts = 0, list[str]()
    for _ in range(length):
        word = varied(rng.choice(words.of[rng.choice(names)]), rng)
        try:
            instruction = decoded(word)
        except LookupError:
            continue
        address = address_of(instruction)
        machine.memory.write(machine.pc, word.to_bytes(4, "little"))
        for register, value in address_registers(word, address, rng) if address is not None else ():
            place = Place("sp") if register == SP else Place("x", register)
            machine.write(place, value)
            state.registers[place] = (BitPiece(s.number(value), 0, 64),)
        try:
            machine.instruction_at(machine.pc)
            after = machine.memory.read(DATA, DATA_SIZE)
            machine.memory.write(DATA, before)  # leaves are made of what memory held at first
            state.pc = machine.pc
            symbolic.step(state)
            machine.memory.write(DATA, after)
            machine.step()
            note_raised(symbolic, state, leaves, machine)
            state.registers[Place("sp")] = (BitPiece(s.number(machine.sp), 0, 64),)  # accesses ask for a known one
        except ExecutionError as error:
            return executed, f"{instruction.text}: {error}"
        texts.append(instruction.text)
        executed += 1
    found = differences(s, symbolic, state, leaves, machine)
    return executed, f"{found[0]} after {'; '.join(texts)}" if found else ""
