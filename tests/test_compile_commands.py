"""`--compile`: sources that are compiled as their own build does it; `--arguments`: what a call is given, in a file."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sim.toolchain.compilers import compiler_version
from sim.toolchain.objects import compilers_of
from support.command import lanewise
from support.sampled import sampled

pytestmark = pytest.mark.usefixtures("nothing_aimed")
CLANG = f"{shlex.quote(sys.executable)} -m ziglang clang --target=aarch64-linux-gnu"
SCALED = "#ifndef BY\n#error BY is not given\n#endif\nint scaled(int a) { return a * BY; }\n"
KERNEL = """
from pathlib import Path
from sim.kernels import Kernel, parse_prototype
NAME, SIGNATURE = parse_prototype("void mine(const int8_t a[n], int8_t out[n], size_t n)")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(Path("mine.c"),), signature=SIGNATURE,
                golden=lambda inputs: {"out": (inputs["a"] >> 1).astype("int8")})
"""
MINE = """
typedef __SIZE_TYPE__ size_t;
void mine(const signed char *a, signed char *out, size_t n) { for (size_t i = 0; i < n; i++) out[i] = a[i] >> BY; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scaled.c").write_text(SCALED)
    (tmp_path / "mine.py").write_text(KERNEL)
    (tmp_path / "mine.c").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more: object) -> tuple[int, object]:
    """The exit code, and what is returned or said."""
    done = lanewise("run", "scaled.c", "int scaled(int a)", "7", "--json", *more)
    return done.exit_code, done.stderr if done.exit_code else json.loads(done.stdout)["outputs"]["returned"]


def test_a_source_is_compiled_by_the_command_and_nothing_is_left_beside_it(folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert run("--compile", f"{CLANG} -DBY=6 -O1 -c scaled.c") == (0, 42)
    assert sorted(folder.iterdir()) == before


def test_no_shell_sees_the_command(folder: Path) -> None:
    code, said = run("--compile", f"{CLANG} -DBY=6 -c scaled.c; touch made")
    assert (code, (folder / "made").exists(), "no such file or directory: 'touch'" in str(said)) == (2, False, True)


@pytest.mark.parametrize("form", ["command", "arguments"])
def test_an_entry_of_the_compilation_database_says_how(folder: Path, form: str) -> None:
    (folder / "build").mkdir()
    command = f"{CLANG} -DBY=5 -c ../scaled.c -o scaled.o"
    entry = {"directory": ".", "file": "../scaled.c", form: command if form == "command" else shlex.split(command)}
    other = {"directory": ".", "file": "../other.c", "command": "false"}
    (folder / "build" / "compile_commands.json").write_text(json.dumps([other, entry]))
    assert run("--compile", "build/compile_commands.json") == (0, 35)


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("", 2, "nothing is given"),
        ("gcc '", 2, "cannot be split as a shell does"),
        ("./no-such -c scaled.c", 3, "lanewise: cannot run no-such: there is no program ./no-such\n"),
        (f"{CLANG} -c scaled.c", 2, "BY is not given"),
        (f"{shlex.quote(sys.executable)} -c pass", 2, "has made no object of scaled.c"),
        ("none.json", 2, "cannot read none.json"),
        ("broken.json", 2, "broken.json is no JSON"),
        ("odd.json", 2, "is no list of entries"),
        ("nul.json", 2, "is no list of entries"),
        ("half.json", 2, "is no list of entries"),
        ("others.json", 2, "has no entry for scaled.c; it has some for other.c"),
        ("away.json", 3, "there is no folder"),
    ],
)
def test_what_cannot_be_compiled_is_one_sentence(folder: Path, command: str, code: int, says: str) -> None:
    entry = {"directory": ".", "file": "other.c", "command": "false"}
    (folder / "broken.json").write_text("[")
    (folder / "odd.json").write_text('[{"directory": ".", "file": "scaled.c"}]')
    (folder / "nul.json").write_text(json.dumps([{**entry, "file": "scaled.c", "arguments": ["cc", "a\0"]}]))
    (folder / "half.json").write_text(json.dumps([{**entry, "file": "\ud800"}]))
    (folder / "others.json").write_text(json.dumps([entry]))
    (folder / "away.json").write_text(json.dumps([{**entry, "directory": "away", "file": "../scaled.c"}]))
    found, said = run("--compile", command)
    assert (found, says in str(said), "Traceback" in str(said)) == (code, True, False)


WITHOUT = "has no source lines of"


@pytest.mark.parametrize(("more", "has_lines"), [("", True), ("-g0", False), ("-gdwarf-4", True)])
def test_source_lines_are_asked_of_a_compiler_that_was_not_told_about_them(
    folder: Path, more: str, has_lines: bool
) -> None:
    command = f"{CLANG} -DBY=3 -O1 {more} -c scaled.c"
    told = lanewise("debug", "scaled.c", "int scaled(int a)", "7", "--compile", command, "--script", "/dev/null")
    assert ("scaled.c:4" in told.stdout, f"{WITHOUT} scaled: compile it with -g" in told.stdout) == (
        has_lines, not has_lines
    ), told.output  # fmt: skip
    timed = lanewise("cycles", "scaled.c", "int scaled(int a)", "7", "--compile", command)
    assert (WITHOUT in timed.stdout) is not has_lines


def test_another_program_that_compiles_is_called_as_it_is(folder: Path) -> None:
    (folder / "wrap").write_text(f'#!/bin/sh\necho "$@" > said\nexec {CLANG} "$@"\n')
    (folder / "wrap").chmod(0o755)
    assert run("--compile", "./wrap -DBY=6 -c scaled.c") == (0, 42)
    assert "-g" not in (folder / "said").read_text().split()


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_check_says_what_to_do_where_there_are_no_source_lines(folder: Path) -> None:
    for flags, has_lines in (("-g0", False), ("-g1", True)):
        command = f"{CLANG} -DBY=1 -O1 {flags} -c mine.c"
        told = lanewise("check", "mine.py", "--compile", command, "--vectors", "20").stdout
        assert (f"note: mine.c.o {WITHOUT} mine: compile it with -g" in told) is not has_lines


def test_an_object_cannot_be_compiled(folder: Path) -> None:
    (folder / "a.o").write_bytes(b"")
    done = lanewise("run", "a.o", "int scaled(int a)", "7", "--compile", "gcc")
    assert (done.exit_code, "a.o is none" in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
def test_a_check_takes_the_object_and_says_how_to_repeat_it(folder: Path) -> None:
    command = f"{CLANG} -DBY=1 -O2 -c mine.c"
    done = lanewise("check", "mine.py", "--compile", command, "--vectors", "20", "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["passed"], len(report["implementations"])) == (0, True, 1)
    assert f"--compile {shlex.quote(command)}" in report["reproduce"]
    assert lanewise("check", "mine.py", "--compile", command.replace("=1", "=2"), "--vectors", "20").exit_code == 1


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize("by", ["--compile", "--object"])
def test_a_report_of_an_object_tells_its_own_compiler_and_no_levels(folder: Path, by: str) -> None:
    (folder / "both.c").write_text('__asm__(".ident \\"Other compiler 1.2\\"");\n#include "mine.c"\n')
    command = f"{CLANG} -DBY=2 -O1 -fno-ident -c both.c"
    subprocess.run([*shlex.split(command), "-o", "both.c.o"], check=True)
    given = (by, command if by == "--compile" else "both.c.o")
    report = json.loads(lanewise("check", "mine.py", *given, "--vectors", "20", "--json").stdout)
    of_proof = given if by == "--compile" else ("--source", "both.c.o")
    proved = json.loads(lanewise("prove", "mine.py", *of_proof, "--json").stdout)["check"]
    for told in (report, proved):
        assert told["compiler"] == "Other compiler 1.2"
        assert "--opt" not in told["reproduce"]
        assert told["implementations"][0]["implementation"] == "both.c.o"  # that of the source that was compiled


def test_what_says_nothing_of_its_compiler_is_told_so_and_each_of_several_once(folder: Path) -> None:
    for name, flags in (("silent", "-fno-ident"), ("one", "-O1"), ("other", "-O2")):
        subprocess.run([*shlex.split(CLANG), "-DBY=1", *flags.split(), "-c", "mine.c", "-o", f"{name}.o"], check=True)
    (folder / "broken.o").write_bytes(b"\x7fELF")
    ours, theirs = compiler_version(), compilers_of([folder / "one.o"])
    assert re.fullmatch(r"clang version [\d.]+", theirs)
    assert ours.startswith(theirs.replace("version ", ""))
    assert compilers_of(map(Path, ("one.o", "other.o", "mine.c", "silent.o", "broken.o"))) == (
        f"{theirs}, {ours}, not told by silent.o, not told by broken.o"
    )


def test_a_proof_and_a_timing_take_it(folder: Path) -> None:
    command = f"{CLANG} -DBY=1 -O1 -c mine.c"
    assert lanewise("prove", "mine.py", "--compile", command, "--lengths", "0..3").exit_code == 0
    timed = lanewise("cycles", "scaled.c", "int scaled(int a)", "3", "--compile", f"{CLANG} -DBY=3 -O1 -c scaled.c")
    assert timed.exit_code == 0


def test_a_timing_names_what_the_command_compiles_in_place_of_the_file(folder: Path) -> None:
    (folder / "other.c").write_text(SCALED)
    for name, says in (("other.c", "of other.c.o, in place of scaled.c"), ("./scaled.c", "of scaled.c.o")):
        words = ("scaled.c", "scaled", "3", "--core", "cortex-a55", "--compile", f"{CLANG} -DBY=3 -O1 -g -c {name}")
        for brief in ((), ("--brief",)):
            assert lanewise("cycles", *words, *brief).stdout.splitlines()[0].rstrip() == f"scaled {says}"


@pytest.mark.slow
def test_a_kernel_is_timed_as_its_command_compiles_it_and_another_version_by_our_compiler(folder: Path) -> None:
    command = f"{CLANG} -DBY=1 -O1 -fno-ident -c mine.c"
    (folder / "old.c").write_text(MINE.replace("BY", "1"))
    words = ("mine.py", "--compile", command, "--core", "cortex-a55", "--length", "64")
    timed = json.loads(lanewise("cycles", *words, "--diff", "old.c", "--json").stdout)
    assert [row["timed"] for row in timed["estimate"]["rows"]] == ["mine.c.o"]  # at no level
    plain = json.loads(lanewise("cycles", "mine.py", "--opt", "O1", "--cflags=-DBY=1", *words[3:], "--json").stdout)
    assert [row["cycles"] for row in timed["estimate"]["rows"]] == [row["cycles"] for row in plain["estimate"]["rows"]]
    (difference,) = timed["differences"]
    assert (difference["compiler_before"], difference["compiler_after"]) == ("not told by mine.c.o", compiler_version())
    told = f"before: not told by mine.c.o; after: {compiler_version()}\n"
    assert told in lanewise("cycles", *words, "--diff", "old.c").stdout
    assert "before: " not in lanewise("cycles", "mine.py", "--cflags=-DBY=1", *words[3:], "--diff", "old.c").stdout


def test_a_loop_alone_is_no_matter_of_a_command(folder: Path) -> None:
    (folder / "loop.s").write_text("loop:\n    subs x0, x0, #1\n    b.ne loop\n")
    done = lanewise("cycles", "loop.s", "--compile", f"{CLANG} -c loop.s", "--core", "cortex-a55")
    assert (done.exit_code, "--compile is for a kernel or a function, and loop.s is a loop" in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("more", sampled([[], ["--symbol", "other"]], 2), ids=["", "of another name"])
@pytest.mark.parametrize("by", ["--compile", "--object"])
def test_the_command_that_a_failing_check_prints_for_debugging_opens_the_same_code(
    folder: Path, by: str, more: list[str]
) -> None:
    command = f"{CLANG} -DBY=2 -O1 -g -c mine.c"
    if more:
        command += " -Dmine=other"
    made = folder / "mine.o"
    subprocess.run([*shlex.split(command), "-o", made], check=True)
    given = [by, command if by == "--compile" else str(made), *more]
    done = lanewise("check", "mine.py", *given, "--hold", "n=3", "--limit", "5000", "--vectors", "20", "--json")
    words = shlex.split(json.loads(done.stdout)["debug"])
    assert [words[words.index(name) + 1] for name in (by, "--hold", "--limit")] == [given[1], "n=3", "5000"]
    opened = lanewise(*words[1:], "--script", "/dev/null")
    assert (opened.exit_code, "mine.c:3" in opened.stdout, "n=3" in opened.stdout) == (0, True, True), opened.output
    traced = lanewise("trace", *words[2 : words.index("--fault")])
    assert (traced.exit_code, "mine.c:3" in traced.stdout) == (0, True), traced.output


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--object", "a.o"], "--object is for a kernel, and scaled.c is none"),
        (["--symbol", "f"], "--symbol is for a kernel, and scaled.c is none"),
        (["--hold", "a=3"], "--hold is for a kernel, and scaled.c is none"),
        (["--hold", "a"], "--hold takes an argument and its number, such as n=8, not 'a'"),
    ],
)
def test_what_a_session_of_a_function_does_not_take_is_refused(folder: Path, given: list[str], says: str) -> None:
    done = lanewise("debug", "scaled.c", "scaled", "1", *given, "--script", "/dev/null")
    assert (done.exit_code, says in done.stderr) == (2, True)


def test_a_session_of_a_function_takes_the_command(folder: Path) -> None:
    command = f"{CLANG} -DBY=3 -O1 -g -c scaled.c"
    done = lanewise("debug", "scaled.c", "scaled", "7", "--compile", command, "--script", "/dev/null")
    assert (done.exit_code, "scaled.c:4" in done.stdout) == (0, True), done.output


@pytest.mark.slow
def test_a_call_that_was_found_is_made_again_by_the_source_and_the_command(folder: Path) -> None:
    command = f"{CLANG} -DBY=1 -O1 -g -c mine.c"
    words = ["mine.py", "--compile", command, "--find", "taken at mine.c:3", "--lengths", "1..2", "--json"]
    done = lanewise("prove", *words)
    again = [shlex.split(one["again"]) for one in json.loads(done.stdout) if one["again"]]
    assert again
    for words in again:
        assert (words[2], lanewise(*words[1:]).exit_code) == (str(folder / "mine.c"), 0)


SUMMED = """
typedef struct { int by; float of[2]; } Rule;
int summed(const int *a, int n, Rule rule) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * rule.by;
    return sum + (int)rule.of[1];
}
"""


@pytest.mark.parametrize(
    "given",
    [
        {"a": [1, 2, 3], "n": 3, "rule": {"by": 2, "of": [0.5, 4.0]}},
        [[1, 2, 3], 3, [2, 0.5, 4]],
        ["1,2,3", True + 2, {"of": [0, 4.25], "by": 2}],
    ],
    ids=["by name", "in order", "texts"],
)
def test_arguments_may_be_in_a_file(folder: Path, given: object) -> None:
    (folder / "summed.c").write_text(SUMMED)
    (folder / "a.json").write_text(json.dumps(given))
    done = lanewise("run", "summed.c", "summed", "--arguments", "a.json", "--json")
    assert json.loads(done.stdout)["outputs"]["returned"] == 16


NESTED = """
typedef struct { struct { short low, high; } range; struct { signed char q[2]; unsigned of : 3; } each[2]; } Rule;
int nested(const Rule *rule, const int *const *rows, int n) {
    int sum = rule->range.high + 10 * rule->each[1].q[0] + 100 * rule->each[0].of;
    for (int i = 0; i < n; i++) sum += 1000 * rows[i][1];
    return sum;
}
"""


def test_structures_within_and_tables_may_be_too(folder: Path) -> None:
    (folder / "nested.c").write_text(NESTED)
    rule = {"range": {"low": 0, "high": 1}, "each": [{"q": [0, 0], "of": 3}, {"q": [2, 0], "of": 7}]}
    (folder / "a.json").write_text(json.dumps({"rule": rule, "rows": [[0, 4], [0, 5]], "n": 2}))
    for given in (["--arguments", "a.json"], [json.dumps(rule), "[[0, 4], [0, 5]]", "2"]):
        done = lanewise("run", "nested.c", "nested", *given, "--json")
        assert json.loads(done.stdout)["outputs"]["returned"] == 9321


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "a.json is no JSON"),
        ("[" * 100_000, "a.json is no JSON"),
        ("7", "neither a list of the arguments nor an object"),
        ("[1]", "a.json has 1 arguments, and the function 3"),
        ('{"a": null, "n": 1}', "a.json lacks 'rule': a, n, rule"),
        ('{"a": null, "n": 1, "rule": [1, 2, 3], "b": 1}', "a.json has no 'b': a, n, rule"),
        ('[null, 1, {"by": 1}]', "no value of the argument 'rule': its fields are by, of, not by"),
        ("[null, [[1]], [1, 2, 3]]", "'[[1]]' is no value of the argument 'n'"),
        ("[null, 1.5, [1, 2, 3]]", "'1.5' is no value of the argument 'n'"),
        ('[{"x": 1}, 1, [1, 2, 3]]', "is no value of the argument 'a'"),
    ],
)
def test_a_file_of_wrong_arguments_is_told_in_a_sentence(folder: Path, text: str, says: str) -> None:
    (folder / "summed.c").write_text(SUMMED)
    (folder / "a.json").write_text(text)
    done = lanewise("run", "summed.c", "summed", "--arguments", "a.json")
    assert (done.exit_code, says in done.stderr) == (2, True)


def test_arguments_are_given_once(folder: Path) -> None:
    done = lanewise("run", "scaled.c", "int scaled(int a)", "7", "--arguments", "a.json")
    assert (done.exit_code, "not both" in done.stderr) == (2, True)
