"""Lockstep in native code beside lockstep in Python: the same code, run from the same states."""

from __future__ import annotations

from random import Random
from struct import pack

from sim import Emulator, Machine
from sim.call.lockstep import Lockstep
from sim.machine.errors import ExecutionError
from sim.verify.states import CODE, DATA
from support.compiled_engine import random_code
from support.lockstep_pairs import NO_COMPILER

MOST = 20_000
_NEAR = (DATA, DATA + 4096, DATA + 8192, DATA + 12288)


class NativeTwins:
    """Random code of all forms but branches, and data that base registers point to, also past its ends."""

    def __init__(self, seed: int, count: int, fpcr: int) -> None:
        self._rng, self._fpcr = Random(seed), fpcr
        code = random_code(self._rng, count)
        self._end = CODE + 4 * len(code)
        data = self._rng.randbytes(12288)
        self.slow, self.fast = self.both = [
            Lockstep(Machine(), Emulator(), patience=patience) for patience in (NO_COMPILER, 0)
        ]
        for lockstep in self.both:
            for memory in (lockstep.machine.memory, lockstep.emulator.memory):
                memory.map(CODE, -(-4 * len(code) // 4096) * 4096, "rx")
                memory.write(CODE, pack(f"<{len(code)}I", *code))
                memory.map(DATA, 8192, "rw")
                memory.map(DATA + 8192, 4096, "r")
                memory.write(DATA, data)

    def differences(self, runs: int) -> list[str]:
        """Runs from the start on; after a fault behind the instruction that is at fault."""
        for _ in range(runs):
            self._fill(CODE)
            while self.slow.machine.pc < self._end:
                at = self.slow.machine.pc
                mine, theirs = (self._outcome(lockstep) for lockstep in self.both)
                if mine != theirs:
                    pairs = zip(mine, theirs, strict=True)
                    return [f"from {at:#x}: {a} in Python, {b} natively" for a, b in pairs if a != b]
                if self.slow.machine.pc != self._end:
                    self._fill(self.slow.machine.pc + 4)
        return []

    def _fill(self, pc: int) -> None:
        rng = self._rng
        vectors, flags = (
            rng.randbytes(512),
            [rng.randrange(16), rng.choice((0, 16)), self._fpcr, 0, rng.getrandbits(64)],
        )
        general = [rng.choice(_NEAR) + rng.randrange(-80, 80) * rng.choice((1, 16)) for _ in range(32)]
        for lockstep in self.both:
            registers = lockstep.machine.registers
            registers.vectors[:], registers.general[:], registers.flags[:] = vectors, general, flags
            lockstep.machine.pc = pc

    def _outcome(self, lockstep: Lockstep) -> tuple[object, ...]:
        """All that a run leaves."""
        found: object
        try:
            found = lockstep.run(self._end, MOST)
        except ExecutionError as error:
            found = f"{type(error).__name__} {error}"
        machine, emulator = lockstep.machine, lockstep.emulator
        memory = [region.buffer[:] for each in (machine.memory, emulator.memory) for region in each.regions]
        of_machine = bytes(machine.registers.vectors), tuple(machine.registers.general), tuple(machine.registers.flags)
        counted = machine.instructions_executed, lockstep.qc_events, lockstep.forms, lockstep.went, lockstep.unverified
        return found, machine.pc, *of_machine, *memory, *counted
