"""Mutants of the hardware: what benches and proofs say of them, checked against each other."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import NoReturn

import numpy as np
import pytest
from typer.testing import Result

from isa.lane import S32, U8
from rtl_models.adapters import read_adapter
from rtl_models.benches.coverage import stimulus
from rtl_models.benches.units import quantized_add_float_bench
from rtl_models.command import mutate as command
from rtl_models.cores.gemm import GemmShape
from rtl_models.cores.names import CORE_PARTS, CORES
from rtl_models.expected import Column
from rtl_models.formal.claims import claim
from rtl_models.formal.equations.smt2 import parsed
from rtl_models.formal.equations.written import Subject, SubjectSources, at_width, derive_equations, design_of
from rtl_models.formal.question import depends_on
from rtl_models.formal.subject import Decision, about, decide, subjects
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.latencies import latency
from rtl_models.mutation import kept, simulator, survivors
from rtl_models.mutation.judgement import Judgement, WrongModule, judge
from rtl_models.mutation.kept import keep_or_judge
from rtl_models.mutation.mutants import Mutant, mutants_in
from rtl_models.mutation.netlist import SELECT, Netlist, NetlistOrigin
from rtl_models.mutation.own import adapted_target
from rtl_models.mutation.register_bits import register_bits
from rtl_models.mutation.report import Asked, summary
from rtl_models.mutation.sameness import Sameness, sameness
from rtl_models.mutation.sameness import kept as kept_ranges
from rtl_models.mutation.scenarios import gemm_core as core_scenarios
from rtl_models.mutation.scenarios import lanes
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.mutation.scenarios.units import UnitScenarios
from rtl_models.mutation.simulator import Killed, killed_by
from rtl_models.mutation.survivors import by_proof
from rtl_models.mutation.targets import Target, targets, targets_named
from rtl_models.mutation.verdict import Fate, MutantVerdict
from rtl_models.operators import OPERATORS
from rtl_models.tools.environment import SimulationUnavailable
from rtl_models.tools.sources import module_names
from rtl_models.unit_values import channel_setting
from rtl_models.units import LANE_COUNTS
from sim.prove.claim import Claim, Finding
from support.command import lanewise
from support.one_lane import ADAPTER, written

pytestmark = pytest.mark.rtl
SECONDS = 600.0
SEED = 1
MUTANT = Mutant(1, "mutate -mode inv -module add -cell x -port Y -portbit 0", "bit 0 is inverted", ("add.sv:1",))
ORIGIN = NetlistOrigin("00ff", "read_verilog add.sv")


def at_8_bits(name: str, operands: Callable[[], Sequence[Column]]) -> Target:
    """A lane on a bench of these operands."""
    return Target(at_width(name, 8), (), lambda seed: [lanes.scenario(OPERATORS[name], 8, "some", operands())])


def weak(name: str) -> Target:
    """On a bench of one row."""
    types = OPERATORS[name].operand_types(8)
    return at_8_bits(name, lambda: stimulus.columns(types, [[0] * len(types)]))


def exhaustive(name: str) -> Target:
    return at_8_bits(name, lambda: stimulus.every_combination(OPERATORS[name].operand_types(8)))


def judgement(target: Target, count: int = 40) -> Judgement:
    return judge(target, count, SEED, SECONDS)


@cache
def on_one_row(name: str) -> Judgement:
    return judgement(weak(name))


@cache
def on_every_row(name: str) -> Judgement:
    return judgement(exhaustive(name))


def numbers(found: Judgement, fate: Fate) -> set[int]:
    return {verdict.mutant.number for verdict in found.having(fate)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sqadd", "sqshl"])
def test_proofs_find_equivalent_what_no_operands_at_all_can_kill(name: str) -> None:
    by_proof, by_simulation = on_one_row(name), on_every_row(name)
    assert numbers(by_proof, "equivalent") == numbers(by_simulation, "equivalent")
    assert len(by_simulation.having("killed by bench")) == 40 - len(numbers(by_proof, "equivalent"))


def test_some_mutant_is_equivalent() -> None:
    assert numbers(on_every_row("sqshl"), "equivalent")


@pytest.mark.slow
def test_a_weak_bench_leaves_what_its_proofs_counter_examples_kill() -> None:
    left = on_one_row("sqadd").having("killed by proof")
    operands = [[verdict.values["a_i"], verdict.values["b_i"]] for verdict in left]
    strong = at_8_bits("sqadd", lambda: stimulus.columns(OPERATORS["sqadd"].operand_types(8), operands))
    assert left
    assert {verdict.mutant.number for verdict in left} <= numbers(judgement(strong), "killed by bench")


@pytest.mark.slow
def test_the_bench_of_a_lane_kills_all_that_can_be_killed() -> None:
    (target,) = targets_named("uqadd")
    found = judgement(target, 100)
    assert (len(found.having("killed by bench")), len(found.having("undecided"))) == (100, 0)


def shallow(unit: str) -> Target:
    return next(target for target in targets_named(unit) if dict(target.subject.parameters)["Deep"] == 0)


@cache
def of_a_unit() -> Judgement:
    return judgement(shallow("offset_contribution"))


@pytest.mark.slow
def test_the_mutants_of_a_unit_are_decided() -> None:
    found = of_a_unit()
    assert found.passed
    assert len(found.having("killed by bench")) > 35


@pytest.mark.slow
def test_the_mutants_of_a_part_without_a_bench_are_decided_by_its_theorems() -> None:
    (target,) = targets_named("row_stream")
    found = judgement(target, 10)
    assert (found.passed, found.having("killed by bench"), found.rows) == (True, [], 0)
    assert "theorems alone are asked" in summary([found], Asked("row_stream", 10, SEED))


@pytest.mark.slow
def test_no_mutant_that_the_bench_of_a_unit_kills_is_called_the_same(tmp_path: Path) -> None:
    killed = [verdict.mutant for verdict in of_a_unit().having("killed by bench")][::4]
    netlist = Netlist(design_of(shallow("offset_contribution").subject), tmp_path)
    equations = parsed(netlist.equations([mutant for mutant in killed if not mutant.changes_a_clock]))
    answers = [sameness(equations, mutant.number, SECONDS) for mutant in killed if not mutant.changes_a_clock]
    assert {answer.outcome for answer in answers} == {"perhaps different"}


def test_every_lane_every_unit_and_every_part_of_a_core_is_mutated() -> None:
    mutated = {target.subject.module for target in targets()}
    units = {"quantize_down", "quantize_down_channels", "offset_contribution", "transpose1xw", "quantized_add"}
    units |= {"quantized_add_float", "requantize", "quantized_multiplier", "integer_scale", "interleave4x4"}
    assert mutated == {*OPERATORS, *units, *CORE_PARTS, "config_registers"} <= set(module_names())
    assert [target.subject.module for core in CORES for target in targets_named(core)] == list(CORES)


def test_the_unit_with_tables_is_mutated_with_as_many_channels_as_are_named() -> None:
    """With more than 32 beats they are in block RAM, of which theorems speak besides."""

    def named(channels: int) -> list[Target]:
        return targets_named(f"quantize_down_channels at Lanes 4, Deep 0, Channels {channels}")

    def claims(channels: int) -> set[str]:
        (target,) = named(channels)
        assert dict(target.subject.parameters) == {"Lanes": 4, "Deep": 0, "Channels": channels}
        return {theorem.name.split(": ")[1] for theorem in about(target.subject)}

    at_the_end, in_block_ram = "the tables are not left at their end", "block RAM is read at the beat"
    assert claims(128) == claims(8)  # 2 beats and 32, of which the counter has no others
    assert claims(12) - claims(8) == {at_the_end}
    assert claims(132) - claims(8) == {at_the_end, in_block_ram}
    assert [named(channels) for channels in (4, 10, 3844)] == [[], [], []]


def test_transpose1xw_is_mutated_at_every_number_of_chunks_of_a_beat() -> None:
    """At 4 lanes a beat has one, and the addresses of the others are dead code."""
    assert {dict(target.subject.parameters)["Lanes"] for target in targets_named("transpose1xw")} == set(LANE_COUNTS)


@pytest.mark.slow
def test_a_bench_that_fails_without_mutants_is_refused() -> None:
    scenario = lanes.scenario(
        OPERATORS["add"], 8, "wrong", stimulus.columns(OPERATORS["add"].operand_types(8), [[1, 2]])
    )
    outputs = dict(scenario.cycles.outputs)
    outputs["result_o"] = replace(outputs["result_o"], numbers=np.array([4]))
    wrong = Scenario(name="wrong", cycles=replace(scenario.cycles, outputs=outputs), beats=scenario.beats)
    with pytest.raises(WrongModule, match="add at Width 8 fails its own bench: wrong, row 0: cycle"):
        judgement(Target(at_width("add", 8), (), lambda seed: [wrong]), 1)


def test_equations_of_a_mutant_that_changes_a_clock_are_refused(tmp_path: Path) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": DEAD}), tmp_path)
    with pytest.raises(ValueError, match="one clock"):
        netlist.equations(netlist.mutants(1000, SEED))


HANDSHAKE = "input logic clk_i, input logic rst_ni, input logic ready_i, output logic valid_o"
DEAD = """
module small (input logic clk_i, input logic [1:0] a_i, output logic result_o);
  logic [1:0] a_q;
  always_ff @(posedge clk_i) a_q <= a_i;
  assign result_o = a_q[0];
endmodule
"""
NEVER_BOTH = f"""
module small ({HANDSHAKE}, input logic a_i, output logic result_o);
  logic valid_q, a_q, not_a_q;
  assign valid_o  = valid_q;
  assign result_o = a_q & ~not_a_q;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) valid_q <= 1'b0; else valid_q <= 1'b1;
  always_ff @(posedge clk_i) if (WAIT) a_q <= a_i;
  always_ff @(posedge clk_i) if (WAIT) not_a_q <= ~a_i;
endmodule
"""


def sameness_of(text: str, directory: Path, *parts: str) -> set[Sameness]:
    """The answers for all mutants whose words have these parts."""
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": text}), directory)
    mutants = [mutant for mutant in netlist.mutants(1000, SEED) if not mutant.changes_a_clock]
    equations = parsed(netlist.equations(mutants))
    chosen = [mutant for mutant in mutants if all(part in mutant.words for part in parts)]
    return {sameness(equations, mutant.number, SECONDS) for mutant in chosen}


def test_a_mutant_of_a_register_that_no_output_shows_is_the_same(tmp_path: Path) -> None:
    assert sameness_of(DEAD, tmp_path, "bit 1 of port Q", "is inverted") >= {Sameness("same")}


def test_a_mutant_of_a_register_that_an_output_shows_may_be_different(tmp_path: Path) -> None:
    assert {answer.outcome for answer in sameness_of(DEAD, tmp_path, "bit 0 of port Q")} == {"perhaps different"}


def test_a_mutant_that_shows_only_in_a_state_that_no_edge_leads_to_is_the_same(tmp_path: Path) -> None:
    text = NEVER_BOTH.replace("WAIT", "ready_i | ~valid_q")
    assert Sameness("same", edges=1) in sameness_of(text, tmp_path, "the not at", "small.sv:5", "is always 1")


def test_states_after_an_edge_say_nothing_where_registers_do_not_wait(tmp_path: Path) -> None:
    text = NEVER_BOTH.replace("WAIT", "1'b1")
    answers = sameness_of(text, tmp_path, "the not at", "small.sv:5", "is always 1")
    assert {answer.edges for answer in answers} == {0}


RANGED = """
module small (
  input logic clk_i, input logic rst_ni, input logic write_i, input logic [1:0] data_i, output logic result_o
);
  logic [1:0] size_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) size_q <= 2'd1; else if (write_i && data_i != 2'd0 && data_i != 2'd3) size_q <= data_i;
  assign result_o = size_q == 2'd3;
endmodule
"""


def test_a_mutant_that_shows_only_beyond_the_range_of_a_setting_is_the_same_where_that_is_kept(tmp_path: Path) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": RANGED}), tmp_path)
    mutants = [mutant for mutant in netlist.mutants(1000, SEED) if not mutant.changes_a_clock]
    equations = parsed(netlist.equations(mutants))
    shown = [one.number for one in mutants if one.words.endswith("of the eq at small.sv:8 is always 0")]
    ranges = {"size_q": (1, 2)}
    assert kept_ranges(equations, ranges, SECONDS) == ranges
    outcomes = [
        (sameness(equations, n, SECONDS).outcome, sameness(equations, n, SECONDS, ranges).outcome) for n in shown
    ]
    assert (
        outcomes.count(("perhaps different", "same")) == 3
    )  # of the output, of a bit of the register, and of the other


@pytest.mark.parametrize("ends", [(1, 1), (2, 2), (2, 3), (0, 1)])
def test_a_range_that_a_write_leaves_or_a_reset_does_not_begin_with_is_not_assumed(
    tmp_path: Path, ends: tuple[int, int]
) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": RANGED}), tmp_path)
    equations = parsed(netlist.equations(netlist.mutants(1, SEED)))
    assert kept_ranges(equations, {"size_q": ends}, SECONDS) == {}


def test_what_lies_beyond_a_word_is_no_part_of_it_in_the_simulator_as_in_equations(tmp_path: Path) -> None:
    text = "module small (input logic [31:0] a_i, input logic [1:0] k_i, output logic [7:0] result_o);\n"
    text += "  assign result_o = a_i[8*k_i +: 8];\nendmodule\n"
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": text}), tmp_path)
    written = netlist.simulated(netlist.mutants(1, SEED))
    assert (">>" in written, "+:" in written) == (True, False), "Verilator takes a place modulo the bits of the word"


STAGES = """
module small (input logic clk_i, input logic [7:0] a_i, output logic [7:0] result_o);
  logic [7:0] first_q, second_q, third_q;
  always_ff @(posedge clk_i) begin
    first_q  <= a_i;
    second_q <= first_q ^ 8'h55;
    third_q  <= second_q + first_q;
  end
  assign result_o = third_q;
endmodule
"""


def test_of_the_words_of_a_module_those_alone_come_in_bits_of_which_a_mutant_drives_one(tmp_path: Path) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": STAGES}), tmp_path)
    of_second = [one for one in netlist.mutants(100, SEED) if " -port Q " in one.command and "second_q" in one.words]
    written = netlist.simulated(of_second)
    declared = [line.split()[-1].rstrip(";") for line in written.splitlines() if re.match(r"  (wire|reg) ", line)]
    assert {"first_q", "third_q"} <= set(declared)
    assert [name for name in declared if name.startswith("second_q")] == [f"second_q_{bit}" for bit in range(8)]


def test_a_claim_depends_on_a_mutant_where_it_speaks_of_what_that_changes(tmp_path: Path) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": STAGES}), tmp_path)
    mutant = next(one for one in netlist.mutants(100, SEED) if " -port D " in one.command and "a_i" in one.words)
    equations = netlist.equations([mutant])

    def spoken_of(wire: str) -> Claim:
        return claim(wire, lambda read: {"it": (read.after(1)(wire, U8), read.after(1)(wire, U8))})

    reached = [wire for wire in ("first_q", "second_q", "third_q") if depends_on(spoken_of(wire), equations, SELECT)]
    assert reached == ["first_q"]


def test_theorems_that_speak_of_what_changed_are_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, asked = next(one for one in subjects() if len(about(one)) > 2), list[str]()
    names = [theorem.name for theorem in about(subject)]

    def noted(theorem: Theorem, *_: object) -> Finding:
        asked.append(theorem.name)
        return Finding("proved", 0)

    monkeypatch.setattr("rtl_models.formal.subject.refuted", noted)
    assert decide(subject, "", SECONDS, lambda claim: claim.name == names[2]).outcome == "equivalent"
    assert asked == [names[2], *names[:2], *names[3:]]


LOST = """
module late (input logic clk_i, input logic [3:0] d_i, output logic [3:0] q_o);
  logic [3:0] lost_q;
  always_ff @(posedge clk_i) lost_q <= d_i;
  assign q_o = lost_q;
endmodule
module small (input logic clk_i, input logic rst_ni, input logic [3:0] a_i, output logic [2:0] result_o);
  logic [3:0] a_q, b;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) a_q <= 4'd0; else a_q <= a_i;
  late u_late (.clk_i, .d_i({a_q[1], a_q[0], a_q[3:2]}), .q_o(b));
  assign result_o = b[2:0];
endmodule
"""


def test_bits_of_registers_have_their_names_of_the_sources(tmp_path: Path) -> None:
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": LOST}), tmp_path)
    names = register_bits(parsed(netlist.equations(netlist.mutants(1, SEED))), netlist.text)
    assert sorted(names.values()) == sorted(f"{name}[{bit}]" for name in ("a_q", "u_late.lost_q") for bit in range(4))


LISTED = """mutate -mode cnot0 -module sqadd -cell $add$sqadd.sv:26$4 -port Y -portbit 3 -ctrlbit 5 -wire sum -wirebit 3 -src sqadd.sv:22.16-22.19 -src sqadd.sv:26.16-26.50
mutate -mode const1 -module sqadd -cell $procdff$7 -port CLK -portbit 0 -src delay_line.sv:28.3-30.6
"""  # noqa: E501


def test_a_mutant_is_told_in_words_with_its_lines() -> None:
    first, second = mutants_in(LISTED)
    assert first.words == "bit 3 of port Y (sum[3]) of the add at sqadd.sv:26 is inverted where bit 5 is 0"
    assert first.places == ("sqadd.sv:22", "sqadd.sv:26")
    assert second.words == "bit 0 of port CLK of a register (a procdff) is always 1"


def test_only_a_mutant_of_a_clock_changes_a_clock() -> None:
    assert [mutant.changes_a_clock for mutant in mutants_in(LISTED)] == [False, True]


def run(*arguments: str) -> Result:
    return lanewise("rtl", "mutate", *arguments)


def judged_as(monkeypatch: pytest.MonkeyPatch, fate: Fate) -> None:
    """Every module has one mutant, of that fate."""
    verdicts = (MutantVerdict(MUTANT, fate, "for a test"),)
    monkeypatch.setattr(command, "keep_or_judge", lambda target, *_: Judgement(target.subject, 1, verdicts, ORIGIN))


@pytest.mark.parametrize(
    ("fate", "code"), [("killed by bench", 0), ("killed by proof", 0), ("equivalent", 0), ("undecided", 1)]
)
def test_the_command_fails_where_a_mutant_is_undecided(monkeypatch: pytest.MonkeyPatch, fate: Fate, code: int) -> None:
    judged_as(monkeypatch, fate)
    assert run("add").exit_code == code


def test_no_mutant_at_all_is_a_failure() -> None:
    assert not Judgement(at_width("add", 8), 1, (), ORIGIN).passed


def test_an_undecided_mutant_is_shown_with_its_line_and_how_to_see_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_as(monkeypatch, "undecided")
    said = run("add", "--count", "7", "--seed", "3").stdout
    assert "undecided: bit 0 is inverted" in said
    assert "  add.sv:1: // ADD: " in said
    assert "again: lanewise rtl mutate add --count 7 --seed 3" in said


def test_a_module_that_there_is_not_is_wrong_usage() -> None:
    result = run("sqad")
    assert (result.exit_code, "there is no module 'sqad'" in result.stderr) == (2, True)


def test_a_missing_simulator_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> NoReturn:
        raise SimulationUnavailable("the simulator is not installed")

    monkeypatch.setattr(command, "keep_or_judge", missing)
    result = run("add")
    assert (result.exit_code, result.stderr.strip()) == (3, "lanewise: the simulator is not installed")


def test_an_interrupt_shows_what_was_finished_and_is_exit_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished = Judgement(at_width("add", 8), 1, (MutantVerdict(MUTANT, "killed by bench", ""),), ORIGIN)
    outcomes = iter([finished])

    def until_interrupted(*_: object) -> Judgement:
        try:
            return next(outcomes)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(command, "keep_or_judge", until_interrupted)
    certificates = tmp_path / "certificates.json"
    result = run("sqxt*", "--certificates", str(certificates))
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "lanewise: interrupted after 1 of 2 modules")
    assert "1 mutant of 1 module: 1 killed by bench" in result.stdout
    assert json.loads(certificates.read_text())["passed"] is False


def test_certificates_say_what_became_of_each_mutant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    judged_as(monkeypatch, "equivalent")
    assert run("add", "--certificates", str(tmp_path / "all.json")).exit_code == 0
    (module,) = json.loads((tmp_path / "all.json").read_text())["modules"]
    (certificate,) = module["mutants"]
    assert (certificate["fate"], certificate["by"], certificate["command"]) == (
        "equivalent",
        "for a test",
        MUTANT.command,
    )


def test_a_certificate_says_which_netlist_was_asked_about_and_by_what(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    judged_as(monkeypatch, "equivalent")
    run("add", "--certificates", str(tmp_path / "all.json"))
    report = json.loads((tmp_path / "all.json").read_text())
    assert [tool.split()[0] for tool in report["tools"]] == ["yosys", "bitwuzla", "verilator"]
    assert report["modules"][0]["netlist"] == ORIGIN._asdict()


def test_the_relation_of_an_equivalent_mutant_names_the_spoilt_bits(tmp_path: Path) -> None:
    """Bit 1 of the register is inverted on its way out, where nothing reads it: no register is spoilt by that."""
    netlist = Netlist(SubjectSources(Subject("small", ()), {"small.sv": LOST}), tmp_path)
    mutants = [mutant for mutant in netlist.mutants(1000, SEED) if "(a_q[1])" in mutant.words]
    verdicts = [
        verdict for _, verdict in by_proof(Target(Subject("small", ()), (), lambda _: []), netlist, mutants, SECONDS)
    ]
    relations = [verdict.evidence["relation"] for verdict in verdicts if "port Q" in verdict.mutant.words]
    assert {"spoilt": ["u_late.lost_q[3]"], "edges": 0} in relations


@pytest.mark.parametrize(("say_all", "fate"), [(True, "equivalent"), (False, "undecided")])
def test_where_theorems_do_not_say_all_a_mutant_with_which_they_hold_may_be_another_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, say_all: bool, fate: Fate
) -> None:
    monkeypatch.setattr(survivors, "decide", lambda *_: Decision("equivalent"))
    monkeypatch.setattr(survivors, "sameness", lambda *_: Sameness("perhaps different"))
    target = replace(targets_named("row_stream")[0], say_all=say_all)
    netlist = Netlist(design_of(target.subject), tmp_path)
    ((_, verdict),) = by_proof(target, netlist, netlist.mutants(1, SEED), SECONDS)
    assert verdict.fate == fate


def test_a_core_is_had_by_its_name_and_by_its_name_at_parameters_as_a_mutant_of_it_is_told() -> None:
    (core,) = targets_named("gemm_core")
    assert [target.subject for target in targets_named(str(core.subject))] == [core.subject]
    assert core.ranges["u_config_registers.channels_o"] == (1, dict(core.subject.parameters)["Channels"])


@pytest.mark.slow
def test_layers_for_the_mutants_of_the_core_are_those_of_its_bench_cycle_by_cycle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of each scenario every accepted beat and every result that is taken; the last layer is cut off by a reset."""
    monkeypatch.setattr(core_scenarios, "_FAR", ())  # as many rows as there can be take too long here
    monkeypatch.setattr(core_scenarios, "_AGAIN", 1)
    (target,) = targets_named("gemm_core")
    *layers, registers = target.scenarios(SEED)
    for scenario in layers:
        given, due = scenario.cycles.inputs, scenario.cycles.outputs
        accepted = given["a_valid_i"].numbers & due["a_ready_o"].numbers
        taken = given["ready_i"].numbers & due["valid_o"].numbers & due["last_o"].numbers
        assert accepted.sum() > 100
        assert taken.sum() > 60
    assert registers.cycles.inputs["bus_write_i"].numbers.sum() > 1000


def test_layers_for_the_mutants_of_the_core_have_the_four_extreme_products_in_each_channel() -> None:
    shape, rng = GemmShape(4, 4, 8), Random(SEED)
    seen: list[set[tuple[int, int]]] = [set() for _ in range(shape.n)]
    for first in range(4):
        layer = core_scenarios.with_extreme_products(shape, first, rng)
        for channel, products in enumerate(seen):
            bias, multiplier = (layer.settings[channel_setting(name, channel)] for name in ("bias", "multiplier"))
            numbers = [S32.wrapped(int(total) + bias) for total in layer.sums()[:, channel]]
            products |= {(number, multiplier) for number in numbers}
    ends = (-(1 << 31), (1 << 31) - 1)
    assert all(products >= {(number, factor) for number in ends for factor in ends} for products in seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        Fault("config_registers.sv", "= accepted && address_i == lanewise_pkg::AddressChannels", "= 1'b0"),
        Fault("window_walk.sv", "{y_q, ys_q[20*Rows-1:20]}", "{y_q & ~20'h80000, ys_q[20*Rows-1:20]}"),
        Fault("block_walk.sv", "done_q <= done_q + 16'(Block)", "done_q <= (done_q + 16'(Block)) & ~16'h1"),
        Fault("tile_buffer.sv", "if (write_i) words_q", "if (write_i | &write_address_i) words_q"),
    ],
)
def test_a_fault_in_a_part_that_hardly_a_layer_shows_is_refuted_by_the_theorems_about_the_core(
    fault: Fault, tmp_path: Path
) -> None:
    """A write of CHANNELS in the middle of a layer, half a million rows below the image, a block of odd numbers; the
    last word of a buffer that is written whenever it is pointed at."""
    (target,) = targets_named("gemm_core")
    equations = derive_equations(fault.planted(design_of(target.subject)), tmp_path)
    assert decide(target.subject, equations, SECONDS).outcome == "refuted"


DEEP = """module deep(clk_i, rst_ni, valid_i, ready_o, valid_o, ready_i, data_i, data_o, mutant_i);
  input clk_i;
  input rst_ni;
  input valid_i;
  output ready_o;
  output valid_o;
  input ready_i;
  input data_i;
  output data_o;
  input mutant_i;
  reg [45:0] valid, data;
  reg again;
  assign ready_o = ready_i || !valid_o;
  assign valid_o = valid[45];
  assign data_o = data[45];
  always @(posedge clk_i)
    if (!rst_ni) {valid, again} <= 0;
    else if (ready_o) begin
      valid <= {valid[44:0], valid_i | (mutant_i & valid_o & !again)};
      data <= {data[44:0], data_i};
      again <= again | valid_o;
    end
endmodule
"""
"""Of as many stages as the deepest unit; mutant 1 takes the first result in again as it leaves."""


@pytest.mark.slow
def test_what_is_invented_as_the_last_result_leaves_is_waited_for_through_all_stages() -> None:
    drawn = UnitScenarios(quantized_add_float_bench.BENCH, 4, "deep", SEED).by_test()["reset_inside"]
    whole = [one for one in drawn if not one.broken_off]
    assert latency("quantized_add_float", "deep") == 46
    assert whole
    assert all(one.drained > 46 and one.offers[-one.drained :].all() for one in whole)
    one = {"data_i": PortSignal(1, np.ones((1, 1), np.uint8))}
    beat = Steps(one, {"data_o": one["data_i"]}, np.zeros(1, bool))
    found = []
    for drained in (32, whole[0].drained):
        cycles = np.ones(46 + 2 + drained, bool)
        alone = Scenario(name="one", cycles=beat.none(), beats=beat, offers=cycles, takes=cycles, drained=drained)
        found.append(killed_by("deep", (*simulator.CLOCK, *simulator.HANDSHAKE), DEEP, [1], [alone]))
    assert found == [[None, None], [None, Killed(0, 1, "invented")]]


def test_a_netlist_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    design, folders = SubjectSources(Subject("small", ()), {"small.sv": DEAD}), [tmp_path / "a", tmp_path / "longer"]
    for folder in folders:
        folder.mkdir()
    first, second = (Netlist(design, folder).origin for folder in folders)
    assert first == second


def test_the_script_of_a_certificate_makes_the_netlist_again(tmp_path: Path) -> None:
    netlist = Netlist(design_of(at_width("sqadd", 8)), tmp_path)
    script = netlist.origin.script.replace(" netlist", " again")
    run = "import sys; from pyosys import libyosys; libyosys.run_pass(sys.argv[1])"
    subprocess.run([sys.executable, "-c", run, script], cwd=tmp_path, check=True, capture_output=True)
    assert hashlib.sha256((tmp_path / "again").read_bytes()).hexdigest() == netlist.origin.sha256


@pytest.mark.slow
def test_one_mutant_alone_has_the_verdict_that_it_has_among_all() -> None:
    among_all = on_every_row("sqshl").having("equivalent")[-1]
    alone = judge(exhaustive("sqshl"), 40, SEED, SECONDS, among_all.mutant.number)
    assert [(verdict.mutant, verdict.fate) for verdict in alone.verdicts] == [(among_all.mutant, "equivalent")]


@pytest.mark.slow
def test_a_killed_mutant_alone_is_killed_by_the_same_row() -> None:
    among_all = on_every_row("sqshl").having("killed by bench")[-1]
    (alone,) = judge(exhaustive("sqshl"), 40, SEED, SECONDS, among_all.mutant.number).verdicts
    assert alone == among_all


def test_a_number_that_no_mutant_has_is_wrong_usage() -> None:
    result = run("add", "--count", "5", "--mutant", "6")
    assert (result.exit_code, "add at Width 16 has 5 mutants here: there is no number 6" in result.stderr) == (2, True)


def test_every_survivor_has_the_command_that_judges_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_as(monkeypatch, "undecided")
    said = run("add", "--count", "7", "--seed", "3", "--timeout", "5").stdout
    assert "again: lanewise rtl mutate 'add at Width 16' --count 7 --seed 3 --timeout 5.0 --mutant 1\n" in said


def test_the_command_for_one_mutant_reaches_that_module_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []

    def alone(target: Target, *how: object) -> Judgement:
        reached.append((str(target.subject), how[-1]))
        return Judgement(target.subject, 1, (MutantVerdict(MUTANT, "killed by bench", ""),), ORIGIN)

    monkeypatch.setattr(command, "judge", alone)
    asked = Asked("offset_contribution", 7, 3)
    (of_module,) = [target.subject for target in targets_named("offset_contribution")][:1]
    words = asked.alone(Judgement(of_module, 1, (), ORIGIN), MutantVerdict(MUTANT, "undecided", ""))
    assert run(*shlex.split(words)[3:]).exit_code == 0
    assert reached == [(str(of_module), 1)]


def twice(monkeypatch: pytest.MonkeyPatch, directory: Path, answer: Judgement) -> tuple[list[Judgement], int]:
    """What is said when the same is wanted twice, and how often it was found out."""
    answers = iter([answer, answer])
    monkeypatch.setattr(kept, "judge", lambda *_: next(answers))
    (target,) = targets_named("add")
    said = [keep_or_judge(target, 1, SEED, SECONDS, directory) for _ in range(2)]
    return said, 2 - len(list(answers))


def test_what_was_decided_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = Judgement(at_width("add", 16), 1, (MutantVerdict(MUTANT, "killed by bench", "ties", {"a_i": 3}),), ORIGIN)
    assert twice(monkeypatch, tmp_path, first) == ([first, first], 1)


def test_what_was_decided_of_a_module_with_other_numbers_built_in_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def answer(target: Target, *_: object) -> Judgement:
        asked.append(target.own.built_in["shift"] if target.own else 0)
        return Judgement(target.subject, 1, (MutantVerdict(MUTANT, "killed by bench", ""),), ORIGIN)

    monkeypatch.setattr(kept, "judge", answer)
    adapter = written(tmp_path)
    for shift in (7, 6, 7):
        adapter.write_text(ADAPTER.replace("shift = 7", f"shift = {shift}"))
        keep_or_judge(adapted_target(read_adapter(adapter), tmp_path), 1, SEED, SECONDS, tmp_path / "kept")
    assert asked == [7, 6]


@pytest.mark.slow
def test_a_module_without_anything_to_mutate_has_no_mutant_and_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "smin.sv").write_text(
        "module smin #(parameter int Width = 32) (input logic [Width-1:0] a_i, input logic [Width-1:0] b_i,"
        " output logic [Width-1:0] result_o, output logic saturated_o);\n"
        "  assign {saturated_o, result_o} = {1'b0, a_i};\nendmodule\n"
    )
    done = run("--modules", str(tmp_path), "--count", "3")
    assert (done.exit_code, "smin at Width 16: 0 mutants, " in done.stdout) == (1, True), done.output


def test_what_is_undecided_is_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    undecided = Judgement(at_width("add", 16), 1, (MutantVerdict(MUTANT, "undecided", "late"),), ORIGIN)
    assert twice(monkeypatch, tmp_path, undecided) == ([undecided, undecided], 2)
