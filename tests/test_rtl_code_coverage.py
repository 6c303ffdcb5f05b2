"""Branches and expressions of the hardware: what the benches execute, and whether the table of gaps is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtl_models.adapters import read_adapter
from rtl_models.code_coverage.gaps import GAPS, Gap, dead, never_executed, read_gaps, unexplained
from rtl_models.code_coverage.points import Counts, Point, added, points_in
from rtl_models.code_coverage.run import (
    BenchFails,
    counts_of,
    modules_of_these_alone,
    own_counts,
    problems,
    runs_of,
)
from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.names import CORES
from rtl_models.latencies import PROFILES
from rtl_models.operators import OPERATORS
from rtl_models.register_map import CHANNELS
from rtl_models.tools.sources import LANES, module_names, sources_of
from rtl_models.units import LANE_COUNTS, UNITS
from support.command import lanewise
from support.own_unit import ADAPTER, EXAMPLE
from support.rtl_faults import planted

ROOT = Path(__file__).parents[1]
rtl = pytest.mark.rtl
FAST = ("sqrshl", "rounding_divide_by_pot")
SATURATES = Point("sqadd", 27, 3, "branch", "assign result_o = saturated_o ? limit : sum;", "cond_then")
GAP = Gap("sqadd", SATURATES.line, "cond_then", "a test")


def counted(file: Path, what: str, times: int, number: int = 1) -> str:
    """A line of a file of counts, about a line of a module."""
    values = (file, number, 2, "expr", what)
    key = "".join(f"\x01{name}\x02{value}" for name, value in zip("flnto", values, strict=True))
    return f"C '{key}' {times}\n"


@pytest.mark.slow
@rtl
@pytest.mark.parametrize("name", FAST)
def test_benches_execute_every_point_of_a_lane(name: str) -> None:
    counts = counts_of(name)
    assert problems(counts, {point.module for point in counts}) == []


def test_of_parts_that_others_need_too_nothing_is_said_before_all_of_those_are_run() -> None:
    one = modules_of_these_alone(["transpose1xw"])
    assert {"transpose1xw", "frame_walk"} <= {*one}
    assert "config_registers" not in one
    assert modules_of_these_alone([*OPERATORS, *UNITS, *CORES]) == module_names()
    assert problems(Counts({SATURATES: 0}), modules_of_these_alone(["interleave4x4"])) == []
    (told,) = problems(Counts({SATURATES: 0}), ["sqadd"])
    assert told.startswith("never executed")


@pytest.mark.slow
@rtl
def test_coverage_of_a_lane_that_is_wrong_is_refused() -> None:
    with pytest.raises(BenchFails, match="again: lanewise rtl test umin"):
        counts_of("umin", planted("umin", "? a_i : b_i;", "? b_i : a_i;"))


@pytest.mark.slow
@rtl
def test_a_branch_that_nothing_enters_is_told() -> None:
    dead_branch = "? a_i : (a_i != b_i && a_i == b_i) ? '0 : b_i;"
    told = list(unexplained(counts_of("umin", planted("umin", "? a_i : b_i;", dead_branch)), []))
    assert any("branch cond_then: assign result_o" in line for line in told)


@pytest.mark.slow
@rtl
def test_of_a_users_module_its_own_points_are_counted_and_those_never_executed_are_told() -> None:
    folder = planted("umin", "? a_i : b_i;", "? a_i : (a_i != b_i && a_i == b_i) ? '0 : b_i;")
    result = lanewise("rtl", "cover", "--modules", folder)
    assert (result.exit_code, "never executed: umin.sv:" in result.stdout) == (0, True)
    assert {line.partition(":")[0] for line in result.stdout.splitlines()[:-1]} == {"umin", "never executed"}


@pytest.mark.slow
@rtl
def test_of_a_module_by_an_adapter_the_points_of_its_files_are_counted() -> None:
    counts = own_counts("quantize_down", EXAMPLE, read_adapter(ADAPTER))
    assert {point.module for point in counts} == {"requantizer", "skid_buffer"}
    assert never_executed(counts) == []


@pytest.mark.slow
@rtl
def test_coverage_of_a_users_module_that_is_wrong_is_refused_with_the_command_that_shows_it() -> None:
    folder = planted("umin", "? a_i : b_i;", "? b_i : a_i;")
    with pytest.raises(BenchFails, match=f"again: lanewise rtl test umin --modules {folder}$"):
        own_counts("umin", folder)


def test_a_folder_with_parts_of_units_alone_has_no_bench(tmp_path: Path) -> None:
    (tmp_path / "clamp_to_byte.sv").write_text("")
    result = lanewise("rtl", "cover", "--modules", tmp_path)
    assert (result.exit_code, "has parts of units alone" in result.stderr) == (2, True)


def test_a_point_without_a_reason_is_told_with_its_line() -> None:
    (told,) = unexplained(Counts({SATURATES: 0}), [])
    assert told.endswith(f"sqadd.sv:27: branch cond_then: {SATURATES.line}")


def test_a_point_with_a_reason_is_not_told() -> None:
    assert not list(unexplained(Counts({SATURATES: 0}), [GAP]))


def test_a_reason_for_what_is_executed_is_told() -> None:
    (told,) = dead(Counts({SATURATES: 3}), [GAP], ["sqadd"])
    assert "a reason that is not needed: sqadd.sv" in told


def test_a_reason_is_only_judged_where_its_module_was_counted() -> None:
    assert not list(dead(Counts({SATURATES: 3}), [GAP], ["sqsub"]))


def test_counts_of_instances_are_added_whatever_their_parameters() -> None:
    text = counted(LANES / "sqadd.sv", "(a == 8'h0) => 1", 3) + counted(LANES / "sqadd.sv", "(a == 16'h0) => 1", 4)
    assert list(points_in(text, [LANES]).values()) == [7]


def test_lines_are_those_of_the_simulator_whatever_the_encoding(tmp_path: Path) -> None:
    (tmp_path / "mine.sv").write_bytes(b"// caf\xe9\x0c page two\nassign x = y;\n")
    (point,) = points_in(counted(tmp_path / "mine.sv", "a", 0, 2), [tmp_path])
    assert (point.number, point.line) == (2, "assign x = y;")


def test_a_point_that_no_run_executes_is_counted_among_all() -> None:
    other = replace(SATURATES, what="cond_else")
    both = added([Counts({SATURATES: 0, other: 0}), Counts({SATURATES: 2, other: 0})])
    assert dict(both) == {SATURATES: 2, other: 0}
    assert dict(added([Counts({other: 0})])) == {other: 0}


def test_points_of_the_harness_are_not_counted(tmp_path: Path) -> None:
    assert not points_in(counted(tmp_path / "top.sv", "a", 0), [LANES])


def test_every_gap_has_a_reason_and_is_on_a_line_that_there_is() -> None:
    lost = [
        gap for gap in read_gaps(GAPS)
        if not gap.reason or gap.line not in map(str.strip, (LANES / f"{gap.module}.sv").read_text().splitlines())
    ]  # fmt: skip
    assert not lost


def test_every_module_is_part_of_something_that_is_run() -> None:
    tops = [*OPERATORS, *UNITS, *CORES]
    assert {Path(file).stem for top in tops for file in sources_of(top)} >= set(module_names())


def test_tables_in_block_ram_and_beats_of_several_chunks_come_into_being() -> None:
    """What no run elaborates has no points, so that nothing would tell that it is not executed."""
    runs = {name: {(run.lanes, run.profile, run.channels) for run in runs_of(unit)} for name, unit in UNITS.items()}
    both = {(4, "shallow", CHANNELS), (4, "deep", CHANNELS)}
    more = {"quantize_down_channels": {(4, "shallow", 132)}, "transpose1xw": {(16, "shallow", CHANNELS)}}
    assert runs == {name: both | more.get(name, set()) for name in UNITS}
    assert "BlockRam   = Channels > 32 * Lanes" in (LANES / "channel_tables.sv").read_text()


def test_the_benches_that_make_leaves_out_are_those_that_are_run_for_coverage() -> None:
    first, *others = LANE_COUNTS
    assert f"rtl test --lanes {','.join(map(str, others))}\n" in (ROOT / "Makefile").read_text()
    for unit in UNITS.values():
        assert {(run.profile, run.strict) for run in runs_of(unit) if run.lanes == first} == {
            (p, True) for p in PROFILES
        }
    assert (GemmCore().rows, GemmCore().columns) == (first, first)


def test_what_there_is_not_is_exit_code_2() -> None:
    result = lanewise("rtl", "cover", "sqxyz")
    assert (result.exit_code, "there is no sqxyz" in result.stderr) == (2, True)


def test_a_run_of_all_says_what_is_done_and_the_point_that_nothing_executes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is with every point but one executed, and the gaps as the table has them."""
    gaps = {Point(gap.module, 1, 1, "expr", gap.line, gap.what): 0 for gap in read_gaps(GAPS)}

    def counting(name: str, lost: int = 0) -> Counts:
        return Counts({SATURATES: lost} | gaps) if name == "sqadd" else Counts()

    monkeypatch.setattr("rtl_models.command.cover.counts_of", counting)
    result = lanewise("rtl", "cover")
    assert (result.exit_code, "never executed, and gaps.toml has no reason: sqadd.sv:27" in result.stdout) == (1, True)
    names = [*OPERATORS, *UNITS, *CORES]
    assert f"{names[-1]}: 0 s, {len(names)} of {len(names)}\n" in result.stderr
    monkeypatch.setattr("rtl_models.command.cover.counts_of", lambda name: counting(name, 1))
    assert lanewise("rtl", "cover").exit_code == 0


def test_modules_without_a_point_show_nothing_which_is_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtl_models.command.cover.counts_of", lambda name: Counts())
    result = lanewise("rtl", "cover", "add")
    said = "there is no branch and no expression: nothing was counted\n"
    assert (result.exit_code, result.stdout) == (3, said)


def test_a_failing_bench_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(name: str) -> Counts:
        raise BenchFails(f"the bench of {name} fails")

    monkeypatch.setattr("rtl_models.command.cover.counts_of", failing)
    result = lanewise("rtl", "cover", "sqadd")
    assert (result.exit_code, result.stderr) == (1, "lanewise: the bench of sqadd fails\n")
