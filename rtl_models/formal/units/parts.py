"""Theorems about the parts of units, each a module of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from isa.lane import S32, S64, U1, U8, U32, Int, constant, select
from rtl_models.formal import arithmetic as a
from rtl_models.formal.claims import Signals, Specification, Statement, claim, on
from rtl_models.formal.equations.written import Subject, at_width
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.formal.units.float_pieces import add_scaled_byte, float_to_byte, fmla_byte
from rtl_models.formal.units.handshake import handshake_theorems
from rtl_models.formal.units.pieces import (
    bounded_sum,
    clamp_to_byte,
    multiply_high,
    multiply_low,
    output_stages,
    place_byte,
    rescale,
    scale_rounded,
    shift_rounded,
)
from rtl_models.formal.units.pipelines import at_level
from rtl_models.formal.units.registers import PipelinePiece, becomes, delay_line
from rtl_models.latencies import depths

WIDTHS = (8, 16, 32)
DEPTH = 9
"""Of the handshake that is proved on its own; the units have theirs proved with them."""


def part_theorems() -> Iterator[Theorem]:
    """All of them."""
    for width in WIDTHS:
        wide = _Wide(width)
        of_width = (
            ("rounding_doubling_high", wide.rounded_high, "<< (Width - 2)", "<< (Width - 3)"),
            ("multiply_tiles", wide.tiles, "a_low * b_low", "a_low * b_high"),
            ("round_halves", wide.rounded_halves, "halves_i[0]}", "1'b0}"),
        )
        for module, what, text, wrong in of_width:
            yield _part(module, at_width(module, width).parameters, what, Fault(f"{module}.sv", text, wrong))
    for deep in (False, True):
        yield from _pipelined(deep)
    for level in range(len(depths("rescale"))):
        yield from _scaling(level)
    line = delay_line("", [(U8, on("data_i", U8))], 3)
    yield _staged(Subject("delay_line", (("Width", 8), ("Depth", 3))), line, [("data_o", U8)])
    yield from handshake_theorems(Subject("valid_pipeline", (("Depth", DEPTH),)), "", DEPTH)


def _part(module: str, parameters: tuple[tuple[str, int], ...], what: Specification, fault: Fault) -> Theorem:
    """A module without registers is what a specification says."""
    subject = Subject(module, parameters)
    return Theorem(claim(f"{subject}: its outputs are what they should be", what), subject, fault)


class _Wide:
    """What the parts compute at a width."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._signed, self._unsigned = (Int(width, signed) for signed in (True, False))

    def rounded_high(self, read: Signals) -> Statement:
        """Also of numbers that no product is: there the two upper bits of the rounded one say what happens."""
        total = self._signed.wide.wrap(read("product_i", self._signed.wide) + (1 << self._width - 2))
        differ = (total >> 2 * self._width - 2).equals(0) | (total >> 2 * self._width - 2).equals(-1)
        saturated = differ.equals(0)
        high = select(saturated, self._signed.high, self._signed.field(total, self._width - 1))
        return {
            "result_o": (read("result_o", self._signed), high),
            "saturated_o": (read("saturated_o", U1), saturated),
        }

    def tiles(self, read: Signals) -> Statement:
        """The products of the halves."""
        half = self._width // 2
        high, low = Int(half, signed=True), Int(half, signed=False)
        x, y = (read(port, self._signed) for port in ("a_i", "b_i"))
        (a_high, a_low), (b_high, b_low) = ((high.field(n, half), low.field(n, 0)) for n in (x, y))
        return {
            "high_o": (read("high_o", self._signed), a_high * b_high),
            "high_low_o": (read("high_low_o", self._signed), a_high * b_low),
            "low_high_o": (read("low_high_o", self._signed), a_low * b_high),
            "low_o": (read("low_o", self._unsigned), a_low * b_low),
        }

    def rounded_halves(self, read: Signals) -> Statement:
        """Ties up."""
        exact = (read("halves_i", Int(self._width + 1, signed=True)) + 1) >> 1
        return {"result_o": (read("result_o", self._signed), self._signed.wrap(exact))}


def _pipelined(deep: bool) -> Iterator[Theorem]:
    """The parts that are stages of one lane."""
    value, multiplier, count = on("value_i", S32), on("multiplier_i", S32), on("shift_i", a.U5)
    settings = (on("offset_i", S32), on("minimum_i", U8), on("maximum_i", U8), on("signed_i", U1))
    deepness = (("Deep", int(deep)),)
    for product in (False, True):
        multiplied = multiply_high("", deep, value, multiplier, product)
        whole = multiplied.results[1] if product else lambda read: constant(0)
        both = PipelinePiece(multiplied.registers, (multiplied.results[0], whole))
        ports = (("result_o", S32), ("product_o", S64))
        yield _staged(Subject("multiply_high", (*deepness, ("Product", int(product)))), both, ports)
    yield _staged(Subject("clamp_to_byte", deepness), clamp_to_byte("", deep, value, settings[1:]), [("result_o", U8)])
    yield _staged(Subject("output_stages", deepness), output_stages("", deep, value, settings), [("result_o", U8)])
    yield _staged(Subject("bounded_sum", deepness), bounded_sum("", deep, value, settings), [("result_o", U8)])
    placed = place_byte("", deep, on("byte_i", U8), on("signed_i", U1), settings[0], on("left_shift_i", a.U5))
    yield _staged(Subject("place_byte", deepness), placed, [("result_o", S32)])
    divided = shift_rounded("", deep, value, count, on("rounding_i", a.U2))
    yield _staged(Subject("shift_rounded", deepness), divided, [("result_o", S32)])
    low = multiply_low("", deep, on("a_i", U32), on("b_i", U32))
    yield _staged(Subject("multiply_low", (("Width", 32), *deepness)), low, [("result_o", U32)])
    scaled_byte = (on("accumulator_i", U32), on("byte_i", U8), on("factor_i", U32))
    yield _staged(Subject("fmla_byte", deepness), fmla_byte("", deep, *scaled_byte), [("result_o", U32)])
    twice = add_scaled_byte("", deep, *scaled_byte, on("unfused_i", U1))
    yield _staged(Subject("add_scaled_byte", deepness), twice, [("result_o", U32)])
    byte = float_to_byte("", deep, on("value_i", U32), on("ties_away_i", U1))
    yield _staged(Subject("float_to_byte", deepness), byte, [("result_o", U8)])


def _scaling(level: int) -> Iterator[Theorem]:
    """Those that are a multiplier and what shifts behind it."""
    value, multiplier, result = on("value_i", S32), on("multiplier_i", S32), [("result_o", S32)]
    scaled = rescale("", level, value, multiplier, on("shift_i", a.U5))
    yield _staged(Subject("rescale", (at_level("rescale", level),)), scaled, result)
    shifts = on("left_i", a.U5), on("right_i", a.U5)
    scaled = scale_rounded("", level, (value, multiplier), shifts, on("rounding_i", a.U2))
    yield _staged(Subject("scale_rounded", (at_level("scale_rounded", level),)), scaled, result)


def _staged(subject: Subject, piece: PipelinePiece, ports: Iterable[tuple[str, Int]]) -> Theorem:
    """A part with an enable of its own: its registers, all at once, and its results on these ports."""
    registers = [replace(register, enable=on("enable_i", U1)) for register in piece.registers]

    def specification(read: Signals) -> Statement:
        results = zip(ports, piece.results, strict=True)
        outputs = {port: (read(port, kind), value(read)) for (port, kind), value in results}
        return {**becomes(registers)(read), **outputs}

    name = f"{subject}: its registers become what they should, or wait"
    return Theorem(claim(name, specification), subject, registers[-1].fault)
