"""The driver on a machine without an emulator: its functions that let the machine go on, a slice at a time."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_uint64, c_void_p

from sim.call.native.code import NativeCode
from sim.call.native.control import Control, Stop, require_same_layout
from sim.call.native.steps import driver
from sim.machine.machine import Machine


class MachineAlone:
    """One machine, which a function of driver.c, "follow" or "record", lets go on; what it notes is in `control`."""

    def __init__(self, machine: Machine, function: str) -> None:
        """Raises LanewiseError where there is no compiler for this computer."""
        self._machine, library = machine, driver()
        require_same_layout(library)
        self._function = getattr(library, function)
        self._function.argtypes, self._function.restype = (c_void_p, c_uint64), None
        self.control = Control()
        self.code = NativeCode(machine, self.control)
        self._version = -1
        self._regions: object = None

    def run(self, until: int, most: int, at_once: int, take: Callable[[], None]) -> bool:
        """Execute up to `until`, or so many instructions, or what Python has to execute; whether there is that.

        After each slice, of `at_once` instructions at most, `take` is called for what was noted in it.
        """
        machine, control, memory = self._machine, self.control, self._machine.memory
        if memory.code_version != self._version:
            self._version = memory.code_version
            self.code.drop()
        if memory.regions != self._regions:
            self._regions = memory.regions
            self.code.allow(self.code.everything(), anew=True)
        self.code.load()
        executed, stopped = 0, False
        while machine.pc != until and executed < most and not stopped:
            control.why = control.pending = control.done = control.mine.count = 0
            control.left = min(most - executed, at_once)
            self._function(addressof(control), until)
            self.code.unload()
            executed += control.done
            machine.instructions_executed += control.done
            take()
            for pc, _ in self.code.take_went():
                machine.instruction_at(pc)
            why = Stop(control.why)
            stopped = why in (Stop.REFUSED, Stop.MODES) or (why == Stop.NO_STEP and not self.code.learn(machine.pc))
        if stopped:
            self.code.note_stay(executed)
        return stopped
