"""Modules as terms of the solver: what is read, what is refused, what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from isa.evaluate.exact import Evaluation
from isa.evaluate.smt import Solver
from isa.lane import S8, U1, U8, Int, Lane, constant, select
from rtl_models.formal.claims import Signals, Specification, Statement, claim
from rtl_models.formal.equations import written as yosys
from rtl_models.formal.equations.replay import Replay, placed
from rtl_models.formal.equations.smt2 import NoSuchSignal, parsed
from rtl_models.formal.equations.support import Support, mask, support_in
from rtl_models.formal.equations.unrolling import Unrolled, WireBits
from rtl_models.formal.equations.written import SubjectSources, at_width, derive_equations, design_of
from rtl_models.formal.operators import outputs_of
from rtl_models.formal.theorem import Fault, NotPlanted, Theorem, decided
from rtl_models.mutation.netlist import Netlist
from rtl_models.tools.yosys import Refused
from sim.prove.claim import Claim, ClaimInputs, input_lane

pytestmark = pytest.mark.rtl
SECONDS = 600.0
PORTS = "input logic [Width-1:0] a_i, input logic clk_i, output logic [Width-1:0] result_o, output logic saturated_o"


def made(statements: str) -> SubjectSources:
    text = f"module made #(parameter int unsigned Width = 8) ({PORTS});\n{statements}\nendmodule\n"
    return SubjectSources(at_width("made", 8), {"made.sv": text})


def outputs(text: str) -> dict[str, object]:
    """The terms of such a module's outputs, its inputs being a and the lowest bit of a."""
    terms = Solver(time.monotonic() + SECONDS).terms
    a = terms.term(input_lane("a", S8))
    given = {WireBits("a_i"): a, WireBits("clk_i"): terms.made("BV_EXTRACT", a, indices=[0, 0])}
    unrolled = Unrolled(terms, parsed(text), given)
    return {name: unrolled.term(WireBits(name)) for name in ("result_o", "saturated_o")}


def test_equations_of_such_a_module_become_terms(tmp_path: Path) -> None:
    terms = outputs(derive_equations(made("assign saturated_o = clk_i; assign result_o = ~a_i;"), tmp_path))
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
    "a_i & 8'({20000{1'b1}} >> a_i[2:0])": lambda a: a,  # a constant of more digits than Python writes
}
"""Expressions of SystemVerilog, and the numbers that they are."""


@pytest.fixture(scope="module")
def kept_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where equations are kept that more than one test asks for."""
    return tmp_path_factory.mktemp("equations")


@pytest.mark.parametrize("text", SPELLED)
def test_an_expression_of_systemverilog_is_the_number_it_is_meant_to_be(text: str, kept_in: Path) -> None:
    spelled = Claim(
        text,
        {"a_i": U8, "clk_i": U1, **outputs_of(U8)},
        left=lambda a, clock, result, saturated: {"value": result, "clock": saturated},
        right=lambda a, clock, result, saturated: {"value": U8.wrap(SPELLED[text](a)), "clock": clock},
    )
    design = made(f"assign saturated_o = clk_i; assign result_o = {text};")
    theorem = Theorem(spelled, at_width("made", 8), Fault("made.sv", "clk_i;", "1'b0;"))
    assert decided(theorem, derive_equations(design, kept_in), SECONDS).outcome == "proved"
    assert decided(theorem, derive_equations(theorem.fault.planted(design), kept_in), SECONDS).values["clk_i"] == 1


@pytest.mark.parametrize("text", SPELLED)
def test_equations_played_on_numbers_give_the_number_that_an_expression_is(text: str, kept_in: Path) -> None:
    found = parsed(derive_equations(made(f"assign saturated_o = clk_i; assign result_o = {text};"), kept_in))
    (bits,) = (vector.bits for vector in Support(found).vectors if vector.shown == "a_i")
    tried = [0, 1, 7, 76, 77, 78, 127, 128, 199, 200, 201, 205, 254, 255]
    got = [Replay(found, {0: placed(0, bits, a)}).value(WireBits("result_o")) for a in tried]
    assert got == [Evaluation(ClaimInputs({})).value(U8.wrap(SPELLED[text](constant(a)))) for a in tried]


def test_what_is_kept_by_a_reset_depends_on_the_reset_and_is_shown_as_the_wire_behind_it(tmp_path: Path) -> None:
    text = derive_equations(made(kept_under(" or posedge a_i[7]) if (a_i[7]) kept_q <= 0;")), tmp_path)
    support = Support(parsed(text))
    reached = support.over_time([WireBits("result_o", edge=1)])
    assert {edge: shown_in(support, bits) for edge, bits in reached.items()} == {0: {"a_i", "kept_q"}, 1: {"a_i"}}


def shown_in(support: Support, bits: int) -> set[str]:
    return {vector.shown for vector in support.vectors if mask(vector.bits) & bits}


def test_an_answer_that_cannot_be_played_again_is_no_counter_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replay, "value", lambda *_: 0)
    assert asked("assign saturated_o = clk_i; assign result_o = a_i | 1;", is_zero, tmp_path) == "unknown"


def asked(statements: str, specification: Specification, cache: Path) -> str:
    """What is found of a claim about such a module."""
    theorem = Theorem(claim("asked", specification), at_width("made", 8), Fault("made.sv", "", ""))
    return decided(theorem, derive_equations(made(statements), cache), SECONDS).outcome


def is_zero(read: Signals) -> Statement:
    return {"both": (read("result_o", U8) + read("saturated_o", U1), constant(0))}


@pytest.mark.parametrize(
    "statements",
    [
        "assign saturated_o = 0; always_ff @(posedge clk_i) result_o <= 0;",
        "assign saturated_o = a_i[Width]; assign result_o = 0;",
        "logic bit_of_nothing; assign saturated_o = bit_of_nothing; assign result_o = 0;",
        "assign result_o = 0;",
        "assign saturated_o = 1'bx; assign result_o = 0;",
        "logic zeros [3]; assign zeros = '{0, 0, 0}; assign saturated_o = zeros[a_i[1:0]]; assign result_o = 0;",
    ],
    ids=[
        "a register",
        "a bit beyond the end",
        "a wire without driver",
        "an output without driver",
        "an unknown",
        "a word",
    ],
)
def test_what_no_input_determines_is_never_taken_for_a_value(statements: str, tmp_path: Path) -> None:
    try:
        found = asked(statements, is_zero, tmp_path)
    except Refused:
        found = "refused"
    assert found in ("counter-example", "refused")


def kept_under(reset: str) -> str:
    """A byte that is taken where the lowest bit of a is 1, with a reset."""
    return (
        f"assign saturated_o = clk_i; logic [7:0] kept_q; assign result_o = kept_q; always_ff @(posedge clk_i{reset}"
        " else if (a_i[0]) kept_q <= a_i;"
    )


def taken(read: Signals) -> Statement:
    a = read("a_i", U8)
    return {"kept": (read.after(1)("result_o", U8), select(a & 1, a, read("result_o", U8)))}


def test_a_register_is_what_it_was_where_it_is_not_enabled(tmp_path: Path) -> None:
    statements = kept_under(") if (1'b0) kept_q <= 0;")
    assert asked(statements, taken, tmp_path) == "proved"


def test_a_register_whose_wire_a_mutant_cuts_is_read_where_a_counter_example_is_played_again(tmp_path: Path) -> None:
    """The wire is of two registers, and has another bit than the one, which then has no name of the sources."""
    halves = (
        "assign saturated_o = clk_i; logic [7:0] kept_q; assign result_o = kept_q;"
        "always_ff @(posedge clk_i) if (a_i[0]) kept_q[3:0] <= a_i[3:0];"
        "always_ff @(posedge clk_i) if (a_i[0]) kept_q[7:4] <= a_i[7:4];"
    )
    netlist = Netlist(made(halves), tmp_path)
    theorem = Theorem(claim("asked", taken), at_width("made", 8), Fault("made.sv", "", ""))
    cut = next(one for one in netlist.mutants(500, 1) if "port Q" in one.words and "always" in one.words)
    text = netlist.equations_with(cut)
    assert any(vector.shown.startswith("$register") for vector in support_in(text).vectors)
    assert decided(theorem, text, SECONDS).outcome == "counter-example"


def test_a_register_from_any_state_is_not_one_from_zero(tmp_path: Path) -> None:
    statements = kept_under(") if (1'b0) kept_q <= 0;")
    assert asked(statements, lambda read: {"kept": (read("result_o", U8), constant(0))}, tmp_path) == "counter-example"


def test_a_reset_that_acts_at_once_is_seen_at_once_and_later(tmp_path: Path) -> None:
    """Bit 7 of a is the reset."""

    def specification(read: Signals) -> Statement:
        resets, later = read("a_i", U8) > 127, read.after(1)
        both = select(resets, read("result_o", U8) + later("result_o", U8), 0)
        return {"in reset": (both, constant(0))}

    statements = kept_under(" or posedge a_i[7]) if (a_i[7]) kept_q <= 0;")
    assert asked(statements, specification, tmp_path) == "proved"
    assert asked(statements, taken, tmp_path) == "counter-example"


@pytest.mark.parametrize("edge", ["negedge clk_i", "posedge a_i[0]", "posedge not_clock"])
def test_a_register_that_moves_otherwise_than_with_the_clock_is_unknown(edge: str, tmp_path: Path) -> None:
    """Equations have one clock: written as they are, all registers would move with it."""
    clocked = "logic not_clock; assign not_clock = ~clk_i; assign saturated_o = clk_i; always_ff @({}) result_o <= a_i;"

    def specification(read: Signals) -> Statement:
        return {"next": (read.after(1)("result_o", U8), read("a_i", U8))}

    assert asked(clocked.format("posedge clk_i"), specification, tmp_path) == "proved"
    assert asked(clocked.format(edge), specification, tmp_path) == "counter-example"


def test_two_edges_are_two_steps(tmp_path: Path) -> None:
    statements = "assign saturated_o = clk_i; always_ff @(posedge clk_i) result_o <= result_o + a_i;"

    def specification(read: Signals) -> Statement:
        first, second = read("a_i", U8), read.after(1)("a_i", U8)
        return {"sum": (read.after(2)("result_o", U8), U8.wrap(read("result_o", U8) + first + second))}

    assert asked(statements, specification, tmp_path) == "proved"


def test_a_signal_can_be_some_bits_of_a_wire(tmp_path: Path) -> None:
    statements = "assign saturated_o = clk_i; assign result_o = {a_i[3:0], a_i[7:4]};"

    def specification(read: Signals) -> Statement:
        return {"nibble": (read("result_o", Int(4, signed=False), 4), read("a_i", U8) & 15)}

    assert asked(statements, specification, tmp_path) == "proved"


@pytest.mark.parametrize(("wire", "kind"), [("mystery", U8), ("result_o", Int(9, signed=False))])
def test_a_wire_that_the_module_does_not_have_so_wide_is_refused(wire: str, kind: Int, tmp_path: Path) -> None:
    with pytest.raises(NoSuchSignal, match=wire):
        asked(
            "assign saturated_o = clk_i; assign result_o = a_i + 1;",
            lambda read: {"it": (read(wire, kind), constant(0))},
            tmp_path,
        )


def test_a_combinational_loop_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        derive_equations(made("assign saturated_o = 0; assign result_o = ~result_o & a_i;"), tmp_path)


def test_a_loop_through_a_memory_is_refused(tmp_path: Path) -> None:
    written = "logic [7:0] kept [3]; always_ff @(posedge clk_i) kept[a_i[1:0]] <= a_i;"
    derive_equations(made(f"{written} assign saturated_o = 0; assign result_o = kept[a_i[3:2]];"), tmp_path)
    with pytest.raises(Refused, match="found logic loop"):
        derive_equations(made(f"{written} assign saturated_o = 0; assign result_o = kept[result_o[1:0]];"), tmp_path)


def test_equations_are_made_again_only_for_another_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_of(at_width("add", 8))
    first = derive_equations(design, tmp_path)
    monkeypatch.setattr(yosys, "_written", lambda _: "made again")
    changed = Fault("add.sv", "a_i + b_i", "a_i ^ b_i").planted(design)
    assert (derive_equations(design, tmp_path), derive_equations(changed, tmp_path)) == (first, "made again")


def test_a_module_brings_those_that_it_instantiates() -> None:
    assert sorted(design_of(at_width("rounding_divide_by_pot", 8)).sources) == [
        "require.svh",
        "rounding_divide_by_pot.sv",
        "sqadd.sv",
        "srshl.sv",
    ]


@pytest.mark.parametrize(("module", "width"), [("sqadd", 1), ("sqxtn", 1), ("srshl", 128), ("sdot4", 30), ("add", 0)])
def test_an_illegal_width_is_refused_by_the_assertion_of_the_module(module: str, width: int, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=rf"{module}\.sv:\d+: ERROR: ?{module}: Width is the bits of"):
        derive_equations(design_of(at_width(module, width)), tmp_path)


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match="no lane module is called 'mystery': there are add, "):
        design_of(at_width("mystery", 8))


@pytest.mark.parametrize("text", ["no such text", "Width"])
def test_a_fault_needs_a_text_that_occurs_once(text: str) -> None:
    with pytest.raises(NotPlanted, match=r"times in add\.sv, not once"):
        Fault("add.sv", text, "").planted(design_of(at_width("add", 8)))
