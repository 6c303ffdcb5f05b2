"""Modules as terms of the solver: what is read, what is refused, what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from isa.evaluate.smt import Solver
from isa.lane import S8, U1, U8, Lane, select
from rtl_models.formal import yosys
from rtl_models.formal.smt2 import NotCombinational, output_terms
from rtl_models.formal.theorem import Fault, NotPlanted, Theorem, decided, outputs_of
from rtl_models.formal.yosys import Design, design_of, equations
from rtl_models.yosys import Refused
from sim.check.prove import Claim, input_lane

SECONDS = 60.0
PORTS = "input logic [Width-1:0] a_i, input logic clk_i, output logic [Width-1:0] result_o, output logic saturated_o"


def made(statements: str) -> Design:
    text = f"module made #(parameter int unsigned Width = 8) ({PORTS});\n{statements}\nendmodule\n"
    return Design("made", 8, {"made.sv": text})


def outputs(text: str) -> dict[str, object]:
    """The terms of such a module's outputs, its inputs being a and the lowest bit of a."""
    terms = Solver(time.monotonic() + SECONDS).terms
    a = terms.term(input_lane("a", S8))
    return output_terms(text, terms, {"a_i": a, "clk_i": terms.made("BV_EXTRACT", a, indices=[0, 0])})


def test_equations_of_such_a_module_become_terms(tmp_path: Path) -> None:
    terms = outputs(equations(made("assign saturated_o = clk_i; assign result_o = ~a_i;"), tmp_path))
    assert {name: str(term) for name, term in terms.items()} == {
        "result_o": "(bvnot ((_ extract 7 0) a))",
        "saturated_o": "(ite (= ((_ extract 0 0) ((_ extract 0 0) a)) #b1) #b1 #b0)",
    }


def swapped(a: Lane) -> Lane:
    """The halves of a byte exchanged."""
    return U8.wrap(a << 4) | (a >> 4)


SPELLED: dict[str, Callable[[Lane], Lane]] = {
    "a_i + 8'd77": lambda a: a + 77,
    "a_i - 8'd77": lambda a: a - 77,
    "a_i * 8'd77": lambda a: a * 77,
    "-a_i": lambda a: -a,
    "~a_i": lambda a: ~a,
    "a_i & {a_i[3:0], a_i[7:4]}": lambda a: a & swapped(a),
    "a_i | {a_i[3:0], a_i[7:4]}": lambda a: a | swapped(a),
    "a_i ^ {a_i[3:0], a_i[7:4]}": lambda a: a ^ swapped(a),
    "a_i ~^ {a_i[3:0], a_i[7:4]}": lambda a: ~(a ^ swapped(a)),
    "a_i << a_i[2:0]": lambda a: a << (a & 7),
    "a_i >> a_i[2:0]": lambda a: a >> (a & 7),
    "$signed(a_i) >>> a_i[2:0]": lambda a: S8.wrap(a) >> (a & 7),
    "{7'b0, a_i < 8'd200}": lambda a: a < 200,
    "{7'b0, a_i <= 8'd200}": lambda a: a < 201,
    "{7'b0, a_i > 8'd200}": lambda a: a > 200,
    "{7'b0, a_i >= 8'd200}": lambda a: a > 199,
    "{7'b0, $signed(a_i) < 8'sd77}": lambda a: S8.wrap(a) < 77,
    "{7'b0, $signed(a_i) <= 8'sd77}": lambda a: S8.wrap(a) < 78,
    "{7'b0, $signed(a_i) > 8'sd77}": lambda a: S8.wrap(a) > 77,
    "{7'b0, $signed(a_i) >= 8'sd77}": lambda a: S8.wrap(a) > 76,
    "{7'b0, a_i == 8'd77}": lambda a: a.equals(77),
    "{7'b0, a_i != 8'd77}": lambda a: a.equals(77).equals(0),
    "{7'b0, a_i[0] && !a_i[1]}": lambda a: (a & 3).equals(1),
    "{7'b0, a_i[0] || a_i[1]}": lambda a: (a & 3) > 0,
    "{8{a_i[0] ^ a_i[7]}}": lambda a: ((a & 1) ^ (a >> 7)) * 255,
    "{7'b0, a_i[0] ~^ a_i[7]}": lambda a: (a & 1).equals(a >> 7),
    "{7'b0, ^a_i[1:0]}": lambda a: (a & 1) ^ ((a >> 1) & 1),
    "{7'b0, &a_i}": lambda a: a.equals(255),
    "{7'b0, |a_i}": lambda a: a > 0,
    "{a_i[3:0], a_i[7:4]}": lambda a: swapped(a),
    "{a_i[0], 3'b101, a_i[6], a_i[2:1], 1'b1}": lambda a: (a & 1) << 7 | (a & 0x40) >> 3 | (a & 6) | 0x51,
    "a_i[7] ? a_i : 8'd7": lambda a: select(a > 127, a, 7),
}
"""Expressions of SystemVerilog, and the numbers that they are."""


@pytest.mark.parametrize("text", SPELLED)
def test_an_expression_of_systemverilog_is_the_number_it_is_meant_to_be(text: str, tmp_path: Path) -> None:
    claim = Claim(
        text,
        {"a_i": U8, "clk_i": U1, **outputs_of(U8)},
        left=lambda a, clock, result, saturated: {"value": result, "clock": saturated},
        right=lambda a, clock, result, saturated: {"value": U8.wrap(SPELLED[text](a)), "clock": clock},
    )
    design = made(f"assign saturated_o = clk_i; assign result_o = {text};")
    theorem = Theorem(claim, "made", 8, Fault("made.sv", "clk_i;", "1'b0;"))
    assert decided(theorem, equations(design, tmp_path), SECONDS).outcome == "proved"
    assert decided(theorem, equations(theorem.twin.planted(design), tmp_path), SECONDS).values["clk_i"] == 1


@pytest.mark.parametrize(
    "statements",
    [
        "assign saturated_o = 0; always_ff @(posedge clk_i) result_o <= a_i;",
        "assign saturated_o = a_i[Width]; assign result_o = a_i;",
        "logic bit_of_nothing; assign saturated_o = bit_of_nothing; assign result_o = a_i;",
        "assign result_o = a_i;",
        "assign saturated_o = 1'bx; assign result_o = a_i;",
    ],
    ids=["a register", "a bit beyond the end", "a wire without driver", "an output without driver", "an unknown"],
)
def test_what_no_input_determines_is_never_taken_for_a_value(statements: str, tmp_path: Path) -> None:
    with pytest.raises((Refused, NotCombinational)):
        outputs(equations(made(statements), tmp_path))


def test_a_combinational_loop_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        equations(made("assign saturated_o = 0; assign result_o = ~result_o & a_i;"), tmp_path)


def test_equations_are_made_again_only_for_another_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_of("add", 8)
    first = equations(design, tmp_path)
    monkeypatch.setattr(yosys, "_written", lambda _: "made again")
    changed = Fault("add.sv", "a_i + b_i", "a_i ^ b_i").planted(design)
    assert (equations(design, tmp_path), equations(changed, tmp_path)) == (first, "made again")


def test_a_module_brings_those_that_it_instantiates() -> None:
    assert sorted(design_of("rounding_divide_by_pot", 8).sources) == [
        "rounding_divide_by_pot.sv",
        "sqadd.sv",
        "srshl.sv",
    ]


@pytest.mark.parametrize(("module", "width"), [("sqadd", 1), ("sqxtn", 1), ("srshl", 128), ("sdot4", 30), ("add", 0)])
def test_an_illegal_width_is_refused_by_the_assertion_of_the_module(module: str, width: int, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=rf"{module}\.sv:\d+: ERROR: ?{module}: Width is the bits of"):
        equations(design_of(module, width), tmp_path)


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match="no lane module is called 'mystery': there are add, "):
        design_of("mystery", 8)


@pytest.mark.parametrize("text", ["no such text", "Width"])
def test_a_fault_needs_a_text_that_occurs_once(text: str) -> None:
    with pytest.raises(NotPlanted, match=r"times in add\.sv, not once"):
        Fault("add.sv", text, "").planted(design_of("add", 8))
