"""The source, and the instructions around the one that comes next, as they are painted."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from rich.text import Text

from isa.instruction import Instruction
from sim.debug.app.looking import Looking
from sim.machine.errors import ExecutionError
from sim.view.sentences import visible

NEXT: Final = "bold reverse"
FAULT: Final = "bold red"
CHANGED: Final = "bold yellow"
WIDE: Final = 84
"""Columns from which an instruction has its address and line beside it."""
_FAR: Final = 24
"""Instructions on each side, where they are shown by address."""


def plain(text: object) -> str:
    """Something of one line, of which nothing is obeyed."""
    return visible(str(text)).replace("\n", "\\n").expandtabs(4)


class SourceText:
    """The lines of the source that the call was compiled from; of no other file, whatever debug information says."""

    def __init__(self, looking: Looking) -> None:
        source = looking.session.call.source
        self._looking, self._name, self._lines = looking, "", list[str]()
        if source is not None:
            self._name = source.name
            with suppress(OSError):  # one that a command names may be elsewhere by now
                self._lines = source.read_text(encoding="utf-8", errors="replace").splitlines()

    def line_of(self, pc: int) -> int | None:
        """The number of the line that an instruction was compiled from, or of the line in this file that calls what it
        was inlined of; None where there is none.
        """
        image = self._looking.session.call.image
        if image is None:
            return None
        places = (image.source_line(pc), *(call.line for call in image.inlined_calls(pc)))
        own = (at.line for at in places if at is not None and str(at) == f"{self._name}:{at.line}")
        return next(own, None)

    def painted(self, width: int) -> tuple[Text, int]:
        """All lines, and the one to look at, from 0 on; where there are few columns, they are indented less."""
        looking = self._looking
        if not self._lines:
            return Text("no source is known of this call", "dim"), 0
        shown = looking.shown
        done = self.line_of(shown.pc) if shown is not None else None
        following = None if looking.session.timeline.returned else self.line_of(looking.session.machine.pc)
        passed, faulty = set[str](), set[str]()
        if looking.way is not None:
            steps = (*looking.way.steps, *looking.way.addresses, *looking.way.decisions)
            passed = {*looking.way.lines, *(f"{self._name}:{self.line_of(step.pc)}" for step in steps)}
            faulty = {step.source for step in looking.way.steps if step.parts}
            faulty |= {f"{self._name}:{self.line_of(step.pc)}" for step in looking.way.steps if step.parts}
        text, digits = Text(no_wrap=True), len(str(len(self._lines)))
        for number, line in enumerate(self._lines, 1):
            place = f"{self._name}:{number}"
            mark = "✗" if place in faulty else "•" if place in passed else " "
            style = FAULT if place in faulty else ""
            shown_line = plain(line)
            indent = len(shown_line) - len(shown_line.lstrip())
            text.append(f"{mark}{'▶' if number == following else ' '}", style or "bold")
            text.append(f"{number:{digits}} ", "dim")
            text.append(" " * (indent if width >= WIDE else indent // 4))
            text.append(shown_line.lstrip(), NEXT if number == done else style)
            text.append("\n")
        return text, (done or following or 1) - 1


def code_text(looking: Looking, width: int) -> tuple[Text, int]:
    """The instructions around, and the row of the one that comes next."""
    if looking.by_address:
        return _by_address(looking, width)
    session, text, here = looking.session, Text(no_wrap=True), looking.session.position
    part, row, digits = looking.part, 0, len(str(looking.total))
    for at, (number, pc, instruction) in enumerate(looking.rows):
        cycles = part.of(number) if part is not None else None
        timed = "" if cycles is None else f"{cycles.issued:>6} "
        reason = "" if cycles is None else cycles.reason
        row = at if number <= here else row
        _append(looking, text, width, pc, instruction, f"{number:>{digits}} {timed}", number, reason)
    if looking.rows and looking.rows[-1][0] >= here:
        return text, row
    if session.timeline.returned:
        text.append("▶ the call has returned", "bold")
        return text, len(looking.rows)
    if session.instruction is not None:
        _append(looking, text, width, session.machine.pc, session.instruction, f"{here:>{digits}} ", here, "")
    text.append(f"  {plain(session.timeline.fault or 'no instruction that can be executed')}", FAULT)
    return text, len(looking.rows)


def _by_address(looking: Looking, width: int) -> tuple[Text, int]:
    """What lies before and behind the instruction that comes next."""
    machine, text, row, rows = looking.session.machine, Text(no_wrap=True), 0, 0
    numbers = {pc: number for number, pc, _ in reversed(looking.rows)}
    centre = machine.pc
    if looking.session.timeline.returned and looking.shown is not None:
        centre = looking.shown.pc
    for pc in range(centre - 4 * _FAR, centre + 4 * _FAR, 4):
        try:
            instruction = machine.instruction_at(pc)
        except ExecutionError:
            continue
        row = rows if pc == centre else row
        rows += 1
        _append(looking, text, width, pc, instruction, f"{pc:#8x} ", numbers.get(pc), "")
    return text, row


def _append(
    looking: Looking, text: Text, width: int, pc: int, instruction: Instruction, head: str, number: int | None,
    reason: str,
) -> None:  # fmt: skip
    """One instruction: what stands before it, and how it is marked."""
    here, shown = looking.session.position, looking.shown
    is_next = pc == looking.session.machine.pc if looking.by_address else number == here
    is_done = shown is not None and (pc == shown.pc if looking.by_address else number == shown.number)
    is_faulty = number is not None and number == looking.parting
    steps = looking.way.steps if looking.way is not None else ()
    on_way = any(step.number == number if not looking.by_address else step.pc == pc for step in steps)
    mark = "✗" if is_faulty else "•" if on_way else " "
    style = NEXT if is_done else FAULT if is_faulty else ""
    text.append(f"{mark}{'▶' if is_next else ' '}", FAULT if is_faulty else "bold")
    text.append(head, "dim")
    if width >= WIDE:
        address = "" if looking.by_address else f"{pc:#x} "
        text.append(f"{address}{plain(looking.session.source_of(pc)):18} ", "dim")
    text.append(f"{instruction.text}", style)
    if width >= WIDE and (calls := looking.session.inlined_at(pc)):
        text.append(f"  {plain(calls)}", "dim")
    if reason:
        text.append(f"  {reason}", "yellow")
    text.append("\n")
