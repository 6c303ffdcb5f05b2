"""The compiled engine beside the interpreter: two machines with the same code, run from the same states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from struct import pack

from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate.floating.formats import IXC
from sim import Machine
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.kernels import Inputs
from sim.kernels.kernel import Kernel
from sim.machine.errors import ExecutionError
from sim.machine.registers import RegisterStorage
from sim.toolchain.image import Image
from sim.verify.states import CODE, DATA, DATA_SIZE, States
from support.floating_states import FloatingStates

SKIP = 0x36000040
"""tbz w0, #0, over the next instruction: that one and the one behind it begin blocks."""
LIMIT = 2_000_000
_STRIDE = 7
"""Between the numbers of the states that are taken: few of them are of every kind."""


def outcome(machine: Machine, until: int | None, most: int) -> tuple[object, ...]:
    """What a run came to: the number of instructions, or all that its error says."""
    try:
        return (machine.run(until=until, max_instructions=most),)
    except ExecutionError as error:
        return type(error), str(error), error.pc, error.address, error.size, getattr(error, "writes", None)


class Twins:
    """An interpreted and a compiled machine with the same memory mapped."""

    def __init__(self) -> None:
        self.interpreted, self.compiled = self.both = Machine(engine="interpreted"), Machine(engine="compiled")

    def map(self, address: int, data: bytes, permissions: str) -> None:
        for machine in self.both:
            machine.memory.map(address, -(-len(data) // 4096) * 4096, permissions)
            machine.memory.write(address, data)

    def difference(self, until: int | None, most: int = LIMIT) -> str:
        """Run both from the state of the interpreted one; "" where they do the same."""
        one, other = self.both
        other.registers.copy(one.registers)
        other.pc, other.instructions_executed = one.pc, one.instructions_executed
        mine, theirs = (outcome(machine, until, most) for machine in self.both)
        if mine != theirs:
            return f"interpreted {mine}, compiled {theirs}"
        if (one.pc, one.instructions_executed) != (other.pc, other.instructions_executed):
            ends = ((each.pc, each.instructions_executed) for each in self.both)
            return "pc and instructions: interpreted {}, compiled {}".format(*ends)
        return self._register_difference() or self._memory_difference()

    def _register_difference(self) -> str:
        one, other = (machine.registers for machine in self.both)
        if one.equal(other):
            return ""
        pairs = [("vectors", bytes(one.vectors).hex(), bytes(other.vectors).hex())]
        pairs += [("general", str(one.general), str(other.general)), ("flags", str(one.flags), str(other.flags))]
        return next(f"{name}: interpreted {a}, compiled {b}" for name, a, b in pairs if a != b)

    def _memory_difference(self) -> str:
        pairs = zip(*(machine.memory.regions for machine in self.both), strict=True)
        return next((f"memory at {a.start:#x}" for a, b in pairs if a.buffer[:] != b.buffer[:]), "")


class Forms(Twins):
    """Every word behind a branch over it, so that each begins a block: a unit of all of them."""

    def __init__(self, words: dict[str, tuple[int, ...]]) -> None:
        super().__init__()
        self._words = [(name, word) for name, each in words.items() for word in each]
        self.map(CODE, pack(f"<{2 * len(self._words) + 512}I", *self._slots(), *[0xD503201F] * 512), "rx")
        self.map(DATA, bytes(DATA_SIZE), "rw")
        self.compiled.pc = CODE
        self.compiled.run(max_instructions=1)  # what is reached from here is all of them
        self._states, self._floating = dict[str, States](), dict[int, FloatingStates]()

    def _slots(self) -> list[int]:
        return [number for _, word in self._words for number in (SKIP, word)]

    def differences(self, states: int, floating: int) -> list[str]:
        """What differs after a word from so many states, and where it has floating point from so many hard ones."""
        found = []
        for at, (name, word) in enumerate(self._words):
            for number in range(states + (floating if re.match("b?f|[su]cvtf", name) else 0)):
                self._fill(name, word, at, number if number < states else None)
                text = self.difference(None, 1)
                if text:
                    found.append(f"{name}, {word:08x}, state {number}: {text}")
                    break
        return found

    def _fill(self, name: str, word: int, at: int, number: int | None) -> None:
        pc = CODE + 8 * at + 4
        registers = self.interpreted.registers
        if number is None:
            if at not in self._floating:
                self._floating[at] = FloatingStates(decode(word.to_bytes(4, "little"), pc), at)
            registers.copy(self._floating[at].hard(0, IXC))
        else:
            kind = f"{name.split()[0]} [x]" if "[x" in name else ""
            given = self._states.setdefault(kind, States(kind, 1))
            if given.reaches_memory:
                for machine in self.both:
                    machine.memory.write(DATA, given.data)
            given.fill(registers, _STRIDE * number, word)
        self.interpreted.pc = pc


def words_of(step: int) -> dict[str, tuple[int, ...]]:
    """One recorded word of every form, or of every so many."""
    return {name: words[:1] for name, words in list(recorded_words().items())[::step]}


def random_code(rng: Random, count: int) -> list[int]:
    """Words of any forms but branches, in blocks of one to six."""
    words, code = list(recorded_words().values()), list[int]()
    while len(code) < count:
        for _ in range(rng.randrange(1, 7)):
            word = rng.choice(rng.choice(words))
            if not decode(word.to_bytes(4, "little"), CODE).is_branch:
                code.append(word)
        code.append(0x14000001)
    return code


class RandomCode(Twins):
    """Random code, and data that base registers point to, also past its ends."""

    def __init__(self, seed: int, count: int, fpcr: int) -> None:
        super().__init__()
        self._rng, self._fpcr = Random(seed), fpcr
        code = random_code(self._rng, count)
        self._end = CODE + 4 * len(code)
        self.map(CODE, pack(f"<{len(code)}I", *code), "rx")
        self.map(DATA, self._rng.randbytes(8192), "rw")
        self.map(DATA + 8192, self._rng.randbytes(4096), "r")

    def differences(self, runs: int) -> list[str]:
        """Runs from the start on; after a fault behind the instruction that is at fault."""
        found = list[str]()
        for _ in range(runs):
            machine = self.interpreted
            machine.pc = CODE
            self._fill(machine.registers)
            while machine.pc < self._end and not found:
                at, text = machine.pc, self.difference(self._end)
                found += [f"from {at:#x}: {text}"] if text else []
                if machine.pc != self._end:
                    machine.pc += 4
                    self._fill(machine.registers)
        return found

    def _fill(self, registers: RegisterStorage) -> None:
        rng = self._rng
        registers.vectors[:] = rng.randbytes(512)
        near = (DATA, DATA + 4096, DATA + 8192, DATA + 12288)
        registers.general[:] = [rng.choice(near) + rng.randrange(-80, 80) * rng.choice((1, 16)) for _ in range(32)]
        registers.flags[:] = [rng.randrange(16), rng.choice((0, 16)), self._fpcr, 0, rng.getrandbits(64)]


class KernelTwins(Twins):
    """A build of a kernel, called on both."""

    def __init__(self, image: Image, kernel: Kernel) -> None:
        super().__init__()
        self._caller = Caller(image, kernel, self.interpreted, [self.compiled.memory])

    def differences(self, inputs: Sequence[Inputs]) -> list[str]:
        return [text for seed, each in enumerate(inputs) if (text := self._called(each, seed))]

    def _called(self, inputs: Inputs, seed: int) -> str:
        self._caller.prepare(Call(inputs, seed), SeededBytes(seed))
        return self.difference(RETURN_ADDRESS)
