"""What signals depend on: input ports and registers, as whole vectors by their names.

shift_q@1    depends on    shift_i, shift_q, accumulator_i, ready_i, valid_q, rst_ni    where its enable does
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import cast

from rtl_models.formal.equations.smt2 import REGISTER, Equations, Expression, parsed, plain
from rtl_models.formal.equations.unrolling import WireBits


@dataclass(frozen=True)
class WireVector:
    """Bits of the state that are one wire, the lowest first.

    `shown` is the wire of the sources that tells them: that itself, but where a reset acts at once the wire behind it.
    """

    wire: str
    shown: str
    bits: tuple[int, ...]


class Support:
    """What the signals of a module depend on; sets of bits of the state are numbers, one binary digit a bit."""

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._known: dict[str, int] = {}

    def over_time(self, signals: Iterable[WireBits]) -> Mapping[int, int]:
        """By edge the bits of the state that decide the signals: all before any edge, inputs alone after one."""
        reached: dict[int, int] = defaultdict(int)
        for signal in signals:
            reached[signal.edge] |= self._of(self._equations.wire(signal.wire))
        for edge in range(max(reached, default=0), 0, -1):
            before = [following for register, following in self._registers if register & reached[edge]]
            reached[edge - 1] |= reduce(or_, before, 0)
            reached[edge] &= ~reduce(or_, (register for register, _ in self._registers), 0)
        return reached

    @cached_property
    def vectors(self) -> list[WireVector]:
        """Every bit of the state: ports before registers before what nothing drives.

        Each bit is in one vector, but those of a register that is partly a wire: that is a vector too.
        """
        found, taken = [], 0
        inputs, registers = self._equations.inputs, self._equations.register_names
        preferred = sorted(
            self._equations.wires,
            key=lambda wire: (
                *(wire not in inputs, wire not in registers, wire.startswith("$"), wire.startswith(REGISTER)),
                *(wire.count("."), len(wire), wire),
            ),
        )
        for wire in preferred:
            bits = self._equations.bits_of(self._equations.wires[wire])
            new = mask(bits or []) & ~taken
            if bits and (new == mask(bits) or (new and wire.startswith(REGISTER))):
                found.append(WireVector(wire, self._shown(wire, bits), tuple(bits)))
                taken |= mask(bits)
        return found

    def _shown(self, wire: str, bits: list[int]) -> str:
        """Of a register that yosys named, the narrowest wire of the sources which is made of it and is as wide."""
        if not wire.startswith("$"):
            return wire
        widths, own = self._equations.wire_bits, mask(bits)
        made = [w for w, wide in widths.items() if wide == len(bits) and self._of(self._equations.wire(w)) & own == own]
        reached = {w: self._of(self._equations.wire(w)).bit_count() for w in made}
        return min(made, key=lambda w: (reached[w], not w.endswith("_q"), len(w), w), default=wire)

    @cached_property
    def _registers(self) -> list[tuple[int, int]]:
        """The bits of each register, and those on which depends what it becomes."""
        return [(mask(bits), self._of(following)) for following, bits in self._equations.registers]

    def _of(self, expression: Expression) -> int:
        if isinstance(expression, str):
            return 0
        head, *args = expression
        if isinstance(head, list) and args == ["state"]:
            return mask(range(int(cast(str, head[3])), int(cast(str, head[2])) + 1))
        if args == ["state"]:
            name = plain(head)
            if name not in self._known:
                self._known[name] = self._of(self._equations.functions[name])
            return self._known[name]
        return reduce(or_, map(self._of, args), 0)


@lru_cache(maxsize=4)
def support_in(text: str) -> Support:
    """Of a module, from its equations as yosys writes them."""
    return Support(parsed(text))


def mask(bits: Iterable[int]) -> int:
    """The set of these bits."""
    return reduce(or_, (1 << bit for bit in bits), 0)
