"""Lane modules against the isa semantics, for all inputs; and that what proves them can also refute."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from isa.evaluate.exact import Evaluation
from isa.instruction import Form
from isa.lane import Lane, constant
from isa.operands import Vector
from isa.rows import TABLE
from rtl_models.command import prove as command
from rtl_models.formal.equations.written import at_width, derive_equations
from rtl_models.formal.operators import operator_theorems
from rtl_models.formal.report import details
from rtl_models.formal.run import TheoremVerdict, theorems_named, verdict_of
from rtl_models.formal.theorem import Fault, Theorem, decided
from rtl_models.formal.theorems import theorems
from rtl_models.operators import OPERATORS, Operator
from rtl_models.tools import sources, yosys
from rtl_models.tools.environment import execute, verilator_program, verilator_root
from rtl_models.tools.sources import LANES
from sim.prove.claim import ClaimInputs, Sides, clamped, prove_sides, sides_of
from sim.toolchain.tools import cache_directory
from support.command import lanewise

pytestmark = pytest.mark.rtl
FAST = [theorem for theorem in operator_theorems() if dict(theorem.subject.parameters)["Width"] <= 16]
"""The wider ones are proved by `lanewise rtl prove`."""
SECONDS = 600.0


@pytest.fixture
def cache() -> Path:
    return cache_directory()


def one(name: str) -> Theorem:
    (theorem,) = (theorem for theorem in operator_theorems() if theorem.claim.name == name)
    return theorem


@pytest.mark.parametrize("theorem", FAST, ids=lambda theorem: theorem.claim.name)
def test_a_theorem_holds_for_all_inputs_and_its_false_claim_does_not(theorem: Theorem, cache: Path) -> None:
    verdict = verdict_of(theorem, cache, SECONDS)
    assert verdict.holds, "\n".join(details(verdict))


def test_every_operator_has_its_file_and_is_proved_at_each_of_its_widths() -> None:
    assert all(operator.source.is_file() for operator in OPERATORS.values())
    proved = {theorem.subject for theorem in operator_theorems()}
    assert proved == {at_width(operator.name, width) for operator, width in EVERY_WIDTH}


@pytest.mark.slow
def test_every_module_in_the_directory_is_proved() -> None:
    """The includes of `require.svh` and the package are no modules."""
    proved = {theorem.subject.module for theorem in theorems() if isinstance(theorem, Theorem)}
    assert proved == set(sources.module_names())


@pytest.mark.slow
def test_every_theorem_has_a_name_of_its_own() -> None:
    names = [theorem.claim.name for theorem in theorems()]
    assert len(set(names)) == len(names) >= 40


def form_of(operator: Operator, width: int) -> Form | None:
    """The instruction's form of 128 bits, if there is one at the width."""
    mnemonic, _, shape = form_name(operator, width).partition(" ")
    return TABLE.forms.get((mnemonic, shape))


def form_name(operator: Operator, width: int) -> str:
    letter, wider = ({8: "b", 16: "h", 32: "s", 64: "d"}.get(bits, "") for bits in (width, 2 * width))
    if operator.name in ("sdot4", "udot4"):
        return f"{operator.name.removesuffix('4')} .4s,.16b,.16b"
    lanes = 128 // width
    if len(operator.operands) == 1:
        return f"{operator.name} .{lanes // 2}{letter},.{lanes // 2}{wider}"
    return f"{operator.name} " + ",".join([f".{lanes}{letter}"] * 3)


def first_lane(form: Form) -> Lane:
    """What a form whose sources are v0, v1 and whose destination is v2 computes in lane 0."""
    shapes = [shape.strip(".") for shape in form.shape.split(",")]
    operands = [Vector(k, int(shape[:-1]), shape[-1]) for k, shape in zip((2, 0, 1), shapes, strict=False)]
    (write,) = form.body(*operands)
    lane: Lane = write.lanes[0]
    return lane


EVERY_WIDTH = [(operator, width) for operator in OPERATORS.values() for width in operator.widths]
WITH_FORM = [(operator, width, form) for operator, width in EVERY_WIDTH if (form := form_of(operator, width))]


@pytest.mark.parametrize(("operator", "width", "form"), WITH_FORM, ids=lambda value: getattr(value, "name", ""))
def test_what_a_module_is_proved_against_is_the_lane_of_a_form(operator: Operator, width: int, form: Form) -> None:
    to, lanes = operator.result_of(width), (operator.expression(width), first_lane(form))
    left, right = ({"value": to.wrap(lane), "QC": clamped(lane)} for lane in lanes)
    assert prove_sides(Sides((), left, right, constant(1)), SECONDS).outcome == "proved"


def test_only_widths_without_an_instruction_have_no_such_comparison() -> None:
    alone = {(operator.name, width) for operator, width in EVERY_WIDTH if form_of(operator, width) is None}
    products = {(name, width) for name in ("sqdmulh", "sqrdmulh") for width in (8, 64)}
    comparisons = {(name, 64) for name in ("smin", "smax", "umin", "umax")}
    divisions = {("rounding_divide_by_pot", width) for width in (8, 16, 32, 64)}
    assert alone == products | comparisons | divisions


def worked_values() -> Iterator[tuple[str, dict[str, int]]]:
    """The lines of the tables in the headers of the modules, by the names of their columns."""
    for operator in OPERATORS.values():
        header = operator.source.read_text().split("\nmodule ")[0]
        (columns,) = re.findall(r"^// +((?:[a-z]+\d? +)+saturated)$", header, re.MULTILINE)
        for line in re.findall(r"^// +(-?\d+ .*)$", header, re.MULTILINE):
            numbers = [int(word) for word in line.split()[: len(columns.split())]]
            yield operator.name, dict(zip(columns.split(), numbers, strict=True))


@pytest.mark.parametrize(("module", "row"), list(worked_values()))
def test_the_values_in_the_header_of_a_module_are_those_of_the_semantics(module: str, row: dict[str, int]) -> None:
    theorem = one(f"{module} at {32 if module in ('sdot4', 'udot4') else 8} bits")
    sides = sides_of(theorem.claim)
    evaluation = Evaluation(ClaimInputs({port: number(row, port) for port in theorem.claim.inputs}))
    expected = {name: evaluation.value(lane) for name, lane in sides.right.items()}
    assert expected == {"result_o": row["result"], "saturated_o": row["saturated"]}


def number(row: dict[str, int], port: str) -> int:
    """The number on a port: a column, or four columns of bytes side by side."""
    name = port.removesuffix("_i").removesuffix("_o")
    if name in row:
        return row[name]
    return sum((row[f"{name}{k}"] % 256) << 8 * k for k in range(4))


def test_every_header_has_worked_values_with_a_corner() -> None:
    rows = [(module, row) for module, row in worked_values()]
    assert {module for module, _ in rows} == set(OPERATORS)
    can_saturate = {module for module in OPERATORS if re.match("[su]q|rounding", module)}
    assert {module for module, row in rows if row["saturated"]} == can_saturate


def test_a_counter_example_is_the_smallest_and_shown_with_the_command_that_repeats_it(cache: Path) -> None:
    """Half too small by one turns ties down: 8 * 8 = 64 is the smallest product that is one at 8 bits."""
    theorem = one("sqrdmulh at 8 bits")
    finding = decided(theorem, derive_equations(theorem.wrong_design, cache), SECONDS)
    lines = list(details(TheoremVerdict(theorem, finding, finding)))
    assert lines[:3] == [
        "sqrdmulh at 8 bits: counter-example",
        "  a_i = 8, b_i = 8",
        "  result_o: sqrdmulh.sv at Width 8 gives 0, expected 1",
    ]
    assert lines[-1] == '  reproduce: lanewise rtl prove "sqrdmulh at 8 bits"'


@pytest.mark.slow
def test_the_shown_command_asks_for_that_theorem() -> None:
    assert [theorem.claim.name for theorem in theorems_named("uqxtn at 16 bits")] == ["uqxtn at 16 bits"]


def test_a_deadline_ends_a_question(cache: Path) -> None:
    theorem = one("sqrshl at 32 bits")
    finding = decided(theorem, derive_equations(theorem.design, cache), 0.0)
    assert (finding.outcome, finding.reason) == ("unknown", "the time limit was reached")


def uqsub_with_fault(fault: Fault, cache: Path) -> TheoremVerdict:
    return verdict_of(Theorem(one("uqsub at 8 bits").claim, at_width("uqsub", 8), fault), cache, SECONDS)


def test_a_false_claim_that_is_not_refuted_is_reported(cache: Path) -> None:
    fault = Fault("uqsub.sv", "{Width{1'b0}}", "{Width{1'b0}} & a_i")
    verdict = uqsub_with_fault(fault, cache)
    assert not verdict.holds
    assert list(details(verdict)) == [
        "uqsub at 8 bits: false claim not refuted",
        f"  its false claim, {fault.text!r} as {fault.wrong!r}: proved",
        '  reproduce: lanewise rtl prove "uqsub at 8 bits"',
    ]


def test_a_false_claim_whose_text_the_module_no_longer_has_is_not_called_one_that_holds(cache: Path) -> None:
    verdict = uqsub_with_fault(Fault("uqsub.sv", "no such text", ""), cache)
    assert not verdict.holds
    assert list(details(verdict)) == [
        "uqsub at 8 bits: false claim has no place",
        "  its false claim has no place: 'no such text' occurs 0 times in uqsub.sv, not once",
        '  reproduce: lanewise rtl prove "uqsub at 8 bits"',
    ]


@pytest.mark.parametrize(("operator", "width"), EVERY_WIDTH, ids=lambda value: getattr(value, "name", value))
def test_a_module_has_no_fault_that_verilator_warns_of(operator: Operator, width: int, tmp_path: Path) -> None:
    lint: list[str | Path] = [
        verilator_program(),
        "--lint-only",
        "--quiet",
        "-Wall",
        f"-GWidth={width}",
        "-y",
        LANES,
        operator.source,
    ]
    done = execute(lint, tmp_path, VERILATOR_ROOT=str(verilator_root()))
    assert (done.status, done.output) == (0, "")


@pytest.mark.slow
def test_the_command_proves_what_is_named() -> None:
    result = lanewise("rtl", "prove", "uqxtn at 8 bits")
    assert (result.exit_code, result.stdout.splitlines()[-1].partition(" (")[0]) == (
        0,
        "1 of 1 theorem about 1 module proved for all inputs, 1 false claim refuted",
    )


def test_soundness_names_what_is_proved_at_which_widths() -> None:
    text = (LANES.parent / "SOUNDNESS.md").read_text()
    operators = {name: bits.split() for name, bits in re.findall(r"^\| `(\w+)` \| ([\d ]+) \|", text, re.MULTILINE)}
    assert operators == {operator.name: [str(bits) for bits in operator.widths] for operator in OPERATORS.values()}
    others = re.findall(r"^\| `(\w+)` at ([\d, ]+) bits (.+?) \|", text, re.MULTILINE)
    named = {f"{name} at {bits} bits {words}" for name, widths, words in others for bits in widths.split(", ")}
    assert named == {theorem.claim.name for theorem in operator_theorems() if " bits " in theorem.claim.name}


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
    """Plants a mistake in a copy of the lanes, which is then the one that is proved."""
    lanes = shutil.copytree(LANES, tmp_path / "lanes")
    monkeypatch.setattr(sources, "LANES", lanes)

    def plant(module: str, text: str, wrong: str) -> None:
        file = lanes / f"{module}.sv"
        file.write_text(file.read_text().replace(text, wrong))

    return plant


@pytest.mark.slow
def test_the_command_shows_why_a_broken_module_is_wrong(broken: Callable[[str, str, str], None]) -> None:
    """The exclusive or of 1 and 1 is no sum: no smaller pair tells them apart."""
    broken("add", "a_i + b_i", "a_i ^ b_i")
    result = lanewise("rtl", "prove", "add at 8 bits")
    assert (result.exit_code, result.stdout.splitlines()[:3]) == (
        1,
        ["add at 8 bits: counter-example", "  a_i = 1, b_i = 1", "  result_o: add.sv at Width 8 gives 0, expected 2"],
    )


@pytest.mark.slow
def test_the_command_shows_what_yosys_says_of_a_module(broken: Callable[[str, str, str], None]) -> None:
    broken("add", "a_i + b_i;", "a_i + ;")
    result = lanewise("rtl", "prove", "add at 8 bits")
    line = 1 + (LANES / "add.sv").read_text().splitlines().index("  assign result_o    = a_i + b_i;")
    said = f"lanewise: add.sv:{line}: syntax error, unexpected ';' (yosys, which reads modules for proofs"
    assert (result.exit_code, result.stderr[: len(said)], result.stderr.count("\n")) == (2, said, 1)


@pytest.mark.slow
def test_the_command_says_why_yosys_refuses_a_module_with_the_line(broken: Callable[[str, str, str], None]) -> None:
    broken("add", "result_o    = a_i + b_i;", "result_o    = sum_of_both;")
    result = lanewise("rtl", "prove", "add at 8 bits")
    line = 1 + (LANES / "add.sv").read_text().splitlines().index("  assign result_o    = a_i + b_i;")
    assert result.exit_code == 2
    assert "Found 1 problems in 'check -assert': Wire add.result_o [0] is used but has no driver" in result.stderr
    assert f"; add.sv:{line}: Identifier `sum_of_both' is implicitly declared" in result.stderr


@pytest.mark.slow
def test_the_command_refuses_a_name_that_no_theorem_has() -> None:
    result = lanewise("rtl", "prove", "mystery")
    assert (result.exit_code, result.stderr) == (2, "lanewise: no theorem is called 'mystery'; --list names them\n")


def test_the_command_refuses_a_number_of_lanes_that_no_unit_has() -> None:
    result = lanewise("rtl", "prove", "--lanes", "5")
    assert (result.exit_code, result.stderr) == (2, "lanewise: a beat of 5 lanes: give 4, 8, 16\n")


@pytest.mark.slow
def test_the_command_names_the_theorems_of_as_many_lanes_as_asked() -> None:
    result = lanewise("rtl", "prove", "--list", "--lanes", "8", "offset_contribution*not taken stays")
    assert result.stdout.splitlines() == [
        f"offset_contribution at Lanes 8, {depth}: a result that is not taken stays"
        for depth in ("Deep 0", "Depth 3", "Deep 1")
    ]


@pytest.mark.slow
def test_the_command_says_how_to_get_yosys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path))

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(yosys, "version", missing)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))  # without a yosys of the system
    result = lanewise("rtl", "prove", "uqxtn at 8 bits")
    assert (result.exit_code, result.stderr) == (
        3,
        "lanewise: yosys is not installed; run: pip install 'lanewise[rtl]'\n",
    )


@pytest.mark.slow
def test_an_interrupt_shows_what_is_proved_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(asked: list[Theorem], cache: Path, seconds: float) -> Iterator[TheoremVerdict]:
        yield verdict_of(asked[0], cache, seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "verdicts", interrupted)
    result = lanewise("rtl", "prove", "uqxtn*")
    assert (result.exit_code, "1 of 1 theorem " in result.stdout) == (130, True)
    assert "interrupted after 1 of 3 theorems" in result.stderr
    told = json.loads(lanewise("rtl", "prove", "uqxtn*", "--json").stdout)
    assert (told["passed"], told["findings"][0]["holds"]) == (False, True)


@pytest.mark.slow
def test_a_wheel_that_cannot_be_imported_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path))
    (tmp_path / "pyosys.py").write_text("raise ImportError('no\\nlibyosys')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = lanewise("rtl", "prove", "uqxtn at 8 bits")
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert "yosys cannot be started: no libyosys; run: pip install" in result.stderr
