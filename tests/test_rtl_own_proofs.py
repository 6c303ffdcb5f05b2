"""Proofs of modules that are not ours: streams under all schedules, operators, and cut points that users name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import U8, Int, Lane, constant
from rtl_models.adapters import read_adapter
from rtl_models.formal.claims import on
from rtl_models.formal.equations.written import Subject, SubjectSources, derive_equations
from rtl_models.formal.schedules.named import MalformedCuts, read_cuts
from rtl_models.formal.schedules.polynomial import same_number
from rtl_models.formal.schedules.proof import StreamFinding, proved
from rtl_models.formal.units.pipelines import OutputBits
from rtl_models.mutation.judgement import judge
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.simulator import CLOCK, HANDSHAKE
from rtl_models.mutation.targets import OwnModule, Target
from rtl_models.synthesis.designs import adapted_designs, own_designs
from rtl_models.synthesis.report import asked_for
from rtl_models.tools.sources import LANES
from sim.prove.claim import ClaimInputs, input_lane
from sim.toolchain.tools import cache_directory
from support.command import lanewise
from support.own_unit import ADAPTER, EXAMPLE

pytestmark = pytest.mark.rtl
ELASTIC: Final = """
module elastic (
  input  logic clk_i, rst_ni, valid_i, ready_i,
  input  logic [7:0] a_i,
  output logic ready_o, valid_o,
  output logic [7:0] result_o
);
  logic v1, v2, go1, go2;
  logic [7:0] d1, d2;
  assign go2 = !v2 | ready_i;
  assign go1 = !v1 | go2;
  assign ready_o = go1;
  assign valid_o = v2;
  assign result_o = d2;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {v1, v2} <= '0;
    else begin
      if (go1) v1 <= valid_i;
      if (go2) v2 <= v1;
    end
    if (go1) d1 <= a_i + 8'd3;
    if (go2) d2 <= 8'(d1 << 1);
  end
endmodule
"""
NOT_RESET: Final = "depends on what a register held before the reset: one is not reset, or is its active level "
DUE: Final = OutputBits(
    "result_o", U8, 0, on("result_o", U8), lambda read: U8.wrap((read("a_i", U8) + 3) * 2), lambda _: constant(1)
)
"""Twice the sum of the beat and 3, in eight bits."""


def of_elastic(right: str = "", wrong: str = "") -> StreamFinding:
    """What is found of the module with one text in the place of another."""
    assert not right or ELASTIC.count(right) == 1
    text = ELASTIC.replace(right, wrong) if right else ELASTIC
    design = SubjectSources(Subject("elastic", ()), {"elastic.sv": text})
    return proved(derive_equations(design, cache_directory()), [DUE], 20)


def test_a_stream_with_any_latency_is_proved_for_every_schedule_and_one_higher_is_refuted() -> None:
    found = of_elastic()
    assert (found.finding.outcome, found.false_claim.outcome) == ("proved", "counter-example")


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("ready_o = go1;", "ready_o = 1;", "nothing is left of a beat inside: it is lost"),
        ("v1 <= valid_i;", "v1 <= valid_i | v1;", "valid_o is 1 where no beat is inside"),
        ("if (go2) d2", "d2", "nothing is left of a beat inside: it is lost"),
        ("valid_o = v2;", "valid_o = v2 & ready_i;", "valid_o changes with ready_i, and must not wait for it"),
        ("= !v2 | ready_i;", "= ready_i;", "valid_o stays 0 until ready_i is 1, and must not wait for it"),
        ("if (go2) v2 <= v1;", "v2 <= v1;", "a result that was not taken is gone: valid_o must stay"),
        ("= !v1 | go2;", "= v1;", "a beat is never accepted, though results are taken"),
        ("= !v2 | ready_i;", "= v2 ? ready_i : valid_i;", "a beat never leaves, though results are taken"),
        ("if (go2) v2 <= v1;", "if (go2) v2 <= v1 & v2;", "nothing is left of a beat inside: it is lost"),
        ("v1 <= valid_i;", "v1 <= 0;", "it is lost, and none came out since the reset: is its active level the other?"),
        ("a_i + 8'd3;", "a_i + 8'd3 + 8'(a_i == 8'd77);", "its data: a_i = 77"),
        ("8'(d1 << 1)", "8'(d1 + a_i + 3)", "what is left of a beat, in d2, is mixed with a_i while valid_i is 0"),
        ("result_o = d2;", "result_o = d2 + d1;", "more than its own beat: result_o on a_i of another beat"),
    ],
)
def test_a_fault_in_a_stream_is_refuted_and_shown(right: str, wrong: str, words: str) -> None:
    found = of_elastic(right, wrong)
    assert (found.finding.outcome, words in "\n".join(found.told)) == ("counter-example", True), found


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("{v1, v2} <= '0;", "v1 <= '0;", f"valid_o {NOT_RESET}"),
        ("if (!rst_ni)", "if (rst_ni)", f"ready_o {NOT_RESET}"),
        ("valid_o = v2;", "valid_o = v2 & d2 != 8'd8;", "valid_o depends on data after"),
        ("8'(d1 << 1)", "8'((d1 << 1) + d2 - d2)", "what is left of a beat, in d2, is mixed with what d2 held"),
    ],
)
def test_what_cannot_be_followed_is_unknown_and_says_why(right: str, wrong: str, words: str) -> None:
    found = of_elastic(right, wrong)
    assert (found.finding.outcome, found.finding.reason.startswith(words)) == ("unknown", True), found.finding


@pytest.mark.slow
def test_mutants_of_a_stream_are_judged_by_schedules_where_no_bench_kills_them() -> None:
    design = SubjectSources(Subject("elastic", ()), {"elastic.sv": ELASTIC})
    own = OwnModule(design, lambda equations, seconds: proved(equations, [DUE], seconds), in_its_words=str.upper)
    target = Target(design.subject, (*CLOCK, *HANDSHAKE), lambda _: [], own=own)
    verdicts = judge(target, 12, 1, 20).verdicts
    assert [one.by for one in verdicts] == [one.by.upper() for one in verdicts]
    assert {name for one in verdicts for name in one.values} == {"A_I"}
    fates = Counter(verdict.fate for verdict in verdicts)
    assert (fates["killed by proof"] > 6, fates["killed by proof"] + fates["equivalent"]) == (True, 12), fates


@pytest.mark.slow
def test_mutants_of_an_own_operator_are_planted_in_its_text(tmp_path: Path) -> None:
    text = (LANES / "uqadd.sv").read_text()
    (tmp_path / "uqadd.sv").write_text(f"// mine\n{text}")
    done = lanewise("rtl", "mutate", "--modules", tmp_path, "--count", "6", "--json")
    (module,) = json.loads(done.stdout)["modules"]
    lines = {int(place.partition(":")[2]) for one in module["mutants"] for place in one["places"]}
    offset = text.count("\n", 0, text.index("  logic")) + 2
    assert (done.exit_code, lines != set(), min(lines) >= offset) == (0, True, True)


def test_no_mutant_is_in_what_is_around_a_module_of_an_adapter() -> None:
    own = OwnModule(SubjectSources(Subject("a_as_b", ()), {}), None, "a_as_b.sv")
    target = Target(Subject("a_as_b", ()), (), lambda _: [], own=own)
    places = [("a_as_b.sv:3",), ("a.sv:3",), ("a_as_b.sv:3", "a.v:4"), ()]
    assert [target.is_planted(Mutant(1, "", "", place)) for place in places] == [False, True, True, True]


def test_a_users_module_is_synthesized_from_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "uqadd.sv").write_text("// mine")
    adapter = read_adapter(ADAPTER)
    (of_folder,) = own_designs(tmp_path, [], [4], ["shallow"])
    (adapted,) = adapted_designs(adapter, EXAMPLE, [4])
    assert (of_folder.sources["uqadd.sv"], of_folder.latency, adapted.latency) == ("// mine", None, None)
    assert [*adapted.sources] == ["requantizer.sv", "skid_buffer.sv", "requantizer_as_quantize_down.sv"]
    assert asked_for(adapted) == ["quantize_down", "--lanes", "4", "--adapter", str(ADAPTER)]


@pytest.mark.slow
def test_the_example_is_proved_by_its_adapter() -> None:
    done = lanewise("rtl", "prove", "--adapter", ADAPTER)
    assert (done.exit_code, done.stdout.partition(" about")[0]) == (0, "1 of 1 theorem")


@pytest.mark.slow
def test_the_example_with_a_fault_is_refuted_with_a_schedule_and_the_command(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "mine")
    file = tmp_path / "mine" / "requantizer.sv"
    file.write_text(file.read_text().replace("&& shift != 0", "&& shift != 0 && lane != 2"))
    done = lanewise("rtl", "prove", "--adapter", tmp_path / "mine" / ADAPTER.name)
    said = [line.strip() for line in done.stdout.splitlines()]
    assert (done.exit_code, said[1].partition(" is ")[0], said[4]) == (1, "m_bytes from bit 16", "s_valid 1000000")
    assert "0 false claims refuted, 1 not asked" in said[-1]
    assert said[-2].endswith(f"--adapter {tmp_path / 'mine' / ADAPTER.name}")


BOOTH: Final = """
module sqrdmulh #(parameter int Width = 8) (
  input  logic [Width-1:0] a_i, b_i,
  output logic [Width-1:0] result_o,
  output logic saturated_o
);
  logic [Width:0] digits;
  logic signed [2*Width-1:0] wide, product, rounded, sum [Width/2+1];
  assign digits = {b_i, 1'b0};
  assign wide = (2*Width)'($signed(a_i));
  assign sum[0] = '0;
  for (genvar k = 0; k < Width/2; k++) begin : row
    logic signed [2*Width-1:0] value;
    always_comb
      case (digits[2*k +: 3])
        3'b001, 3'b010: value = wide;
        3'b011:         value = wide <<< 1;
        3'b100:         value = -(wide <<< 1);
        3'b101, 3'b110: value = -wide;
        default:        value = '0;
      endcase
    assign sum[k+1] = sum[k] + (value <<< 2*k);
  end
  assign product = sum[Width/2];
  assign rounded = (product <<< 1) + ((2*Width)'(1) <<< (Width-1));
  assign saturated_o = a_i == {1'b1, {(Width-1){1'b0}}} && b_i == a_i;
  assign result_o = saturated_o ? {1'b0, {(Width-1){1'b1}}} : rounded[2*Width-1:Width];
endmodule
"""
"""A multiplier of two bits a row, rewritten until no solver sees a product in it."""


def booth_cuts(width: int) -> str:
    """Its rows, and the product that they are together."""
    rows = [
        f'[[cut]]\nwire = "row[{k}].value"\nname = "row{k}"\n'
        f'is = "s{width}(a_i) * (b_i[{2 * k}] - 2 * b_i[{2 * k + 1}]{f" + b_i[{2 * k - 1}]" if k else ""})"\n'
        for k in range(width // 2)
    ]
    by = " + ".join(f"(row{k} << {2 * k})" for k in range(width // 2))
    return "\n".join([*rows, f'[[cut]]\nwire = "product"\nis = "s{width}(a_i) * s{width}(b_i)"\nby = "{by}"\n'])


@pytest.fixture
def booth(tmp_path: Path) -> Path:
    """A folder with the multiplier and its cut points at 8 bits."""
    (tmp_path / "sqrdmulh.sv").write_text(BOOTH)
    (tmp_path / "cuts.toml").write_text(booth_cuts(8))
    return tmp_path


@pytest.mark.slow
def test_a_rewritten_multiplier_is_unknown_and_proved_by_cut_points(booth: Path) -> None:
    """Of 16 bits, where the product must be known to be highest for the lowest factors alone."""
    (booth / "cuts.toml").write_text(booth_cuts(16))
    asked = ("rtl", "prove", "sqrdmulh at 16 bits", "--modules", booth)
    done = [lanewise(*asked, "--timeout", "0.2"), lanewise(*asked, "--cuts", booth / "cuts.toml")]
    assert [one.exit_code for one in done] == [3, 0]
    assert "sqrdmulh at 16 bits: unknown" in done[0].stdout


def test_a_cut_point_that_is_another_number_is_told_with_what_shows_it(booth: Path) -> None:
    file = booth / "sqrdmulh.sv"
    file.write_text(BOOTH.replace("3'b101, 3'b110: value = -wide;", "3'b101: value = -wide;"))
    done = lanewise("rtl", "prove", "sqrdmulh at 8 bits", "--modules", booth, "--cuts", booth / "cuts.toml")
    assert (done.exit_code, "the cut point row[0].value is not proved: it is another number where" in done.stdout) == (
        1, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has tables [[cut]] and nothing else"),
        ("[[cut]]\nwire = 'x'", "cut 1 has wire and is, and may have by and name"),
        ("[[cut]]\nwire = 'x'\nis = 'a_i / b_i'", "cut 1: a_i / b_i is none of +, -, *"),
        ("[[cut]]\nwire = 'x'\nis = 'c_i'", "cut 1: c_i is neither an input port nor a cut before: a_i, b_i"),
        ("[[cut]]\nwire = 'x'\nis = 'a_i['", "cut 1: 'a_i[' is no expression"),
        (f"[[cut]]\nwire = 'x'\nis = 'a_i[{10**30}:0]'", f"cut 1: there are no bits [{10**30}:0]"),
        (f"[[cut]]\nwire = 0x{'f' * 5000}\nis = 'a_i'", "is no TOML: a whole number has 64 bits at most"),
        ("[[cut]]\nwire = 'a_i'\nis = 'b_i'", "cut 1: there is something called 'a_i' already"),
        ("[[cut]]\nwire = 'x'\nis = 's8(a_i) * b_i'\nby = 'a_i * b_i'", "a_i * b_i is not s8(a_i) * b_i, as polynom"),
    ],
)
def test_cut_points_that_cannot_be_used_are_refused_with_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "cuts.toml"
    file.write_text(text)
    with pytest.raises(MalformedCuts) as refused:
        read_cuts(file, {"a_i": 8, "b_i": 8})
    assert words in str(refused.value)


@pytest.mark.slow
def test_a_cut_point_that_is_called_as_a_port_is_in_the_solver_is_another_number(tmp_path: Path) -> None:
    wrong = (LANES / "add.sv").read_text().replace("a_i + b_i", "w + b_i")
    (tmp_path / "add.sv").write_text(
        wrong.replace("  assign result_o", "  logic [Width-1:0] w;\n  assign w = b_i + 1'b1;\n  assign result_o")
    )
    (tmp_path / "cuts.toml").write_text('[[cut]]\nwire = "w"\nname = "a_i[0+:8]"\nis = "u8(b_i + 1)"\n')
    done = lanewise("rtl", "prove", "add at 8 bits", "--modules", tmp_path, "--cuts", tmp_path / "cuts.toml")
    assert (done.exit_code, "the cut points do not suffice" in done.stdout) == (3, True), done.output


def test_numbers_have_one_polynomial_just_where_they_are_equal_on_all_bits() -> None:
    """Of three bits each, on all 64 pairs."""
    kind = Int(3, signed=True)
    x, y = (input_lane(name, kind) for name in "xy")
    low, high = (Int(bits, signed).field(y, lsb) for bits, signed, lsb in ((2, False, 0), (1, True, 2)))
    numbers: list[Lane] = [
        x * y,
        y * x,
        x * low + (x * high << 2),
        x * low - (x * high << 2),
        x * (low + high),
        x + y,
        x * Int(3, signed=False).field(y, 0),
    ]
    values = [
        [Evaluation(ClaimInputs({"x": p, "y": q})).value(lane) for p, q in product(range(-4, 4), repeat=2)]
        for lane in numbers
    ]
    pairs = list(product(range(len(numbers)), repeat=2))
    assert [same_number(numbers[i], numbers[j]) for i, j in pairs] == [values[i] == values[j] for i, j in pairs]


def test_a_product_of_too_many_bits_has_no_polynomial() -> None:
    x, y, z = (input_lane(name, Int(128, signed=False)) for name in "xyz")
    assert (same_number(x * y, y * x), same_number(x * y * z, z * y * x)) == (True, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cuts", "cuts.toml"), "--cuts names wires of a module of yours: give --modules or --adapter"),
        (
            ("--modules", "."),
            "transpose1xw is not proved of a module of yours: what it gives depends on where its beat",
        ),
    ],
)
def test_what_is_not_proved_is_refused_with_why(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(LANES / "transpose1xw.sv", tmp_path)
    monkeypatch.chdir(tmp_path)
    done = lanewise("rtl", "prove", *words)
    assert (done.exit_code, said in done.stderr) == (2, True)
