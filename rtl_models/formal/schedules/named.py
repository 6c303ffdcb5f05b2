"""Cut points that a user names: wires of a module, and what they are of its ports.

    [[cut]]
    wire = "u_multiplier.row[1].value"
    name = "row1"
    is = "s32(a_i) * (b_i[1] + b_i[2] - 2 * b_i[3])"

    [[cut]]
    wire = "product"
    is = "s32(a_i) * s32(b_i)"
    by = "row0 + (row1 << 2)"

A wire is proved to be what its text says, in the order of the file, from the numbers that were named before.  Where a
product is put together in another way than a solver finds, `by` says in which: that it is the same number is compared
as polynomials of bits, and the wire is proved to be that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from isa.errors import LanewiseError
from isa.lane import Int, Lane, Read, constant, rebuilt
from rtl_models.formal.equations.unrolling import WireBits
from rtl_models.formal.schedules.polynomial import same_number
from sim.prove.claim import Range, input_lane
from sim.toml import read_toml

_TYPE: Final = re.compile(r"([su])([1-9]\d{0,2})")
_MOST_SHIFT: Final = 256
_MOST_BITS: Final = 4096
"""Of a number of which a part is taken."""


class MalformedCuts(LanewiseError):
    """A file of cut points that cannot be used: one sentence."""


@dataclass(frozen=True, eq=False)
class NamedCut:
    """A wire, what is asked of it in numbers that are named before, and what it is of the ports.

    `leaf` stands for that where it is known; `kinds` are the types of the ports, by name.
    """

    wire: str
    asked: Lane
    whole: Lane
    leaf: Read
    kinds: Mapping[str, Int]


def read_cuts(file: Path, ports: Mapping[str, int]) -> list[NamedCut]:
    """The cut points of a file, for a module with input ports of so many bits.  Raises MalformedCuts."""
    return _Reader(file, ports).cuts(read_toml(file, "the cut points in", MalformedCuts))


class _Reader:
    """The cuts so far, by name; a port is read as all of its bits, whatever else a theorem reads it as."""

    def __init__(self, file: Path, ports: Mapping[str, int]) -> None:
        self._file = file
        self._ports = {port: str(WireBits(port, 0, bits)) for port, bits in ports.items()}
        self._kinds = {self._ports[port]: Int(bits, signed=False) for port, bits in ports.items()}
        self._cuts: dict[str, NamedCut] = {}
        self._of_leaves: dict[str, NamedCut] = {}

    def cuts(self, content: Mapping[str, object]) -> list[NamedCut]:
        """All of them."""
        tables = content.get("cut")
        if list(content) != ["cut"] or not isinstance(tables, list) or not tables:
            self._refuse("it has tables [[cut]] and nothing else")
        for number, table in enumerate(tables, 1):
            self._add(f"cut {number}", table)
        return list(self._cuts.values())

    def _add(self, which: str, table: object) -> None:
        if not isinstance(table, dict) or not {"wire", "is"} <= table.keys() <= {"wire", "is", "by", "name"}:
            self._refuse(f"{which} has wire and is, and may have by and name")
        if wrong := [key for key, value in table.items() if not isinstance(value, str)]:
            self._refuse(f"{which}: {wrong[0]} is {table[wrong[0]]!r}: give a text")
        name = str(table.get("name", table["wire"]))
        if name in self._cuts or name in self._ports:
            self._refuse(f"{which}: there is something called {name!r} already: give another name")
        given = self._lane(which, table["is"])
        asked = self._lane(which, table["by"]) if "by" in table else given
        whole = self._whole(given)
        if "by" in table and not same_number(self._whole(asked), whole):
            self._refuse(f"{which}: {table['by']} is not {table['is']}, as polynomials of bits")
        # no signal is called so: one of the same name as a port's would be taken for what is on that
        leaf = input_lane(f"cut {name}", Range(whole.low, whole.high))
        cut = NamedCut(table["wire"], asked, whole, leaf, self._kinds)
        self._cuts[name] = self._of_leaves[leaf.place.file] = cut

    def _whole(self, lane: Lane) -> Lane:
        """In terms of ports alone."""
        if isinstance(lane, Read):
            cut = self._of_leaves.get(lane.place.file)
            return lane if cut is None else cut.whole
        return rebuilt(lane, [self._whole(arg) for arg in lane.args]) if lane.args else lane

    def _lane(self, which: str, text: str) -> Lane:
        try:
            return self._made(which, ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._refuse(f"{which}: {text!r} is no expression")

    def _made(self, which: str, node: ast.expr) -> Lane:
        """+ - * of numbers, << of a number by a count, parts of a number, numbers read as s8, u16 and the like."""
        match node:
            case ast.Constant(int(value)):
                return constant(value)
            case ast.Name(name):
                return self._named(which, name)
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() as operator, right):
                a, b = self._made(which, left), self._made(which, right)
                return a + b if isinstance(operator, ast.Add) else a - b if isinstance(operator, ast.Sub) else a * b
            case ast.BinOp(left, ast.LShift(), ast.Constant(int(count))) if 0 <= count <= _MOST_SHIFT:
                return self._made(which, left) << count
            case ast.UnaryOp(ast.USub(), operand):
                return constant(0) - self._made(which, operand)
            case ast.Subscript(value, ast.Constant(int(bit))):
                return self._part(self._made(which, value), bit, bit, which)
            case ast.Subscript(value, ast.Slice(ast.Constant(int(high)), ast.Constant(int(low)), None)):
                return self._part(self._made(which, value), high, low, which)
            case ast.Call(ast.Name(kind), [operand], []) if found := _TYPE.fullmatch(kind):
                return Int(int(found[2]), found[1] == "s").wrap(self._made(which, operand))
            case _:
                text = ast.unparse(node)
                what = "none of +, -, *, << by a number, x[high:low], s8(x), u8(x)"
                raise MalformedCuts(f"{self._file}: {which}: {text} is {what}")

    def _named(self, which: str, name: str) -> Lane:
        if name in self._cuts:
            return self._cuts[name].leaf
        if name not in self._ports:
            self._refuse(f"{which}: {name} is neither an input port nor a cut before: {', '.join(self._ports)}")
        return input_lane(self._ports[name], self._kinds[self._ports[name]])

    def _part(self, lane: Lane, high: int, low: int, which: str) -> Lane:
        if not 0 <= low <= high < _MOST_BITS:
            self._refuse(f"{which}: there are no bits [{high}:{low}]")
        return Int(high - low + 1, signed=False).field(lane, low)

    def _refuse(self, what: str) -> NoReturn:
        raise MalformedCuts(f"{self._file}: {what}")
