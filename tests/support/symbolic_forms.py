"""Every form of the table on symbols and on numbers."""

from __future__ import annotations

from random import Random

from isa.encodings import recorded_words
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.symbolic.nodes import Simplifier
from sim.verify.states import CODE, DATA, DATA_SIZE, States
from support.symbolic_states import differences, known_places, next_pc, symbolic_machine, symbolic_state

FORMS = {name: words for name, words in recorded_words().items() if not name.startswith("crc32")}
"""The machine words of each form.  Checksums of 32 symbolic bits have thousands of terms: they are left out."""


def form_difference(name: str, word: int, number: int, s: Simplifier) -> str:
    """What one word of a form does otherwise on symbols than on numbers; "" for nothing."""
    states, rng = States(name, seed=number), Random(f"{name} {number}")
    machine = Machine()
    machine.memory.map(CODE, 0x2000, "rwx")
    machine.memory.map(DATA, DATA_SIZE, "rw")
    machine.memory.write(CODE, word.to_bytes(4, "little"))
    if states.reaches_memory:
        machine.memory.write(DATA, states.data)
    states.fill(machine.registers, number, word)
    machine.pc = CODE
    try:
        instruction = machine.instruction_at(CODE)
    except ExecutionError:
        return ""  # of a word that no machine executes
    if instruction.traps:
        return ""
    state, leaves = symbolic_state(s, machine, rng, known_places(instruction))
    symbolic = symbolic_machine(s, machine, leaves, rng)
    failed = ""
    try:
        ways = symbolic.step(state)
    except ExecutionError as error:
        failed = type(error).__name__
    try:
        machine.step()
    except ExecutionError:
        return ""  # what may be accessed is a matter of the call
    if failed:
        return f"{instruction.text} fails: {failed}"
    found = differences(s, symbolic, state, leaves, machine)
    if next_pc(ways, leaves) != machine.pc:
        found.append("it goes elsewhere")
    return f"{instruction.text}: {found[0]}" if found else ""
