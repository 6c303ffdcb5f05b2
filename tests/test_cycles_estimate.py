"""Estimates in one call: units of work, nanoseconds and GOPS, and what was measured beside them.

Expected figures can be counted by hand: on neoverse-n1 SDOT is forwarded to its accumulator in 2 cycles.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.catalogue import instruction_of
from isa.errors import LanewiseError
from sim.cycles import (
    ArgumentError,
    CyclesEstimate,
    MeasuredError,
    UsageError,
    Work,
    estimate,
    load_core,
    time_kernel,
    work_of,
)
from sim.kernels import built_in_kernel
from sim.timing.model.stream import Executed
from support.command import lanewise

DOT = """\
dot:
    sdot v0.4s, v1.16b, v2.16b
    sdot v0.4s, v3.16b, v4.16b
    subs x0, x0, #1
    b.ne dot
"""
COUNT = 1000


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "dot.s"
    path.write_text(DOT)
    return path


def on_n1(loop: Path, **more: object) -> CyclesEstimate:
    return estimate(loop, cores=["neoverse-n1"], flags=["-march=armv8.2-a+dotprod"], count=COUNT, **more)  # type: ignore[arg-type]


def products(text: str) -> int:
    instruction = instruction_of(text)
    assert instruction is not None
    return work_of([Executed(None, instruction, (), (), False, None)], 0).products


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sdot v0.4s, v1.16b, v2.16b", 16),
        ("smmla v0.4s, v1.16b, v2.16b", 32),
        ("smlal v0.4s, v1.4h, v2.h[1]", 4),
        ("sqrdmulh v0.8h, v1.8h, v2.8h", 8),
        ("fmla v0.4s, v1.4s, v2.4s", 4),
        ("fmul s0, s1, s2", 1),
        ("madd x0, x1, x2, x3", 1),
        ("add v0.4s, v1.4s, v2.4s", 0),
        ("add x0, x1, x2, lsl #3", 0),
    ],
)
def test_the_products_of_an_instruction_are_counted_lane_by_lane(text: str, expected: int) -> None:
    assert products(text) == expected


@pytest.mark.parametrize(
    ("work", "unit", "units"),
    [
        (Work(bytes=64, products=0, outputs=0), "byte", 64),
        (Work(bytes=64, products=0, outputs=16), "output", 16),
        (Work(bytes=64, products=16, outputs=16), "output", 16),
        (Work(bytes=64, products=64, outputs=16), "product", 64),
        (Work(bytes=64, products=4, outputs=0), "product", 4),
    ],
)
def test_a_reduction_is_told_per_product_and_what_multiplies_little_per_output(
    work: Work, unit: str, units: int
) -> None:
    assert (work.unit, work.units) == (unit, units)


def test_a_loop_is_told_per_product_in_nanoseconds_and_in_gops(loop: Path) -> None:
    (row,) = on_n1(loop, megahertz=2000).rows
    assert row.result.cycles == pytest.approx(4 * COUNT, rel=0.01)
    assert row.per_unit == row.result.cycles / (32 * COUNT)
    assert row.nanoseconds == row.result.cycles / 2
    assert row.gops == pytest.approx(32, rel=0.01)  # 32 products in 4 cycles, at 2 GHz


def test_without_a_clock_there_are_no_nanoseconds(loop: Path) -> None:
    (row,) = on_n1(loop).rows
    assert (row.nanoseconds, row.gops) == (None, None)


def test_what_was_measured_stands_beside_it_with_the_residual(loop: Path, tmp_path: Path) -> None:
    cycles = on_n1(loop).rows[0].result.cycles
    table = tmp_path / "measured.csv"
    table.write_text(f"timed,core,cycles\nloop,neoverse-n1,{cycles / 1.25}\nloop,cortex-a72,7\n")
    found = on_n1(loop, measured=table)
    assert found.row("neoverse-n1").residual == pytest.approx(0.25)
    assert sum(found.residual_by_reason.values()) == pytest.approx(cycles / 5)
    assert found.residual_by_reason.keys() == found.stalls["neoverse-n1"].keys()
    assert found.cycles == {"neoverse-n1": {"loop": cycles, "loop, measured": cycles / 1.25}}


SUM = "int sum(const short *a, float by, int n) { int s = by; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"


def test_arguments_are_texts_numbers_or_arrays(tmp_path: Path) -> None:
    file = tmp_path / "sum.c"
    file.write_text(SUM)
    given: list[Sequence[Any]] = [
        ["3,-4,5", "0.5", "3"],
        [np.array([3, -4, 5], np.int16), 0.5, 3],
        [np.arange(3), np.float32(1), np.int64(3)],
    ]
    cycles = [estimate(file, "sum", one, cores=["neoverse-n1"]).rows[0].result.cycles for one in given]
    assert len({*cycles}) == 1
    with pytest.raises(ArgumentError, match=r"'a'.*40000 is out of range|'a': .*int16"):
        estimate(file, "sum", [np.array([40_000]), 0.5, 3])


def test_what_is_missing_is_asked_for_by_its_keyword(tmp_path: Path) -> None:
    file = tmp_path / "sum.c"
    file.write_text(SUM)
    with pytest.raises(LanewiseError, match=r"name the function of .*: give symbol= and arguments=$"):
        estimate(file)
    with pytest.raises(LanewiseError, match=r"takes 3 arguments \(a, by, n\), not 0: give arguments=$"):
        estimate(file, "sum")
    with pytest.raises(LanewiseError, match=r"takes 3 arguments \(a, by, n\), not 1$"):
        estimate(file, "sum", [1])


def test_a_level_has_a_hyphen_or_none_and_a_core_may_stand_alone(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int twice(int n) { return 2 * n; }\n")
    tables = [
        repr(estimate(tmp_path / "f.c", "twice", [3], cores=cores, levels=levels))
        for cores, levels in ((("cortex-a55",), ("-O1",)), ("cortex-a55", ("O1",)), (load_core("cortex-a55"), ("O1",)))
    ]
    assert tables[1:] == tables[:1] * 2
    assert "-O1" in tables[0]


@pytest.mark.parametrize("levels", [("O9",), ("O2", "fast"), "O2"])
def test_another_level_is_refused_before_anything_is_compiled(levels: Sequence[str]) -> None:
    with pytest.raises(ValueError, match="levels takes some of O0, O1, O2, O3, Os, Oz"):
        estimate("requantize", levels=levels)
    with pytest.raises(ValueError, match="levels takes some of O0, O1, O2, O3, Os, Oz"):
        time_kernel(built_in_kernel("requantize"), levels=levels)


@pytest.mark.parametrize(
    ("more", "named"),
    [({"symbol": "f"}, "symbol"), ({"arguments": [1]}, "arguments"), ({"count": 3}, "count")],
)
def test_what_would_be_passed_over_beside_a_kernel_is_refused(more: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=f"{named} is for a function or a loop, and requantize, mode .* is a kernel"):
        estimate(built_in_kernel("requantize"), **more)


def test_a_list_is_an_array_and_a_wrong_one_is_told_in_short(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int first(const int *a) { return a[0]; }\n")
    taken = estimate(tmp_path / "f.c", "first", [[1, 2, 3]], cores="cortex-a55")
    assert repr(taken) == repr(estimate(tmp_path / "f.c", "first", ["1,2,3"], cores="cortex-a55"))
    with pytest.raises(ArgumentError, match=r"^'\[0\.5, [^']{54}'\.\.\. is no value of the argument 'a'"):
        estimate(tmp_path / "f.c", "first", [np.full(500, 0.5)], cores="cortex-a55")


def test_what_does_not_run_on_a_core_is_marked_where_its_cycles_stand(loop: Path) -> None:
    words = "cycles", loop, "--core", "cortex-a53,cortex-a76"
    rows = estimate(loop, cores=["cortex-a53", "cortex-a76"], count=COUNT).rows
    assert [row.lacks for row in rows] == ["dotprod", ""]
    full, brief = (lanewise(*words, *more, columns=200).stdout for more in ([], ["--brief"]))
    assert re.search(r"does not run +lacks dotprod +-", full)
    assert re.findall(r"(cortex-a\d\d) +[\d,]+ (if it had dotprod)?", brief) == [
        ("cortex-a53", "if it had dotprod"), ("cortex-a76", "")
    ]  # fmt: skip


def test_cycles_are_told_per_element_where_their_number_is_said_and_per_product_in_every_report(loop: Path) -> None:
    words = "cycles", loop, "--core", "neoverse-n1"
    (row,) = on_n1(loop).rows
    each = f"{row.per_unit:.3g}"
    assert re.search(rf"per product +{each}\b", lanewise(*words).stdout)
    assert re.search(rf"{each} per product", lanewise(*words, "--brief").stdout)
    (said,) = json.loads(lanewise(*words, "--elements", 16, "--json").stdout)["estimate"]["rows"]
    assert (said["unit"], said["cycles_per_unit"]) == ("element", row.result.cycles / (16 * COUNT))


def test_the_name_of_a_core_is_whole_at_80_columns(loop: Path, tmp_path: Path) -> None:
    table = tmp_path / "measured.csv"
    table.write_text("timed,core,cycles\nloop,cortex-a53,5000\n")
    words = "cycles", loop, "--brief", "--core", "cortex-a53", "--megahertz", 1512, "--measured", table
    assert "cortex-a53 " in lanewise(*words, columns=80).stdout


def test_a_row_shows_itself_in_one_line(loop: Path) -> None:
    row = on_n1(loop).row("neoverse-n1")
    assert repr(row) == f"<loop on neoverse-n1: {row.result.cycles:,} cycles>"


def test_pictures_without_matplotlib_are_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "sim.plots"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"sim\.plots draws with matplotlib: .*lanewise\[plots\]"):
        importlib.import_module("sim.plots")


def test_a_table_has_no_column_of_what_is_not_known(loop: Path) -> None:
    assert on_n1(loop).table()[0] == ("timed", "core", "cycles", "range", "each")
    assert "ns" in on_n1(loop, megahertz=1)._repr_html_()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timed,core\nx,y\n", "has no column 'cycles'; its columns are timed, core, cycles"),
        ("timed,core,cycles\nx,y,fast\n", ":2: 'fast' is not a number of cycles above 0"),
        ("timed,core,cycles\nx,y,0\n", ":2: '0' is not a number of cycles above 0"),
        ("timed,core,cycles\n", "has no measured cycles"),
    ],
)
def test_a_bad_table_of_measured_cycles_is_refused_in_a_sentence(
    loop: Path, tmp_path: Path, text: str, said: str
) -> None:
    table = tmp_path / "measured.csv"
    table.write_text(text)
    with pytest.raises(MeasuredError) as caught:
        on_n1(loop, measured=table)
    assert str(caught.value).startswith(str(table))
    assert str(caught.value).endswith(said)


def test_what_does_not_exist_is_no_row(loop: Path) -> None:
    with pytest.raises(KeyError, match="cortex-a55"):
        on_n1(loop).row("cortex-a55")


def test_the_command_shows_the_unit_the_clock_and_the_residual(loop: Path, tmp_path: Path) -> None:
    table = tmp_path / "measured.csv"
    table.write_text("timed,core,cycles\nloop,neoverse-n1,8000\n")
    result = lanewise(
        "cycles", loop, "--march", "armv8.2-a+dotprod", "--core", "neoverse-n1", "--count", COUNT,
        "--megahertz", 2000, "--measured", table, "--diff", loop, "--json",
    )  # fmt: skip
    shown = json.loads(result.stdout)
    assert shown["estimate"]["rows"][0]["residual"] == pytest.approx(-0.5, abs=0.01)
    assert shown["estimate"]["rows"][0]["unit"] == "product"
    assert [one["before"] for one in shown["differences"]] == [shown["results"][0]["cycles"]]


@pytest.mark.parametrize(("measured", "says", "sign"), [(8000, "too short", "-"), (2000, "too long", "+")])
def test_the_command_says_to_which_side_an_estimate_is_off(
    loop: Path, tmp_path: Path, measured: int, says: str, sign: str
) -> None:
    table = tmp_path / "measured.csv"
    table.write_text(f"timed,core,cycles\nloop,neoverse-n1,{measured}\n")
    options = ("--march", "armv8.2-a+dotprod", "--core", "neoverse-n1", "--count", COUNT, "--measured", table)
    shown = " ".join(lanewise("cycles", loop, *options).stdout.split())
    (reasons,) = re.findall(
        rf"estimated less measured \({says}\), by the reasons of the estimate: (.*?\d)(?: |$)", shown
    )
    assert set(re.findall(r" ([+-])\d", reasons)) == {sign}


def test_a_missing_table_of_measured_cycles_is_a_sentence(loop: Path, tmp_path: Path) -> None:
    result = lanewise("cycles", loop, "--core", "neoverse-n1", "--measured", tmp_path / "none.csv")
    assert (result.exit_code, "cannot be read" in result.output, "Errno" in result.output) == (2, True, False)


def test_measured_cycles_of_nothing_that_is_timed_are_refused(loop: Path, tmp_path: Path) -> None:
    table = tmp_path / "measured.csv"
    table.write_text("timed,core,cycles\nloop,neoverse-n2,8000\n")
    result = lanewise("cycles", loop, "--core", "neoverse-n1", "--march", "armv8.2-a+dotprod", "--measured", table)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has no cycles of what is timed, such as 'loop' on neoverse-n1" in result.stderr.replace("\n", "")


def test_an_estimate_is_printed_as_its_table(loop: Path) -> None:
    shown = repr(on_n1(loop)).splitlines()
    assert (shown[0], shown[1].split(), shown[2].split()[:2]) == (
        "dot.s", ["timed", "core", "cycles", "range", "each"], ["loop", "neoverse-n1"],
    )  # fmt: skip
