"""`lanewise run`: one call, its arguments from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import sim.command.app
from support.command import lanewise

SOURCE = """
#include <arm_neon.h>
#include <stddef.h>
typedef struct { float scale; int32_t bounds[2]; } limits;
int add(int a, long b) { return a + (int)b; }
double half(double x) { return x * 0.5; }
void twice(const int8_t *a, int8_t *out, size_t n) { for (size_t i = 0; i < n; ++i) out[i] = a[i] * 2; }
int32_t third(int32x4_t v, limits l) { return v[2] + (int32_t)l.scale + l.bounds[1]; }
int is_null(const float *p) { return p == 0; }
void forever(void) { for (;;) __asm__ volatile(""); }
unsigned long count(unsigned long n) { unsigned long i = 0; for (; i < n; ++i) __asm__ volatile(""); return i; }
float *where(float *p) { return p; }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "functions.c"
    path.write_text(SOURCE)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["run", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("add", "-3", "0x10"), "returned = 13"),
        (("half", "-1.5"), "returned = -0.75"),
        (("twice", "1,2,-3", "zeros:3", "3"), "out = [ 2,  4, -6]"),
        (("twice", "1,2,-3", "7,7,7", "1"), "out = [2, 7, 7]"),
        (("third", "1,2,3,4", "10.5,0,200"), "returned = 213"),
        (("is_null", "null"), "returned = 1"),
        (("is_null", "1.0"), "returned = 0"),
        (("int add(int a, long b)", "1", "2"), "returned = 3"),
    ],
)
def test_a_call_prints_what_it_returns_or_changes(arguments: tuple[str, ...], shown: str, source: Path) -> None:
    assert run(source, *arguments).stdout.splitlines()[0] == shown


def test_the_instructions_are_counted(source: Path) -> None:
    assert run(source, "add", "1", "2").stdout.splitlines()[-1] == "2 instructions"  # add, ret


def test_json_has_the_same(source: Path) -> None:
    shown = json.loads(run(source, "twice", "1,2", "zeros:2", "2", "--json").stdout)
    assert (shown["outputs"], shown["instructions"] > 0) == ({"out": [2, 4]}, True)


def test_an_array_may_come_from_a_file(source: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([5, 6], np.int8))
    shown = run(source, "twice", f"@{tmp_path}/a.npy", "zeros:2", "2")
    assert shown.stdout.startswith("out = [10, 12]")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("add", "1"), 2, "takes 2 arguments (a, b), not 1"),
        (("add", "1", "x"), 2, "'x' is no value of the argument 'b'"),
        (("add", "1", "x"), 2, "give numbers, with commas; of an array also zeros:COUNT, @FILE.npy or JSON"),
        (("twice", "random:2", "zeros:2", "2"), 2, "give numbers, with commas; of an array also zeros:COUNT"),
        (("twice", "1,2", "zeros:two", "2"), 2, "zeros: takes 0 to"),
        (("add", "1", str(2**64)), 2, "is no value of the argument 'b'"),
        (("ad", "1", "2"), 2, "defines no symbol 'ad'; it defines add"),
        (("is_null", "1e39"), 2, "'1e39' is no value of the argument 'p'"),
        (("is_null", "[1e39]"), 2, "'[1e39]' is no value of the argument 'p'"),
        (("is_null", "[null]"), 2, "it must be numbers for float32, in lists of one length"),
        (("third", "1,2,3", "1,2,3"), 2, "give 4 numbers"),
        (("third", "1,2,3,4", "1,2"), 2, "give 3 numbers"),
        (("twice", "1,2", "zeros:-1", "2"), 2, "zeros: takes 0 to"),
        (("twice", "@none.npy", "zeros:2", "2"), 2, "none.npy cannot be read as .npy"),
        (("where", "1"), 2, "returns what is no number"),
        (("int add(int a", "1"), 2, "expected ',' or ')'"),
        (("twice", "1,2", "zeros:2", "9"), 1, "the call stops"),
    ],
)
def test_what_cannot_be_called_is_one_sentence(
    arguments: tuple[str, ...], code: int, message: str, source: Path
) -> None:
    result = run(source, *arguments)
    assert (result.exit_code, message in result.stderr) == (code, True)


def test_a_call_that_reaches_its_limit_is_stopped_without_a_verdict(source: Path) -> None:
    result = run(source, "count", str(10**9), "--limit", "5000")
    said = "lanewise: stopped, without a verdict: "
    limit = "did not return within 5,000 instructions, and it goes round functions.c:11; --limit allows more"
    assert (result.exit_code, result.stdout) == (3, "")
    assert (result.stderr.startswith(said), limit in result.stderr) == (True, True), result.stderr


def test_a_limit_that_is_not_reached_changes_nothing(source: Path) -> None:
    assert run(source, "count", "1000", "--limit", "5000").stdout.startswith("returned = 1000\n")


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_stopped_without_a_verdict(source: Path) -> None:
    result = run(source, "count", str(10**12), "--limit", str(10**12), "--timeout", "0.3")
    said = r"lanewise: stopped, without a verdict: the call did not return within 0\.3 seconds, [\d,]+ instructions; "
    assert (result.exit_code, result.stdout) == (3, "")
    assert re.match(said, result.stderr), result.stderr


def test_an_endless_loop_is_a_verdict(source: Path) -> None:
    result = run(source, "forever", "--limit", "5000", "--timeout", "60")
    assert (result.exit_code, "registers and memory are again as they were" in result.stderr) == (1, True)


def test_an_interrupt_is_none_of_the_timeout(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.call.call.CompiledKernel.call", interrupted)
    assert run(source, "add", "1", "2", "--timeout", "60").exit_code == 130


@pytest.mark.slow
def test_how_far_a_call_is_is_told(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.command.running.run._SECONDS_A_LINE", 0.0)
    result = run(source, "count", str(10**12), "--limit", str(10**12), "--timeout", "0.5")
    assert re.match(r"[\d,]+ instructions, \d+\.\d M/s\n", result.stderr), result.stderr


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    result = run(tmp_path / "none.c", "f")
    assert (result.exit_code, "cannot read" in result.stderr) == (2, True)


def test_a_pickle_is_refused(source: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.array([{}], object), allow_pickle=True)
    result = run(source, "twice", f"@{tmp_path}/p.npy", "zeros:1", "1")
    assert (result.exit_code, "is no value of the argument 'a'" in result.stderr) == (2, True)


TABLES = """#include <stddef.h>
#include <stdint.h>
struct block { int16_t scale; int8_t q[2]; };
struct range { struct { int8_t low; int8_t high; } of; int32_t *counts; void *none; };
void dots(const struct block *x, int32_t *y, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] = x[i].scale * (x[i].q[0] + x[i].q[1]);
}
int32_t sum(const int8_t *const *rows, size_t n) { return rows[0][1] + rows[n - 1][0]; }
struct block clamped(struct range *r, enum { zero, one } m) {
    struct block b = {(int16_t)(r->of.high - r->of.low), {m, 4}};
    r->of.low = 5; r->counts[1] += r->none == 0; return b;
}
int32_t apply(int32_t (*op)(int32_t), int32_t x) { return op(x); }
int32_t twice(int32_t x) { return 2 * x; }
"""


@pytest.mark.parametrize(
    ("arguments", "outputs"),
    [
        (("dots", '[{"scale": 3, "q": [1, 2]}, {"scale": -1, "q": [4, 5]}]', "zeros:2", "2"), {"y": [9, -9]}),
        (("sum", "[[1, 2], [3, 4], [5, 6]]", "3"), {"returned": 7}),
        (("clamped", '{"of": {"low": 1, "high": 9}, "counts": [0, 6]}', "1"),
         {"r.of.low": 5, "r.of.high": 9, "r.counts": [0, 7], "returned.scale": 8, "returned.q": [1, 4]}),
        (("apply", "twice", "21"), {"returned": 42}),
    ],
)  # fmt: skip
def test_tables_structures_and_functions_are_given_as_json(
    arguments: tuple[str, ...], outputs: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "tables.c").write_text(TABLES)
    shown = run(tmp_path / "tables.c", *arguments, "--json")
    assert (shown.exit_code, json.loads(shown.stdout or "{}").get("outputs")) == (0, outputs), shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sum", "1,2", "1"), "it is a table of pointers: give JSON, a list of lists"),
        (("sum", "[[1], [2, 3]]", "1"), "no value of the argument 'rows'"),
        (("sum", "[[1.5]]", "1"), "it must be integers for int8"),
        (("sum", "[[300]]", "1"), "no value of the argument 'rows'"),
        (("dots", "{", "zeros:2", "2"), "it is no JSON"),
        (("dots", '{"scale": 1}', "zeros:2", "2"), "its fields are scale, q, not scale"),
        (("dots", "@none.json", "zeros:2", "2"), "none.json cannot be read"),
        (("apply", "thrice", "2"), "defines no symbol 'thrice'"),
    ],
)
def test_json_that_is_no_value_is_one_sentence(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "tables.c").write_text(TABLES)
    result = run(tmp_path / "tables.c", *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("command", ["run", "trace", "cycles", "debug", "gdb"])
def test_an_option_that_there_is_not_is_no_argument(command: str, tmp_path: Path) -> None:
    """Arguments of these commands may be numbers below zero; values of options may look like options."""
    (tmp_path / "one.c").write_text("int one(int x) { return x + 1; }")
    refused = lanewise(command, tmp_path / "one.c", "one", "-5", "--optt=O2")
    assert (refused.exit_code, "No such option: --optt (did you mean --opt?)" in refused.stderr) == (2, True)


def test_what_looks_like_an_option_may_be_a_value_or_behind_two_dashes(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int one(int x) { return x + 1; }")
    assert lanewise("run", tmp_path / "one.c", "one", "-5", "--opt", "O2").stdout.startswith("returned = -4\n")
    behind = lanewise("run", tmp_path / "one.c", "one", "--", "--five")
    assert (behind.exit_code, "'--five' is no value of the argument 'x'" in behind.stderr) == (2, True)
    given = lanewise("run", tmp_path / "one.c", "one", "5", "--opt", "--nothing")
    assert (given.exit_code, "No such option" in given.stderr) == (2, False)
