"""Theorems about the arithmetic of `core128`: what the SystemVerilog of a row computes is what instructions say.

A row has two.  Each lane of each result of its function equals the row's expression, for all registers, flags, loaded
bytes, immediates of its range, and all that its index can be.  And with the bits that choose as in some word, the row's
expression equals that of the instruction which `isa.decode` finds in the word.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from isa.decode import decode
from isa.evaluate.smt import Found
from isa.instruction import lanes_of
from isa.lane import Int, Lane, Load, Memory, Place, Read, Write, constant, minimum, rebuilt, walk
from rtl_models.cores.core128.rows import ADDRESS, IMMEDIATE, INDEX, CoreRow, with_bits
from rtl_models.cores.core128.units import ArithmeticUnit, ports_of, result_lanes, rows_text
from rtl_models.formal.claims import all_of
from rtl_models.formal.equations.written import Subject, SubjectSources
from rtl_models.formal.question import SolverQuestion
from sim.prove.claim import Finding, Sides, any_of, clamped, input_lane, prove_sides

MODULE: Final = "core128_rows"


class RowClaims:
    """The claims about a row, whose unit computes `row_<number>_o` in the module of `design_of_rows`."""

    def __init__(self, unit: ArithmeticUnit, number: int, row: CoreRow) -> None:
        self.unit, self.number, self.row = unit, number, row
        self._known: dict[Lane, Lane] = {}
        self._inputs: dict[str, Read] = {}
        self._given: list[Lane] = []

    def about_function(self) -> Iterator[Sides]:
        """That the function gives the row's expressions: one for each lane of each result, and QC."""
        for (at, bits), expected in self._expected(self.row.writes).items():
            name = f"row_{self.number}_o[{at}+:{bits}]"
            yield self._sides(name, input_lane(name, Int(bits, signed=False)), expected)

    def about_variant(self, index: int) -> Iterator[Sides]:
        """That the row's expressions at an index are those of the instruction in the word that has it.

        None of a row with a long immediate, whose expressions are those of the form.
        """
        if self.row.immediate is not None:
            return
        word = with_bits(self.row.word, self.row.index_bits, index)
        instruction = decode(word.to_bytes(4, "little"), ADDRESS)
        merged = self._expected(self.row.writes)
        chosen = Read(INDEX, 0, (1 << len(self.row.index_bits)) - 1)
        given = [self._on_ports(chosen).equals(index)] if INDEX in self.row.reads else []
        for place, expected in self._expected(instruction.writes).items():
            yield self._sides(str(place), merged[place], expected, *given)

    def _expected(self, writes: Sequence[Write]) -> dict[tuple[int, int], Lane]:
        """By the lowest bit in the results, and the bits, what is there."""
        results, at = self._results(writes), sum(self.unit.results.values())
        found, clamps = dict[tuple[int, int], Lane](), list[Lane]()
        for name, bits in self.unit.results.items():
            at -= bits
            elements, each = results.get(name, ([], 1))
            for k, element in enumerate(elements):
                on_ports = self._on_ports(element)
                clamps.append(clamped(on_ports))
                found[at + k * each, each] = Int(each, signed=False).wrap(on_ports)
            if elements and len(elements) * each < bits:
                found[at + len(elements) * each, bits - len(elements) * each] = constant(0)
            if name == "saturated_o":
                found[at, 1] = any_of(clamps)
        return found

    def _results(self, writes: Sequence[Write]) -> Mapping[str, tuple[list[Lane], int]]:
        if writes is self.row.writes:
            return result_lanes(self.row, self.unit.name, writes, self.row.address)
        addresses = [write.place.address for write in writes if isinstance(write.place, Memory)]
        addresses += [node.address for node in walk(lanes_of(writes)) if isinstance(node, Load)]
        return result_lanes(self.row, self.unit.name, writes, addresses[0] if addresses else None)

    def _sides(self, name: str, left: Lane, right: Lane, *given: Lane) -> Sides:
        holds = all_of((*self._given, *given))
        inputs = tuple({lane: None for lane in walk([left, right, holds]) if isinstance(lane, Read)})
        return Sides(inputs, {name: left}, {name: right}, holds)

    def _port(self, name: str, of: Int) -> Lane:
        return self._inputs.setdefault(name, input_lane(name, of))

    def _on_ports(self, lane: Lane) -> Lane:
        """The expression of what is on the ports of the module."""
        if lane not in self._known:
            if isinstance(lane, Load):
                self._known[lane] = self._port(f"loaded_i[0+:{8 * lane.size}]", Int(8 * lane.size, signed=False))
            elif isinstance(lane, Read):
                is_immediate = lane.place == IMMEDIATE
                self._known[lane] = self._immediate(lane) if is_immediate else self._register(lane.place)
            else:
                self._known[lane] = rebuilt(lane, [self._on_ports(arg) for arg in lane.args])
        return self._known[lane]

    def _register(self, place: Place) -> Lane:
        name = f"{ports_of(self.row)[place]}_i"
        if place.file == "v":
            return self._port(name, Int(128, signed=False))
        if place.file == "nzcv":
            return self._port(name, Int(4, signed=False))
        if place == INDEX:
            return self._port(f"{name}[0+:{len(self.row.index_bits)}]", Int(len(self.row.index_bits), signed=False))
        return self._port(name if place.file == "pc" else f"{name}[0+:64]", Int(64, signed=False))

    def _immediate(self, lane: Read) -> Lane:
        """A number of the range; the bits of the port above it are copies of its sign."""
        signed = lane.low < 0
        bits = lane.high.bit_length() + signed
        low = self._port(f"immediate_i[0+:{bits}]", Int(bits, signed=signed))
        if bits < 64:
            high = self._port(f"immediate_i[{bits}+:{64 - bits}]", Int(64 - bits, signed=signed))
            self._given.append(high.equals(low >> bits - 1 if signed else 0))
        if signed:
            return low
        self._given.append((constant(lane.high) < low).equals(0))
        return minimum(low, lane.high)


def design_of_rows(unit: ArithmeticUnit, rows: Sequence[tuple[int, CoreRow]]) -> SubjectSources:
    """The module that computes rows of a unit, each to a port of its own."""
    return SubjectSources(Subject(MODULE, ()), {f"{MODULE}.sv": rows_text(MODULE, unit, rows)})


def decided_row(claims: RowClaims, indices: Sequence[int], equations: str, seconds: float) -> Finding:
    """Whether the function is right, and the row at these indices, in so many seconds; `equations` are yosys's.

    Raises what `SolverQuestion` does.
    """
    started = time.monotonic()
    for sides in claims.about_function():
        question = SolverQuestion(sides, equations, started + seconds)
        answer = question.answer()
        finding = question.checked(answer) if isinstance(answer, Found) else question.without_example(answer)
        if finding.outcome != "proved":
            return finding
    for index in indices:
        for sides in claims.about_variant(index):
            finding = prove_sides(sides, seconds)
            if finding.outcome != "proved":
                return finding
    return Finding("proved", time.monotonic() - started)
