"""What stands beside the instructions, as it is painted: the golden reference's steps, and the cycles on a core."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from sim.debug.app.code import FAULT, plain
from sim.debug.app.looking import Looking

_LETTERS: Final = 14
"""Of the life of an instruction, the last ones."""


def golden_text(looking: Looking) -> Text:
    """The steps of the golden reference for the lane that is asked of, and which instructions hold their values."""
    way = looking.way
    if way is None or not way.golden:
        return Text("no step of a golden reference is known: w asks why of an element of an output", "dim")
    lanes = [(number, lane) for number, some in looking.golden.items() for lane in some]
    held = {lane.step: (number, lane) for number, lane in sorted(lanes, key=lambda each: each[1].parts)}
    steps = {step.number: step for step in way.steps}
    name, value = max(map(len, way.golden)), max(len(str(each)) for each in way.golden.values())
    value = max(value, len("golden"))
    text = Text(no_wrap=True)
    text.append(f"{'step':<{name}}  {'golden':>{value}}  here\n", "dim")
    for step, expected in way.golden.items():
        text.append(f"{plain(step):<{name}}  {expected:>{value}}  ")
        if step in held:
            number, lane = held[step]
            is_right = lane.value == lane.expected
            text.append(f"{lane.value:>{value}}", "green" if is_right else FAULT)
            at = steps[number]
            text.append(f"  {lane.lane}  #{number} {plain(at.source)} {at.instruction}", "" if is_right else FAULT)
            text.append("  parts here" if lane.parts else "", FAULT)
        text.append("\n")
    text.rstrip()
    return text


def cycles_text(looking: Looking, width: int) -> tuple[Text, int]:
    """The instructions around on the chosen core, and the row of the one that comes next."""
    part, row, count = looking.part, 0, 0
    if part is None or looking.cycles is None:
        return Text("no core is chosen: c goes through them", "dim"), 0
    text = Text(no_wrap=True)
    text.append(f"{looking.cycles.core.title}: instruction, cycle, what it waited for", "bold")
    text.append(f"; cycles count from #{part.first}\n" if part.first else "\n", "dim")
    for number, _, instruction in looking.rows:
        one = part.of(number)
        if one is None:
            continue
        is_next = number == looking.session.position
        count += 1
        row = count if number <= looking.session.position else row
        text.append(f"{'▶' if is_next else ' '}{number:>6} {one.issued:>6}  ", "bold" if is_next else "dim")
        text.append(f"{instruction.text:<34}", "bold" if is_next else "")
        if width >= 100:
            text.append(f" {one.letters[-_LETTERS:]:<{_LETTERS}}", "cyan")
        text.append(f" {one.reason}", "yellow").append("\n")
    return text, row
