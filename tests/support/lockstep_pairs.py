"""Machine and emulator in lockstep on a few instructions, which may be others in the emulator."""

from __future__ import annotations

from types import ModuleType

from isa.rows import TABLE
from isa.table import Table
from sim import Emulator, Machine
from sim.call import lockstep as genuine
from sim.machine.errors import ExecutionError

CODE, DATA, OTHER, READ_ONLY, NOWHERE = 0x10000, 0x20000, 0x30000, 0x40000, 0x50000
LARGE = 1 << 40
NOP = 0xD503201F
STR_X4_X1, STR_X4_X2, STR_X5_X2, STR_W4_X1, STRB_W4_X1 = 0xF9000024, 0xF9000044, 0xF9000045, 0xB9000024, 0x39000024
STP_Q0_Q1_X1, MSR_FPCR_X4, BRK, BR_X1 = 0xAD000420, 0xD51B4404, 0xD4200000, 0xD61F0020
SAME = [NOP, NOP, NOP]
NO_COMPILER = 1 << 62
"""So much patience that all is executed in Python."""


def prepared(
    module: ModuleType,
    machine_code: list[int],
    emulator_code: list[int],
    emulator: Emulator | None = None,
    patience: int = NO_COMPILER,
    table: Table = TABLE,
    **x: int,
) -> genuine.Lockstep:
    """Lockstep of a module, on two codes.

    x1 points to data, x2 to other data, x4 is 5 and x5 zero where `x` says nothing else; every byte is zero.
    """
    machine, emulator = Machine(table=table), emulator or Emulator()
    for engine, code in ((machine, machine_code), (emulator, emulator_code)):
        engine.memory.map(CODE, 0x1000, "rx")
        engine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in code))
        for address, permissions in ((DATA, "rw"), (OTHER, "rw"), (READ_ONLY, "r")):
            engine.memory.map(address, 0x1000, permissions)
    for name, value in {"x1": DATA, "x2": OTHER, "x4": 5, **x}.items():
        machine.x[int(name[1:])] = value
    machine.pc = CODE
    found: genuine.Lockstep = module.Lockstep(machine, emulator, patience=patience)
    return found


def verdict(lockstep: genuine.Lockstep, length: int = 3) -> str:
    """What a run of so many instructions finds: where it diverges, or the fault of both, or "agree"."""
    try:
        found = lockstep.run(CODE + 4 * length, length)
    except ExecutionError as fault:
        return type(fault).__name__
    return "agree" if found is None else f"{found.index} {found.where}"


WRITES = [
    ("at another address", [NOP, STR_X4_X1, NOP], [NOP, STR_X4_X2, NOP], f"1 memory byte {DATA:#x}"),
    ("somewhere else too", [STR_X4_X1, NOP, NOP], [STR_X4_X1, STR_X4_X2, NOP], f"1 memory byte {OTHER:#x}"),
    ("and restores", [NOP, NOP, NOP], [STR_X4_X2, STR_X5_X2, NOP], f"0 memory byte {OTHER:#x}"),
    ("what is there already", [NOP, NOP, NOP], [NOP, STR_X5_X2, NOP], f"1 memory byte {OTHER:#x}"),
    (
        "not the last bytes, which are zero",
        [STR_X4_X1, NOP, NOP],
        [STR_W4_X1, NOP, NOP],
        f"0 memory byte {DATA + 4:#x}",
    ),
    ("more than the machine", [STR_W4_X1, NOP, NOP], [STR_X4_X1, NOP, NOP], f"0 memory byte {DATA + 4:#x}"),
    ("nothing", [NOP, NOP, STR_X4_X1], [NOP, NOP, NOP], f"2 memory byte {DATA:#x}"),
    ("not what is there already", [NOP, STR_X5_X2, NOP], [NOP, NOP, NOP], f"1 memory byte {OTHER:#x}"),
]
