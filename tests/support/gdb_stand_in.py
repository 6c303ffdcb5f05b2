"""As much of gdb's module as the script for captures uses, over a process of a few instructions that Unicorn runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from sim.attached import __path__ as ATTACHED
from sim.emulator import Emulator
from sim.machine.errors import MemoryFault


class StandInError(RuntimeError):
    """gdb.error"""


class StandInGdbError(Exception):
    """gdb.GdbError"""


class StoppedProcess:
    """A process of one thread that stands still; `function` is what its only symbol names, and at `end` it ends."""

    def __init__(self, emulator: Emulator, function: int, end: int) -> None:
        self.emulator, self.function, self.end = emulator, function, end
        self.breakpoints: list[Any] = []
        self.said: list[str] = []
        self.stopped: list[Callable[[Any], None]] = []

    @property
    def has_ended(self) -> bool:
        return bool(self.emulator.pc == self.end)

    def go_on(self) -> None:
        """Run to the next breakpoint, or until a fault, which is a signal, or to the end."""
        while not self.has_ended:
            try:
                self.emulator.run(max_instructions=1)
            except MemoryFault:
                for told in self.stopped:
                    told(SimpleNamespace(stop_signal="SIGSEGV"))
                return
            if any(one.stops_here() for one in self.breakpoints):
                return

    def memory(self, address: int, size: int) -> bytes:
        try:
            return self.emulator.memory.read(address, size)
        except MemoryFault as fault:
            raise StandInError(str(fault)) from None

    def register(self, name: str) -> Any:
        emulator = self.emulator
        if name[0] == "v":
            number = emulator.v[int(name[1:])]
            return {"d": {"u": (number % 2**64, number >> 64)}}
        if name[0] == "x":
            return emulator.x[int(name[1:])]
        scalars = {"cpsr": emulator.nzcv << 28, "sp": emulator.sp, "pc": emulator.pc}
        if name not in (*scalars, "fpsr", "fpcr", "tpidr"):
            raise ValueError("Bad register")
        return scalars[name] if name in scalars else getattr(emulator, name)


def loaded_script(process: StoppedProcess) -> Any:
    """The command that the script defines, in a gdb that holds the process."""
    frame = SimpleNamespace(
        pc=lambda: process.emulator.pc,
        architecture=lambda: SimpleNamespace(name=lambda: "aarch64"),
        read_register=process.register,
    )
    thread = SimpleNamespace(global_num=1, is_valid=lambda: True, is_stopped=lambda: True)
    commands: list[Any] = []

    class Command:
        def __init__(self, name: str, _kind: int) -> None:
            commands.append(self)

        def dont_repeat(self) -> None: ...

    class Breakpoint:
        def __init__(self, place: str, internal: bool) -> None:
            self.address, self.enabled, self.ignore_count, self.condition = int(place[1:], 0), True, 0, None
            process.breakpoints.append(self)

        def stops_here(self) -> bool:
            if not self.enabled or process.emulator.pc != self.address:
                return False
            if self.condition is not None and f"$sp == {process.emulator.sp:#x}" != self.condition:
                return False
            self.ignore_count -= 1
            return self.ignore_count < 0

        def delete(self) -> None:
            process.breakpoints.remove(self)

    unseen: list[str] = []

    def execute(command: str, to_string: bool) -> None:
        if command == "continue":
            assert not unseen, "the process runs on before what was said is seen"
            process.go_on()

    def write(text: str) -> None:
        process.said.append(text)
        unseen.append(text)

    def parse_and_eval(text: str) -> Any:
        if "there" not in text:
            raise StandInError(f'No symbol "{text}" in current context.')
        return process.function if text.startswith("(") else SimpleNamespace(type="int (void)")

    gdb: Any = ModuleType("gdb")
    gdb.Command, gdb.Breakpoint, gdb.COMMAND_RUNNING = Command, Breakpoint, 1
    gdb.error = gdb.MemoryError = StandInError
    gdb.GdbError, gdb.SignalEvent = StandInGdbError, SimpleNamespace
    gdb.execute, gdb.parse_and_eval, gdb.parameter = execute, parse_and_eval, lambda name: "off"
    gdb.selected_frame = gdb.newest_frame = lambda: frame
    gdb.selected_thread = lambda: None if process.has_ended else thread
    gdb.selected_inferior = lambda: SimpleNamespace(read_memory=process.memory, threads=lambda: [thread])
    gdb.events = SimpleNamespace(
        stop=SimpleNamespace(connect=process.stopped.append, disconnect=process.stopped.remove)
    )
    gdb.write, gdb.flush, gdb.string_to_argv = write, unseen.clear, shlex.split
    path = f"{ATTACHED[0]}/gdb_script.py"
    sys.modules["gdb"] = gdb
    try:
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), {"__name__": "__main__"})
    finally:
        del sys.modules["gdb"]
    (command,) = commands
    return command
