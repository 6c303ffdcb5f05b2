"""Random streams of instructions: made from a source of chance, run by machine and emulator in lockstep.

A stream holds instructions on registers, loads and stores that stay inside a data buffer, branches forward, bounded
loops and calls.  The source of chance is a seeded `Random`, or Hypothesis, which then shrinks what fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from struct import pack

from isa.evaluate.exact import QC
from isa.rows import TABLE
from isa.table import Table
from sim import Emulator, Machine
from sim.call.definitions import NOT_EMULATED, is_emulated_wrongly
from sim.call.lockstep import Lockstep
from sim.machine.errors import ExecutionError
from sim.machine.registers import RegisterStorage
from support.streams_addresses import address_registers
from support.streams_items import (
    B_NEXT,
    CLOSINGS,
    CODE,
    CODE_SIZE,
    DATA,
    DATA_SIZE,
    POOL,
    POOL_SIZE,
    Access,
    Call,
    Item,
    Jump,
    Literal,
    Loop,
    Plain,
    Pool,
    Skip,
    laid_out,
    monitor_of,
)  # fmt: skip
from support.streams_vocabulary import FREE, NOP, POOL_BASE, Chance, Vocabulary, address_of, decoded, varied

LENGTH = 200
"""Items of a stream: some 500 executed instructions."""
MAX_INSTRUCTIONS = 100_000
"""Far above what the loops of a stream can make of it; reaching it is a failure."""
BLOCKS = ("loop", "call")


@dataclass(frozen=True)
class Result:
    """What a stream did: `forms` executed, `unverified` those of which the emulator could not check the result.

    `failure` is empty where machine and emulator agreed to the end.
    """

    instructions: int
    forms: frozenset[str]
    unverified: frozenset[str]
    failure: str


def random_stream(rng: Chance, words: Vocabulary, length: int = LENGTH) -> list[Item]:
    """A stream of so many items."""
    return [random_item(rng, words) for _ in range(length)]


def random_item(rng: Chance, words: Vocabulary, blocks: Sequence[str] = BLOCKS) -> Item:
    """One item, which may be a block of one of these kinds.

    The least chance makes a NOP of one draw: Hypothesis takes such items out, those of more draws it cannot.
    """
    kind = rng.randrange(100)
    if kind == 0:
        return Plain(NOP)
    if kind >= 96 and blocks:
        return _random_block(rng, words, rng.choice(blocks))
    return _random_branch(rng, words) if kind >= 86 else _random_instruction(rng, words)


def _random_block(rng: Chance, words: Vocabulary, kind: str) -> Item:
    """A loop, in which calls may stand, or a call: there is one counter, and one place for a return address."""
    inner = BLOCKS[1:] if kind == "loop" else ()
    body = tuple(random_item(rng, words, inner) for _ in range(1 + rng.randrange(6)))
    if kind == "loop":
        return Loop(1 + rng.randrange(8), rng.choice(CLOSINGS), body)
    return Call(body, rng.randrange(2) == 1)


def _random_instruction(rng: Chance, words: Vocabulary) -> Item:
    """One instruction that is no branch, each form as likely as the others."""
    name = rng.choice(words.instructions)
    word = varied(rng.choice(words.of[name]), rng)
    if name in words.literals and word != NOP:
        return Literal(word, rng.getrandbits(16))
    address = address_of(decoded(word))
    if address is None:
        return Plain(word)
    return Access(word, address_registers(word, address, rng), monitor_of(word, rng.randrange(4) > 0))


def _random_branch(rng: Chance, words: Vocabulary) -> Item:
    name, distance = rng.choice([*words.skips, *words.jumps]), rng.randrange(8)
    word = rng.choice(words.of[name])
    if name in words.skips:
        other = varied(word, rng)
        return Skip(other, distance) if other != NOP else Plain(NOP)
    return Jump(word if name == "ret" else word & ~(31 << 5) | rng.choice(FREE) << 5, distance)


def run(items: Sequence[Item], state: Random, table: Table = TABLE) -> Result:
    """Run a stream in lockstep from a random state; the machine has the semantics of `table`."""
    pool = Pool()
    code = [*laid_out(items, CODE, pool), B_NEXT]  # a branch: all memory is compared after it
    end = CODE + 4 * len(code)
    machine, emulator = Machine(table=table), Emulator()
    data = state.randbytes(DATA_SIZE)
    for memory in (machine.memory, emulator.memory):
        memory.map(CODE, CODE_SIZE, "rx")
        memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in code))
        memory.map(POOL, POOL_SIZE, "r")
        memory.write(POOL, b"".join(value.to_bytes(8, "little") for value in pool.values))
        memory.map(DATA, DATA_SIZE, "rw")
        memory.write(DATA, data)
    fill(machine.registers, state)
    machine.x[POOL_BASE], machine.pc = POOL, CODE
    lockstep = Lockstep(machine, emulator)
    failure = _failure(lockstep, end) or _unexpected(lockstep)
    return Result(machine.instructions_executed, frozenset(lockstep.forms), frozenset(lockstep.unverified), failure)


def fill(registers: RegisterStorage, state: Random) -> None:
    """Registers of corner lanes of one width each, or of random bytes; random flags and QC."""
    registers.vectors[:] = b"".join(_lanes(state, 16) for _ in range(32))
    registers.general[:] = [int.from_bytes(_lanes(state, 8), "little") for _ in range(32)]
    registers.flags[:] = [state.randrange(16), state.choice((0, QC)), 0, 0, state.getrandbits(64)]


def _lanes(state: Random, size: int) -> bytes:
    if state.randrange(2):
        return state.randbytes(size)
    width, letter = state.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
    least = 1 << 8 * width - 1
    corners = (0, 1, 2 * least - 1, least, least - 1, least + 1, state.randrange(2 * least))
    return pack(f"<{size // width}{letter}", *state.choices(corners, k=size // width))


def _failure(lockstep: Lockstep, end: int) -> str:
    """How the run failed, as text; "" if it did not."""
    try:
        divergence = lockstep.run(end, MAX_INSTRUCTIONS)
    except ExecutionError as error:
        return str(error)
    if divergence is None and lockstep.machine.pc != end:
        return f"it did not end within {MAX_INSTRUCTIONS} instructions"
    return "" if divergence is None else str(divergence)


def _unexpected(lockstep: Lockstep) -> str:
    """Which forms were undefined in the emulator although it has their extension."""
    names = {name for name in lockstep.unverified if not is_emulated_wrongly(name)}
    executed = (form for form in TABLE.forms.values() if form.name in names) if names else ()
    found = sorted(form.name for form in executed if NOT_EMULATED.isdisjoint(form.features))
    return f"undefined in the emulator: {'; '.join(found)}" if found else ""
