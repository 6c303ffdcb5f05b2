"""A machine alone, followed in native code where that is worth a compiler: what it computes, and where branches led."""

from __future__ import annotations

from ctypes import addressof, c_uint64, c_void_p

from isa.errors import LanewiseError
from sim.call.native.code import NativeCode
from sim.call.native.control import Control, Stop, require_same_layout
from sim.call.native.steps import driver
from sim.machine.machine import Machine

_SLICE = 1 << 18
"""Instructions, some milliseconds, after which Python sees Ctrl-C."""


class Follower:
    """Follows a machine, whose first instructions, so many as `patience` says, are always executed in Python."""

    def __init__(self, machine: Machine, patience: int) -> None:
        self.machine = machine
        self._patience = patience
        self._native: _NativeFollower | None = None
        self._has_none = False
        self.executed = 0
        """How many instructions were executed in native code."""

    def follow(self, until: int, most: int, branches: list[int]) -> None:
        """Let the machine run up to `until`, or for so many instructions; adds where each branch leads, taken or not.

        Raises as `Machine.run` does; state and branches are then as before the instruction at fault.
        """
        machine, until = self.machine, until % 2**64
        end = machine.instructions_executed + most
        while machine.pc != until and (left := end - machine.instructions_executed) > 0:
            native = self._native_follower()
            if native is not None:
                before = machine.instructions_executed
                needs_python = native.run(until, left, branches)
                self.executed += machine.instructions_executed - before
                if not needs_python:
                    return
                left = min(end - machine.instructions_executed, native.code.stretch)
            elif not self._has_none:
                left = min(left, self._patience - machine.instructions_executed)
            branches.extend(machine.follow(until, left))

    def _native_follower(self) -> _NativeFollower | None:
        """What runs in native code, if there is a compiler and there has been enough to run."""
        if self._native is None and not self._has_none and self.machine.instructions_executed >= self._patience:
            try:
                self._native = _NativeFollower(self.machine)
            except LanewiseError:
                self._has_none = True
        return self._native


class _NativeFollower:
    """The driver on one machine."""

    def __init__(self, machine: Machine) -> None:
        """Raises LanewiseError where there is no compiler for this computer."""
        self._machine, library = machine, driver()
        require_same_layout(library)
        self._follow = library.follow
        self._follow.argtypes, self._follow.restype = (c_void_p, c_uint64), None
        self._control = Control()
        self.code = NativeCode(machine, self._control)
        self._version = -1
        self._regions: object = None
        self._branch = (c_uint64 * _SLICE)()
        self._control.branch = addressof(self._branch)

    def run(self, until: int, most: int, branches: list[int]) -> bool:
        """As `Follower.follow`, up to what Python has to execute; whether there is that."""
        machine, control, memory = self._machine, self._control, self._machine.memory
        if memory.code_version != self._version:
            self._version = memory.code_version
            self.code.drop()
        if memory.regions != self._regions:
            self._regions = memory.regions
            self.code.allow(self.code.everything(), anew=True)
        self.code.load()
        executed, stopped = 0, False
        while machine.pc != until and executed < most and not stopped:
            control.why = control.pending = control.done = control.branches = control.mine.count = 0
            control.left = min(most - executed, _SLICE)
            self._follow(addressof(control), until)
            self.code.unload()
            executed += control.done
            machine.instructions_executed += control.done
            branches += self._branch[: control.branches]
            for pc, _ in self.code.take_went():
                machine.instruction_at(pc)
            why = Stop(control.why)
            stopped = why in (Stop.REFUSED, Stop.MODES) or (why == Stop.NO_STEP and not self.code.learn(machine.pc))
        if stopped:
            self.code.note_stay(executed)
        return stopped
