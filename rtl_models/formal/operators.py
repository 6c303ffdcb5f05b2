"""Theorems about the operators: against the isa semantics, and what else is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.lane import S8, S16, S32, U1, Int, Lane, Read, constant, rebuilt
from rtl_models.formal.equations.written import at_width
from rtl_models.formal.false_claims import FAULTS
from rtl_models.formal.theorem import Fault, Lanes, Theorem
from rtl_models.operators import OPERATORS, Operator
from sim.prove import conventions_as_lanes as convention
from sim.prove.claim import Claim, Range, clamped

Specification = Callable[..., Lanes]
"""What the outputs that it names are said to be, from the lanes on the input ports."""
Types = Mapping[str, Int | Range]
_ROUNDING = "rounding_doubling_high.sv"


def outputs_of(result: Int) -> dict[str, Int | Range]:
    """The outputs that every operator has, as inputs of a claim."""
    return {"result_o": result, "saturated_o": U1}


def _claim(name: str, inputs: Types, result: Int, specification: Specification) -> Claim:
    """That the outputs which the specification names are what it says."""
    outputs = outputs_of(result)

    def right(*lanes: Lane) -> Lanes:
        return specification(*lanes[: len(inputs)])

    def left(*lanes: Lane) -> Lanes:
        given = dict(zip(outputs, lanes[len(inputs) :], strict=True))
        return {name: given[name] for name in right(*lanes)}

    return Claim(name, {**inputs, **outputs}, left, right)


def _operator(operator: Operator, width: int) -> Theorem:
    """The module computes the instruction's lane, and its saturation output is what that adds to FPSR.QC."""

    def specification(*lanes: Lane) -> Lanes:
        result = _on_ports(operator.expression(width), lanes, {})
        return {"result_o": result, "saturated_o": clamped(result)}

    inputs: Types = {operand.port: operand.type_of(width) for operand in operator.operands}
    claim = _claim(f"{operator.name} at {width} bits", inputs, operator.result_of(width), specification)
    return Theorem(claim, at_width(operator.name, width), FAULTS[operator.name])


def _on_ports(lane: Lane, ports: tuple[Lane, ...], known: dict[Lane, Lane]) -> Lane:
    """The expression with the lane on port number k in the place of register v<k>."""
    if isinstance(lane, Read):
        assert isinstance(lane.place.index, int)
        return ports[lane.place.index]
    if lane not in known:
        known[lane] = rebuilt(lane, [_on_ports(arg, ports, known) for arg in lane.args])
    return known[lane]


def _ties_away(width: int) -> Theorem:
    """The fix-up makes of a rounding shift with ties up a division with ties away from zero."""
    to, module = Int(width, signed=True), "rounding_divide_by_pot"

    def specification(a: Lane, n: Lane) -> Lanes:
        return {"result_o": convention.ties_away(a, n)}

    inputs: Types = {"a_i": to, "shift_i": Range(0, width - 1)}
    claim = _claim(f"{module} at {width} bits has ties away from zero", inputs, to, specification)
    return Theorem(claim, at_width(module, width), FAULTS[module])


def _multiplied(to: Int, name: str, specification: Specification, fault: Fault) -> Theorem:
    claim = _claim(f"sqrdmulh at {to.bits} bits {name}", {"a_i": to, "b_i": to}, to, specification)
    return Theorem(claim, at_width("sqrdmulh", to.bits), fault)


def _as_gemmlowp() -> Theorem:
    def specification(a: Lane, b: Lane) -> Lanes:
        return {"result_o": convention.doubling_high_nudged(a, b)}

    fault = Fault(_ROUNDING, "<< (Width - 2)", "<< (Width - 3)")
    return _multiplied(S32, "is gemmlowp's scalar code", specification, fault)


def _saturates_at_one_pair(to: Int) -> Theorem:
    """Stated without the product that the semantics have, which at 32 bits takes the solver half a minute."""

    def specification(a: Lane, b: Lane) -> Lanes:
        return {"saturated_o": a.equals(to.low) & b.equals(to.low)}

    fault = Fault(_ROUNDING, "rounded[2*Width-1] != rounded[2*Width-2]", "1'b0")
    return _multiplied(to, "saturates for the lowest number times itself alone", specification, fault)


def _never_lowest(to: Int) -> Theorem:
    """This claim is about the output alone."""
    what = "result_o is the lowest number"

    def is_lowest(_a: Lane, _b: Lane, result: Lane, _saturated: Lane) -> Lanes:
        return {what: result.equals(to.low)}

    def never(*_: Lane) -> Lanes:
        return {what: constant(0)}

    inputs: Types = {"a_i": to, "b_i": to, **outputs_of(to)}
    claim = Claim(f"sqrdmulh at {to.bits} bits never gives the lowest number", inputs, is_lowest, never)
    lowest_instead = Fault(_ROUNDING, "{1'b0, {(Width-1){1'b1}}}", "{1'b1, {(Width-1){1'b0}}}")
    return Theorem(claim, at_width("sqrdmulh", to.bits), lowest_instead)


def operator_theorems() -> list[Theorem]:
    """The operators by width, then what else is known."""
    return [
        *(_operator(operator, width) for operator in OPERATORS.values() for width in operator.widths),
        *(_ties_away(width) for width in (8, 16, 32, 64)),
        _as_gemmlowp(),
        *(_never_lowest(to) for to in (S8, S16, S32)),
        *(_saturates_at_one_pair(to) for to in (S8, S16)),
    ]
