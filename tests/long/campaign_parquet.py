"""`lanewise results --parquet`, read back by pyarrow, which `make test-campaign` installs."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet
import pytest

from sim.campaign import parquet
from sim.campaign.case import JobCase, PlannedJob, digest_of
from sim.campaign.result import JobResult
from sim.campaign.store import Store
from support.command import lanewise

PAGE = Path(__file__).parents[2] / "docs" / "campaigns.md"
CASES = [
    JobCase(kind="check", kernel="é.py", source="k.c", level="O2", seed=10**17, more={"vectors": 5, "engine": "x"}),
    JobCase(kind="cycles", kernel="k.py", source="k.c", level="O3", flags="-DX", core="a55", more={"length": 8}),
    JobCase(kind="claim", kernel="sqadd", more={"seconds": 1.5}),
]
RESULTS = [
    JobResult(verdict="differs", lanes=2**40, seconds=0.25, attempts=2, place="k.c:3", lane=7, wrong=9,
              failure="one\ntwo \x00 three", smallest="n = 1"),
    JobResult(verdict="agrees", cycles=12.5, instructions=3),
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three jobs, two of them with a result, begun at half past midnight of the first of January 2026."""
    jobs = [PlannedJob(case, digest_of(case.kernel), '{"k.c": "ab"}', 1.0) for case in CASES]
    with Store(tmp_path / "s.sqlite") as opened:
        opened.begin("night", '{"lanewise": "1"}', jobs, now=datetime(2026, 1, 1, 0, 30, tzinfo=UTC).timestamp())
        for job, result in zip(jobs, RESULTS, strict=False):
            opened.add(job.hash, result)
    return tmp_path / "s.sqlite"


@pytest.mark.parametrize("rows_of_a_group", [1, 100])
def test_every_result_comes_back_with_what_made_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_of_a_group: int
) -> None:
    monkeypatch.setattr(parquet, "_A_GROUP", rows_of_a_group)
    assert lanewise("results", store, "--parquet", tmp_path / "r.parquet").exit_code == 1
    table = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    first, second = table.to_pylist()
    assert {name: first[name] for name in ("run", "campaign", "started", "job")} == {
        "run": 1, "campaign": "night", "started": datetime(2026, 1, 1, 0, 30, tzinfo=UTC),
        "job": digest_of("é.py").hex(),
    }  # fmt: skip
    assert (first["kernel"], first["seed"], json.loads(first["more"])) == ("é.py", 10**17, dict(CASES[0].more))
    for row, result in zip((first, second), RESULTS, strict=True):
        assert {name: row[name] for name in vars(result)} == vars(result)
    assert (second["seed"], second["flags"], second["core"]) == (None, "-DX", "a55")
    assert (json.loads(first["made_of"]), json.loads(first["versions"])) == ({"k.c": "ab"}, {"lanewise": "1"})


def test_a_run_without_results_has_the_same_columns(store: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(store)) as db:
        db.execute("DELETE FROM results")
        db.commit()
    assert lanewise("results", store, "--parquet", tmp_path / "r.parquet").exit_code == 3
    table = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    assert (table.num_rows, table.schema) == (0, parquet.SCHEMA)


def test_the_page_names_every_column() -> None:
    rows = PAGE.read_text().partition("`--parquet FILE`")[2].partition("## The store")[0]
    cells = [line.split("|")[1] for line in rows.splitlines() if line.startswith("| `")]
    assert [name for cell in cells for name in re.findall(r"`(\w+)`", cell)] == parquet.SCHEMA.names


def test_a_place_that_cannot_be_written_is_a_sentence(store: Path, tmp_path: Path) -> None:
    result = lanewise("results", store, "--parquet", tmp_path / "no" / "r.parquet", columns=200)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--parquet cannot write" in result.stderr
