"""Emulator: Machine's interface over Unicorn.  The only file that imports unicorn.

Faults of Unicorn 2.1.4 that are repaired or kept away from callers here:
- its default CPU model lacks dot product, FP16, RDM: the model MAX is chosen;
- its Python call for one vector register takes microseconds: registers are read all at once through its C library;
- an undefined instruction, hlt and hvc interrupt alike: traps are told from the rest by their mnemonic;
- it ends the whole process where it translates some undefined words of the FP16 groups, even those that would not be
  reached: runs stop before such words;
- an exclusive or atomic access that is not aligned interrupts with a number alone: it is named;
- it executes what a branch to an address that is no multiple of 4 finds there: that is a fault;
- WFI ends a run although there is nothing to wait for: the run goes on behind it;
- translated code survives a change of memory from outside: it is dropped when code was written;
- what is raised while it calls back, an interrupt or a lack of memory, may be swallowed on the way through C, and the
  run goes on: it ends the run and is raised behind it.
- to map one more region takes it longer than the last, minutes for 20,000: it is given a region at the first access to
  it, and loses the oldest of many again;
- it reserves 1 GiB for translated code, and ends the whole process where a limit of memory (RLIMIT_DATA) is in the
  way: it is told to take less, and begins anew where that is full.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import unicorn
from unicorn import arm64_const as arm
from unicorn import unicorn_const as uc
from unicorn.unicorn_py3.unicorn import uclib

from isa.decode import disassemble, no_instruction
from isa.lane import Place
from isa.refusals import TRAP_REASONS
from sim.machine.errors import ExecutionError, MemoryFault, Trap, UnsupportedInstruction
from sim.machine.executable import executable
from sim.machine.memory import Memory, Region, as_address
from sim.machine.registers import RegisterFile, RegisterStorage, as_register
from sim.machine.trace import Step

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_PERMISSIONS = {"r": uc.UC_PROT_READ, "w": uc.UC_PROT_WRITE, "x": uc.UC_PROT_EXEC}
_GENERAL = [arm.UC_ARM64_REG_X0 + i for i in range(29)]
_GENERAL += [arm.UC_ARM64_REG_X29, arm.UC_ARM64_REG_X30, arm.UC_ARM64_REG_SP]
_VECTORS = [arm.UC_ARM64_REG_V0 + i for i in range(32)]
_FLAGS = {
    "nzcv": arm.UC_ARM64_REG_NZCV, "fpsr": arm.UC_ARM64_REG_FPSR, "fpcr": arm.UC_ARM64_REG_FPCR,
    "tpidr": arm.UC_ARM64_REG_TPIDR_EL0,
}  # fmt: skip
_NUMBERED: dict[str, list[int]] = {"v": _VECTORS, "x": _GENERAL}
_UNNUMBERED: dict[str, int] = {"sp": arm.UC_ARM64_REG_SP, "pc": arm.UC_ARM64_REG_PC, **_FLAGS}
_ALL = [*_VECTORS, *_GENERAL, *_FLAGS.values()]
_PLACES = [*(Place("v", i) for i in range(32)), *(Place("x", i) for i in range(31))]
_PLACES += [Place(file) for file in ("sp", *_FLAGS)]
_SCALARS = Struct("<36Q")
_UNDEFINED = 1
_MISALIGNED = 4
_NEVER = 2**64 - 1
_CALLBACK = "ctypes callback"
"""Part of what Python says of an exception that nobody can be given, "Exception ignored on calling ctypes callback"."""
_TRANSLATED = 32 << 20
"""Bytes for translated code, of which an instruction takes some tens."""
_MOST_REGIONS = 64
"""Of data, that Unicorn has mapped at a time: to map one more takes it 0.03 ms then, with 256 of them 0.5 ms."""
_FATAL_GROUPS = ((0x8F60C400, 0x0E400400), (0x8F7E0C00, 0x0E780800))
"""Mask and value of the encodings of FP16 three-same and two-register miscellaneous (Arm ARM C4.1.96)."""
_VERBS = {
    uc.UC_MEM_READ_UNMAPPED: "read", uc.UC_MEM_READ_PROT: "read",
    uc.UC_MEM_WRITE_UNMAPPED: "write", uc.UC_MEM_WRITE_PROT: "write",
    uc.UC_MEM_FETCH_UNMAPPED: "execute", uc.UC_MEM_FETCH_PROT: "execute",
}  # fmt: skip

BeforeEach = Callable[[int], bool]
"""Called with the address of each instruction before it executes; False stops the run there."""
OnUndefined = Callable[[int], bool]
"""Called with the address of an instruction that the emulator does not have.  True says that it was executed in the
emulator's place: registers, memory and program counter of the emulator are set; False that nobody can."""
OnWrite = Callable[[int, int], None]
"""Called with address and size before memory is written, of each part of at most 8 bytes; also of one that faults."""


def _property(file: str, text: str) -> property:
    """A register that has no number, as a property."""
    place = Place(file)
    return property(
        lambda self: self.read(place), lambda self, value: self.write(place, as_register(value, place.bits)), None, text
    )


class CHooks(NamedTuple):
    """What is called back in C, not in Python: the addresses of a UC_HOOK_CODE and of a UC_HOOK_MEM_WRITE callback
    (unicorn.h), and what both get as their data.
    """

    before_each: int
    on_write: int
    data: int


class CInterface(NamedTuple):
    """What C needs to read the registers of an emulator and to stop it: its handle, the addresses of uc_reg_read_batch
    and uc_emu_stop, and Unicorn's numbers of v0.., x0.., sp, nzcv, fpsr, fpcr, tpidr.
    """

    handle: int
    read_registers: int
    stop: int
    registers: list[int]


class _Given:
    """The regions of a memory that Unicorn works on directly: it gets each at the first access to it."""

    def __init__(self, engine: unicorn.Uc, memory: Memory) -> None:
        self._engine, self._memory = engine, memory
        self._starts: set[int] = set()
        self._data: deque[Region] = deque()

    def give(self, address: int) -> bool:
        """Let Unicorn have the region of an address; False where it has it, or where there is none."""
        region = self._memory.region_at(address)
        if region is None or region.start in self._starts:
            return False
        if "x" not in region.permissions:  # code that is running must stay
            self._data.append(region)
            if len(self._data) > _MOST_REGIONS:
                oldest = self._data.popleft()
                self._engine.mem_unmap(oldest.start, oldest.end - oldest.start)
                self._starts.remove(oldest.start)
        protection = sum(_PERMISSIONS[letter] for letter in region.permissions)
        self._engine.mem_map_ptr(region.start, region.end - region.start, protection, region.host)
        self._starts.add(region.start)
        return True


class _AllRegisters:
    """Reads or writes every register in one call of the C library: `buffer` holds v0.., x0.., sp and `_FLAGS`."""

    def __init__(self, engine: unicorn.Uc) -> None:
        self._handle = engine._uch
        self.buffer = bytearray(512 + _SCALARS.size)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        offsets = [16 * i for i in range(32)] + [512 + 8 * i for i in range(36)]
        self._identifiers = (ctypes.c_int * len(_ALL))(*_ALL)
        self._pointers = (ctypes.c_void_p * len(_ALL))(*(base + offset for offset in offsets))

    def refresh(self) -> None:
        uclib.uc_reg_read_batch(self._handle, self._identifiers, self._pointers, len(_ALL))

    def apply(self) -> None:
        uclib.uc_reg_write_batch(self._handle, self._identifiers, self._pointers, len(_ALL))


class Emulator:
    """One emulated processor; registers are zero and nothing is mapped at first.

    It works on the `memory` of another one where that is given.  With `c_hooks` it calls these, and where it is not
    `hooked` nothing before each instruction: both are run by `run_in_c`, not by `run`.  Precise state after a fault is
    not promised: Unicorn keeps what part of an stp or ld4 it has done.
    """

    def __init__(self, memory: Memory | None = None, c_hooks: CHooks | None = None, hooked: bool = True) -> None:
        self._engine = unicorn.Uc(uc.UC_ARCH_ARM64, uc.UC_MODE_ARM)
        self._engine.ctl_set_cpu_model(arm.UC_CPU_ARM64_MAX)
        self._engine.ctl_set_tcg_buffer_size(_TRANSLATED)
        self.memory = Memory() if memory is None else memory
        self._given = _Given(self._engine, self.memory)
        self.v = RegisterFile(self, "v", 32)
        self.x = RegisterFile(self, "x", 31)
        self.instructions_executed = 0
        self._all = _AllRegisters(self._engine)
        self._code_version = 0
        self._fatal: frozenset[int] = frozenset()
        self._before_each: BeforeEach | None = None
        self._on_undefined: OnUndefined | None = None
        self._pending = 0
        self._stopped = False
        self._at = 0
        self._error: ExecutionError | None = None
        self._fetched: int | None = None
        self._swallowed: list[UnraisableHookArgs] = []
        self._missing: int | None = None
        self.nzcv = 0
        if c_hooks is None and hooked:
            self._engine.hook_add(uc.UC_HOOK_CODE, self._on_instruction)
            self._engine.hook_add(uc.UC_HOOK_INTR, self._on_interrupt)
        else:
            self._engine.hook_add(uc.UC_HOOK_INTR, self._on_interrupt_in_c)
        if c_hooks is not None:
            self._hook_c(uc.UC_HOOK_CODE, c_hooks.before_each, c_hooks.data)
            self._hook_c(uc.UC_HOOK_MEM_WRITE, c_hooks.on_write, c_hooks.data)
        self._engine.hook_add(uc.UC_HOOK_MEM_INVALID, self._on_invalid_access)

    def read(self, place: Place) -> int:
        """One register, the program counter included."""
        value: int = self._engine.reg_read(_identifier(place))
        return value >> 28 if place.file == "nzcv" else value

    def write(self, place: Place, value: int) -> None:
        """Set one register, the program counter included."""
        self._engine.reg_write(_identifier(place), value << 28 if place.file == "nzcv" else value)

    sp = _property("sp", "The stack pointer, 64 bits.")
    pc = _property("pc", "The program counter, 64 bits.")
    nzcv = _property("nzcv", "The flags as a 4-bit number, N = 8, Z = 4, C = 2, V = 1.")
    fpsr = _property("fpsr", "The floating-point status register, 32 bits: QC is bit 27.")
    fpcr = _property("fpcr", "The floating-point control register, 32 bits: rounding mode, flush to zero, default NaN.")
    tpidr = _property("tpidr", "TPIDR_EL0, the thread pointer, 64 bits.")

    def registers(self) -> RegisterStorage:
        """A copy of all registers but the program counter and the exclusive monitor, which Unicorn keeps to itself."""
        self._all.refresh()
        copy = RegisterStorage()
        copy.vectors[:] = self._all.buffer[:512]
        scalars = _SCALARS.unpack_from(self._all.buffer, 512)
        copy.general[:] = scalars[:32]
        copy.flags[:] = [scalars[32] >> 28, scalars[33], scalars[34], 0, scalars[35]]
        return copy

    def agrees(self, registers: RegisterStorage, fpsr_mask: int, fpcr_mask: int) -> bool:
        """Whether all registers that `registers` gives are equal; of FPSR and FPCR, the bits in the masks."""
        self._all.refresh()
        if self._all.buffer[:512] != registers.vectors:
            return False
        *general, nzcv, fpsr, fpcr, tpidr = _SCALARS.unpack_from(self._all.buffer, 512)
        flags = registers.flags
        same_status = not ((fpsr ^ flags[1]) & fpsr_mask | (fpcr ^ flags[2]) & fpcr_mask)
        return same_status and [nzcv >> 28, tpidr] == [flags[0], flags[4]] and general == registers.general

    def load_registers(self, registers: RegisterStorage) -> None:
        """Set all registers but the program counter and the exclusive monitor."""
        self._all.buffer[:512] = registers.vectors
        nzcv, fpsr, fpcr, _monitor, tpidr = registers.flags
        _SCALARS.pack_into(self._all.buffer, 512, *registers.general, nzcv << 28, fpsr, fpcr, tpidr)
        self._all.apply()

    def run(
        self,
        until: int | None = None,
        max_instructions: int | None = None,
        before_each: BeforeEach | None = None,
        on_undefined: OnUndefined | None = None,
        on_write: OnWrite | None = None,
    ) -> int:
        """Execute until the program counter is `until` or so many instructions are done; returns their number.

        Those that `on_undefined` executes count.  Raises MemoryFault, Trap and UnsupportedInstruction with `pc` at the
        instruction that could not be executed.
        """
        until = None if until is None else as_address(until)
        if (max_instructions is not None and max_instructions <= 0) or self.pc == until:
            return 0
        if self.pc % 4:
            self._fetch(self.pc)
        self._notice_code()
        self._before_each, self._on_undefined, self._error = before_each, on_undefined, None
        self._pending = -1 if max_instructions is None else max_instructions
        start = self.instructions_executed
        self._fetched = self._missing = None
        hook = None if on_write is None else self._hook_writes(on_write)
        try:
            self._emulate(_NEVER if until is None else until)
        except unicorn.UcError as stop:
            if self._error is None and self._fetched is None:
                self._error = UnsupportedInstruction(self._at, 4, f"the emulator stopped: {stop}")
        finally:
            if hook is not None:
                self._engine.hook_del(hook)
        error = self._error
        if error is not None and error.pc is None:
            error.pc, error.disassembly = self._at, self._text_at(self._at)
            self.instructions_executed -= 1  # that one did not execute
        if error is not None:
            self.pc = error.pc
            raise error
        if self._fetched is not None:
            self.pc = self._fetched
        return self.instructions_executed - start

    def run_in_c(self, until: int) -> bool:
        """Execute until a hook of C stops it or the program counter is `until`; False where it came to a fault, a trap
        or what it does not have: the state is not precise then.
        """
        self._notice_code()
        self._error, self._fetched, self._missing, self._pending = None, None, None, -1
        while self.pc not in self._fatal:
            self._set_exits(until)
            try:
                with self._nothing_swallowed():
                    self._engine.emu_start(self.pc, until)
                break
            except unicorn.UcError:
                if self._missing is None:
                    return False
                self.pc, self._missing = self._missing, None
        return self._error is None

    def drop_code(self) -> None:
        """Translate code anew: what wrote it was neither this emulator nor whoever holds its memory."""
        self._code_version = -1

    @property
    def c_interface(self) -> CInterface:
        """What C needs to look at it."""
        read, stop = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (uclib.uc_reg_read_batch, uclib.uc_emu_stop))
        return CInterface(self._engine._uch.value, read, stop, _ALL)

    def _hook_c(self, kind: int, function: int, data: int) -> None:
        """Let Unicorn call a function of C, for all addresses."""
        made, everywhere = ctypes.c_size_t(), (ctypes.c_uint64(1), ctypes.c_uint64(0))
        arguments = ctypes.byref(made), kind, ctypes.c_void_p(function), ctypes.c_void_p(data)
        status = uclib.uc_hook_add(self._engine._uch, *arguments, *everywhere)
        if status != uc.UC_ERR_OK:
            raise unicorn.UcError(status)

    def _notice_code(self) -> None:
        """Drop translated code where code was written."""
        if self._code_version != self.memory.code_version:
            self._engine.ctl_flush_tb()
            self._code_version = self.memory.code_version
            self._fatal = _fatal_addresses(self.memory)

    def _hook_writes(self, on_write: OnWrite) -> int:
        def note(_engine: unicorn.Uc, _access: int, address: int, size: int, _value: int, _data: object) -> None:
            on_write(address, size)

        return int(self._engine.hook_add(uc.UC_HOOK_MEM_WRITE, note))

    def _emulate(self, until: int) -> None:
        """Let Unicorn execute until something here stops it, or it gets to `until`."""
        self._stopped = False
        while not self._stopped and self._error is None and self.pc != until:
            if self.pc in self._fatal and self._pending == 0:
                return
            if self.pc in self._fatal:
                word = int.from_bytes(self.memory.read(self.pc, 4), "little")
                raise UnsupportedInstruction(self.pc, 4, no_instruction(word), self.pc, self._text_at(self.pc))
            self._set_exits(until)
            try:
                with self._nothing_swallowed():
                    self._engine.emu_start(self.pc, until)
            except unicorn.UcError:
                if self._missing is None:
                    raise
                self.pc, self._missing = self._missing, None

    def _set_exits(self, until: int) -> None:
        self._engine.ctl_exits_enabled(bool(self._fatal))
        if self._fatal:
            self._engine.ctl_set_exits([until, *self._fatal])

    @contextmanager
    def _nothing_swallowed(self) -> Iterator[None]:
        """Raise at the end what was raised while Unicorn called back.

        Its wrapper of a callback keeps an exception, but forgets it where the run ends by an error.  What is raised in
        the wrapper itself, as an interrupt may be, or as it returns, goes to `sys.unraisablehook` alone.  There it is
        taken by a method of the list: in a function of Python the next interrupt could come.
        """
        before = sys.unraisablehook
        try:
            sys.unraisablehook = self._swallowed.append
            yield
        except unicorn.UcError:
            if self._engine._hook_exception is not None:
                raise self._engine._hook_exception from None
            if not self._swallowed:
                raise
        finally:
            sys.unraisablehook = before
            swallowed, self._swallowed = self._swallowed, []
            for one in swallowed:
                error = one.exc_value
                if error is not None and (_CALLBACK in (one.err_msg or "") or not isinstance(error, Exception)):
                    raise error
                before(one)  # what a destructor raised that ran meanwhile

    def step(self) -> Step:
        """Execute one instruction and say what it did.  Raises as `run` does."""
        accesses: list[tuple[bool, int, bytes]] = []

        def note(_: object, access: int, address: int, size: int, *_rest: object) -> None:
            with suppress(MemoryFault):  # where nothing is mapped the run ends with that
                accesses.append((access == uc.UC_MEM_WRITE, address, self.memory.read(address, size)))

        pc, index, before = self.pc, self.instructions_executed, self.registers()
        word = self._fetch(pc)
        instruction = executable(word, pc)
        hook = self._engine.hook_add(uc.UC_HOOK_MEM_READ | uc.UC_HOOK_MEM_WRITE, note)
        try:
            self.run(max_instructions=1)
        finally:
            self._engine.hook_del(hook)
        stores = tuple((a, old, self.memory.read(a, len(old))) for is_store, a, old in accesses if is_store)
        loads = tuple((a, data) for is_store, a, data in accesses if not is_store)
        after = self.registers()
        written = [place for place in instruction.places_written if place.file not in ("pc", "zr")]
        changed = [place for place in _PLACES if before.read(place) != after.read(place)]
        places = dict.fromkeys(written + changed)
        writes = tuple((place, before.read(place), after.read(place)) for place in places)
        return Step(index, pc, instruction, writes, stores, loads, self.pc)

    def _fetch(self, pc: int) -> bytes:
        try:
            return self.memory.fetch(pc)
        except MemoryFault as fault:
            fault.pc = pc
            raise

    def _on_instruction(self, _engine: unicorn.Uc, address: int, _size: int, _data: object) -> None:
        if address % 4:
            self._on_invalid_fetch(address)
        if (
            self._swallowed  # of the callback before: what ran since then ran without it
            or address % 4
            or self._pending == 0
            or (self._before_each is not None and not self._before_each(address))
        ):
            self._stopped = True
            self._engine.emu_stop()
            return
        self._at = address
        self._pending -= 1
        self.instructions_executed += 1

    def _on_invalid_access(
        self, _engine: unicorn.Uc, access: int, address: int, size: int, _value: int, _data: object
    ) -> bool:
        if self._given.give(address):
            if access == uc.UC_MEM_FETCH_UNMAPPED:  # going on, it would translate this once and keep it for ever
                self._missing = address
            return self._missing is None
        if _VERBS[access] == "execute":
            self._on_invalid_fetch(address)
        else:
            self._error = MemoryFault(address, size, f"cannot {_VERBS[access]} {size} bytes at {address:#x}")
        return False

    def _on_invalid_fetch(self, address: int) -> None:
        """Unicorn fetches before it asks whether to go on, so after the last instruction of a run it is no fault."""
        if self._pending == 0:
            self._fetched = address
        else:
            self._error = MemoryFault(address, 4, f"cannot execute 4 bytes at {address:#x}", pc=address)

    def _on_interrupt(self, _engine: unicorn.Uc, number: int, _data: object) -> None:
        mnemonic, _ = disassemble(self.memory.read(self._at, 4), self._at)
        if mnemonic in TRAP_REASONS:
            self._error = Trap(self._at, 4, TRAP_REASONS[mnemonic])
        elif number == _MISALIGNED:
            reason = "an exclusive or atomic access needs an address that is a multiple of its size"
            self._error = UnsupportedInstruction(self._at, 4, reason)
        elif number != _UNDEFINED:
            self._error = UnsupportedInstruction(self._at, 4, f"raised exception {number} in the emulator")
        elif self._on_undefined is None or not self._on_undefined(self._at):
            self._error = UnsupportedInstruction(self._at, 4, "undefined in the emulator")
        else:
            return
        self._engine.emu_stop()

    def _on_interrupt_in_c(self, _engine: unicorn.Uc, number: int, _data: object) -> None:
        self._error = UnsupportedInstruction(self.pc, 4, f"raised exception {number} in the emulator")
        self._engine.emu_stop()

    def _text_at(self, pc: int) -> str:
        return " ".join(disassemble(self.memory.read(pc, 4), pc)).rstrip()


def _fatal_addresses(memory: Memory) -> frozenset[int]:
    """Where executable memory has words that Unicorn does not survive."""
    found = set()
    for region in memory.regions:
        for start, end in region.pieces() if "x" in region.permissions else ():
            words = np.frombuffer(region.view[start:end], "<u4")
            in_group = np.logical_or.reduce([words & mask == value for mask, value in _FATAL_GROUPS])
            for i in np.flatnonzero(in_group):
                if disassemble(int(words[i]).to_bytes(4, "little"))[0] == ".word":
                    found.add(region.start + start + 4 * int(i))
    return frozenset(found)


def _identifier(place: Place) -> int:
    if place.file in _NUMBERED:
        return _NUMBERED[place.file][int(str(place.index))]
    return _UNNUMBERED[place.file]
