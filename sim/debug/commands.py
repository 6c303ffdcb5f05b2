"""A session by words: what is asked of it at a prompt, in a script, and behind gdb's `monitor`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from sim.call.kernel_image import without_lines
from sim.cycles.cores import REAL_CORES
from sim.debug.calls import debug_other_build
from sim.debug.cycles import CallCycles
from sim.debug.difference import SessionDifference
from sim.debug.session import Session
from sim.debug.snapshot import GoldenLane, golden_lanes, instructions_around
from sim.debug.spots import LANE_BYTES, SpotError, kind_of
from sim.debug.trace.selection import Selection
from sim.debug.trace.text import text_trace
from sim.toolchain.compilers import is_source

_INDICES: Final = re.compile(r"\[[\d, ]+\]")
_AROUND: Final = 5
"""Instructions before and behind, that `list` shows."""


class CommandHelp(NamedTuple):
    """What a command is given, and what it does."""

    usage: str
    does: str


HELP: Final[Mapping[str, CommandHelp]] = {
    "step": CommandHelp("step [N]", "execute so many instructions; 1"),
    "back": CommandHelp("back [N]", "go back over so many; 1"),
    "goto": CommandHelp("goto N", "be before instruction N, or at the end"),
    "end": CommandHelp("end", "be where the call has returned, or cannot go on"),
    "run": CommandHelp("run CONDITION", "on to an address, FILE:LINE, function, #N, or behind what does something:"),
    "reverse": CommandHelp(
        "reverse CONDITION", "back to it: writes v3.s[2], reads x1, saturates, ties v0.h[1], sets qc"
    ),
    "find": CommandHelp("find CONDITION", "only say which instruction that is"),
    "where": CommandHelp("where", "the instruction before, and the one that comes next"),
    "list": CommandHelp("list", "the instructions that were executed before and will be"),
    "lanes": CommandHelp("lanes SPOT [TYPE]", "such as: lanes v0 s16, lanes output[3] u8, lanes v1.s[2] q31"),
    "array": CommandHelp("array NAME", "an array of the call as it is now"),
    "why": CommandHelp("why SPOT", "how it came to be: why v3.s[2], why output[5]"),
    "slice": CommandHelp("slice SPOT", "what it reaches from here on"),
    "golden": CommandHelp("golden OUTPUT[I]", "the steps of the golden reference for it"),
    "diff": CommandHelp("diff [FILE] FLAGS", "where another build parts from it: diff -O0, diff old.c -O3 output[5]"),
    "emulator": CommandHelp("emulator", "what the emulator makes of the instruction before"),
    "cycles": CommandHelp("cycles [CORE]", "when the instructions of `list` are executed on a core, what held them up"),
    "trouble": CommandHelp("trouble", "go to the instruction at fault, and say what is wrong with the call"),
    "position": CommandHelp("position", "the number of the instruction that comes next"),
    "help": CommandHelp("help", "all of this"),
}


class SessionCommands:
    """The commands on one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._commands: Mapping[str, Callable[[str], str]] = {
            "step": self._step, "back": self._back, "goto": self._goto, "end": self._end, "run": self._run,
            "reverse": self._reverse, "find": self._find, "where": lambda rest: self.where(), "list": self._list,
            "lanes": self._lanes, "array": lambda rest: str(session.array(rest)),
            "why": lambda rest: str(session.why(rest)), "slice": lambda rest: str(session.slice(rest)),
            "golden": self._golden_steps, "diff": self._diff, "emulator": self._emulator, "cycles": self._cycles,
            "trouble": self._trouble, "position": self._position,
            "help": lambda rest: help_text(),
        }  # fmt: skip
        self._cycles_on: CallCycles | None = None
        self._golden: dict[int, list[GoldenLane]] = {}

    def answer(self, text: str) -> str:
        """What a command says, of several lines perhaps.  Raises SpotError for what is none, and what it raises."""
        word, _, rest = _INDICES.sub(lambda found: found[0].replace(" ", ""), text.strip()).partition(" ")
        if word not in self._commands:
            raise SpotError(f"there is no command {word!r}: {', '.join(self._commands)}")
        if rest.strip() and HELP[word].usage == word:
            raise SpotError(f"{word} takes nothing, not {rest.strip()!r}")
        return self._commands[word](rest.strip())

    def opening(self) -> str:
        """Go to where the call goes wrong, and say what is wrong, with the way of a wrong lane; where one stands."""
        session, call = self.session, self.session.call
        told = without_lines(call.image, call.kernel.symbol) if call.image and call.kernel else []
        trouble = session.trouble
        if trouble is not None:
            told.append(trouble.says)
        if (way := session.wrong_way) is not None:
            self._golden = golden_lanes(session, way)
            told.append(str(way))
        session.goto_trouble()
        return "\n".join([*told, self.where()])

    def where(self) -> str:
        """The instruction that was executed last, with what it wrote, and the one that comes next.

        On the way of the wrong lane that the session opened with, the golden reference is beside it.
        """
        session = self.session
        here = session.position
        told = [f"before  {line}" for line in text_trace(session, Selection(here - 1, here))] if here else []
        told += [f"golden  {lane}" for lane in self._golden.get(here - 1, [])]
        session.goto(here)
        if session.timeline.returned:
            return "\n".join([*told, f"end     {here:9d}  the call has returned"])
        instruction = session.instruction
        text = instruction.text if instruction else str(session.timeline.fault or "no instruction that can be executed")
        calls = session.inlined_at(session.machine.pc)
        calls = f"  ({calls})" if calls else ""
        return "\n".join([*told, f"next    {here:9d}  {session.machine.pc:#x}  {session.source:18} {text}{calls}"])

    def _step(self, rest: str) -> str:
        self.session.step(_count(rest))
        return self.where()

    def _back(self, rest: str) -> str:
        self.session.back(_count(rest))
        return self.where()

    def _goto(self, rest: str) -> str:
        self.session.goto(_count(rest))
        return self.where()

    def _end(self, rest: str) -> str:
        self.session.goto_end()
        return self.where()

    def _run(self, rest: str) -> str:
        found = self.session.run_to(rest)
        return self.where() if found is not None else f"none from there on\n{self.where()}"

    def _reverse(self, rest: str) -> str:
        found = self.session.reverse_to(rest)
        return self.where() if found is not None else f"none before\n{self.where()}"

    def _find(self, rest: str) -> str:
        number = self.session.find(rest)
        return "none from here on" if number is None else f"instruction {number}"

    def _list(self, rest: str) -> str:
        here = self.session.position
        lines = list(text_trace(self.session, Selection(max(0, here - _AROUND), here + _AROUND)))
        self.session.goto(here)
        return "\n".join(f"{'next' if int(line.split()[0]) == here else '    '}  {line}" for line in lines)

    def _lanes(self, rest: str) -> str:
        """Without a type they are as wide as the spot says, of a general register, an array or the result whole numbers
        of it.
        """
        text, _, kind = rest.rpartition(" ")
        if text:
            return " ".join(map(str, self.session.lanes(text, kind)))
        spot = self.session.spot(rest)
        placed = self.session.array_at(spot.first) if spot.register is None else None
        lanes = re.search(r"\.\d*([bhsd])\b|^([bhsd])\d", rest)
        kind = f"s{8 * LANE_BYTES[lanes[1] or lanes[2]]}" if lanes else "s8"
        kernel = self.session.call.kernel
        if rest == "result" and kernel is not None:
            kind = kind_of(np.dtype(kernel.signature.returns)) or kind
        elif spot.register is not None and spot.register.file != "v":
            kind = f"s{8 * spot.size}"
        elif placed is not None:
            kind = kind_of(placed.pointer.type) or kind
        elif spot.name in self.session.stack_arguments and spot.size in LANE_BYTES.values():
            kind = f"s{8 * spot.size}"
        return " ".join(map(str, self.session.lanes(spot, kind)))

    def _golden_steps(self, rest: str) -> str:
        steps = self.session.golden_steps(rest)
        return ", ".join(f"{name} {value}" for name, value in steps.items()) or f"nothing is known of {rest}"

    def opening_beside(self, other: str) -> str:
        """Go to where what reaches the first output lane that differs parts from another build, as `diff` names it, and
        say so; where one stands.  Raises as `diff`.
        """
        found = self._difference(other)
        own = found.partings[0] or next(iter(found.ways[0].steps[-1:] if found.ways else ()), None)
        if own is not None:
            self.session.goto(own.number + 1)
        return f"{found}\n{self.where()}"

    def opening_at(self, spot: str) -> str:
        """Go behind the last instruction that writes what is wrong at the end, and say how it came to be; where one
        stands.  Raises SpotError.
        """
        session = self.session
        session.goto_end()
        way, number = session.why(spot), session.find_back(f"writes {spot}")
        session.goto(0 if number is None else number + 1)
        never = [f"no instruction of the call writes {spot}"] if number is None else []
        return "\n".join([str(way), *never, self.where()])

    def _diff(self, rest: str) -> str:
        return str(self._difference(rest))

    def _difference(self, rest: str) -> SessionDifference:
        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise SpotError(f"{rest!r} cannot be split as a shell does: {error}") from None
        flags = [word for word in words if word.startswith("-")]
        others = [word for word in words if word not in flags]
        named = [word for word in others if Path(_file_of(word)).is_file() or is_source(Path(_file_of(word)))]
        if not flags and not named:
            raise SpotError("name another build: diff -O0, or another source and flags")
        source = "".join(named[:1])
        other = debug_other_build(self.session.call, flags, _file_of(source), source[len(_file_of(source)) + 1 :])
        spots = " ".join(word for word in others if word not in named)
        return self.session.diff(Session(other), spots or None)

    def _emulator(self, rest: str) -> str:
        emulated, step = self.session.emulated(), self.session.last
        if emulated is None or step is None:
            return "the emulator has no such instruction, or none was executed"
        told = [f"{place} machine {new:#x}, emulator {emulated.registers.get(place, new):#x}"
                for place, _, new in step.writes]  # fmt: skip
        told += [f"*{at:#x} machine {new.hex()}, emulator {emulated.memory[at].hex()}" for at, _, new in step.memory]
        return "\n".join([step.instruction.text, *told])

    def _cycles(self, rest: str) -> str:
        """On the core that was named last, where none is."""
        if rest or self._cycles_on is None:
            self._cycles_on = CallCycles(self.session, rest or REAL_CORES[0])
        here, told = self.session.position, [f"{self._cycles_on.core.title}: instruction, cycle, what it waited for"]
        part = self._cycles_on.around(here)
        for number, _, instruction in instructions_around(self.session, _AROUND, _AROUND):
            if (one := part.of(number)) is not None:
                mark = "next" if number == here else "    "
                told.append(f"{mark}  {number:9d}  {one.issued:6d}  {instruction.text:40} {one.reason}".rstrip())
        return "\n".join([*told, *([f"cycles are counted from instruction {part.first}"] if part.first else [])])

    def _trouble(self, rest: str) -> str:
        return "nothing is wrong with this call" if self.session.trouble is None else self.opening()

    def _position(self, rest: str) -> str:
        return f"instruction {self.session.position}{', the end' if self.session.is_at_end else ''}"


def _file_of(word: str) -> str:
    """The file of FILE or FILE:FUNCTION."""
    return word if Path(word).is_file() else word.partition(":")[0]


def help_text() -> str:
    """All commands, a line each."""
    return "\n".join(f"{each.usage:20} {each.does}" for each in HELP.values())


def _count(text: str) -> int:
    try:
        count = int(text.removeprefix("#") or "1", 0)
    except ValueError:
        raise SpotError(f"{text!r} is no number of instructions") from None
    if count < 0:
        raise SpotError(f"{text} is less than no instruction")
    return count
