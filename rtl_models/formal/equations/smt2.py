"""Equations that yosys wrote, read: what each wire is, and what each register becomes, as functions of the state.

The state is one vector of bits: those of the input ports, of the registers, and of what nothing drives, in some order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, cast

from isa.errors import LanewiseError

Expression = str | list["Expression"]
"""An S-expression."""

_TOKEN = re.compile(r"\|[^|]*\||[()]|[^\s()|;]+|;[^\n]*")
_PORT = re.compile(r"^; yosys-smt2-(input|output) (\S+) (\d+)$", re.MULTILINE)
_STATE = re.compile(r"^\(define-sort \|\S+_s\| \(\) \(_ BitVec (\d+)\)\)$", re.MULTILINE)
_REGISTER = re.compile(r"next_state\)\) ; \S+ \\?(\S+)(?: \[[\d:]+\])?$", re.MULTILINE)
_NAMED = re.compile(r"^; yosys-smt2-wire (\S+) (\d+)$", re.MULTILINE)
_UNKNOWN = re.compile(r"^; yosys-smt2-anyconst (\S+#(\d+)) ", re.MULTILINE)
_WIRE: Final = "_n "
"""What stands between the names of the module and of a wire in the name of the wire's function."""

REGISTER: Final = "$register"
"""What the names of registers begin with that are no wires of the sources."""


class UnreadableEquations(LanewiseError):
    """Equations with something for which there is no term."""


class NoSuchSignal(LanewiseError):
    """A theorem speaks of a wire that the module does not have, or not with so many bits."""


@dataclass(frozen=True)
class Equations:
    """What `write_smt2 -stbv` says of one flat module.

    `functions` are the bodies of functions of the state, by name without bars.  `transition` pairs what registers
    become, as a function of the state, with those registers.
    """

    text: str
    functions: Mapping[str, Expression]
    transition: tuple[tuple[Expression, Expression], ...]

    @cached_property
    def inputs(self) -> dict[str, int]:
        """The bits of each input port."""
        return self._ports("input")

    @cached_property
    def outputs(self) -> dict[str, int]:
        """The bits of each output port."""
        return self._ports("output")

    def _ports(self, direction: str) -> dict[str, int]:
        return {name: int(bits) for kind, name, bits in _PORT.findall(self.text) if kind == direction}

    @cached_property
    def state_bits(self) -> int:
        """The bits of the state."""
        (bits,) = _STATE.findall(self.text)
        return int(bits)

    @cached_property
    def register_names(self) -> frozenset[str]:
        """The wires on which registers are; where a reset acts at once, a name that yosys made up."""
        return frozenset(_REGISTER.findall(self.text))

    @cached_property
    def registers(self) -> list[tuple[Expression, list[int]]]:
        """What each register becomes, and the bits of the state that it is, the lowest first.

        Raises UnreadableEquations.
        """
        found = []
        for following, register in self.transition:
            bits = self.bits_of(register)
            if bits is None:
                raise UnreadableEquations("the equations have a register that is no part of the state")
            found.append((following, bits))
        return found

    @cached_property
    def wires(self) -> Mapping[str, Expression]:
        """The function of each wire that has a name, such as `u_shift.data_q`.

        `$unknown7` is what nothing drives, `$register3` a register, which a fault may have parted from its wire.
        """
        registers = {f"{REGISTER}{number}": register for number, (_, register) in enumerate(self.transition)}
        unknown = {f"$unknown{number}": self.functions[name] for name, number in _UNKNOWN.findall(self.text)}
        named = {name.split(_WIRE, 1)[1]: body for name, body in self.functions.items() if _WIRE in name}
        return named | unknown | registers

    @cached_property
    def wire_bits(self) -> dict[str, int]:
        """The bits of each wire that has a name in the sources."""
        return {name: int(bits) for name, bits in _NAMED.findall(self.text)}

    def wire(self, name: str) -> Expression:
        """The function of a wire.  Raises NoSuchSignal."""
        if name not in self.wires:
            raise NoSuchSignal(f"the module has no wire {name}")
        return self.wires[name]

    def bits_of(self, expression: Expression) -> list[int] | None:
        """The bits of the state that an expression is made up of, the lowest first; None where it is computed."""
        if isinstance(expression, str):
            return None
        head, *args = expression
        if isinstance(head, list):
            low, high = int(cast(str, head[3])), int(cast(str, head[2]))
            whole = list(range(self.state_bits)) if args[0] == _STATE_NAME else self.bits_of(args[0])
            return None if whole is None else whole[low : high + 1]
        if head == "concat":
            parts = [self.bits_of(arg) for arg in reversed(args)]
            return None if None in parts else [bit for part in parts if part is not None for bit in part]
        if (head == "=" and args[1] == "#b1") or (head == "ite" and args[1:] == _BIT):
            return self.bits_of(args[0])  # a conversion between one bit and a truth value
        body = self.functions.get(plain(head))
        return None if body is None else self.bits_of(body)


_STATE_NAME: Final = "state"
_BIT: Final = ["#b1", "#b0"]


@lru_cache(maxsize=4)  # of a large module's they are 150 MB; to read them again takes less than a second
def parsed(text: str) -> Equations:
    """The equations in a text of `write_smt2 -stbv`."""
    tokens = (token for token in _TOKEN.findall(text) if not token.startswith(";"))
    defined = [e for e in cast(Iterator[list[Expression]], _nested(tokens)) if e[0] == "define-fun"]
    functions = {plain(cast(str, name)): body for _, name, state, _, body in defined if len(state) == 1}
    # the function of two states equates (next of the state) with (register of the next state)
    (transition,) = (body for _, name, _, _, body in defined if plain(cast(str, name)).endswith("_t"))
    parts = [] if isinstance(transition, str) else transition[1:] if transition[0] == "and" else [transition]
    pairs = ((following, _in_state(register)) for _, following, register in cast(list[list[Expression]], parts))
    return Equations(text, functions, tuple(pairs))


def _in_state(register: Expression) -> Expression:
    """A register of the next state as one of the state: where it has no wire it is read as any wire is."""
    if isinstance(register, str):
        return _STATE_NAME if register == "next_state" else register
    return [_in_state(part) for part in register]


def plain(name: Expression) -> str:
    """The name of a function without its bars; "" for what is no name."""
    return name.strip("|") if isinstance(name, str) else ""


def _nested(tokens: Iterator[str]) -> Iterator[Expression]:
    """Expressions up to the closing parenthesis, or to the end."""
    for token in tokens:
        if token == ")":
            return
        yield list(_nested(tokens)) if token == "(" else token
