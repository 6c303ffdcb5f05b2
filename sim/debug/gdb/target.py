"""What a session answers to the packets of gdb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from sim.check.origin import MEMORY
from sim.debug.conditions import AnyOf, At, AtNumber, Reads, SetsQc, StopCondition, Writes
from sim.debug.gdb.description import REGISTERS, register_bytes, target_description
from sim.debug.gdb.monitor import MonitorCommands
from sim.debug.gdb.packets import LARGEST
from sim.debug.session import Session
from sim.debug.spots import Spot
from sim.machine.errors import MemoryFault

_SUPPORTED: Final = (
    f"PacketSize={LARGEST // 4:x};qXfer:features:read+;QStartNoAckMode+;ReverseStep+;ReverseContinue+;"
    "vContSupported+;swbreak+;hwbreak+"
)
_TRAP, _ILLEGAL, _SEGMENTATION = 5, 4, 11
_WATCHES: Final = {2: "watch", 3: "rwatch", 4: "awatch"}
_REFUSED: Final = b"E01"
_MOST_READ: Final = LARGEST // 8
_MOST_STOPS: Final = 256


class _Stop(NamedTuple):
    """The answer for a stop at an instruction, and how far from its start the session stands, going on and going back.

    gdb itself steps over a breakpoint.  On AArch64 it takes a watchpoint to be told of before the access, steps over
    that, on or back, and only then compares the values.
    """

    answer: str
    ahead: int
    back: int = 0


class GdbTarget:
    """One session as gdb sees it.  `console` is text that goes to the user before the next answer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._monitor = MonitorCommands(session)
        self._stops: dict[tuple[int, int, int], list[StopCondition]] = {}
        self._told = False
        self.console = ""
        self._answers: Mapping[bytes, Callable[[str], str]] = {
            b"?": lambda rest: self._stopped(_TRAP),
            b"g": lambda rest: "".join(self._register(number) for number in range(len(REGISTERS))),
            b"p": lambda rest: self._register(int(rest, 16)),
            b"m": self._read_memory,
            b"s": lambda rest: self._step(),
            b"c": lambda rest: self._go(),
            b"Z": self._insert,
            b"z": self._remove,
            b"H": lambda rest: "OK",
            b"T": lambda rest: "OK",
            b"D": lambda rest: "OK",
        }

    def answer(self, body: bytes) -> bytes:
        """The answer to a packet: empty for what is not known, E01 for what is known and wrong.

        The history of a call cannot be changed, so that registers and memory cannot be written.
        """
        try:
            text = body.decode("latin-1")
            if text in ("bs", "bc"):
                return (self._step_back() if text == "bs" else self._go_back()).encode()
            if text[:1] in ("G", "P", "M", "X"):
                return _REFUSED
            if text[:1] in ("q", "Q", "v"):
                return self._general(text).encode("latin-1")
            found = self._answers.get(body[:1])
            return b"" if found is None else found(text[1:]).encode()
        except (ValueError, IndexError, OverflowError, LanewiseError):
            return _REFUSED

    def _general(self, text: str) -> str:
        if text.startswith("qXfer:features:read:target.xml:"):
            start, size = (int(part, 16) for part in text.rpartition(":")[2].split(","))
            whole = target_description()
            part = whole[start : start + size]
            return ("m" if start + size < len(whole) else "l") + part
        if text.startswith("qRcmd,"):
            said = self._monitor.answer(bytes.fromhex(text[6:]).decode(errors="replace"))
            return f"{said}\n".encode().hex()
        if text.startswith("vCont;"):
            return self._step() if text[6:7] in "sS" else self._go()
        if text.startswith("qSupported"):
            return _SUPPORTED
        known = {
            "QStartNoAckMode": "OK", "qfThreadInfo": "m1", "qsThreadInfo": "l", "qAttached": "1", "qC": "QC1",
            "qSymbol::": "OK", "vCont?": "vCont;c;C;s;S",
        }  # fmt: skip
        return known.get(text, "OK" if text.startswith("vKill") else "")

    def _register(self, number: int) -> str:
        return register_bytes(self._session.machine, number).hex()

    def _read_memory(self, rest: str) -> str:
        address, size = (int(part, 16) for part in rest.split(","))
        if size > _MOST_READ:
            raise ValueError("more than a packet holds")
        try:
            return self._session.machine.memory.read(address, size).hex()
        except MemoryFault:  # as much as there is
            region = self._session.machine.memory.region_at(address)
            if region is None:
                raise
            return self._session.machine.memory.read(address, min(size, region.end - address)).hex()

    def _insert(self, rest: str) -> str:
        kind, address, size = (int(part, 16) for part in rest.split(";")[0].split(","))
        if len(self._stops) >= _MOST_STOPS or address + size > 1 << 64:
            raise ValueError("too many, or past the last address")
        if kind in (0, 1):
            self._stops[kind, address, size] = [At(frozenset([address]))]
        elif kind in _WATCHES:
            spot = Spot(f"*{address:#x}", MEMORY, address, max(size, 1))
            self._stops[kind, address, size] = [
                *([Writes(spot)] if kind in (2, 4) else []), *([Reads(spot)] if kind in (3, 4) else []),
            ]  # fmt: skip
        else:
            return ""
        return "OK"

    def _remove(self, rest: str) -> str:
        kind, address, size = (int(part, 16) for part in rest.split(";")[0].split(","))
        self._stops.pop((kind, address, size), None)
        return "OK"

    def _step(self) -> str:
        if self._session.step() is None:
            return self._ended()
        return self._stopped(_TRAP)

    def _step_back(self) -> str:
        if self._session.position == 0:
            return "T05replaylog:begin;"
        self._session.back()
        return self._stopped(_TRAP)

    def _go(self) -> str:
        """On to the next stop, which may be here."""
        session = self._session
        condition = self._any(with_trouble=True)
        found = session.find(condition)
        if found is None:
            session.goto_end()
            return self._ended()
        stop = self._reason(found)
        session.goto(found + stop.ahead)
        return stop.answer

    def _go_back(self) -> str:
        """Back to the last stop before here."""
        session = self._session
        found = session.find_back(self._any(with_trouble=False))
        stop = _Stop("T05replaylog:begin;", 0) if found is None else self._reason(found)
        session.goto((found or 0) + stop.back)
        return stop.answer

    def _any(self, with_trouble: bool) -> AnyOf:
        found = [condition for each in self._stops.values() for condition in each]
        found += [SetsQc()] if self._monitor.stops_at_qc else []
        if with_trouble and not self._told and (number := self._session.trouble_number) is not None:
            found.append(AtNumber(number))
        return AnyOf(tuple(found))

    def _reason(self, number: int) -> _Stop:
        """Why it stops at an instruction."""
        session, here = self._session, self._session.position
        recording = session.timeline.recording(number)
        try:
            for (kind, address, _), conditions in self._stops.items():
                if any(number - recording.start in each.among(recording) for each in conditions):
                    if kind in _WATCHES:
                        return _Stop(f"T05{_WATCHES[kind]}:{address:x};thread:1;", 0, 1)
                    return _Stop(f"T05{'hw' if kind else 'sw'}break:;thread:1;", 0)
        finally:
            session.goto(here)
        trouble = session.trouble
        if trouble is not None and number == session.trouble_number and not self._told:
            self._tell_trouble()
            return _Stop(self._stopped(_TRAP), int(trouble.has_happened))
        instruction = recording.instructions[int(recording.pcs[number - recording.start])]
        self.console = f"lanewise: {instruction.text} saturates\n"  # nothing else is stopped at
        return _Stop(self._stopped(_TRAP), 1)

    def _ended(self) -> str:
        """At the end of the call: where it returned, the history ends; a fault is a signal."""
        fault = self._session.timeline.fault
        if fault is None:
            return "T05replaylog:end;"
        self._tell_trouble()
        return self._stopped(_SEGMENTATION if isinstance(fault, MemoryFault) else _ILLEGAL)

    def _tell_trouble(self) -> None:
        """Say once what is wrong with the call."""
        if self._session.trouble is not None and not self._told:
            self._told, self.console = True, f"lanewise: {self._session.trouble.says}\n"

    def _stopped(self, signal: int) -> str:
        return f"T{signal:02x}thread:1;"
