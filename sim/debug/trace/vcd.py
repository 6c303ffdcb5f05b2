"""A trace as VCD: registers as lanes that change over time, the decoded instruction as text; one instruction is 1 ns.

Source: IEEE 1364-2005, section 18 (value change dump files); text as a real variable of type `string`, which GTKWave
and Surfer show, is an extension of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np

from isa.lane import Place
from sim.call.native.recorder import registers_written
from sim.debug.session import Session
from sim.debug.trace.selection import Selection, each_instruction

LANE_BITS: Final = {"b": 8, "h": 16, "s": 32, "d": 64}
_TEXTS: Final = ("instruction", "source")
_NUMBERS: Final = {"number": 64, "pc": 64, "nzcv": 4, "saturated": 1}
_LETTERS: Final = "".join(map(chr, range(33, 127)))
"""What identifiers of variables are made of."""


def vcd_trace(session: Session, selection: Selection, lanes: str = "s") -> Iterator[str]:
    """Lines of a dump; vector registers in lanes of b, h, s or d."""
    identifiers = _identifiers(lanes)
    yield from ("$comment lanewise $end", "$timescale 1ns $end", "$scope module lanewise $end")
    yield from (f"$var string 1 {identifiers[name]} {name} $end" for name in _TEXTS)
    for name, bits in _variables(lanes).items():
        yield f"$var wire {bits} {identifiers[name]} {name} $end"
    yield from ("$upscope $end", "$enddefinitions $end")
    bits, last = LANE_BITS[lanes], 0
    count = 128 // bits
    before = np.zeros((32, count), f"<u{bits // 8}")
    session.goto(selection.first)
    yield "#0"
    for number in range(32):  # what registers hold at first
        place = Place("v", number)
        before[number] = np.frombuffer(session.machine.read(place).to_bytes(16, "little"), before.dtype)
        yield from (f"b{int(value):b} {identifiers[f'v{number}_{lanes}{k}']}" for k, value in enumerate(before[number]))
        name = "sp" if number == 31 else f"x{number}"
        yield f"b{session.machine.read(Place('sp') if number == 31 else Place('x', number)):b} {identifiers[name]}"
    for recording, numbers in selection.recordings(session):
        lines: dict[int, list[str]] = {}
        for pc, instruction, own in each_instruction(recording, numbers):
            texts = [f"s{_word(text)} {identifiers[name]}" for name, text in
                     zip(_TEXTS, (instruction.text, session.source_of(pc)), strict=True)]  # fmt: skip
            texts.append(f"b{pc:b} {identifiers['pc']}")
            registers = registers_written(instruction)
            for at, first in zip(own.tolist(), recording.first_values[own].tolist(), strict=True):
                status = int(recording.status[at])
                found = [*texts, f"b{at + recording.start:b} {identifiers['number']}"]
                found += [f"b{status & 15:b} {identifiers['nzcv']}", f"{status >> 4 & 1}{identifiers['saturated']}"]
                for row, (kind, number) in enumerate(registers, first):
                    data = recording.values[row].tobytes()
                    if kind == "x":
                        name = "sp" if number == 31 else f"x{number}"
                        found.append(f"b{int.from_bytes(data, 'little'):b} {identifiers[name]}")
                        continue
                    values = np.frombuffer(data, before.dtype).tolist()
                    found += [f"b{value:b} {identifiers[f'v{number}_{lanes}{k}']}" for k, value in enumerate(values)]
                lines[at] = found
        for at in sorted(lines):
            last = at + recording.start + 1
            yield f"#{last}"
            yield from lines[at]
    yield f"#{last + 1}"


def gtkwave_save(lanes: str = "s") -> Iterator[str]:
    """Lines of a GTKWave save file (.gtkw): instruction and source, then the lanes as signed numbers.

    GTKWave knows a variable of several bits by its name with their range only.
    """
    ranged = {name: f"lanewise.{name}[{bits - 1}:0]" for name, bits in _variables(lanes).items()}
    yield from ("[timestart] 0", "@0", *(f"lanewise.{name}" for name in _TEXTS), "@22", ranged["pc"], ranged["nzcv"])
    yield from ("@420", *(name for key, name in ranged.items() if key[0] == "v"))


def surfer_commands(lanes: str = "s") -> Iterator[str]:
    """Lines of a command file for Surfer (-c FILE), which adds the same signals."""
    yield from (f"variable_add lanewise.{name}" for name in (*_TEXTS, "pc", "nzcv"))
    yield from (f"variable_add lanewise.{name}" for name in _variables(lanes) if name[0] == "v")


def _variables(lanes: str) -> dict[str, int]:
    """The variables that hold numbers, with their bits."""
    bits = LANE_BITS[lanes]
    general = {**{f"x{number}": 64 for number in range(31)}, "sp": 64}
    return {**_NUMBERS, **{f"v{n}_{lanes}{k}": bits for n, k in product(range(32), range(128 // bits))}, **general}


def _identifiers(lanes: str) -> dict[str, str]:
    names = [*_TEXTS, *_variables(lanes)]
    codes = ("".join(letters) for size in (1, 2) for letters in product(_LETTERS, repeat=size))
    return dict(zip(names, codes, strict=False))


def _word(text: str) -> str:
    """A text without blanks, which end one in a dump."""
    return "_".join(text.split()) or "-"
