"""A machine alone, followed in native code where that is worth a compiler: what it computes, and where branches led."""

from __future__ import annotations

from array import array
from ctypes import addressof, c_uint64

from isa.errors import LanewiseError
from sim.call.native.alone import MachineAlone
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

    def follow(self, until: int, most: int, branches: array[int]) -> None:
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
    """The driver on one machine, and where it notes branches."""

    def __init__(self, machine: Machine) -> None:
        """Raises LanewiseError where there is no compiler for this computer."""
        self._alone = MachineAlone(machine, "follow")
        self.code = self._alone.code
        self._branch = (c_uint64 * _SLICE)()
        self._alone.control.branch = addressof(self._branch)

    def run(self, until: int, most: int, branches: array[int]) -> bool:
        """As `Follower.follow`, up to what Python has to execute; whether there is that."""
        control = self._alone.control
        control.branches = 0

        def take() -> None:
            branches.frombytes(memoryview(self._branch).cast("B")[: 8 * control.branches])
            control.branches = 0

        return self._alone.run(until, most, _SLICE, take)
