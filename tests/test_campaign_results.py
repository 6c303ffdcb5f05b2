"""`lanewise results`: groups with their smallest case, what is new, gone or slower, exit codes, JUnit, bad texts."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from sim.campaign.case import JobCase, PlannedJob, digest_of
from sim.campaign.groups import grouped, trend
from sim.campaign.page import SCRIPT, STYLE
from sim.campaign.result import JobResult
from sim.campaign.store import Store
from sim.debug.page.html import built
from sim.view.sentences import visible
from support.command import lanewise

EVIL = "\x1b]0;taken\x07\x1b[2J<b>[red]x[/red]"
AGREES = JobResult(verdict="agrees", lanes=9)
WRONG = JobResult(
    verdict="differs", lanes=9, place="k.c:3", convention="floor", step="round", failure="y[0]: 1, golden 2"
)


def check(seed: int, kernel: str = "k.py", level: str = "O2", vectors: int = 50) -> JobCase:
    more = {"vectors": vectors, "engine": "lockstep"}
    return JobCase(kind="check", kernel=kernel, source="k.c", level=level, seed=seed, more=more)


def timing(core: str, level: str = "O2") -> JobCase:
    return JobCase(kind="cycles", kernel="k.py", source="k.c", level=level, core=core, more={})


def told(path: Path, versions: str, results: Mapping[JobCase, JobResult | None], name: str = "night") -> None:
    jobs = [PlannedJob(case, digest_of([case.hash.hex(), versions]), "{}", 1.0) for case in results]
    with Store(path) as store:
        store.begin(name, versions, jobs)
        for job in jobs:
            if (result := results[job.case]) is not None:
                store.add(job.hash, result)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two runs: in the second one failure is new, one gone, one the same; a55 is slower, a72 faster."""
    path = tmp_path / "s.sqlite"
    cycles = [(timing("a55"), 100.0, 110.0), (timing("a55", "O3"), 100.0, 100.0), (timing("a72"), 50.0, 25.0)]
    before = {check(1): AGREES, check(2): WRONG, check(3): WRONG, check(4): AGREES}
    after = {check(1): WRONG, check(2): WRONG, check(3): AGREES, check(5): AGREES}
    told(path, "1", before | {case: replace(AGREES, cycles=first) for case, first, _ in cycles})
    told(path, "2", after | {case: replace(AGREES, cycles=second) for case, _, second in cycles})
    return path


def test_failures_that_part_at_one_line_are_one_group_and_its_command_is_of_the_least_work() -> None:
    rows = [
        (check(1, level="O0"), b"1", WRONG),
        (check(2, vectors=5), b"2", WRONG),
        (check(3), b"3", replace(WRONG, place="k.c:4")),
        (check(4), b"4", replace(WRONG, convention="")),
        (check(5, kernel="other.py"), b"5", WRONG),
        (check(6), b"6", AGREES),
        (check(7), b"7", JobResult(verdict="stopped", failure="it took more than 3 s")),
        (check(8), b"8", JobResult(verdict="stopped", failure="it took more than 5 s")),
    ]
    groups = grouped(rows)
    assert [(group.count, group.kernel, group.place, group.convention) for group in groups] == [
        (2, "k.py", "", ""),
        (2, "k.py", "k.c:3", "floor"),
        (1, "k.py", "k.c:3", ""),
        (1, "k.py", "k.c:4", "floor"),
        (1, "other.py", "k.c:3", "floor"),
    ]
    assert groups[1].command == "lanewise check k.py --seed 2 --vectors 5 --opt O2"
    assert groups[1].flags == ("-O0", "-O2")
    rows[0] = (check(1, level="O0"), b"1", replace(WRONG, smallest="n = 1"))
    assert grouped(rows)[1].smallest == "n = 1"


def test_what_is_new_gone_and_slower_is_told(store: Path) -> None:
    result = lanewise("results", store, columns=200)
    assert result.exit_code == 1
    assert "run 2 of night" in result.stdout
    assert "again: lanewise check k.py --seed 1 --vectors 50 --opt O2" in result.stdout
    since = result.stdout.splitlines()[-1]
    assert since == (
        "since run 1: 1 new, 1 gone, 1 cases more, 1 cases fewer, cycles +4.9 % on a55, cycles -50.0 % on a72"
    )  # the geometric mean of 1.1 and 1 is 1.0488


def test_a_run_without_common_cases_has_no_cycles() -> None:
    changed = trend([(timing("a55"), b"1", AGREES)], [(timing("a55"), b"2", replace(AGREES, cycles=3.0))])
    assert changed.cycles == ()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--allow", "1"), 1),
        (("--allow", "2"), 0),
        (("--new",), 1),
        (("--new", "--allow", "1"), 0),
        (("--allow", "2", "--slower", "5"), 0),
        (("--allow", "2", "--slower", "4.5"), 1),
        (("--run", "1", "--against", "2", "--allow", "9", "--slower", "99"), 1),
        (("--run", "1", "--against", "2", "--allow", "9", "--slower", "101"), 0),
        (("--run", "3"), 2),
        (("--run", "1", "--new"), 0),
        (("--run", "1", "--slower", "0"), 1),
        (("--run", "1", "--slower", "0", "--allow", "2"), 0),
    ],
)
def test_the_exit_code_is_by_threshold(store: Path, options: tuple[str, ...], code: int) -> None:
    result = lanewise("results", store, *options)
    assert result.exit_code == code
    assert "Traceback" not in result.output


def test_a_first_run_has_nothing_to_compare_with_says_so_and_writes_its_files(store: Path, tmp_path: Path) -> None:
    files = [tmp_path / "r.xml", tmp_path / "r.html"]
    options = ("--run", "1", "--new", "--slower", "3", "--junit", files[0], "--html", files[1])
    result = lanewise("results", store, *options, columns=200)
    assert result.exit_code == 0
    assert result.stderr == (
        "nothing to compare with: night has no run before run 1, so nothing counts as new or slower\n"
    )
    assert "2 differs" in result.stdout
    assert all(file.stat().st_size for file in files)


def test_a_run_that_is_not_finished_ends_with_3(tmp_path: Path) -> None:
    told(tmp_path / "s.sqlite", "1", {check(1): AGREES, check(2): None})
    result = lanewise("results", tmp_path / "s.sqlite")
    assert (result.exit_code, "1 without a result" in result.stdout) == (3, True)


def test_what_was_stopped_is_no_verdict_about_a_kernel(tmp_path: Path) -> None:
    stopped = JobResult(verdict="stopped", failure="it took more than 3 s")
    told(tmp_path / "s.sqlite", "1", {check(1): AGREES, check(2): stopped})
    assert lanewise("results", tmp_path / "s.sqlite").exit_code == 3
    told(tmp_path / "s.sqlite", "2", {check(1): WRONG, check(2): stopped})
    assert lanewise("results", tmp_path / "s.sqlite").exit_code == 1
    assert lanewise("results", tmp_path / "s.sqlite", "--new", "--allow", "1").exit_code == 0


def test_the_same_as_json(store: Path) -> None:
    data = json.loads(lanewise("results", store, "--json").stdout)
    assert data["verdicts"] == {"agrees": 5, "differs": 2, "not built": 0, "unknown": 0, "stopped": 0}
    ((group),) = data["groups"]
    assert (group["place"], group["convention"], group["count"]) == ("k.c:3", "floor", 2)
    assert data["trend"]["new"] == ["lanewise check k.py --seed 1 --vectors 50 --opt O2"]
    assert data["trend"]["gone"] == ["lanewise check k.py --seed 3 --vectors 50 --opt O2"]
    assert [(one["core"], round(one["change"], 4)) for one in data["trend"]["cycles"]] == [
        ("a55", 0.0488),
        ("a72", -0.5),
    ]


def test_a_small_case_of_many_numbers_is_cut_in_text_alone(tmp_path: Path) -> None:
    smallest = f"shrunk to 1 of 9 output lanes:\n    x = np.array([{', '.join(['-7'] * 900)}])"
    told(tmp_path / "s.sqlite", "1", {check(1): replace(WRONG, smallest=smallest)})
    text = "".join(lanewise("results", tmp_path / "s.sqlite").stdout.split())
    assert (text.count("-7"), "(900numbers;--jsonhasthemall)" in text) == (text.count("-7,"), True)
    assert 100 < text.count("-7,") < 200
    data = json.loads(lanewise("results", tmp_path / "s.sqlite", "--json").stdout)
    assert data["groups"][0]["smallest"] == smallest


def test_a_page_has_every_job_and_no_text_of_it_can_script(tmp_path: Path) -> None:
    evil = f"</script><script>document.title = 'taken'</script>{EVIL}\u202e"
    told(tmp_path / "s.sqlite", "1", {check(1): replace(WRONG, failure=evil), check(2): AGREES}, evil)
    assert lanewise("results", tmp_path / "s.sqlite", "--html", tmp_path / "r.html").exit_code == 1
    page = (tmp_path / "r.html").read_text()
    assert page.count("<script") == 2
    assert "<script>" not in page
    packed = page.partition('type="text/plain">')[2].partition("<")[0]
    contents = json.loads(zlib.decompress(b64decode(packed)))
    columns = {name: [one["values"][at] for at in one["index"]] for name, one in contents["columns"].items()}
    assert (columns["verdict"], columns["failure"]) == (["differs", "agrees"], [visible(evil), ""])
    assert (contents["title"], contents["summary"].isprintable()) == (f"{visible(evil)}, run 1", True)
    assert contents["commands"][1] == "lanewise check k.py --seed 2 --vectors 50 --opt O2"
    assert [group["count"] for group in contents["groups"]] == [1]


@pytest.mark.parametrize("name", [SCRIPT, STYLE])
def test_what_the_page_runs_is_built_from_the_present_source(name: str) -> None:
    assert built(name).splitlines()[0] == built("view.js").splitlines()[0]  # tests/test_debug_page.py computes it


def test_every_job_is_a_test_case_of_junit(tmp_path: Path) -> None:
    stopped, unknown = (JobResult(verdict=one, failure=f"why\n{EVIL}") for one in ("stopped", "unknown"))
    told(
        tmp_path / "s.sqlite", "1",
        {check(1): AGREES, check(2): WRONG, check(3): stopped, check(4): unknown, check(5): None},
    )  # fmt: skip
    lanewise("results", tmp_path / "s.sqlite", "--junit", tmp_path / "j.xml")
    suite = fromstring((tmp_path / "j.xml").read_bytes())[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "1", "errors": "2", "skipped": "1",
    }  # fmt: skip
    assert [[child.tag for child in case if child.tag != "properties"] for case in suite] == [
        [], ["failure"], ["error"], ["skipped"], ["error"],
    ]  # fmt: skip


def test_parquet_needs_pyarrow(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is read back by tests/long/campaign_parquet.py, where there is pyarrow."""
    monkeypatch.setattr("sim.command.asking.results.find_spec", lambda name: None)
    result = lanewise("results", store, "--parquet", tmp_path / "r.parquet", columns=200)
    assert (result.exit_code, result.stdout) == (3, "")
    said = "lanewise: --parquet needs pyarrow, which is not installed; run: pip install 'lanewise[parquet]'\n"
    assert result.stderr == said
    assert not (tmp_path / "r.parquet").exists()


def test_texts_of_others_do_not_steer_the_terminal(tmp_path: Path) -> None:
    case = check(1, kernel=f"{EVIL}.py")
    told(
        tmp_path / "s.sqlite",
        "1",
        {case: replace(WRONG, failure=EVIL, place=EVIL, convention=EVIL, smallest=EVIL)},
        EVIL,
    )
    out = lanewise("results", tmp_path / "s.sqlite").stdout
    assert "\x1b]" not in out
    assert "\x07" not in out
    assert "\x1b[2J" not in out
    assert "[red]x[/red]" in out
