"""`lanewise debug`: a session by words, and the way into it from a check or a replay that fails."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isa.errors import LanewiseError
from sim.check.check import Job
from sim.command.app import app
from sim.cycles import CoreError, load_core, schedule
from sim.cycles.input import function_call
from sim.debug.calls import debug_function, debug_kernel
from sim.debug.commands import HELP, SessionCommands
from sim.debug.request import DebugRequest, find_call
from sim.debug.session import Session
from sim.debug.spots import SpotError
from sim.debug.trace.selection import Selection
from sim.debug.trace.text import json_trace, text_trace
from sim.kernels import parse_prototype
from sim.kernels.kernel import Kernel
from sim.kernels.kernel_file import load_kernel
from sim.replay.report import ReplayReport
from sim.replay.run import Replayed
from sim.toolchain.compilers import clang_command
from support.command import lanewise
from support.sampled import shown_too_by

pytestmark = pytest.mark.usefixtures("nothing_aimed")
SOURCE = """#include <stddef.h>
#include <stdint.h>
void scaled(const int16_t *a, int16_t *out, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        int32_t product = a[i] * 77;
        int32_t rounded = product >> 6;
        out[i] = rounded > 32767 ? 32767 : rounded < -32768 ? -32768 : rounded;
    }
}
"""
KERNEL = """from pathlib import Path
import numpy as np
from sim.kernels import Kernel, parse_prototype

def steps(inputs):
    product = inputs["a"].astype(np.int64) * 77
    rounded = (product + 32) >> 6
    return {"a": inputs["a"].astype(np.int64), "product": product, "rounded": rounded,
            "clamped": np.clip(rounded, -32768, 32767)}

name, signature = parse_prototype("void scaled(const int16_t a[n], int16_t out[n], size_t n)")
KERNEL = Kernel(name=name, symbol=name, sources=(Path("scaled.c"),), signature=signature, steps=steps,
                golden=lambda inputs: {"out": steps(inputs)["clamped"].astype(np.int16)})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scaled.c").write_text(SOURCE)
    (tmp_path / "wrong.py").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def commands(folder: Path) -> SessionCommands:
    return SessionCommands(Session(debug_function(folder / "scaled.c", "scaled", ["1,-2,3", "zeros:3", "3"], ("-O1",))))


@pytest.mark.slow
@shown_too_by("test_pytest_plugin.py::test_the_failure_names_the_command_that_opens_it_at_the_fault")
def test_a_failing_check_prints_the_command_that_opens_it_at_the_fault(folder: Path) -> None:
    check = lanewise("check", "wrong.py", "--opt", "O2", "--vectors", "100", "--json")
    assert check.exit_code == 1
    command = json.loads(check.stdout)["debug"]
    faults = "--fault scaled.c:7 --fault scaled.c:6"  # the product may be what has to be rounded
    assert command == f"lanewise debug wrong.py --failing --opt O2 --seed 1 --vectors 100 {faults}"
    shown = lanewise("check", "wrong.py", "--opt", "O2", "--vectors", "100")
    assert f"debug: {command}" in shown.stdout.splitlines()
    (folder / "script").write_text("# nothing more\n")
    opened = lanewise(*shlex.split(command)[1:], "--script", "script")
    assert opened.exit_code == 0, opened.output
    parting = next(line for line in opened.stdout.splitlines() if "parts from the golden reference here" in line)
    assert "scaled.c:7" in parting
    assert "truncated" in parting
    before, golden, following = opened.stdout.splitlines()[-3:]
    assert before.startswith("before ")
    assert " scaled.c:7 " in before
    assert re.fullmatch(r"golden  rounded: \S+ is -?\d+, golden -?\d+, parts here", golden)
    assert following.startswith("next ")


@pytest.mark.slow
def test_a_fault_in_code_without_lines_is_handed_over_by_its_place(folder: Path) -> None:
    compiled = "scaled.o"
    subprocess.run([*clang_command(), "-O1", "-c", "scaled.c", "-o", compiled], check=True)
    words = ("wrong.py", "--object", compiled, "--vectors", "100")
    command = json.loads(lanewise("check", *words, "--json").stdout)["debug"]
    place = shlex.split(command)[shlex.split(command).index("--fault") + 1]
    assert re.fullmatch(r"scaled\+0x[0-9a-f]+", place)
    (folder / "script").write_text("# nothing more\n")
    opened = lanewise(*shlex.split(command)[1:], "--script", "script")
    assert opened.exit_code == 0, opened.output
    assert f"fault at {place}" in opened.stdout
    assert any(line.startswith("before ") and f" {place} " in line for line in opened.stdout.splitlines())


def test_what_was_inlined_is_told_with_its_function_and_the_line_of_the_call(tmp_path: Path) -> None:
    helper = "static inline __attribute__((always_inline)) int rounded(int x) {\n    return x * 77;\n}\n"
    (tmp_path / "f.c").write_text(f"{helper}void f(const int *x, int *y) {{\n    *y = rounded(*x);\n}}\n")
    session = Session(debug_function(tmp_path / "f.c", "f", ["5", "zeros:1"], ("-O1",)))
    calls = "of rounded, inlined at f.c:5"
    (step,) = [line for line in text_trace(session, Selection(0, None)) if " mul " in line]
    assert step.endswith(f"({calls})")
    (record,) = [one for one in map(json.loads, json_trace(session, Selection(0, None))) if "mul" in one["instruction"]]
    assert (record["source"], record["inlined"]) == ("f.c:2", calls)
    session.goto_end()
    assert [(way.source, way.inlined) for way in session.why("y[0]").steps if "mul" in way.instruction] == [
        ("f.c:2", calls)
    ]
    number = session.find("f.c:5", 0)
    session.goto(0)
    commands = SessionCommands(session)
    assert number == 0  # the load; then the product, which is on that line too, and by the name of the function
    assert commands.answer("run rounded").splitlines()[-1].endswith(f"({calls})")
    assert session.find("f.c:5", 1) == session.position


NINE = ", ".join(f"int a{number}" for number in range(8))


def test_an_argument_on_the_stack_has_its_name_as_one_in_a_register_has_its_register(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(f"int f({NINE}, short low, int *y) {{ *y = low * a1; return a0; }}\n")
    numbers = [str(number) for number in range(10, 18)]
    session = Session(debug_function(tmp_path / "f.c", "f", [*numbers, "-3", "zeros:1"], ("-O1",)))
    commands = SessionCommands(session)
    session.goto_end()
    assert session.why("y[0]").inputs == ("low", "x1 at the call")
    assert session.why("low").inputs == ("low",)
    assert commands.answer("lanes low") == "-3"
    assert commands.answer("lanes y[0]") == "-33"
    with pytest.raises(SpotError, match="the argument 'a1' comes in x1, which may hold another value here: name that"):
        session.spot("a1")


def test_of_a_lane_never_written_a_session_stands_at_the_line_that_is_handed_over(tmp_path: Path) -> None:
    file = tmp_path / "first.c"
    file.write_text('void first(const int *a, int *b) {\n    b[0] = a[0];\n    b[1] = a[1];\n    __asm__("nop");\n}\n')
    name, signature = parse_prototype("void first(const int32_t a[3], int32_t b[3])")
    kernel = Kernel(name=name, symbol=name, sources=(file,), signature=signature, golden=lambda i: {"b": i["a"]})
    call = debug_kernel(kernel, Job(file, ("-O0",)), {"a": np.array([1, 2, 3], np.int32)})
    session = Session(replace(call, faults=("first.c:3",)))
    trouble = session.goto_trouble()
    assert "never written" in str(trouble)
    session.back()
    step = session.timeline.step()
    assert step is not None
    assert session.source_of(step.pc) == "first.c:3"


@pytest.mark.slow
def test_without_golden_steps_only_a_line_that_the_check_has_found_is_said_to_part(folder: Path) -> None:
    (folder / "wrong.py").write_text(KERNEL.replace(" steps=steps,", ""))
    (folder / "script").write_text("# nothing more\n")
    words = ("wrong.py", "--failing", "--vectors", "100", "--script", "script")
    guessed = lanewise("debug", *words).stdout
    assert "no golden step tells where it parts; computed last by " in guessed
    assert "; Kernel(steps=...) of the kernel file would: a function that returns each step by" in guessed
    assert ("parts from the golden reference here" in guessed, "parts here" in guessed) == (False, False)
    assert "has blamed" not in guessed
    known = lanewise("debug", *words, "--fault", "scaled.c:7").stdout
    (parting,) = (line for line in known.splitlines() if "parts from the golden reference here" in line)
    assert " scaled.c:7 " in parting


def test_each_step_on_the_way_of_a_wrong_lane_is_told_with_the_golden_one(folder: Path) -> None:
    kernel = load_kernel(folder / "wrong.py")
    inputs = {"a": np.array([3], np.int16), "n": 1}
    commands = SessionCommands(Session(debug_kernel(kernel, Job(folder / "scaled.c", ("-O1",)), inputs)))
    commands.opening()
    commands.answer("goto 0")
    told = [line for _ in range(40) for line in commands.answer("step").splitlines() if line.startswith("golden")]
    assert [re.sub(r" \S+ is ", " ", line) for line in dict.fromkeys(told)] == [
        "golden  product: 231", "golden  rounded: 3, golden 4, parts here", "golden  clamped: 3, golden 4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("why *0xffffffffffffffff:8", "past the last address of 64 bits"),
        ("why *0x10", "0x10 is not mapped"),
        ("slice *0x10", "0x10 is not mapped"),
        ("find 0xfffffffffffffffffffffff", "is no address, FILE:LINE, function"),
        ("find", "is no address, FILE:LINE, function"),
        ("run #-1", "is no address, FILE:LINE, function"),
        (f"run #{'9' * 5000}", "is no address, FILE:LINE, function"),
        (f"lanes *{'9' * 5000}", "99... has more than 1000 characters, so that it points at nothing"),
        (f"lanes v0 q{'9' * 5000}", "is no type of lanes"),
        (f"why v0.s[{'1' * 5000}]", "v0.s[11"),
    ],
)
def test_what_is_nowhere_is_refused_in_a_sentence(commands: SessionCommands, command: str, says: str) -> None:
    with pytest.raises(LanewiseError, match=re.escape(says)):
        commands.answer(command)


def test_the_help_of_the_prompt_says_how_to_leave_and_that_of_gdb_does_not(
    folder: Path, commands: SessionCommands
) -> None:
    (folder / "script").write_text("help\nquit\nhelp\n")
    shown = lanewise("debug", "scaled.c", "scaled", "1,-2,3", "zeros:3", "3", "--script", "script").stdout
    assert shown.rstrip().endswith("quit                 leave; also exit and q")
    assert shown.count("all of this") == 1
    assert "leave" not in commands.answer("help")


@pytest.mark.parametrize(("number", "wraps"), [(1, False), (0, False), (-5, False), (-(1 << 31), True)])
def test_minus_a_number_wraps_where_it_is_the_lowest_only(tmp_path: Path, number: int, wraps: bool) -> None:
    file = tmp_path / "minus.c"
    text = "#include <arm_neon.h>\nvoid minus(int32_t *a) { vst1q_s32(a, vnegq_s32(vld1q_s32(a))); }\n"
    file.write_text(text)
    session = Session(debug_function(file, "minus", [f"{number},7,7,7"], ("-O1",)))
    session.goto_end()
    (step,) = [line for line in SessionCommands(session).answer("why a[0]").splitlines() if " neg " in line]
    assert ("wrapped" in step) is wraps
    session.goto(0)
    assert (session.find("wraps") is not None, session.find("wraps v0.s[0]") is not None) == (wraps, wraps)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (1, 2, ""), (-1, -1, "wrapped as unsigned"), (5, -3, "wrapped as unsigned"), (-(1 << 31), -1, "wrapped"),
        ((1 << 31) - 1, 1, "wrapped as signed"), (-(1 << 31), 0, ""),
    ],
)  # fmt: skip
def test_a_sum_wraps_as_the_numbers_that_it_is_too_large_for(tmp_path: Path, a: int, b: int, told: str) -> None:
    file = tmp_path / "sum.c"
    call = "vst1q_s32(a, vaddq_s32(vld1q_s32(a), vld1q_s32(b)))"
    file.write_text(f"#include <arm_neon.h>\nvoid sum(int32_t *a, const int32_t *b) {{ {call}; }}\n")
    session = Session(debug_function(file, "sum", [f"{a},7,7,7", f"{b},7,7,7"], ("-O1",)))
    session.goto_end()
    (step,) = [step for step in session.why("a[0]").steps if step.instruction.startswith("add v")]
    assert ", ".join(step.events) == told
    session.goto(0)
    assert (session.find("wraps v0.s[0]") is not None) is bool(told)


def test_combined_bits_do_not_wrap(tmp_path: Path) -> None:
    combined = (
        "mvn v2.16b, v0.16b",
        "bic v2.16b, v2.16b, v1.16b",
        "bsl v2.16b, v0.16b, v1.16b",
        "eor v2.16b, v2.16b, v0.16b",
    )
    file = tmp_path / "bits.s"
    file.write_text(
        "\n".join(("bits: ldr q0, [x0]", "ldr q1, [x1]", *combined, "str q2, [x0]", "ret", ".globl bits", ""))
    )
    call = debug_function(file, "void bits(inout int32_t a[4], const int32_t b[4])", ["-1,5,-7,9", "3,-4,5,-6"], ())
    session = Session(call)
    session.goto_end()
    steps = [step for lane in range(4) for step in session.why(f"a[{lane}]").steps]
    assert {step.instruction.split()[0] for step in steps} >= {"mvn", "bic", "bsl", "eor"}
    assert {event for step in steps for event in step.events} == set()
    session.goto(0)
    assert session.find("wraps") is None


def test_an_element_is_named_as_in_c_and_found_by_indices_or_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "rows.c"
    file.write_text("void rows(short (*a)[3]) { a[1][2] = a[0][1] + 1; }\n")
    call = debug_function(file, "void rows(inout int16_t a[2][3])", ["[[1, 2, 3], [4, 5, 6]]"], ("-O1",))
    session = Session(call)
    session.goto_end()
    commands = SessionCommands(session)
    spots = "a[1][2]", "a[1, 2]", "a[5]", "a[ 1,2 ]", "a[01][2]"
    assert [commands.answer(f"lanes {spot}") for spot in spots] == ["3"] * len(spots)
    told = commands.answer("why a[1][2]")
    assert told.splitlines()[0] == "a[1][2] comes from a[0][1]"
    assert "a[1][2] = 3" in told
    for outside in ("a[2][0]", "a[0][3]", "a[1][1][1]", "a[6]"):
        with pytest.raises(SpotError, match=re.escape(f"{outside} is outside of a[2][3]")):
            commands.answer(f"lanes {outside}")


def test_lanes_without_a_type_are_as_wide_as_their_name_says(tmp_path: Path) -> None:
    file = tmp_path / "half.c"
    file.write_text("float half(float x) { return x / 2; }\nunsigned low(unsigned x) { return x - 2; }\n")
    session = Session(debug_function(file, "float half(float x)", ["-2.5"], ("-O1",)))
    session.goto_end()
    bits = int(np.float32(-1.25).view(np.int32))
    told = [SessionCommands(session).answer(f"lanes {spot}") for spot in ("result", "s0", "v0.s[0]", "d0")]
    assert told == ["-1.25", str(bits), str(bits), str(session.lanes("v0.d[0]", "s64")[0])]
    unsigned = Session(debug_function(file, "uint32_t low(uint32_t x)", ["1"], ("-O1",)))
    unsigned.goto_end()
    assert SessionCommands(unsigned).answer("lanes result") == str((1 << 32) - 1)


@pytest.mark.slow
def test_a_check_that_passes_has_nothing_to_debug() -> None:
    result = lanewise("check", "quantized_multiplier", "--opt", "O2", "--vectors", "20", "--json")
    assert json.loads(result.stdout)["debug"] == ""


@pytest.mark.parametrize(
    ("what", "fault", "says"),
    [
        (
            "quantized_multiplier",
            "kernel.c",
            "--fault takes FILE:LINE, such as kernel.c:41, or kernel+0x1c of code without lines, not 'kernel.c'",
        ),
        ("scaled.c", "scaled.c:7", "--fault is for a kernel with a golden reference, and scaled.c is none"),
    ],
)
def test_a_line_at_fault_is_refused_where_it_is_none(what: str, fault: str, says: str) -> None:
    result = lanewise("debug", what, "--fault", fault)
    assert (result.exit_code, says in result.stderr) == (2, True)


@pytest.mark.slow
def test_failing_is_refused_where_nothing_fails() -> None:
    result = lanewise("debug", "quantized_multiplier", "--failing", "--vectors", "20")
    assert result.exit_code == 2
    assert "no call of it fails" in result.stderr.replace("\n", " ")


def test_a_replay_says_how_to_open_its_first_failing_call() -> None:
    results = [
        Replayed(line=1, name="a", kind="passed"), Replayed(line=2, name="", kind="unreadable"),
        Replayed(line=3, name="b c", kind="output mismatch"),
    ]  # fmt: skip
    report = ReplayReport(file="calls.jsonl", engine="lockstep", limit=10, results=results)
    assert report.debug == "lanewise debug calls.jsonl --call 'b c'"
    assert replace(report, results=results[:2]).debug == ""
    again = [Replayed(line=1, name="b c", kind="passed"), *results[1:]]
    assert replace(report, results=again).debug == "lanewise debug calls.jsonl --call 'line 3'"
    passed = replace(report, results=results[:1], wrong=("a", "*0x1000:4"))
    assert passed.debug == "lanewise debug calls.jsonl --call a --wrong '*0x1000:4'"


def test_a_script_is_a_session(folder: Path) -> None:
    (folder / "script").write_text("goto 3\nstep\n\nback 2\nend\nlanes out[1] s16\nquit\nnever\n")
    result = lanewise("debug", "scaled.c", "scaled", "1,-2,3", "zeros:3", "3", "--script", "script")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "scaled, scaled.c -O2"
    nexts = [int(line.split()[1]) for line in lines if line.startswith("next ")]
    assert nexts == [0, 3, 4, 2]
    assert lines[-1] == "-3"
    assert "never" not in result.stdout


def test_without_a_terminal_commands_are_read_from_stdin(folder: Path) -> None:
    words = ["debug", "scaled.c", "scaled", "1,-2,3", "zeros:3", "3"]
    result = CliRunner().invoke(app, words, input="end\nlanes out[2] s16\n")
    assert result.stdout.splitlines()[-1] == "3"


@pytest.mark.parametrize(
    "line",
    [
        "jump 3",
        "lanes v99 s16",
        "goto x",
        "run nowhere",
        "why",
        "lanes v0 s5",
        "goto -1",
        "step -3",
        "where 5",
        "end 2",
    ],
)
def test_a_script_ends_at_a_line_that_is_none(line: str, folder: Path) -> None:
    (folder / "script").write_text(f"step\n{line}\n")
    result = lanewise("debug", "scaled.c", "scaled", "1,-2,3", "zeros:3", "3", "--script", "script")
    assert (result.exit_code, result.stderr.startswith("lanewise: line 2: ")) == (2, True)


def test_a_script_that_is_not_there(folder: Path) -> None:
    result = lanewise("debug", "scaled.c", "scaled", "1,-2,3", "zeros:3", "3", "--script", "none")
    assert (result.exit_code, "cannot read none" in result.stderr) == (3, True)


def test_every_command_has_help_and_no_other(commands: SessionCommands) -> None:
    assert list(HELP) == list(commands._commands)
    assert all(each.usage.split()[0] == name for name, each in HELP.items())
    assert [line.split()[0] for line in commands.answer("help").splitlines()] == list(HELP)


def test_words_do_what_the_session_does(commands: SessionCommands) -> None:
    session = commands.session
    assert commands.answer("run writes out[1]").startswith("before")
    at = session.position
    assert commands.answer("lanes out[1] s16") == "-3"
    assert commands.answer("position") == f"instruction {at}"
    assert "comes from a[1]" in commands.answer("why out[1]").splitlines()[0]
    assert commands.answer("find writes out[2]") == f"instruction {session.find('writes out[2]')}"
    assert commands.answer("reverse writes out[1]").startswith("none before")
    assert commands.answer("slice a[2]").startswith("a[2] reaches out[2]")
    assert [commands.answer(f"lanes {spot}") for spot in ("a[1]", "x2", "w2")] == ["-2", "3", "3"]
    assert commands.answer("end").splitlines()[-1].endswith("the call has returned")
    assert commands.answer("array out") == "[ 1 -3  3]"
    assert commands.answer("lanes out[1]") == "-3"
    assert commands.answer("lanes v3.4h") == commands.answer("lanes v3.4h s16")
    assert commands.answer("trouble") == "nothing is wrong with this call"
    assert commands.answer("golden out[1]") == "nothing is known of out[1]"
    assert commands.answer("back 3").startswith("before")
    assert len(commands.answer("list").splitlines()) == 8
    while not commands.session.last or not commands.session.last.writes:
        commands.answer("back")
    text, *numbers = commands.answer("emulator").splitlines()
    assert numbers
    assert text in commands.answer("list")
    assert [line for line in numbers if not re.fullmatch(r"\S+ machine (\w+), emulator \1", line)] == []
    with pytest.raises(CoreError, match="cortex"):
        commands.answer("cycles cortex-x99")
    with pytest.raises(SpotError, match="no command"):
        commands.answer("dance")


def test_cycles_are_those_of_the_schedule_of_the_whole_call(folder: Path, commands: SessionCommands) -> None:
    call = function_call(folder / "scaled.c", "scaled", ["1,-2,3", "zeros:3", "3"], "-O1", (), 1000)
    timed = schedule(call.stream, load_core("neoverse-n1"))
    commands.answer("goto 9")
    title, *lines = commands.answer("cycles neoverse-n1").splitlines()
    assert title.startswith("Arm Neoverse N1")
    told = [line.removeprefix("next").split()[:2] for line in lines]
    assert told == [[str(number), str(timed.issued[number])] for number in range(4, 14)]
    assert any("from #" in line for line in lines)
    assert commands.answer("cycles") == "\n".join([title, *lines])


@pytest.mark.slow
def test_cycles_of_a_long_call_are_counted_from_near(folder: Path) -> None:
    arguments = ["zeros:2000", "zeros:2000", "2000"]
    commands = SessionCommands(Session(debug_function(folder / "scaled.c", "scaled", arguments, ("-O1",))))
    commands.answer("goto 8191")
    assert commands.answer("cycles cortex-a55").splitlines()[-1].split()[0] == "8195"
    commands.answer("goto 8192")
    lines = commands.answer("cycles cortex-a55").splitlines()
    assert lines[-1] == "cycles are counted from instruction 4096"
    assert commands.answer("position") == "instruction 8192"
    numbers = [int(line.removeprefix("next").split()[0]) for line in lines[1:-1]]
    assert numbers == list(range(8187, 8197))
    causes = [int(cause) for line in lines for cause in re.findall(r"#(\d+)", line)]
    assert 8186 in causes


def test_a_call_that_nobody_names_is_none_that_valid_refuses(tmp_path: Path) -> None:
    """Of a kernel whose input sets are its own, four in five of which it refuses."""
    (tmp_path / "scaled.c").write_text(SOURCE)
    own = """arguments=lambda inputs: {"a": inputs["row"], "n": len(inputs["row"])},
                sample=lambda rng: {"row": rng.integers(-9, 9, rng.integers(1, 60)).astype(np.int16)},
                corners=lambda: iter(()), valid=lambda inputs: len(inputs["row"]) < 12,
                golden=lambda inputs: {"out": inputs["row"]})
"""
    head, _, _ = KERNEL.partition("steps=steps,")
    (tmp_path / "own.py").write_text(head + own)
    call = find_call(DebugRequest(what=str(tmp_path / "own.py")))
    assert 0 < len(call.inputs["row"]) < 12
