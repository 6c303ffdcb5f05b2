"""What `monitor` says in gdb: what gdb itself does not know of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from isa.errors import LanewiseError
from sim.debug.session import Session

HELP: Final = """monitor lanes SPOT TYPE    lanes, such as: lanes v0 s16, lanes output[3] u8
monitor why SPOT           how it came to be: why v3.s[2], why output[5]
monitor slice SPOT         what it reaches from here on
monitor golden OUTPUT[I]   the steps of the golden reference for it
monitor find CONDITION     the next instruction that: writes v3.s[2], reads x1, saturates, ties v0.h[1], sets qc
monitor emulator           what the emulator makes of the instruction before
monitor trouble            what is wrong with the call
monitor position           the number of the instruction that comes next
monitor stop qc            also stop behind what saturates; again: no longer
monitor goto N             be before instruction N, or at its end; then: maintenance flush register-cache"""


class MonitorCommands:
    """The commands on one session; `stops_at_qc` is what was asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.stops_at_qc = False
        self._commands: Mapping[str, Callable[[str], str]] = {
            "lanes": self._lanes, "why": lambda rest: str(session.why(rest)),
            "slice": lambda rest: str(session.slice(rest)), "golden": self._golden, "find": self._find,
            "emulator": self._emulator, "trouble": self._trouble, "position": self._position, "stop": self._stop,
            "goto": self._goto,
        }  # fmt: skip

    def answer(self, text: str) -> str:
        """What a command says, of several lines perhaps; what is wrong with it in a sentence."""
        word, _, rest = text.strip().partition(" ")
        if word not in self._commands:
            return HELP
        try:
            return self._commands[word](rest.strip())
        except (LanewiseError, ValueError) as error:
            return str(error)

    def _lanes(self, rest: str) -> str:
        spot, _, kind = rest.partition(" ")
        return " ".join(map(str, self._session.lanes(spot, kind.strip() or "s32")))

    def _golden(self, rest: str) -> str:
        steps = self._session.golden_steps(rest)
        return ", ".join(f"{name} {value}" for name, value in steps.items()) or f"nothing is known of {rest}"

    def _find(self, rest: str) -> str:
        number = self._session.find(rest)
        return "none from here on" if number is None else f"instruction {number}"

    def _emulator(self, rest: str) -> str:
        emulated, step = self._session.emulated(), self._session.last
        if emulated is None or step is None:
            return "the emulator has no such instruction, or none was executed"
        told = [f"{place} machine {new:#x}, emulator {emulated.registers.get(place, new):#x}"
                for place, _, new in step.writes]  # fmt: skip
        told += [f"*{at:#x} machine {new.hex()}, emulator {emulated.memory[at].hex()}" for at, _, new in step.memory]
        return "\n".join([step.instruction.text, *told])

    def _trouble(self, rest: str) -> str:
        trouble = self._session.trouble
        return "nothing is wrong with this call" if trouble is None else trouble.says

    def _position(self, rest: str) -> str:
        return f"instruction {self._session.position}{', the end' if self._session.is_at_end else ''}"

    def _stop(self, rest: str) -> str:
        self.stops_at_qc ^= rest == "qc"
        return f"stops behind what saturates: {'yes' if self.stops_at_qc else 'no'}"

    def _goto(self, rest: str) -> str:
        self._session.goto(int(rest, 0))
        return self._position("")
