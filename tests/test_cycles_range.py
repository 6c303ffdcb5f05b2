"""The range of an estimate: errors on kernels out of sight, as docs/cycles-error.md and the core files have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sim.cycles import Core, ErrorRange, core_names, error_range, estimate, load_core
from sim.timing.analysis.error_range import bases, range_of
from sim.timing.model.core import Unseen
from support.command import lanewise
from support.small_cores import ADD, SCALAR, small_core, stream_of

PAGE = Path(__file__).parents[1] / "docs" / "cycles-error.md"
CHAIN = "loop:\n    add v0.4s, v0.4s, v1.4s\n    subs x0, x0, #1\n    b.ne loop\n"
TABLE_LINE = re.compile(r"^\| (?:Cortex|Neoverse)[^\n]+", re.MULTILINE)


def family(
    rows: int, mean_absolute: str, mean: int | None = None, largest: int | None = None, name: str = "sums"
) -> Unseen:
    return Unseen(
        project="x", family=name, rows=rows, mean_absolute=Fraction(mean_absolute), mean=mean, largest=largest, note="",
        source="a paper",
    )  # fmt: skip


def known(*families: Unseen) -> ErrorRange:
    found = range_of(families)
    assert found is not None
    return found


def percent(found: ErrorRange) -> tuple[float, float]:
    return float(100 * found.low), float(100 * found.high)


def rows_of_the_page() -> Iterator[tuple[str, str, str, int, str, str, str, str]]:
    """Core, project, kernels, rows, before, after, mean, largest of each line that is a family."""
    for line in TABLE_LINE.findall(PAGE.read_text(encoding="utf-8")):
        core, project, kernels, rows, before, after, mean, largest = map(str.strip, line.strip("|").split("|"))
        if not kernels.startswith("all"):
            yield core.lower().replace(" ", "-"), project, kernels, int(rows), before, after, mean, largest


def stated(core: str, project: str, kernels: str, rows: int) -> Unseen:
    found = [one for one in load_core(core).about.unseen if one.project in project and one.rows == rows]
    (one,) = (one for one in found if len(found) == 1 or one.family == kernels)
    return one


def test_the_core_files_have_the_families_of_the_page() -> None:
    lines = list(rows_of_the_page())
    assert len(lines) == 13 + 42
    for core, project, kernels, rows, before, after, mean, largest in lines:
        one = stated(core, project, kernels, rows)
        if "before" in project:  # only the run before rules were changed was blind; no mean was kept of it
            assert (one.mean_absolute, one.mean, one.largest) == (Fraction(before), None, None), (core, project)
        else:
            assert (one.mean_absolute, one.mean, one.largest) == (Fraction(after), int(mean), int(largest)), core
    unseen = [(name, one) for name in core_names() for one in load_core(name).about.unseen]
    named = [one for name, one in unseen if (name, one.project) != ("cortex-a76", "dav1d")]  # which Neoverse N1 has too
    others = [one for one in named if one.project == "five projects"]
    assert sum(one.rows for one in others) == 242
    of_ffmpeg = [one.rows for one in named if one.project == "FFmpeg"]
    assert sum(of_ffmpeg) == 616 - 94 - 45 + 26  # without the halves in sight, with the last ones
    assert len(named) == len(lines) + len(others)


@pytest.mark.parametrize(
    ("one", "ends"),
    [
        (family(4, "10", 0, 50), (-10, 10)),
        (family(4, "10"), (-10, 10)),
        (family(4, "10", -10, -50), (-20, 0)),
        (family(4, "10", -10, -15), (-15, 0)),
        (family(4, "6.8", -7, -12), (-12, 0)),  # the mean was rounded
        (family(4, "20", 10, 25), (-10, 25)),
    ],
)
def test_a_family_lies_around_its_mean_and_no_farther_than_its_largest(one: Unseen, ends: tuple[float, float]) -> None:
    assert percent(known(one)) == ends


def test_several_families_count_by_their_rows() -> None:
    found = known(family(3, "10"), family(1, "30", -30, -60))
    assert (percent(found), found.rows) == ((-(3 * 10 + 60) / 4, 30 / 4), 4)


def test_what_is_measured_is_the_estimate_without_its_error() -> None:
    assert ErrorRange(Fraction(-1, 2), Fraction(1, 4), 9).cycles(100) == (80, 200)


def test_a_core_without_such_kernels_says_so() -> None:
    assert error_range(load_core("lane128")) is None
    shown = lanewise("cycles", "quantize_down", "--core", "lane128", "--length", 8).stdout
    assert "no measurements of unseen kernels" in shown
    assert re.search(r"^ +range +unknown", shown, re.MULTILINE)


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "chain.s"
    path.write_text(CHAIN)
    return path


def test_the_record_has_the_range_of_its_core(loop: Path) -> None:
    (row,) = estimate(loop, cores=["cortex-a72"], count=1000).rows
    core = load_core("cortex-a72")
    assert row.range == known(*core.about.unseen).cycles(row.result.cycles)
    assert row.range is not None
    assert row.range[0] < row.result.cycles < row.range[1]
    assert row.as_json()["range"] == list(row.range)


def test_json_has_the_range_by_family_and_the_split(loop: Path) -> None:
    (result,) = json.loads(lanewise("cycles", loop, "--core", "cortex-a72", "--json").stdout)["results"]
    low, high = result["unseen"]["percent"]
    assert result["range"] == [round(result["cycles"] / (1 + high / 100)), round(result["cycles"] / (1 + low / 100))]
    named = {one["family"]: one["percent"] for one in result["unseen"]["families"]}
    assert named["sums of absolute differences"] == pytest.approx([-4.7, 2.7])
    assert "by project" in result["unseen"]["split"]


def test_a_changed_core_has_no_range(loop: Path) -> None:
    (result,) = json.loads(lanewise("cycles", loop, "--core", "cortex-a72", "--set", "width=2", "--json").stdout)[
        "results"
    ]
    assert (result["range"], result["unseen"]["reason"]) == (None, "no measurements of unseen kernels")


def test_the_report_shows_errors_by_family_beside_each_core(loop: Path) -> None:
    shown = lanewise("cycles", loop, "--core", "cortex-a72,neoverse-n1").stdout
    assert re.search(r"sums of absolute differences +-5 to \+3 % +- ", shown)
    assert "kernels were split by project" in shown
    assert "unseen kernels" in lanewise("cycles", "--about", "cortex-a72").stdout


def test_instructions_are_counted_by_what_their_figures_rest_on() -> None:
    core = small_core(classes={ADD: {"basis": "measured"}})
    stream = stream_of(*["add v0.4s, v0.4s, v1.4s"] * 3, "add x0, x0, #1")
    assert bases(stream, core) == {"measured": 3, "assumed": 1}
    assert core.timing(SCALAR).basis == "assumed"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "mean = -1\n",
            "mean = -100\n",
            "differences: mean: -100 is not a whole number of percent",
        ),
        (
            "rows = 28\n",
            "rows = 0\n",
            "unseen, sums of absolute differences: rows: 0 is not a whole number",
        ),
        ("rows = 28\n", "", "unseen: rows is missing"),
        ("\nsplit = ", "\n# ", "unseen and the split of about go together"),
    ],
)
def test_bad_rows_of_unseen_kernels_are_refused(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    path = tmp_path / "mine.toml"
    text = (Path(__file__).parents[1] / "sim/timing/cores/cortex-a72.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    result = lanewise("cycles", "--about", path)
    assert (result.exit_code, sentence in result.output.replace("\n", "")) == (2, True)


def test_a_core_of_ones_own_may_state_its_rows() -> None:
    core = small_core()
    mine: Core = replace(core, about=replace(core.about, unseen=(family(2, "5"),), split="by hand"))
    found = error_range(mine)
    assert found is not None
    assert percent(found) == (-5, 5)


def changed_copy(folder: Path, *changes: tuple[str, str]) -> Core:
    """A core file that is a copy of Cortex-A55's with another width and these changes."""
    text = (Path(__file__).parents[1] / "sim/timing/cores/cortex-a55.toml").read_text(encoding="utf-8")
    for old, new in (("width = { value = 2,", "width = { value = 1,"), *changes):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return load_core(str(folder / "mine.toml"))


def test_what_was_measured_of_a_core_is_not_said_of_a_changed_copy_of_its_file(tmp_path: Path) -> None:
    theirs, mine = load_core("cortex-a55"), changed_copy(tmp_path)
    assert (theirs.width, mine.width) == (2, 1)
    assert all((theirs.about.unseen, theirs.about.validation, error_range(theirs)))
    assert (mine.about.unseen, mine.about.validation, mine.about.split, error_range(mine)) == ((), (), "", None)


def test_a_changed_copy_says_what_was_measured_of_itself(tmp_path: Path) -> None:
    rows = """[[unseen]]
project = "mine"
family = "mine"
rows = 2
mean_absolute = 5
source = "fit"

[classes]"""
    found = error_range(changed_copy(tmp_path, ("[classes]", rows)))
    assert found is not None
    assert (found.rows, percent(found)) == (2, (-5, 5))
