"""Mutants as yosys lists them: one bit of one port of one cell is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_OPTION: Final = re.compile(r" -(\w+) (\S+)")
_PLACE: Final = re.compile(r".+\.s?v:\d+")
_WRITTEN_AT: Final = re.compile(r"\$(\w+)\$([\w.]+:\d+)\$\d+$")
_MADE_BY_YOSYS: Final = re.compile(r"\$(\w+)\$\d+(?:_CMP\d+)?$")
_OF_YOSYS: Final = {"procdff": "a register (a procdff)", "procmux": "a choice by if or case (a procmux)"}
"""What it makes of processes, in words."""
_MODES: Final = {
    "inv": "is inverted",
    "const0": "is always 0",
    "const1": "is always 1",
    "cnot0": "is inverted where bit {control} is 0",
    "cnot1": "is inverted where bit {control} is 1",
}


@dataclass(frozen=True)
class Mutant:
    """One of the mutants of a netlist.

    `number` is the value of the input that selects it, 1 and on; `command` what makes yosys plant it; `words` what is
    wrong; `places` where that is written, as "file:line".
    """

    number: int
    command: str
    words: str
    places: tuple[str, ...]

    @property
    def changes_a_clock(self) -> bool:
        """Whether it moves the edges of some register: equations that select among mutants have one clock."""
        return " -port CLK " in self.command

    def selected_by(self, port: str, bits: int) -> str:
        """The command that plants it where an input of so many bits has its number."""
        return self.command.replace("mutate ", f"mutate -ctrl {port} {bits} {self.number} ", 1)


def mutants_in(listing: str) -> list[Mutant]:
    """The mutants of what `mutate -list` has written."""
    commands = [line for line in listing.splitlines() if line.startswith("mutate ")]
    mutants = []
    for number, command in enumerate(commands, 1):
        found = _OPTION.findall(command)
        options = dict(found)
        lines = dict.fromkeys(place[0] for name, value in found if name == "src" if (place := _PLACE.match(value)))
        wrong = _MODES[options["mode"]].format(control=options.get("ctrlbit"))
        wire = f" ({options['wire']}[{options['wirebit']}])" if "wire" in options else ""
        cell = options["cell"]
        if written := _WRITTEN_AT.search(cell):  # such as "the add at sqadd.sv:27"
            cell = f"the {written[1]} at {written[2]}"
        elif made := _MADE_BY_YOSYS.search(cell):
            cell = _OF_YOSYS.get(made[1], f"a {made[1]}")
        words = f"bit {options['portbit']} of port {options['port']}{wire} of {cell} {wrong}"
        mutants.append(Mutant(number, command, words, tuple(lines)))
    return mutants
