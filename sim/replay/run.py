"""Captured calls run again, and what came out compared with what was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from isa.errors import LanewiseError
from isa.evaluate.exact import QC
from isa.evaluate.floating.formats import EXCEPTIONS, IDC
from isa.parse import blank_registers
from sim.call.captured import CapturedCall, CapturedLine, CaptureError, place_named
from sim.call.lockstep import Lockstep
from sim.call.native.share import NativeShare
from sim.call.needs import Need, needs_of
from sim.emulator import Emulator
from sim.machine.errors import ExecutionError, MemoryFault, Trap, Unpredictable, UnsupportedInstruction
from sim.machine.machine import Machine
from sim.replay.engines import Engine

Kind = Literal[
    "passed", "output mismatch", "divergence", "unsupported instruction", "memory fault", "trap", "limit",
    "nothing recorded", "unreadable", "crash", "unpredictable instruction",
]  # fmt: skip
FPSR_COMPARED = QC | EXCEPTIONS & ~IDC
"""The bits of a recorded FPSR that are compared."""


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """What became of one captured call.

    `detail` is one sentence or paragraph, empty where it passed; `form` is the instruction that stopped it, without
    its register numbers.
    `unverified` counts, by form, executions that the emulator could not check; `native` is what ran in native code.
    """

    line: int
    name: str
    kind: Kind
    detail: str = ""
    form: str = ""
    instructions: int = 0
    values: int = 0
    forms: frozenset[str] = frozenset()
    unverified: Counter[str] = field(default_factory=Counter)
    needs: Sequence[Need] = ()
    native: NativeShare = field(default_factory=NativeShare)


class Stopped(LanewiseError):
    """A call that ended otherwise than by returning, or than recorded: its kind and what to say.

    `spot` is the byte of memory or the register that it left otherwise, as `lanewise debug` writes it.
    """

    def __init__(self, kind: Kind, detail: str, form: str = "", spot: str = "") -> None:
        super().__init__(detail)
        self.kind: Kind = kind
        self.detail, self.form, self.spot = detail, form, spot


def replay(line: CapturedLine, engine: Engine, limit: int) -> Replayed:
    """Run the call of a line on that engine, at most `limit` instructions; never raises for what the line holds."""
    if line.call is None:
        return Replayed(
            line=line.number, name="", kind="unreadable", detail=line.error.removeprefix(f"line {line.number}: ")
        )
    run = _Run(line.call, engine)
    try:
        run.execute(limit)
        run.compare(limit)
    except Stopped as stopped:
        return run.result(line.number, stopped.kind, stopped.detail, stopped.form)
    return run.result(line.number, "passed")


def memory_after(call: CapturedCall, limit: int) -> Callable[[int, int], bytes]:
    """Memory as the machine leaves it, to be read from an address, so many bytes.

    Raises Stopped where the call does not return within `limit` instructions, and MemoryFault for what is not mapped.
    """
    run = _Run(call, "machine")
    run.execute(limit)
    return run.machine.memory.read


def difference(call: CapturedCall, limit: int) -> Stopped | None:
    """The first thing that the machine leaves otherwise than recorded; None where there is none, or no record.

    Raises Stopped where the call does not return within `limit` instructions.
    """
    run = _Run(call, "machine")
    run.execute(limit)
    try:
        run.compare(limit)
    except Stopped as stopped:
        return None if stopped.kind == "nothing recorded" else stopped
    return None


class _Run:
    """One call on one engine."""

    def __init__(self, call: CapturedCall, engine: Engine) -> None:
        self._call, self._engine = call, engine
        self.machine, self._emulator = Machine(), Emulator()  # cheap; only the one that is used gets memory
        self._lockstep = Lockstep(self.machine, self._emulator)
        self._executed = self._values = 0

    @property
    def _runner(self) -> Machine | Emulator:
        return self._emulator if self._engine == "emulator" else self.machine

    def result(self, line: int, kind: Kind, detail: str = "", form: str = "") -> Replayed:
        forms = self.machine.forms if self._engine == "machine" else frozenset(self._lockstep.forms)
        unverified = self._lockstep.unverified
        return Replayed(
            line=line,
            name=self._call.name,
            kind=kind,
            detail=detail,
            form=form,
            instructions=self._executed,
            values=self._values,
            forms=forms,
            unverified=unverified,
            native=self._lockstep.native,
            needs=needs_of(self.machine.code.items()),
        )

    def execute(self, limit: int) -> None:
        """Run until the call returns.  Raises Stopped where it does not."""
        used = (self.machine, self._emulator) if self._engine == "lockstep" else (self._runner,)
        try:
            for engine in used:
                self._call.set_up(engine.memory)
        except CaptureError as error:
            raise Stopped("unreadable", str(error)) from None
        self._set_registers()
        try:
            if self._engine != "lockstep":
                self._runner.run(self._call.ret, limit)
            elif (divergence := self._lockstep.run(self._call.ret, limit)) is not None:
                raise Stopped("divergence", str(divergence), divergence.form)
        except ExecutionError as error:
            kind: Kind = "trap" if isinstance(error, Trap) else "memory fault"
            if isinstance(error, UnsupportedInstruction):
                kind = "unsupported instruction"
            elif isinstance(error, Unpredictable):
                kind = "unpredictable instruction"
            raise Stopped(kind, str(error), blank_registers(error.disassembly)[0]) from None
        finally:
            self._executed = self._runner.instructions_executed
        if self._runner.pc != self._call.ret:
            raise Stopped("limit", f"it did not return within {limit:,} instructions")

    def _set_registers(self) -> None:
        registers = self._call.registers_before()
        self.machine.registers.copy(registers)
        self._emulator.load_registers(registers)
        self.machine.pc = self._emulator.pc = self._call.entry

    def compare(self, limit: int) -> None:
        """Compare with what was recorded.  Raises Stopped at the first difference."""
        for output in self._call.outputs:
            try:
                data = self._runner.memory.read(output.address, len(output.data))
            except MemoryFault as fault:
                raise Stopped("unreadable", f"an output is not in its memory: {fault}") from None
            self._values += len(data)
            if data != output.data:
                at = next(i for i, (a, b) in enumerate(zip(data, output.data, strict=True)) if a != b)
                place = f"byte {at} of the output at {output.address:#x}"
                detail = f"{place} is {data[at]:#04x}, recorded {output.data[at]:#04x}"
                raise Stopped("output mismatch", detail, spot=f"*{output.address + at:#x}:1")
        for name, value in self._call.final.items():
            if name != "nzcv" or self._decides_flags(value, limit):
                mask = FPSR_COMPARED if name == "fpsr" else -1
                now = self._runner.read(place_named(name)) & mask
                self._values += 1
                if now != value & mask:
                    spot = name if name[1:].isdigit() else ""
                    raise Stopped("output mismatch", f"{name} is {now:#x}, recorded {value & mask:#x}", spot=spot)
        recorded = self._call.instructions
        if recorded is not None and recorded != self._executed:
            raise Stopped("output mismatch", f"{self._executed} instructions executed, {recorded} recorded")
        if not self._values and recorded is None and self._engine != "lockstep":
            raise Stopped("nothing recorded", "the line has no outputs, final or insns: nothing could be compared")

    def _decides_flags(self, recorded: int, limit: int) -> bool:
        """Whether the flags at the end are known: equal, or not dependent on those at the start, or the start is."""
        if self._call.nzcv is not None or self._runner.nzcv == recorded:
            return True
        after = []
        for flags in (0, 15):
            run = _Run(replace(self._call, nzcv=flags), "machine")
            run.execute(limit)
            after.append(run.machine.nzcv)
        return after[0] == after[1]
