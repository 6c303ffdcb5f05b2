"""Which registers a piece of a loop takes its addresses from, so that made-up ones can be given to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from isa.instruction import Instruction
from isa.lane import Place

_ADDRESS = re.compile(r"\[(?P<base>x\d+|sp)(?:, (?P<index>[xw]\d+))?[^]]*\](?:!|(?P<post>, (?:(?P<step>x\d+)|#)))?")
_REGISTER = re.compile(r"\b(?:[xw]\d+|sp)\b")
_ADDEND_LAST = ("madd", "smaddl", "umaddl", "msub")
_EITHER = "csel"
_LOADS_ADDRESSES = ("ldr", "ldur", "ldp", "ldnp", "ldar")


class BaseRegisters:
    """The general registers that hold addresses when an iteration of a loop begins, found by following them back.

    No register is both a base and an offset.  `pointers` are the registers that the loop itself loads an address into,
    by the number of the instruction, each with the byte of the access that it begins at.  Of a sum the first register
    counts as the address, unless another one is used as such.
    """

    def __init__(self, body: Sequence[Instruction]) -> None:
        self._body = body
        self._addresses = [_ADDRESS.search(instruction.text) for instruction in body]
        self._direct = {_place(found["base"]) for found in self._addresses if found}
        self._seen: set[tuple[int, Place, bool]] = set()
        self._bases: dict[Place, None] = {}
        self._offsets: dict[Place, None] = {}
        self.pointers: dict[int, dict[Place, int]] = {}
        for number, found in enumerate(self._addresses):
            if found:
                self._follow(number, _place(found["base"]), True)
                self._follow_offset(number, found["index"])

    @property
    def bases(self) -> tuple[Place, ...]:
        """Those that hold an address."""
        return tuple(self._bases)

    @property
    def offsets(self) -> tuple[Place, ...]:
        """Those that are added to one."""
        return tuple(place for place in self._offsets if place not in self._bases)

    def _follow_offset(self, number: int, name: str | None) -> None:
        if name:
            self._follow(number, _place(name), False)

    def _follow(self, number: int, place: Place, is_address: bool) -> None:
        """Where the register that this instruction reads got its content: in this iteration, or in the one before."""
        if (number, place, is_address) in self._seen:
            return
        self._seen.add((number, place, is_address))
        writers = [k for k, instruction in enumerate(self._body) if place in instruction.places_written]
        earlier = [k for k in writers if k < number]
        if not earlier:
            (self._bases if is_address else self._offsets)[place] = None
        if not writers:
            return
        writer = (earlier or writers)[-1]
        instruction, found = self._body[writer], self._addresses[writer]
        mnemonic = instruction.form.mnemonic
        if found and (found[0].endswith("!") or found["post"]) and _place(found["base"]) == place:  # an updated base
            self._follow(writer, place, is_address)
            self._follow_offset(writer, found["step"])
        elif found:
            loaded, name = _REGISTER.findall(instruction.text[: found.start()]), f"x{place.index}"
            if is_address and mnemonic in _LOADS_ADDRESSES and name in loaded:
                self.pointers.setdefault(writer, {})[place] = 8 * loaded.index(name)
        else:
            sources = [_place(name) for name in _REGISTER.findall(instruction.text)[1:]]
            if mnemonic in _ADDEND_LAST:
                sources.reverse()
            for k, source in enumerate(sorted(sources, key=lambda source: source not in self._direct)):
                self._follow(writer, source, is_address and (k == 0 or mnemonic == _EITHER))


def _place(name: str) -> Place:
    return Place("sp") if name == "sp" else Place("x", int(name[1:]))
