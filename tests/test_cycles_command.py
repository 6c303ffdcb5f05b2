"""`lanewise cycles`: what it times, what it prints and writes, and what it refuses.

Expected cycles are of chains and streams that can be counted by hand: on neoverse-n1 a vector multiply takes 5 cycles
to its consumer, four micro-operations enter in a cycle, and a load from the first cache takes 4.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import sim.command.app
import sim.command.running.cycles
from sim.cycles.cores import REAL_CORES
from sim.timing.model import core_file
from sim.toolchain.compilers import build, compiled
from sim.view.cycles.perfetto import PerfettoMissing
from support.fake_llvm_mca import install

ROOT = Path(__file__).parents[1]
SOURCE = """
#include <arm_neon.h>
#include <stddef.h>
int add(int a, long b) { return a + (int)b; }
int load(const int *p) { return *p; }
void twice(const int8_t *a, int8_t *out, size_t n) { for (size_t i = 0; i < n; ++i) out[i] = a[i] * 2; }
void forever(void) { for (;;) __asm__ volatile(""); }
void undefined(void) { __builtin_trap(); }
"""
DOTS = """
#include <arm_neon.h>
int dots(int32x4_t a, int8x16_t b) { return vdotq_s32(a, b, b)[0]; }
"""
CHAIN = """
.Lchain:
\tsqrdmulh v0.8h, v0.8h, v1.8h
\tsqrdmulh v0.8h, v0.8h, v1.8h
\tsubs x0, x0, #1
\tb.ne .Lchain
"""


def cycles(*arguments: object, columns: int = 120) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["cycles", *map(str, arguments)], env={"COLUMNS": str(columns)})


def on_n1(*arguments: object) -> list[dict[str, Any]]:
    """The results on neoverse-n1, as JSON."""
    shown = cycles(*arguments, "--core", "neoverse-n1", "--json")
    assert shown.exit_code == 0, shown.stderr
    results: list[dict[str, Any]] = json.loads(shown.stdout)["results"]
    return results


def figures(shown: Result) -> dict[str, str]:
    """The last figure of each row of the first table, by its name."""
    rows = (re.fullmatch(r"   (\S+(?: \S+)*)  .*?(\S+) *", line) for line in shown.stdout.splitlines())
    return {row[1]: row[2] for row in rows if row}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cycles") / "functions.c"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cycles") / "chain.s"
    path.write_text(CHAIN)
    return path


@pytest.fixture(scope="module")
def dots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cycles") / "dots.c"
    path.write_text(DOTS)
    return path


def test_a_loop_that_is_a_chain_takes_the_sum_of_its_latencies(chain: Path) -> None:
    (result,) = on_n1(chain, "--count", 100_000_000)
    loop = result["loop"]
    assert (loop["cycles_per_iteration_exact"], loop["binding_bound"]) == ("10", "latency")


def test_what_was_inlined_is_listed_below_its_function_and_the_line_that_calls_it(tmp_path: Path) -> None:
    helper = "static inline __attribute__((always_inline)) int rounded(int x)\n{\n    return x * 77;\n}\n"
    source = tmp_path / "scaled.c"
    source.write_text(f"{helper}int scaled(int x)\n{{\n    return rounded(x);\n}}\n")
    shown = cycles(source, "scaled", "5", "--core", "cortex-a55").stdout
    at = shown.splitlines().index(next(line for line in shown.splitlines() if "rounded at scaled.c:7" in line))
    assert " mul w0, w0, w8 " in shown.splitlines()[at + 1]


def test_branches_name_the_line_that_they_go_to_wherever_they_are_shown(source: Path, tmp_path: Path) -> None:
    """Of a log for Konata every instruction has its address, and branches keep those."""
    asked = (source, "twice", "1,2,3,4,5,6,7,8,9", "zeros:9", 9, "--core", "cortex-a55", "--opt", "O1")
    page = tmp_path / "page.html"
    shown = cycles(*asked, "--timeline", "--advise", "--html", page).stdout
    (result,) = json.loads(cycles(*asked, "--json").stdout)["results"]
    branches = [row["text"] for row in result["instructions"] if re.match("b[. ]|cb", row["text"])]
    assert len(branches) > 1
    assert {text.split()[-1] for text in branches} <= {"functions.c:6", "functions.c:7"}
    for told in (shown, page.read_text(), json.dumps(result)):
        assert re.findall(r"\bb\.\w\w functions\.c:6", told)
        assert re.findall(r"\b(?:b|b\.\w\w|cbn?z \w+,) #\w+", told) == []


def test_a_branch_that_is_waited_for_is_called_as_it_is_listed(source: Path) -> None:
    asked = (source, "twice", "1,2,3,4,5,6,7,8,9", "zeros:9", 9, "--core", "cortex-a55", "--opt", "O1")
    shown = cycles(*asked, "--timeline", "--cold").stdout
    assert "b.cond" not in shown
    assert re.search(r"^mispredicted .*: b\.\w\w \(line 6\)", shown, re.MULTILINE)
    assert re.search(r"mispredicted \[\d+\] b\.\w\w$", shown, re.MULTILINE)


def test_a_branch_of_assembly_names_the_label_that_it_goes_to(tmp_path: Path) -> None:
    path = tmp_path / "loop.s"
    path.write_text(CHAIN.replace(".Lchain", "chain"))
    assert on_n1(path)[0]["sample"]["instructions"][-1]["text"] == "b.ne chain"


def test_in_brief_a_core_has_a_line(chain: Path) -> None:
    shown = cycles(chain, "--core", "cortex-a55,neoverse-n1", "--brief")
    lines = [line.split() for line in shown.stdout.splitlines() if line.strip()]
    assert [line[:2] for line in lines if "loop" in line[0]] == [["loop", "cortex-a55"], ["loop", "neoverse-n1"]]
    assert "critical path" not in shown.stdout


def test_a_hundred_million_iterations_are_all_counted(chain: Path) -> None:
    (result,) = on_n1(chain, "--count", 100_000_000)
    assert 0 <= result["loop"]["cycles"] - 10 * 100_000_000 < 20  # what enters before, drains after


def test_iterations_are_counted_by_default(chain: Path) -> None:
    assert on_n1(chain)[0]["loop"]["iterations"] == 1000


def test_of_several_loops_it_is_said_which_is_timed(chain: Path, tmp_path: Path) -> None:
    two = tmp_path / "two.s"
    two.write_text(CHAIN + CHAIN.replace(".Lchain", "second"))
    shown, brief = (cycles(two, "--core", "neoverse-n1", *more).stdout for more in ((), ("--brief",)))
    assert "two.s has 2 loops, of which the last is timed, second: --loop names another" in shown
    assert re.search(r"^ second +neoverse-n1", brief, re.MULTILINE)
    for words in ((two, "--loop", "second"), (chain,)):
        assert "loops, of which" not in cycles(*words, "--core", "neoverse-n1").stdout


def test_a_function_of_assembly_is_asked_for_its_prototype_alone(tmp_path: Path) -> None:
    (tmp_path / "f.s").write_text(".globl f\nf:\n ret\n")
    refused = cycles(tmp_path / "f.s", "f", 1)
    said = "assembly does not say what it takes; give the prototype in place of the name, such as 'int f("
    assert (refused.exit_code, said in refused.stderr, "compile with" in refused.stderr) == (2, True, False)


def test_a_loop_is_chosen_by_its_label(chain: Path, tmp_path: Path) -> None:
    two = tmp_path / "two.s"
    two.write_text(
        CHAIN + ".Ladd:\n\tadd x1, x1, #1\n\tadd x1, x1, #1\n\tadd x1, x1, #1\n\tsubs x0, x0, #1\n\tb.ne .Ladd\n"
    )
    rates = [on_n1(two, "--loop", label)[0]["loop"]["cycles_per_iteration"] for label in (".Lchain", ".Ladd")]
    assert rates == [10, 3]


def test_another_latency_is_what_the_chain_takes_then(chain: Path) -> None:
    name = on_n1(chain)[0]["sample"]["instructions"][0]["timing_class"]
    (result,) = on_n1(chain, "--latency", f"{name}=7")
    assert result["loop"]["cycles_per_iteration"] == 14


def test_a_pipe_that_is_busy_for_longer_than_the_chain_decides(chain: Path) -> None:
    name = on_n1(chain)[0]["sample"]["instructions"][0]["timing_class"]
    (result,) = on_n1(chain, "--pipe", f"{name}=V0*9")
    assert (result["loop"]["cycles_per_iteration"], result["loop"]["binding_bound"]) == (18, "pipe V0")


def test_a_core_of_width_one_enters_an_instruction_a_cycle(tmp_path: Path) -> None:
    adds = tmp_path / "adds.s"
    adds.write_text(
        ".La:\n" + "".join(f"\tadd x{n}, x{n}, #1\n" for n in range(1, 6)) + "\tsubs x0, x0, #1\n\tb.ne .La\n"
    )
    assert on_n1(adds, "--set", "width=1")[0]["loop"]["cycles_per_iteration"] == 7


def test_what_is_different_about_the_core_is_in_the_title(chain: Path) -> None:
    shown = cycles(chain, "--set", "width=1", "--core", "neoverse-n1").stdout
    assert shown.splitlines()[0] == "chain.s; width=1"


def test_an_unrolled_chain_takes_as_long_for_an_iteration_of_the_loop_as_before(chain: Path) -> None:
    _, unrolled = on_n1(chain, "--unroll", 2)
    assert (unrolled["timed"], unrolled["loop"]["iterations"], unrolled["loop"]["cycles_per_iteration"]) == (
        "unrolled 2 times", 1000, 10,
    )  # fmt: skip


def test_interleaved_chains_hide_each_other(chain: Path) -> None:
    """Two chains of two multiplies that keep their pipe for 2 cycles each: 8 cycles of pipe in 10 of latency."""
    _, interleaved = on_n1(chain, "--interleave", 2, "--elements", 16)
    assert (interleaved["loop"]["cycles_per_iteration"], interleaved["loop"]["binding_bound"]) == (5, "latency")


def test_the_table_compares_iterations_of_the_loop_that_was_given(chain: Path) -> None:
    shown = figures(cycles(chain, "--core", "neoverse-n1", "--unroll", 3))
    assert (shown["iterations"], shown["per iteration"], shown["bound"]) == ("1,002", "10", "latency")


def test_llvm_mca_is_compared_by_the_same_iterations(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path, "mca", "14.0.6")))
    once, twice = on_n1(chain, "--unroll", 2, "--compare", "llvm-mca")  # it always says 7 of what it is asked
    assert [one["llvm-mca"]["cycles_per_iteration"] for one in (once, twice)] == [7, 3.5]


def test_elements_of_an_iteration_divide_its_cycles(chain: Path) -> None:
    shown = figures(cycles(chain, "--core", "neoverse-n1", "--elements", 4))
    assert shown["per element"] == "2.5"


def test_an_unrolled_iteration_has_the_elements_of_all_that_it_does(chain: Path) -> None:
    shown = figures(cycles(chain, "--core", "neoverse-n1", "--elements", 4, "--unroll", 2))  # the last of two groups
    assert shown["per element"] == "2.5"


def test_iterations_that_differ_are_timed_as_they_come(tmp_path: Path) -> None:
    """x0 counts down from 0, and every other iteration leaves an addition out: 3 + 4 + 3 + 4 + 3 instructions."""
    uneven = tmp_path / "uneven.s"
    uneven.write_text(".La:\n\ttbz x0, #0, .Lb\n\tadd x1, x1, #1\n.Lb:\n\tsub x0, x0, #1\n\tcbnz x0, .La\n")
    (result,) = on_n1(uneven, "--count", 5)
    assert (result["call"], result["instructions_executed"]) == ("5 iterations, which differ", 17)


def test_iterations_that_differ_cannot_be_unrolled(tmp_path: Path) -> None:
    uneven = tmp_path / "uneven.s"
    uneven.write_text(".La:\n\ttbz x0, #0, .Lb\n\tadd x1, x1, #1\n.Lb:\n\tsub x0, x0, #1\n\tcbnz x0, .La\n")
    result = cycles(uneven, "--unroll", 2)
    assert (result.exit_code, "cannot be unrolled: its iterations differ" in result.stderr) == (2, True)


def test_a_function_is_called_with_its_arguments(source: Path) -> None:
    (result,) = on_n1(source, "add", "-1", "2")
    assert (result["timed"], result["call"], result["instructions_executed"]) == ("add -O2", "a=-1, b=2", 2)


def test_a_prototype_may_stand_for_the_name(source: Path) -> None:
    assert on_n1(source, "int add(int a, long b)", "1", "2")[0]["instructions_executed"] == 2


def test_a_linked_program_is_timed_as_it_is(source: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.elf"
    program.write_bytes(build(source, "-O2").file)
    assert on_n1(program, "add", "1", "2")[0]["timed"] == "add"


def test_levels_are_timed_beside_each_other(source: Path) -> None:
    results = on_n1(source, "add", "1", "2", "--opt", "O0,O2")
    assert [result["timed"] for result in results] == ["add -O0", "add -O2"]


def test_cycles_of_a_call_are_those_of_its_reasons_and_of_its_instructions(source: Path) -> None:
    (result,) = on_n1(source, "twice", "zeros:100", "zeros:100", "100")
    sums = sum(result["stalls"].values()), sum(row["cycles"] for row in result["instructions"])
    assert sums == (result["cycles"], result["cycles"])


def test_elements_are_those_of_the_arrays_that_may_change(source: Path) -> None:
    (result,) = on_n1(source, "twice", "zeros:100", "zeros:100", "100")
    assert result["elements"] == 100


def test_elements_may_be_given(source: Path) -> None:
    (result,) = on_n1(source, "add", "1", "2", "--elements", "2")
    assert result["cycles_per_element"] == result["cycles"] / 2


def test_branches_that_were_not_seen_before_are_mispredicted_more_often(source: Path) -> None:
    warm, cold = (
        sum(on_n1(source, "twice", "zeros:100", "zeros:100", "100", *more)[0]["mispredicted"].values())
        for more in ((), ("--cold",))
    )
    assert cold > warm


def test_a_load_from_the_second_cache_is_later_by_the_difference(source: Path) -> None:
    near, far = (on_n1(source, "load", "7", *more)[0]["cycles"] for more in ((), ("--l2-latency", "20")))
    assert far - near == 20 - 4


SUMS = """
#include <string.h>
void copy(char *out, const char *a, size_t n) { memcpy(out, a, n); }
"""


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cycles") / "sums.c"
    path.write_text(SUMS)
    return path


def test_branches_are_counted_trained_and_untrained(source: Path) -> None:
    """Of a loop that runs three times at -O0, only the untrained predictor misses the way out."""
    arguments = (source, "twice", "zeros:3", "zeros:3", "3", "--opt", "O0")
    warm, cold = (on_n1(*arguments, *more)[0]["branches"] for more in ((), ("--cold",)))
    assert (warm["mispredicted"], cold["mispredicted"]) == (0, warm["mispredicted_untrained"])
    assert 0 < warm["mispredicted_untrained"] < warm["executed"]


def test_how_the_predictor_was_trained_is_said_of_every_call(source: Path) -> None:
    """Only its return, which is always predicted."""
    shown = cycles(source, "add", "1", "2", "--core", "neoverse-n1").stdout
    line = "0 of 1 branches mispredicted, the predictor trained on this very call; 0 when untrained (--cold)"
    assert shown.count(f"add -O2: {line}\n") == 1


def test_an_untrained_predictor_is_not_called_trained(source: Path) -> None:
    shown = cycles(source, "add", "1", "2", "--core", "neoverse-n1", "--cold").stdout
    assert ("0 of 1 branches mispredicted, the predictor untrained (--cold)" in shown, "trained on" in shown) == (
        True, False,
    )  # fmt: skip


def test_what_is_executed_in_the_runtime_is_said(sums: Path) -> None:
    """All but the branch to it."""
    (result,) = on_n1(sums, "copy", "zeros:100", "zeros:100", "100")
    count = result["instructions_executed"]
    said = f"{count - 1:,} of {count:,} instructions are in memcpy of lanewise's runtime"
    assert [note for note in result["notes"] if note.startswith(said)] != []


def test_a_call_without_the_runtime_does_not_name_it(source: Path) -> None:
    shown = cycles(source, "add", "1", "2").stdout
    assert "runtime" not in shown


def test_what_is_assumed_of_a_loop_alone_is_one_line(chain: Path) -> None:
    shown = cycles(chain, "--unroll", 2).stdout
    assert shown.count("assumed: the closing branch is taken") == 1


def test_what_is_assumed_of_iterations_that_differ_is_said_too(tmp_path: Path) -> None:
    uneven = tmp_path / "uneven.s"
    uneven.write_text(".La:\n\ttbz x0, #0, .Lb\n\tadd x1, x1, #1\n.Lb:\n\tsub x0, x0, #1\n\tcbnz x0, .La\n")
    assert cycles(uneven).stdout.count("assumed: the closing branch is taken") == 1


def test_figures_of_a_loop_are_of_all_its_iterations(chain: Path) -> None:
    (result,) = on_n1(chain, "--count", 5000, "--elements", 8)
    figures = tuple(result[key] for key in ("cycles", "elements", "instructions_executed", "cycles_per_element"))
    assert figures == (result["loop"]["cycles"], 40_000, 20_000, 10 / 8)


def test_the_sample_of_a_loop_accounts_for_its_own_cycles(chain: Path) -> None:
    (result,) = on_n1(chain, "--count", 5000)
    sample = result["sample"]
    assert (sum(sample["stalls"].values()), sample["instructions_executed"]) == (
        sample["cycles"], 4 * sample["iterations"],
    )  # fmt: skip


def test_a_call_has_no_loop_and_no_sample(source: Path) -> None:
    (result,) = on_n1(source, "add", "1", "2")
    assert (result["loop"], result["sample"]) == (None, None)


@pytest.mark.parametrize("change", [("--set", "width=2"), ("--l2-latency", "20")])
def test_a_changed_core_was_not_compared_with_measurements(change: tuple[str, str], source: Path) -> None:
    usual, changed = (on_n1(source, "add", "1", "2", *more)[0] for more in ((), change))
    assert ("not compared" in usual["core_error"], "not compared" in changed["core_error"]) == (False, True)


@pytest.fixture
def at_100_megahertz(tmp_path: Path) -> Path:
    """lane128 with a clock of 100 MHz."""
    path = tmp_path / "slow.toml"
    text = (Path(core_file.__file__).parents[1] / "cores" / "lane128.toml").read_text(encoding="utf-8")
    path.write_text(re.sub("megahertz = [0-9.]+", "megahertz = 100", text), encoding="utf-8")
    return path


def test_microseconds_are_cycles_at_the_clock_of_the_core(chain: Path, at_100_megahertz: Path) -> None:
    shown = cycles(chain, "--core", at_100_megahertz)
    whole = int(figures(shown)["cycles"].replace(",", ""))
    assert figures(shown)["microseconds"] == f"{whole / 100:.3f}"
    assert "lane128: microseconds at 100 MHz, " in shown.stdout


@pytest.mark.parametrize("change", [(), ("--set", "width=2")])
def test_a_core_without_a_clock_or_with_another_pipeline_has_no_microseconds(
    change: tuple[str, ...], chain: Path, at_100_megahertz: Path
) -> None:
    shown = cycles(chain, "--core", at_100_megahertz if change else "neoverse-n1", *change)
    assert (shown.exit_code, "microseconds" in shown.stdout) == (0, False)


def test_microseconds_are_in_json_too(chain: Path, at_100_megahertz: Path) -> None:
    for core, expected in ((at_100_megahertz, True), ("neoverse-n1", False)):
        (result,) = json.loads(cycles(chain, "--core", core, "--json").stdout)["results"]
        assert result["microseconds"] == (result["cycles"] / 100 if expected else None)


def test_changes_are_in_every_result(chain: Path) -> None:
    results = on_n1(chain, "--set", "width=2", "--unroll", 2)
    assert [result["changes"] for result in results] == [["width=2"], ["width=2"]]


def test_a_kernel_is_timed_compiled_and_as_its_program(tmp_path: Path) -> None:
    results = on_n1("quantize_down", "--mode", "page", "--length", "33")
    assert [(result["timed"], result["elements"]) for result in results] == [("modes.c -O2", 33), ("program", 33)]


def test_a_kernel_file_is_timed_too() -> None:
    (result,) = on_n1(ROOT / "sim" / "command" / "example" / "my_kernel.py", "--length", "16")
    assert (result["timed"], result["elements"]) == ("my_kernel.c -O2", 16)


@pytest.mark.slow
def test_the_call_of_a_kernel_is_the_same_for_the_same_seed() -> None:
    first, again, other = (on_n1("transpose1xw", "--seed", seed)[0]["call"] for seed in (3, 3, 4))
    assert (first == again, first == other) == (True, False)


def test_a_captured_call_is_timed(source: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    CliRunner().invoke(sim.command.app.app, ["run", str(source), "add", "1", "2", "--capture", str(calls)])
    assert on_n1(calls)[0]["instructions_executed"] == on_n1(calls, "--call", "add")[0]["instructions_executed"] == 2


def test_all_real_cores_are_the_default(source: Path) -> None:
    shown = json.loads(cycles(source, "add", "1", "2", "--json").stdout)
    assert [result["core"] for result in shown["results"]] == ["cortex-a55", "cortex-a72", "neoverse-n1"]


def test_a_core_may_be_a_file(source: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    packaged = ROOT / "sim" / "timing" / "cores" / "neoverse-n1.toml"
    own.write_text(packaged.read_text().replace('name = "neoverse-n1"', 'name = "own"', 1))
    shown = json.loads(cycles(source, "add", "1", "2", "--core", own, "--json").stdout)
    assert [result["core"] for result in shown["results"]] == ["own"]


def test_instructions_that_a_core_lacks_are_listed_with_what_is_assumed(dots: Path) -> None:
    shown = cycles(dots, "dots", "1,2,3,4", ",".join("1" * 16), "--march", "armv8.2-a+dotprod").stdout
    (note,) = [line for line in shown.splitlines() if "on cortex-a72: 1 instruction" in line]
    assert ("absent" in note, "assumed: latency" in note) == (True, True)


def test_the_known_error_of_every_core_stands_beside_its_number(source: Path) -> None:
    lines = cycles(source, "add", "1", "2").stdout.splitlines()
    heading = next(line.split() for line in lines if line.startswith(" error on unseen kernels"))
    assert heading[-3:] == list(REAL_CORES)
    assert next(line for line in lines if line.startswith(" all of them")).count("%") == len(REAL_CORES)


def test_source_lines_stand_above_their_instructions(source: Path) -> None:
    lines = [line.split() for line in cycles(source, "add", "1", "2", "--core", "neoverse-n1").stdout.splitlines()]
    at = next(number for number, words in enumerate(lines) if words[:2] == ["4", "int"])  # line 4 of the source
    assert lines[at + 1][:2] == ["add", "w0,"]


def test_a_source_that_debug_information_names_is_not_read(tmp_path: Path) -> None:
    """Only the file that was given: here its own line directive names another one."""
    secret, given = tmp_path / "secret.c", tmp_path / "given.c"
    secret.write_text("\n" * 8 + "hidden words\n")
    given.write_text(f'#line 9 "{secret}"\nint f(int a) {{ return a + 1; }}\n')
    shown = cycles(given, "f", "1", "--core", "neoverse-n1")
    assert (shown.exit_code, "hidden words" in shown.stdout) == (0, False)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("cores", ["neoverse-n1", "cortex-a55,cortex-a72,neoverse-n1"])
def test_tables_fit_the_terminal_and_need_no_colours(columns: int, cores: str, source: Path) -> None:
    shown = cycles(source, "twice", "zeros:100", "zeros:100", "100", "--core", cores, columns=columns).stdout
    tables = [line for line in shown.splitlines() if line.startswith(" ")]
    assert (max(map(len, tables)) <= columns, "\x1b" in shown) == (True, False)


def test_cores_keep_their_names_on_a_narrow_terminal(source: Path) -> None:
    shown = cycles(source, "twice", "zeros:100", "zeros:100", "100", columns=80).stdout
    headings = [line for line in shown.splitlines() if line.endswith("cortex-a55   cortex-a72   neoverse-n1 ")]
    assert len(headings) == 2  # reasons, instructions


def test_instructions_without_cycles_are_left_out_of_a_long_listing() -> None:
    shown = cycles("quantize_down", "--core", "neoverse-n1", "--length", "32").stdout
    listing = shown[shown.index("instruction  ") : shown.index("instructions that cost less")]
    assert re.findall(r" \d+ +0(?: |$)", listing, re.MULTILINE) == []


def test_the_timeline_shows_every_core(chain: Path) -> None:
    shown = cycles(chain, "--timeline").stdout
    assert shown.count("of 64 instructions in") == 3  # 16 iterations of 4


def test_views_are_written_for_their_readers(chain: Path, tmp_path: Path) -> None:
    log, page = tmp_path / "chain.kanata", tmp_path / "chain.html"
    shown = cycles(chain, "--core", "neoverse-n1", "--kanata", log, "--html", page)
    assert (shown.exit_code, log.read_text().splitlines()[0], "<title>chain.s" in page.read_text()) == (
        0, "Kanata\t0004", True,
    )  # fmt: skip


@pytest.mark.slow
def test_a_roofline_is_drawn_to_the_file_that_is_named(chain: Path, tmp_path: Path) -> None:
    picture = tmp_path / "roofs.svg"
    shown = cycles("requantize", "--length", "16", "--core", "neoverse-n1", "--roofline", picture)
    assert (shown.exit_code, "<svg" in picture.read_text(), f"wrote {picture}" in shown.output) == (0, True, True)
    none = cycles(chain, "--core", "neoverse-n1", "--roofline", picture)
    assert (none.exit_code, "there is no roof on neoverse-n1" in none.output) == (2, True)


@pytest.mark.parametrize(("file", "sentence"), [
    ("roofs.pdf", "--roofline writes .png and .svg, not roofs.pdf"),
    ("nowhere/roofs.svg", "--roofline cannot write nowhere/roofs.svg: there is no such folder"),
])  # fmt: skip
def test_a_roofline_that_cannot_be_drawn_is_refused_before_anything_is_timed(
    chain: Path, file: str, sentence: str
) -> None:
    shown = cycles(chain, "--roofline", file)
    assert (shown.exit_code, " ".join(shown.output.split())) == (2, f"lanewise: {sentence}")


def test_a_page_says_what_is_assumed_of_an_absent_instruction(dots: Path, tmp_path: Path) -> None:
    page = tmp_path / "dots.html"
    values = "1,2,3,4", ",".join("1" * 16)
    shown = cycles(dots, "dots", *values, "--march", "armv8.2-a+dotprod", "--core", "cortex-a72", "--html", page)
    said = re.findall("1 instruction of the class [^<]* is absent; assumed", page.read_text())
    assert (shown.exit_code, len(said)) == (0, 1)


def test_a_page_shows_the_whole_loop_first(chain: Path, tmp_path: Path) -> None:
    page = tmp_path / "chain.html"
    (result,) = on_n1(chain, "--count", 5000, "--html", page)
    tiles = re.findall(r'<div><span class="soft">([^<]*)</span><b>([^<]*)</b></div>', page.read_text())
    assert tiles[:3] == [("iterations", "5,000"), ("cycles", f"{result['cycles']:,}"), ("cycles per iteration", "10")]


def test_a_page_shows_every_level_on_every_core(source: Path, tmp_path: Path) -> None:
    page = tmp_path / "add.html"
    cycles(source, "add", "1", "2", "--opt", "O0,O2", "--core", "cortex-a55,cortex-a72", "--html", page)
    sections = re.findall(r"<h2>add (-O\d) on ([^<]*)</h2>", page.read_text())
    assert [(level, core[-3:]) for level, core in sections] == [
        ("-O0", "A55"), ("-O0", "A72"), ("-O2", "A55"), ("-O2", "A72"),
    ]  # fmt: skip


def test_the_timeline_shows_every_level(source: Path) -> None:
    shown = cycles(source, "add", "1", "2", "--opt", "O0,O2", "--core", "neoverse-n1", "--timeline").stdout
    titles = [line for line in shown.splitlines() if line in ("add -O0", "add -O2")]
    assert titles == ["add -O0", "add -O2"]


def test_a_log_of_one_of_several_says_which(source: Path, tmp_path: Path) -> None:
    log = tmp_path / "add.kanata"
    shown = cycles(source, "add", "1", "2", "--opt", "O0,O2", "--core", "neoverse-n1", "--kanata", log)
    assert "which shows add -O0 only, open it in Konata" in shown.stderr


def test_a_perfetto_trace_is_written(chain: Path, tmp_path: Path) -> None:
    trace = tmp_path / "chain.pftrace"
    assert cycles(chain, "--core", "neoverse-n1", "--perfetto", trace).exit_code == 0
    assert b"sqrdmulh" in trace.read_bytes()


def test_a_trace_that_cannot_be_made_is_a_lack_of_the_environment(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> bytes:
        raise PerfettoMissing("a trace needs a package")

    monkeypatch.setattr(sim.command.running.cycles, "render_perfetto", missing)
    result = cycles(chain, "--core", "neoverse-n1", "--perfetto", tmp_path / "trace")
    assert (result.exit_code, "a trace needs a package" in result.stderr, (tmp_path / "trace").exists()) == (
        3, True, False,
    )  # fmt: skip


def test_a_clock_without_end_is_refused(chain: Path) -> None:
    result = cycles(chain, "--core", "neoverse-n1", "--megahertz", "inf")
    assert (result.exit_code, "--megahertz" in result.stderr) == (2, True)


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(chain: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html" / "inside").mkdir(parents=True)
    result = cycles(chain, "--html", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"--html cannot write {tmp_path / 'page.html'}: it is a folder" in result.stderr.replace("\n", "")


def test_llvm_mca_is_asked_about_the_same_instructions(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = install(tmp_path, "mca", "14.0.6")
    monkeypatch.setenv("LLVM_MCA", str(tool))
    (result,) = on_n1(source, "add", "1", "2", "--compare", "llvm-mca")
    given = (tmp_path / "mca.input").read_text()
    assert (given, result["llvm-mca"]["cycles"]) == ("add w0, w0, w1\nret\n", 107)


def test_llvm_mca_is_asked_for_an_iteration_of_a_loop(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path, "mca", "14.0.6")))
    shown = figures(cycles(chain, "--core", "neoverse-n1", "--compare", "llvm-mca"))
    assert (shown["llvm-mca"], shown["llvm-mca per iteration"]) == ("7,100", "7")


def test_whose_model_llvm_mca_takes_is_said(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path, "mca", "14.0.6")))
    shown = cycles(source, "add", "1", "2", "--core", "cortex-a72,neoverse-n1", "--compare", "llvm-mca").stdout
    assert "llvm-mca 14.0.6: cortex-a72 by the model of N1, neoverse-n1 by its own model" in shown


def test_a_core_that_llvm_mca_does_not_know_is_said_and_no_failure(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = "echo 'it is not a recognized processor' >&2"
    monkeypatch.setenv("LLVM_MCA", str(install(tmp_path, "mca", "14.0.6", action)))
    shown = cycles(source, "add", "1", "2", "--core", "neoverse-n1", "--compare", "llvm-mca")
    assert (shown.exit_code, "llvm-mca 14.0.6 does not know the core neoverse-n1" in shown.stdout) == (0, True)


def test_without_llvm_mca_a_comparison_is_impossible(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLVM_MCA", "none")
    result = cycles(source, "add", "1", "2", "--compare", "llvm-mca")
    assert (result.exit_code, "is no llvm-mca that runs" in result.stderr) == (3, True)


def test_about_names_sources_gaps_and_validation() -> None:
    shown = cycles("--about", "cortex-a72").stdout
    assert all(heading in shown for heading in ("cortex-a72: ", "validation", "not modelled", "source", "absent"))


def test_about_as_json_has_the_source_of_every_class() -> None:
    shown = json.loads(cycles("--about", "cortex-a72", "--json").stdout)
    assert {bool(one["source"]) for one in shown["classes"].values()} == {True}


def test_an_interrupt_ends_it_with_its_own_code(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sim.command.running.cycles, "find_timed", interrupted)
    result = cycles(source, "add", "1", "2")
    assert (result.exit_code, "interrupted" in result.stderr) == (130, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "name a kernel or a file to time"),
        (("nothing",), 2, "there is no kernel 'nothing'"),
        (("quantize_down", "f"), 2, "quantize_down is a kernel and takes no function or argument such as 'f'"),
        (("quantize_down", "--mode", "x"), 2, "has no mode 'x'"),
        (("quantize_down", "--compare", "llvm-mca", "--brief"), 2, "--brief leaves out what --compare shows"),
        (("offset_contribution", "--length", "5"), 2, "leave --length out"),
        (("quantize_down", "--count", "5"), 2, "--count is for a loop in an assembly file"),
        (("quantize_down", "--call", "x"), 2, "--call is for a file of captured calls"),
        (("SOURCE",), 2, "name the function of"),
        (("SOURCE", "ad"), 2, "defines no symbol 'ad'"),
        (("SOURCE", "add", "1"), 2, "takes 2 arguments (a, b), not 1"),
        (("SOURCE", "add", "1", "x"), 2, "is no value of the argument 'b'"),
        (("SOURCE", "int add(int a", "1"), 2, "expected ',' or ')'"),
        (("SOURCE", "add", "1", "2", "--opt", "O9"), 2, "--opt takes one of"),
        (("SOURCE", "add", "1", "2", "--mode", "x"), 2, "--mode is for a kernel"),
        (("SOURCE", "add", "1", "2", "--core", "x"), 2, "there is no core 'x'"),
        (("SOURCE", "add", "1", "2", "--core", ","), 2, "name a core"),
        (("SOURCE", "add", "1", "2", "--latency", "x"), 2, "--latency takes NAME=VALUE, not 'x'"),
        (("SOURCE", "add", "1", "2", "--latency", "smulh=1"), 2, "there are scalar smulh"),
        (("CHAIN", "--latency", "sqrdmulh=1"), 2, "ASIMD rounding saturating doubling multiply high by element 4S, "),
        (
            ("CHAIN", "--latency", "ASIMD rounding saturating doubling multiply high 4S=9"),
            2,
            "9': no instruction that is timed is of that class; they are of 'ASIMD rounding saturating doubling "
            "multiply high 8H', 'branch conditional', 'scalar subs/cmp flag set'",
        ),
        (
            ("CHAIN", "--pipe", "scalar smulh=MAC", "--core", "cortex-a55"),
            2,
            "--pipe 'scalar smulh=MAC': no instruction that is timed is of that class",
        ),
        (("SOURCE", "add", "1", "2", "--set", "width=0"), 2, "--set 'width=0' on cortex-a55"),
        (("SOURCE", "add", "1", "2", "--pipe", "scalar smulh=X9"), 2, "there is no pipe 'X9'"),
        (("SOURCE", "load", "1", "--caches", "--core", "cortex-a72"), 2, "L2: give it with --l2-latency"),
        (("SOURCE", "add", "1", "2", "--l2-latency", "9", "--core", "cortex-a55"), 2, "cortex-a55 has no L2"),
        (("SOURCE", "add", "1", "2", "--compare", "x"), 2, "--compare takes llvm-mca, not 'x'"),
        (("SOURCE", "add", "1", "2", "--kanata", "k"), 2, "draw one core"),
        (("SOURCE", "add", "1", "2", "--html", "no/such/k"), 2, "there is no such folder"),
        (("DOTS", "dots", "1,2,3,4", "zeros:16"), 2, "add the flag -march=armv8.2-a+dotprod"),
        (
            ("SOURCE", "forever", "--limit", "1000"),
            1,
            "within 1,000 instructions, and it goes round functions.c:7; --limit",
        ),
        (("SOURCE", "undefined"), 1, "the call stops"),
        (("none.c", "f"), 2, "cannot read none.c"),
        (("none.s",), 2, "none.s"),
        (("none.jsonl",), 2, "cannot read none.jsonl"),
        (("SOURCE", "add", "1", "2", "--core", "none.toml"), 2, "none.toml does not exist"),
        (("SOURCE", "add", "1", "2", "--core", "FOLDER"), 2, "is a folder"),
        (("--about", "none.toml"), 2, "none.toml does not exist"),
        (("CHAIN", "--timelin"), 2, "No such option: --timelin (did you mean --timeline?)"),
        (("SOURCE", "add", "1", "--no-such=2"), 2, "No such option: --no-such"),
        (("none.py",), 2, "there is no kernel file none.py"),
        (("CHAIN", "--loop", ".Lx"), 2, "chain.s defines no symbol '.Lx'"),
        (("CHAIN", "--cold"), 2, "are for calls"),
        (("CHAIN", "--interleave", "64"), 2, "more vector registers"),
        (("--about", "x"), 2, "there is no core 'x'"),
    ],
)
def test_what_cannot_be_timed_is_one_sentence(
    arguments: tuple[str, ...], code: int, message: str, source: Path, dots: Path, chain: Path
) -> None:
    files = {"SOURCE": source, "DOTS": dots, "CHAIN": chain, "FOLDER": source.parent}
    result = cycles(*(files.get(argument, argument) for argument in arguments))
    assert (result.exit_code, message in result.stderr, result.stdout) == (code, True, "")


@pytest.mark.slow
def test_a_file_of_several_calls_needs_the_name_of_one(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    CliRunner().invoke(sim.command.app.app, ["capture", "transpose1xw", str(calls), "--vectors", "0"])
    shown = [cycles(calls), cycles(calls, "--call", "none")]
    assert [result.exit_code for result in shown] == [2, 2]
    assert ("name one with --call" in shown[0].stderr, "has no call 'none'" in shown[1].stderr) == (True, True)


def test_cores_given_one_by_one_add_up(tmp_path: Path) -> None:
    chain = tmp_path / "chain.s"
    chain.write_text(CHAIN)
    apart = cycles(chain, "--core", "cortex-a55", "--core", "neoverse-n1", "--json").stdout
    assert [one["core"] for one in json.loads(apart)["results"]] == ["cortex-a55", "neoverse-n1"]
    assert apart == cycles(chain, "--core", "cortex-a55,neoverse-n1", "--json").stdout


def test_an_object_without_debug_information_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text("int add(int a, int b) { return a + b; }")
    (tmp_path / "add.o").write_bytes(compiled(tmp_path / "add.c", "-g0"))
    shown = cycles(tmp_path / "add.o", "add", "1", "2")
    assert shown.exit_code == 2
    said = " ".join(shown.output.split())
    assert "compile with -g, or give the prototype in place of the name, such as 'int add(" in said
