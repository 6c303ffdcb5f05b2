"""Campaigns: what a file may say, what jobs it makes, that each is done once, and what the command says and leaves."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import chdir, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rtl_models.mutation.judgement import Judgement, WrongModule
from rtl_models.mutation.mutants import Mutant
from rtl_models.mutation.netlist import NetlistOrigin
from rtl_models.mutation.targets import Target
from rtl_models.mutation.verdict import MutantVerdict
from sim.campaign.case import JobCase
from sim.campaign.file import SCHEMA, CampaignError, read_campaign
from sim.campaign.groups import command_of
from sim.campaign.mutants import mutation
from sim.campaign.plan import ordered, planned
from sim.campaign.result import JobResult
from sim.campaign.run import CampaignRun, Spread, WorkerRefused, run_campaign
from sim.campaign.store import Store
from sim.campaign.work import JobRefused, JobTask, do_job
from sim.kernels.kernel import built_in_kernel
from sim.models.tflite_file import read_tflite
from sim.processes import LostItem
from support.command import lanewise
from support.tflite_models import small_net

HALVE_C = """#include <stddef.h>
#include "round.h"
void halve(const int8_t *a, int8_t *y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = (a[i] + ROUND) >> 1;
}
"""
HALVE_PY = """from pathlib import Path
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype
from halving import halved

NAME, SIGNATURE = parse_prototype("void halve(const int8_t a[n], int8_t y[n], size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("halve.c"),), signature=SIGNATURE,
                golden=lambda inputs: {"y": halved(inputs["a"])}, domain={"n": Domain(0, 9)})
"""
HALVING_PY = """import numpy as np
def halved(a):
    return ((a.astype(np.int16) + 1) >> 1).astype(np.int8)
"""
CHECK = '[[check]]\nkernels = ["halve.py"]\nvectors = 20\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "halve.c").write_text(HALVE_C)
    (tmp_path / "round.h").write_text("#include <stdint.h>\n#define ROUND 1\n")
    (tmp_path / "halve.py").write_text(HALVE_PY)
    (tmp_path / "halving.py").write_text(HALVING_PY)
    return tmp_path


def jobs_in(folder: Path, text: str) -> list[Any]:
    (folder / "c.toml").write_text(text)
    with chdir(folder):
        return planned(read_campaign(folder / "c.toml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "asks for nothing: write [[check]], [[rtl]]"),
        ("[[chek]]", "has no 'chek'; near it is check"),
        ("[check]", "write [[check]] above what belongs to it, with two brackets"),
        ("x = ", "is no TOML: Invalid value"),
        (f"[[check]]\nkernels = ['halve.py', [0x{'f' * 16}]]", "a whole number has 64 bits at most"),
        (f"timeout = {'9' * 5000}", "a whole number has 64 bits at most"),
        ("timeout = -1\n[[check]]", "timeout takes seconds, of 0 to 86400, not -1"),
        ("attempts = 0\n[[check]]", "attempts takes one whole number of 1 to 10, not 0"),
        ("[[check]]", "[[check]] lacks 'kernels', which says what is to be done"),
        ("[[check]]\nkernels = []", "kernels takes texts, such as"),
        ("[[check]]\nkernels = 'halve.py'\nlevel = 'O2'", "[[check]] has no 'level'; near it is levels"),
        ("[[check]]\nkernels = 'halve.py'\nlevels = 'O4'", "levels takes some of O0, O1, O2, O3, Os, Oz, not 'O4'"),
        ("[[check]]\nkernels = 'halve.py'\nseeds = '5..1'", "low first"),
        ("[[check]]\nkernels = 'halve.py'\nseeds = '-2..1'", "seeds takes whole numbers from 0 on"),
        ("[[check]]\nkernels = 'halve.py'\nseeds = '0..99999999999'", "at most 1,000,000 of them"),
        ("[[check]]\nkernels = 'halve.py'\nseeds = true", "seeds takes whole numbers, such as"),
        ("[[check]]\nkernels = 'halve.py'\nvectors = 1.5", "vectors takes one whole number of 0 to 10,000,000"),
        ("[[check]]\nkernels = 'halve.py'\naimed = 1", "aimed takes true or false, not 1"),
        ("[[check]]\nkernels = 'halve.py'\nengine = 'machin'", "one of lockstep, machine; near it is machine"),
        ("[[check]]\nkernels = 'halve.py'\ngrid = 3", "grid takes arguments with their numbers"),
        ("[[check]]\nkernels = 'halve.py'\ngrid = { m = 3 }", "[[check]]: halve has no number 'm': there are a, n"),
        ("[[check]]\nkernels = 'halve.py'\ngrid = { n = 10 }", "n = 10 is not in the domain of halve"),
        ("[[check]]\nkernels = 'quantize_down'\ngrid = { shift = 1 }", "makes its input sets itself"),
        ("[[check]]\nkernels = 'halve.py'\nsources = 'halv.c'", "has a source 'halv.c'; near it is halve.c"),
        ("[[check]]\nkernels = 'halve.py'\nsymbol = 'f'", "symbol is the function in objects"),
        ("[[check]]\nkernels = 'halve.py'\nmodes = 'x'", "halve.py has no mode 'x': it has no MODES"),
        (
            "[[check]]\nkernels = 'quantise_down'",
            "no kernel 'quantise_down'; near it are quantize_down",
        ),
        ("[[check]]\nkernels = 'no.py'", "there is no file no.py: paths are from the folder of the campaign"),
        ("[[check]]\nkernels = 'no*.py'", "no file is called as in 'no*.py'"),
        ("[[check]]\nkernels = 'halve.py'\ncompilers = 'no-cc'", "there is no compiler no-cc: name one"),
        (
            "[[check]]\nkernels = 'halve.py'\nflags = \"'\"",
            "flags takes what a shell can split",
        ),
        ("[[cycles]]\nkernels = 'halve.py'\ncores = 'cortex-a54'", "[[cycles]]: there is no core 'cortex-a54'"),
        (
            "[[cycles]]\nkernels = 'halve.py'\ncores = 'cortex-a55,cortex-a72'",
            "[[cycles]]: there is no core 'cortex-a55,",
        ),
        ("[[claims]]\nnames = 'no such claim'", "no claim is called 'no such claim'"),
        ("[[exhaust]]\ninstructions = 'sqrshrm'", "[[exhaust]]: no form is called 'sqrshrm': near it are"),
        ("[[replay]]\ncalls = 'no.jsonl'", "there is no file no.jsonl"),
        ("[[mutants]]\nmodules = 'sqad'", "[[mutants]]: there is no module 'sqad' to mutate; near it are"),
        ("[[mutants]]\nmodules = 'add'\ncount = 0", "count takes one whole number of 1 to 10,000, not 0"),
        ("[[check]]\nkernels = 'halve.py'\ncompilers = ''", "compilers takes clang, or commands such as"),
        ("[[check]]\nkernels = 'halve.py'\ncompilers = \"'\"", "compilers takes what a shell can split"),
        ("[[check]]\nkernels = 'halve.py'\nobjects = 'halve.c'", "halve.c is a source, and no object"),
        ("[[cycles]]\nkernels = 'halve.py'\nlengths = [-1]", "lengths takes whole numbers from 0 on, not [-1]"),
        ("[[idle]]\njobs = 0", "jobs takes one whole number of 1 to 100,000,000, not 0"),
    ],
)
def test_a_mistake_is_one_sentence_with_what_is_near(folder: Path, text: str, said: str) -> None:
    (folder / "c.toml").write_text(text)
    result = lanewise("campaign", folder / "c.toml")
    assert said in result.stderr.replace("\n", "")
    assert result.exit_code in (2, 3)
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    for name, said in (("c.toml", "it is not text in UTF-8"), ("d.toml", "No such file"), (".", "Is a directory")):
        with pytest.raises(CampaignError, match=said):
            read_campaign(tmp_path / name)


def test_lists_are_multiplied_out_and_equal_work_is_there_once(folder: Path) -> None:
    text = CHECK + 'levels = ["O0", "-O2", "O0"]\nseeds = "1..2,2"\ngrid = { n = [3, 5] }\n'
    assert len(jobs_in(folder, text)) == 8
    assert len(jobs_in(folder, text + CHECK + 'levels = "O2"\nseeds = 2\ngrid = { n = "5..6" }\n')) == 9


def test_a_program_is_one_implementation_whatever_the_flags(folder: Path) -> None:
    text = '[[check]]\nkernels = "quantized_multiplier"\nlevels = ["O1", "O2"]\nflags = ["", "-g0"]'
    sources = [job.case.source for job in jobs_in(folder, text)]
    assert sorted(sources) == [*["kernel.c"] * 4, *["kernel_plain.c"] * 4, "program"]


@pytest.mark.parametrize("name", ["halve.c", "round.h", "halve.py", "halving.py", "more.bin"])
def test_a_job_is_another_where_a_file_that_it_reads_is(folder: Path, name: str) -> None:
    (folder / "more.bin").write_bytes(b"1")
    text = CHECK + 'depends = "more.bin"\n'
    (before,) = jobs_in(folder, text)
    assert [job.hash for job in jobs_in(folder, text)] == [before.hash]
    file = folder / name
    file.write_bytes(file.read_bytes() + b"\n")
    (after,) = jobs_in(folder, text)
    assert after.hash != before.hash
    assert after.case.hash == before.case.hash
    (folder / "of_others.h").write_text("x")
    assert [job.hash for job in jobs_in(folder, text)] == [after.hash]


@pytest.mark.parametrize("name", ["__init__.py", "exact.py", "more/__init__.py", "more/deep.py"])
def test_a_job_is_another_where_a_package_beside_its_kernel_is(folder: Path, name: str) -> None:
    (folder / "halving.py").write_text("from parts import exact\nimport parts.more.deep\nhalved = exact.halved\n")
    (folder / "parts" / "more").mkdir(parents=True)
    for empty in ("parts/__init__.py", "parts/more/__init__.py", "parts/more/deep.py"):
        (folder / empty).write_text("")
    (folder / "parts" / "exact.py").write_text(f"from .more import deep\n{HALVING_PY}")
    (before,) = jobs_in(folder, CHECK)
    changed = folder / "parts" / name
    changed.write_text(changed.read_text() + "\n")
    (after,) = jobs_in(folder, CHECK)
    assert after.hash != before.hash


@pytest.mark.parametrize("flags", ["-Imore", "-I more", "-isystem more", "-iquote more", "-include more/round.h"])
@pytest.mark.parametrize("kernel", ["halve.py", "quantize_down"])
def test_a_job_is_another_where_a_header_of_its_flags_is(folder: Path, flags: str, kernel: str) -> None:
    text = f'[[check]]\nkernels = "{kernel}"\nvectors = 20\nflags = "{flags}"\n'
    (folder / "halve.c").write_text(HALVE_C.replace('"round.h"', "<round.h>"))
    (folder / "round.h").unlink()
    (folder / "more").mkdir()
    for header in ("round.h", "arm_neon.h"):
        (folder / "more" / header).write_text("#define ROUND 1\n")
    before = jobs_in(folder, text)
    for header in ("round.h", "arm_neon.h"):
        (folder / "more" / header).write_text("#define ROUND 0\n")
    after = [job.hash for job in jobs_in(folder, text) if job.case.source != "program"]
    assert {job.hash for job in before}.isdisjoint(after)


def test_a_job_is_another_where_versions_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (before,) = jobs_in(folder, CHECK)
    monkeypatch.setattr("sim.campaign.plan.versions", lambda: "other")
    (after,) = jobs_in(folder, CHECK)
    assert after.hash != before.hash


def test_another_checkout_has_the_same_jobs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    assert [job.hash for job in jobs_in(folder, CHECK)] == [job.hash for job in jobs_in(other, CHECK)]


def test_what_failed_before_comes_first_then_what_is_cheap_and_new(folder: Path) -> None:
    jobs = jobs_in(folder, CHECK + 'levels = ["O0", "O2"]\nseeds = [1, 2]\n[[claims]]\nnames = "sqadd .b,.b,.b"')
    known = {job.case.hash: ("differs", 99.0) for job in jobs if (job.case.level, job.case.seed) == ("O0", 2)}
    order = [(job.case.kind, job.case.level, job.case.seed) for job in ordered(jobs, known)]
    assert order[0] == ("check", "O0", 2)
    assert order.index(("claim", "", None)) > order.index(("check", "O2", 1))
    assert sorted(map(str, order)) == sorted(str((job.case.kind, job.case.level, job.case.seed)) for job in jobs)


def rows(store: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as db:
        return db.execute(
            "SELECT jobs.hash, kind, level, seed, verdict, lanes, cycles, place, failure, attempts FROM results"
            " JOIN jobs ON jobs.id = results.job JOIN cases ON cases.id = asked ORDER BY jobs.hash"
        ).fetchall()


def in_this_process(tasks: Iterable[JobTask]) -> Generator[tuple[JobTask, Any], None, None]:
    for task in tasks:
        yield task, do_job(task)


def run(folder: Path, text: str, spread: Spread = in_this_process, again: bool = False) -> CampaignRun:
    (folder / "c.toml").write_text(text)
    campaign = read_campaign(folder / "c.toml")
    with chdir(folder), Store(campaign.store) as store:
        return run_campaign(campaign, store, spread, lambda run, words: None, again)


@pytest.mark.slow
def test_a_campaign_is_done_once_and_goes_on_when_something_changes(folder: Path) -> None:
    more = '[[cycles]]\nkernels = "halve.py"\n[[prove]]\nkernels = "halve.py"\nlengths = 2\n'
    first = run(folder, f'{CHECK}levels = ["O0", "O2"]\n{more}')
    assert (first.number, first.jobs, first.kept, first.done, first.verdicts) == (1, 4, 0, 4, {"agrees": 4})
    found = rows(folder / "c.sqlite")
    assert all(row[5] > 0 or row[6] > 0 for row in found)

    again = run(folder, (folder / "c.toml").read_text())
    assert (again.number, again.kept, again.done, again.verdicts) == (1, 4, 0, {"agrees": 4})
    assert rows(folder / "c.sqlite") == found

    (folder / "round.h").write_text("#include <stdint.h>\n#define ROUND 0\n")
    wrong = run(folder, CHECK)
    assert (wrong.number, wrong.kept, wrong.verdicts) == (2, 0, {"differs": 1})
    with closing(sqlite3.connect(folder / "c.sqlite")) as db:
        ((place, smallest),) = db.execute("SELECT place, smallest FROM results WHERE verdict = 'differs'")
    assert place == "halve.c:6"
    assert "n = 1\n    a = np.array([1]" in smallest


@pytest.mark.slow
def test_a_proof_is_of_the_numbers_of_rows_that_are_given(folder: Path) -> None:
    in_rows = HALVE_PY.replace("[n]", "[rows][n]").replace("size_t n)", "size_t rows, size_t n)")
    (folder / "halve.py").write_text(in_rows)
    (folder / "halve.c").write_text(
        "#include <stddef.h>\n#include <stdint.h>\n"
        "void halve(const int8_t *a, int8_t *y, size_t rows, size_t n)\n"
        "{ for (size_t i = 0; i < rows * n; i++) y[i] = rows == 7 ? a[i] : (a[i] + 1) >> 1; }\n"
    )
    proof = '[[prove]]\nkernels = "halve.py"\nlengths = 2\nrows = '
    assert run(folder, f"{proof}[1, 6]\n").verdicts == {"agrees": 1}
    assert run(folder, f"{proof}[1, 7]\n").verdicts == {"differs": 1}


def test_what_cannot_be_built_and_what_cannot_be_asked_are_no_verdicts(folder: Path) -> None:
    (folder / "bad.py").write_text(HALVE_PY.replace("halved(inputs", "no_such_name(inputs"))
    form = '[[exhaust]]\ninstructions = "ld1 {v0.4s}, [x0]"\n'
    ended = run(folder, f'{CHECK.replace("halve", "bad")}{CHECK}flags = "-include no.h"\n{form}')
    assert ended.verdicts == {"stopped": 2, "not built": 1}
    told = {(row[1], row[4]): row[8] for row in rows(folder / "c.sqlite")}
    assert "NameError: name 'no_such_name' is not defined" in told["check", "stopped"]
    assert "no.h" in told["check", "not built"]


def test_two_sources_of_one_name_are_refused(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other/halve.c").write_text(HALVE_C)
    (folder / "two.py").write_text(HALVE_PY.replace('Path("halve.c"),', 'Path("halve.c"), Path("other/halve.c")'))
    with pytest.raises(CampaignError, match=r"two\.py has two sources called halve\.c: a campaign tells them by"):
        jobs_in(folder, CHECK.replace("halve.py", "two.py"))


def test_what_was_stopped_is_done_again_only_when_asked(folder: Path) -> None:
    def lost(tasks: Iterable[JobTask]) -> Generator[tuple[JobTask, Any], None, None]:
        yield from ((task, LostItem("it took more than 3 s", 2, 3.0)) for task in tasks)

    text = f"attempts = 1\n{CHECK}"
    assert run(folder, text, lost).verdicts == {"stopped": 1}
    assert rows(folder / "c.sqlite")[0][8:] == ("no result in 2 attempts: it took more than 3 s", 2)
    assert run(folder, text).verdicts == {"stopped": 1}
    assert run(folder, text, again=True).verdicts == {"agrees": 1}


@pytest.mark.slow
def test_a_run_that_has_only_cases_left_to_make_small_goes_on(folder: Path) -> None:
    (folder / "round.h").write_text("#include <stdint.h>\n#define ROUND 0\n")
    assert run(folder, CHECK).verdicts == {"differs": 1}
    with closing(sqlite3.connect(folder / "c.sqlite")) as db:  # as where it was interrupted there
        db.execute("UPDATE results SET smallest = ''")
        db.commit()
    ended = lanewise("campaign", folder / "c.toml", "--jobs", 1)
    assert (ended.exit_code, ended.exception.__class__) == (1, SystemExit)
    assert "1 jobs, 1 kept, 0 done now" in ended.stdout
    with closing(sqlite3.connect(folder / "c.sqlite")) as db:
        ((smallest,),) = db.execute("SELECT smallest FROM results")
    assert "a = np.array([1]" in smallest


def test_an_interrupt_and_a_worker_of_another_version_keep_what_was_done(folder: Path) -> None:
    def stopped(tasks: Iterable[JobTask]) -> Generator[tuple[JobTask, Any], None, None]:
        (task, *others) = tasks
        yield task, JobResult(verdict="agrees", lanes=1)
        if len(others) == 2:
            raise KeyboardInterrupt
        yield others[0], JobRefused("it has another lanewise")

    text = f"{CHECK}seeds = [1, 2, 3]\n"
    assert run(folder, text, stopped).interrupted
    with pytest.raises(WorkerRefused, match="it has another lanewise; what was done is kept"):
        run(folder, text, stopped)
    ended = run(folder, text)
    assert (ended.number, ended.kept, ended.done, ended.interrupted) == (1, 2, 1, False)


def test_a_worker_with_other_files_refuses(folder: Path) -> None:
    (job,) = jobs_in(folder, CHECK)
    (folder / "round.h").write_text("#define ROUND 0\n")
    with chdir(folder):
        assert isinstance(do_job(JobTask(job.case, job.hash, str(folder))), JobRefused)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the command is watched")
def test_ctrl_c_is_130_and_the_same_command_goes_on(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[[idle]]\njobs = 60\nseconds = 0.02\n")
    command = [sys.executable, "-P", "-m", "sim", "campaign", str(tmp_path / "c.toml"), "--jobs", "1"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while time.monotonic() < until and not ((tmp_path / "c.sqlite").exists() and rows(tmp_path / "c.sqlite")):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "")
    assert " left\n" in out
    done = rows(tmp_path / "c.sqlite")
    assert 0 < len(done) < 60
    assert lanewise("campaign", tmp_path / "c.toml", "--jobs", 1).exit_code == 0
    whole = rows(tmp_path / "c.sqlite")
    assert len(whole) == 60
    assert set(done) < set(whole)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            JobCase(kind="check", kernel="k.py", mode="m", source="k.c", level="O2", flags="-DX -DY", seed=3,
                    more={"vectors": 9, "engine": "machine"}),
            "lanewise check k.py --mode m --seed 3 --vectors 9 --opt O2 --cflags '-DX -DY' --engine machine",
        ),
        (
            JobCase(kind="check", kernel="k.py", source="k.c", compiler="gcc-13", level="O3", seed=1,
                    more={"vectors": 9, "engine": "lockstep"}),
            "lanewise check k.py --seed 1 --vectors 9 --opt O2 --compile 'gcc-13 -g -O3 -c k.c'",
        ),
        (JobCase(kind="check", kernel="k.py", source="k.c", compiler="gcc-13", level="O3", flags="-DX", seed=1,
                 more={"vectors": 9, "engine": "lockstep", "path": "../a b/k.c", "own_flags": ["-march=armv8.4-a"]}),
         "lanewise check k.py --seed 1 --vectors 9 --opt O2 "
         """--compile 'gcc-13 -g -O3 -march=armv8.4-a -DX -c '"'"'../a b/k.c'"'"''"""),
        (JobCase(kind="check", kernel="k.py", source="k.c", level="O1", seed=2,
                 more={"vectors": 9, "engine": "lockstep", "grid": {"n": 8, "shift": -1}}),
         "lanewise check k.py --seed 2 --vectors 9 --opt O1 --hold n=8 --hold shift=-1"),
        (JobCase(kind="cycles", kernel="k.py", source="k.c", level="O2", core="cortex-a55", more={"length": 64}),
         "lanewise cycles k.py --core cortex-a55 --length 64 --opt O2"),
        (JobCase(kind="prove", kernel="k.py", source="k.c", level="O2",
                 more={"lengths": [3, 4], "rows": [1, 5], "seconds": 9.0}),
         "lanewise prove k.py --lengths 3,4 --rows 1,5 --timeout 9.0 --opt O2"),
        (JobCase(kind="replay", kernel="a b.jsonl", more={"engine": "machine", "line": 4}),
         "lanewise replay 'a b.jsonl' --engine machine --line 4"),
        (JobCase(kind="mutants", kernel="add at Width 16", source="rtl", seed=3, more={"count": 5, "seconds": 9.0}),
         "lanewise rtl mutate 'add at Width 16' --count 5 --seed 3 --timeout 9.0"),
    ],
)  # fmt: skip
def test_the_command_of_a_case_does_the_same_alone(case: JobCase, words: str) -> None:
    assert command_of(case) == words


def test_of_a_source_elsewhere_another_compilers_command_names_it_and_the_kernels_flags(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "halve.c").rename(folder / "src" / "halve.c")
    kernel = (folder / "halve.py").read_text()
    elsewhere = kernel.replace('Path("halve.c")', 'Path("src/halve.c")').replace("domain=", 'flags=("-DX=1",), domain=')
    (folder / "halve.py").write_text(elsewhere)
    (job,) = jobs_in(folder, f"{CHECK}compilers = ['gcc']\n")
    assert command_of(job.case).endswith("--compile 'gcc -g -O2 -DX=1 -c src/halve.c'")


def test_of_a_built_in_kernel_another_compilers_command_names_the_source_that_there_is() -> None:
    case = JobCase(kind="prove", kernel="conv2d", source="kernel.c", compiler="gcc", level="O2",
                   more={"lengths": [1], "seconds": 1.0})  # fmt: skip
    words = shlex.split(shlex.split(command_of(case))[-1])
    assert (words[:-1], Path(words[-1])) == (
        ["gcc", "-g", "-O2", *built_in_kernel("conv2d").flags, "-c"], built_in_kernel("conv2d").sources[0],
    )  # fmt: skip


@pytest.mark.slow
def test_numbers_of_a_grid_are_held_by_the_command_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is wrong at five elements alone."""
    wrong = HALVE_C.replace("+ ROUND)", "+ ROUND + (n == 5))")
    (folder / "halve.c").write_text(wrong)
    found = {
        job.case.more["grid"]["n"]: command_of(job.case) for job in jobs_in(folder, f"{CHECK}grid = {{ n = [4, 5] }}\n")
    }
    monkeypatch.chdir(folder)
    ended = {n: lanewise(*shlex.split(command)[1:]) for n, command in found.items()}
    assert {n: one.exit_code for n, one in ended.items()} == {4: 0, 5: 1}, ended[4].stdout
    assert "inputs n=5," in ended[5].stdout
    assert f"{found[5]} " in f"{ended[5].stdout} ".replace("\n", " ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("n", "--hold takes an argument and its number, such as n=8, not 'n'"),
        ("n=x", "--hold takes an argument and its number, such as n=8, not 'n=x'"),
        ("n=10", "n = 10 is not in the domain of halve"),
        ("m=1", "halve has no number 'm': there are a, n"),
    ],
)
def test_what_cannot_be_held_is_a_sentence(folder: Path, given: str, said: str) -> None:
    ended = lanewise("check", folder / "halve.py", "--hold", given)
    assert (ended.exit_code, ended.stderr) == (2, f"lanewise: {said}\n")


def test_a_scheduler_needs_dask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "c.toml").write_text(CHECK)
    monkeypatch.setattr("sim.command.running.campaign.find_spec", lambda name: None)
    result = lanewise("campaign", folder / "c.toml", "--scheduler", "local", columns=200)
    assert result.exit_code == 3
    said = "lanewise: --scheduler needs distributed, which is not installed; run: pip install 'lanewise[dask]'\n"
    assert result.stderr == said


def test_a_plan_says_what_would_be_done(folder: Path) -> None:
    (folder / "c.toml").write_text(CHECK)
    result = lanewise("campaign", folder / "c.toml", "--plan", columns=200)
    assert result.stdout == "1 jobs: 1 check\n  lanewise check halve.py --seed 1 --vectors 20 --opt O2\n"
    assert not (folder / "c.sqlite").exists()


@pytest.mark.slow
def test_files_behind_the_campaign_leave_the_jobs_that_read_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other.py").write_text(HALVE_PY.replace("halve.c", "other.c"))
    (folder / "other.c").write_text(HALVE_C.replace('#include "round.h"', "#include <stdint.h>\n#define ROUND 1"))
    (folder / "c.toml").write_text(CHECK.replace('["halve.py"]', '["halve.py", "other.py"]'))
    monkeypatch.chdir(folder.parent)

    def kernels(*files: str) -> list[str]:
        command = ["campaign", folder / "c.toml", *(folder.relative_to(folder.parent) / one for one in files)]
        plan = json.loads(lanewise(*command, "--plan", "--json").stdout)
        return sorted(one["command"].split()[2] for one in plan)

    assert kernels("round.h") == ["halve.py"]
    assert kernels("other.c", "none.txt") == ["other.py"]
    assert kernels("halving.py") == kernels("c.toml") == ["halve.py", "other.py"]
    assert kernels("none.txt") == []

    done = lanewise("campaign", folder / "c.toml", folder / "round.h")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (
        0, "run 1 of c, of touched files: 1 jobs, 0 kept, 1 done now",
    )  # fmt: skip
    none = lanewise("campaign", folder / "c.toml", folder / "none.txt")
    assert (none.exit_code, none.stdout) == (0, "no job of c reads this file\n")
    whole = lanewise("campaign", folder / "c.toml")
    assert whole.stdout.splitlines()[0] == "run 2 of c: 2 jobs, 1 kept, 1 done now"


@pytest.mark.slow
def test_recorded_calls_and_networks_are_jobs(tmp_path: Path) -> None:
    """A line that is cut off says nothing about a kernel; a network is compared with what was recorded of it."""
    assert lanewise("capture", "quantized_multiplier", tmp_path / "calls.jsonl").exit_code == 0
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    (tmp_path / "calls.jsonl").write_text("\n".join([lines[0], lines[1][:40]]) + "\n")
    (tmp_path / "net.tflite").write_bytes(small_net().content())
    network = read_tflite(tmp_path / "net.tflite")
    zeros: dict[str, Any] = {
        tensor.name: np.zeros(tensor.shape or (), tensor.dtype) for tensor in network.tensors if tensor.data is None
    }
    np.savez(tmp_path / "device.npz", **zeros)
    jobs = jobs_in(
        tmp_path, '[[replay]]\ncalls = "calls.jsonl"\n[[model]]\nfiles = "net.tflite"\nagainst = "device.npz"\n'
    )
    with chdir(tmp_path):
        found = [(job.case.kind, do_job(JobTask(job.case, job.hash, str(tmp_path)))) for job in jobs]
    verdicts = [(kind, result.verdict) for kind, result in found if isinstance(result, JobResult)]
    assert verdicts == [("replay", "agrees"), ("replay", "stopped"), ("model", "differs")], found


def test_every_kind_of_jobs_that_a_file_may_ask_for_is_on_the_page() -> None:
    """The page's row of each, with all of its keys."""
    page = (Path(__file__).parents[1] / "docs" / "campaigns.md").read_text()
    found = re.findall(r"^\| `\[\[(\w+)\]\]` \| (.+?) \|", page, re.M)
    told = {kind: sorted(re.findall(r"`(\w+)`", keys)) for kind, keys in found}
    assert told == {kind: sorted(keys) for kind, keys in SCHEMA.items()}


FLOORS_C = HALVE_C.replace("ROUND", "0 * ROUND")
CLANG = f"{shlex.quote(sys.executable)} -m ziglang clang --target=aarch64-linux-gnu -nostdinc"


@pytest.mark.slow
def test_objects_and_other_compilers_are_implementations(folder: Path) -> None:
    """One object is right, one is not; what built a source otherwise is compared as the wheel's own build is."""
    (folder / "stdint.h").write_text("typedef signed char int8_t;\n")
    (folder / "stddef.h").write_text("typedef unsigned long size_t;\n")
    for name, text in (("right", HALVE_C), ("floors", FLOORS_C)):
        (folder / f"{name}.c").write_text(text)
        command = [*shlex.split(CLANG), "-I.", "-g", "-O1", "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=folder, check=True)
    built = CHECK + f"flags = '-I.'\ncompilers = ['clang', {CLANG!r}]\n"
    assert run(folder, f'{CHECK}objects = "*.o"\n{built}').verdicts == {"agrees": 3, "differs": 1}
    with closing(sqlite3.connect(folder / "c.sqlite")) as db:
        ((source, place),) = db.execute(
            "SELECT source, place FROM results JOIN jobs ON jobs.id = job JOIN cases ON cases.id = asked"
            " WHERE verdict = 'differs'"
        )
    assert (source, place) == ("floors.o", "floors.c:6")


@pytest.mark.slow
def test_inputs_aimed_at_a_build_are_compared_besides(folder: Path) -> None:
    assert run(folder, f"{CHECK}{CHECK}aimed = true\n").verdicts == {"agrees": 2}
    few, many = sorted(row[5] for row in rows(folder / "c.sqlite"))
    assert few < many


def test_claims_and_exhausted_instructions_are_jobs(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from isa import S8\nfrom sim.prove import Claim\n"
        "CLAIMS = [Claim(f'times {n}', {'x': S8}, left=lambda x: x + x, right=lambda x, n=n: x * n) for n in (2, 3)]\n"
    )
    text = '[[claims]]\nnames = "*"\nfile = "mine.py"\n[[exhaust]]\ninstructions = "sqxtn v0.8b, v1.8h"\n'
    assert run(folder, text).verdicts == {"agrees": 2, "differs": 1}
    told = {row[1]: (row[4], row[5]) for row in rows(folder / "c.sqlite") if row[1] == "exhaust"}
    assert told == {"exhaust": ("agrees", 1 << 16)}


@pytest.mark.slow
@pytest.mark.rtl
def test_hardware_is_an_implementation(tmp_path: Path) -> None:
    ended = run(tmp_path, '[[rtl]]\nkernels = "transpose1xw"\nmodes = ["acl_20_11"]\nvectors = 50\n')
    assert ended.verdicts == {"agrees": 1}
    assert rows(tmp_path / "c.sqlite")[0][5] >= 50


@pytest.mark.slow
@pytest.mark.rtl
def test_mutants_of_modules_are_jobs_by_seed(tmp_path: Path) -> None:
    text = '[[mutants]]\nmodules = "add"\ncount = 3\nseeds = [1, 2]\n'
    assert [job.case.title for job in jobs_in(tmp_path, text)] == ["add at Width 16 rtl"] * 2
    assert run(tmp_path, text).verdicts == {"agrees": 2}
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as db:
        assert db.execute("SELECT lanes, wrong FROM results").fetchall() == [(3, 0), (3, 0)]


LIVES = Mutant(2, "mutate", "bit 3 is inverted", ("add.sv:7",))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((MutantVerdict(LIVES, "undecided", "no theorem"), MutantVerdict(LIVES, "equivalent", "")),
         ("differs", 2, 1, "add.sv:7", "mutant 2 lives: bit 3 is inverted: no theorem")),
        ((MutantVerdict(LIVES, "killed by bench", "row 3"), MutantVerdict(LIVES, "killed by proof", "")),
         ("agrees", 2, 0, "", "")),
        ((), ("stopped", 0, 0, "", "add at Width 16 has no mutant")),
    ],
)  # fmt: skip
def test_a_mutant_that_lives_is_a_failure_and_none_at_all_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, verdicts: tuple[MutantVerdict, ...], expected: tuple[object, ...]
) -> None:
    def judgement(target: Target, *_: object) -> Judgement:
        return Judgement(target.subject, 1, verdicts, NetlistOrigin("", ""))

    monkeypatch.setattr("rtl_models.mutation.jobs.keep_or_judge", judgement)
    found = mutation().judged("add at Width 16", 2, 1, 1.0)
    told = found.failure.partition("\n")[0]
    assert (found.verdict, found.lanes, found.wrong, found.place, told) == expected


def test_a_bench_that_fails_without_a_mutant_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def judgement(*_: object) -> Judgement:
        raise WrongModule("add fails its own bench")

    monkeypatch.setattr("rtl_models.mutation.jobs.keep_or_judge", judgement)
    found = mutation().judged("add at Width 16", 2, 1, 1.0)
    assert (found.verdict, found.failure) == ("differs", "add fails its own bench")
