"""`lanewise prove KERNEL --find`: what is found is met when it is run, and where nothing is, that is proved or said."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.call.single import read_arguments, written_arguments
from sim.check.aim.find import AtLine, FindError, InputSearch, Unlike, wanted_of
from sim.kernels import Kernel, parse_prototype
from sim.prove.claim import Finding
from sim.symbolic.equality import Answer, Equality
from sim.symbolic.kernel_proof import Shape
from support.command import lanewise

PROTOTYPE = "void f(const int32_t a[n], int32_t out[n], size_t n)"
SOURCE = """#include <stddef.h>
#include <stdint.h>
void f(const int32_t *a, int32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t x = a[i];
        if (x == 4000 && n > 3)
            x = 7;
        out[i] = (int32_t)(((int64_t)x + 8) >> 4);
    }
}
"""
BRANCH, SHIFT = "branch at f.c:7", "tie at f.c:9"
KERNEL = """
import numpy as np
from pathlib import Path
from sim.kernels import Domain, Kernel, parse_prototype

_, SIGNATURE = parse_prototype("{prototype}")


def sixteenths(inputs):
    return {{"out": (inputs["a"].astype(np.int64) + 8 >> 4).astype(np.int32)}}


def but_for_one(inputs):
    out = sixteenths(inputs)["out"]
    return {{"out": np.where(inputs["a"] == {number}, out + 1, out).astype(np.int32)}}


def in_two_steps(inputs):
    halves = inputs["a"].astype(np.int64) + 8 >> 2
    return {{"out": (halves >> 2).astype(np.int32)}}


KERNEL = Kernel(name="f", symbol="f", sources=(Path(__file__).parent / "f.c",), signature=SIGNATURE,
                golden=sixteenths, domain={{"a": Domain(-100000, 100000)}},
                conventions={{"but_for_one": but_for_one, "in_two_steps": in_two_steps}})
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SOURCE)
    Path("kernel.py").write_text(KERNEL.format(prototype=PROTOTYPE, number=70_001))


def found(*arguments: str, code: int) -> list[dict[str, Any]]:
    result = lanewise("prove", *arguments, "--jobs", 1, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def of_function(*arguments: str, code: int) -> list[dict[str, Any]]:
    return found(PROTOTYPE, "--source", "f.c", *arguments, code=code)


def called_again(one: dict[str, Any]) -> dict[str, list[int]]:
    """The outputs of the call that an answer has a command for."""
    program, *words = shlex.split(one["again"])
    assert program == "lanewise"
    result = lanewise(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["outputs"]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_both_ways_of_a_branch_are_found_and_each_is_run_again_by_one_command() -> None:
    answers = of_function("--find", BRANCH, "--opt", "O0", "--lengths", "2,4", code=0)
    assert [one["verdict"] for one in answers] == ["found"] * 4
    on_data = [one["inputs"]["a"] for one in answers if "b.ne" in one["what"] and one["what"].startswith("not")]
    assert [4000 in numbers for numbers in on_data] == [True]
    for one in answers:
        numbers = [7 if x == 4000 and one["inputs"]["n"] > 3 else x for x in one["inputs"]["a"]]
        assert called_again(one)["out"] == [number + 8 >> 4 for number in numbers]


@pytest.mark.slow
def test_that_a_way_is_gone_by_no_input_is_proved_and_only_of_the_lengths_that_are_named() -> None:
    (never,) = of_function("--find", "not taken at f.c:7 b.ls", "--opt", "O0", "--lengths", "1..3", code=1)
    assert never["verdict"] == "none can"
    assert never["proved"] == "no input of the lengths 1, 2, 3 brings it about"
    (goes,) = of_function("--find", "not taken at f.c:7 b.ls", "--opt", "O0", "--lengths", "1..4", code=0)
    assert (goes["inputs"]["n"], 4000 in goes["inputs"]["a"]) == (4, True)


@pytest.mark.slow
def test_a_class_that_no_number_of_the_domain_meets_is_met_by_none_of_any_length() -> None:
    answers = found("kernel.py", "--find", "true at f.c:7 cmeq", "--lengths", "1,9", code=0)
    assert all(4000 in one["inputs"]["a"] for one in answers)
    Path("kernel.py").write_text(Path("kernel.py").read_text().replace("-100000, 100000", "0, 3999"))
    answers = found("kernel.py", "--find", "true at f.c:7 cmeq", "--lengths", "1,9", code=1)
    assert {one["verdict"] for one in answers} == {"none can"}


@pytest.mark.slow
def test_it_is_said_whether_the_build_is_right_on_what_was_found() -> None:
    answers = found("kernel.py", "--find", f"{BRANCH} b.ne", "--opt", "O0", "--lengths", "4", code=0)
    wrong = [4000 in one["inputs"]["a"] for one in answers]
    assert [one["agrees"] for one in answers] == [not each for each in wrong]
    assert True in wrong
    result = lanewise("prove", "kernel.py", "--find", BRANCH, "--opt", "O0", "--lengths", "4", columns=200)
    assert "found, length 4, and run; the build does not give what the golden reference gives" in result.stdout


def test_a_rival_that_is_another_in_one_number_of_its_range_parts_there_in_the_lane_that_is_asked_for() -> None:
    (parts,) = found("kernel.py", "--find", "unlike but_for_one at out[2]", "--lengths", "1,3", code=0)
    assert parts["inputs"]["a"][2] == 70_001


@pytest.mark.slow
def test_that_a_rival_is_the_same_is_proved() -> None:
    (same,) = found("kernel.py", "--find", "unlike in_two_steps", "--lengths", "1..3", code=1)
    assert same["proved"] == "they are the same for all inputs of the lengths 1, 2, 3 that both are defined on"
    Path("kernel.py").write_text(Path("kernel.py").read_text().replace("+ 8 >> 2", "+ 9 >> 2"))
    assert found("kernel.py", "--find", "unlike in_two_steps", "--lengths", "1..3", code=0)


def test_a_rival_that_is_another_beyond_the_domain_only_is_the_same() -> None:
    """One that is beyond it, and one that lies in a gap."""
    Path("kernel.py").write_text(Path("kernel.py").read_text().replace("-100000, 100000", "choices=(-5, 9, 90000)"))
    (gap,) = found("kernel.py", "--find", "unlike but_for_one at out[0]", "--lengths", "1", code=1)
    assert gap["verdict"] == "none can"
    Path("kernel.py").write_text(KERNEL.format(prototype=PROTOTYPE, number=100_001))
    (same,) = found("kernel.py", "--find", "unlike but_for_one at out[0]", "--lengths", "1", code=1)
    assert same["verdict"] == "none can"


def test_what_the_solver_does_not_decide_is_not_found_and_what_is_tried_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(questions: Any, seconds: float, jobs: int, kept_in: Any, report: Any) -> bool:
        for name in questions:
            report(name, Answer(Finding("unknown", 0, reason="no time"), "", {}))
        return False

    monkeypatch.setattr("sim.check.aim.find.decide_all", undecided)
    (rare,) = found("kernel.py", "--find", "unlike but_for_one", "--lengths", "1", code=3)
    assert (rare["verdict"], rare["reason"]) == ("not found within the budget", "no time")
    answers = found("kernel.py", "--find", "taken at f.c:7 b.ne", "--opt", "O0", "--lengths", "1", code=0)
    assert [one["shape"] for one in answers] == ["drawn"]
    monkeypatch.setattr("sim.check.aim.find.TRIED", 0)
    (open_still,) = found("kernel.py", "--find", "taken at f.c:7 b.ne", "--opt", "O0", "--lengths", "1", code=3)
    assert (open_still["proved"], open_still["reason"]) == ("", "no time")


def test_a_branch_on_where_arrays_lie_is_neither_found_nor_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("f.c").write_text(SOURCE.replace("x == 4000 && n > 3", "a < out"))
    monkeypatch.setattr("sim.check.aim.find.TRIED", 0)
    answers = of_function("--find", BRANCH, "--opt", "O0", "--lengths", "1", code=3)
    assert {one["reason"] for one in answers} == {"it depends on no input, but on where arrays lie"}


@pytest.mark.parametrize(("jobs", "asked"), [(2, [2, 2, 1]), (5, [5]), (3, [3, 2])])
def test_lanes_are_asked_for_in_turn_so_many_at_a_time(
    jobs: int, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[Equality]] = []

    def undecided(questions: dict[int, Equality], seconds: float, jobs: int, kept_in: Any, report: Any) -> bool:
        seen.append([*questions.values()])
        for name in questions:
            report(name, Answer(Finding("unknown", 0, reason=f"round {len(seen)}"), "", {}))
        return False

    monkeypatch.setattr("sim.check.aim.find.decide_all", undecided)
    _, signature = parse_prototype("void f(const int32_t x[5], int32_t out[5])")
    kernel = Kernel(
        name="f", symbol="f", sources=(), signature=signature, golden=lambda i: {"out": i["x"] + np.int32(1)},
        conventions={"other": lambda i: {"out": i["x"] + np.int32(2)}},
    )  # fmt: skip
    shapes = [Shape("", 5, {"x": np.zeros(5, np.int32)})]
    search = InputSearch(kernel=kernel, shapes=shapes, seconds=1, jobs=jobs, kept_in=None)
    found = search.unlike(Unlike("other", None, ()))
    assert [len(some) for some in seen] == asked
    assert len({question for some in seen for question in some}) == 5
    assert found.reason == "round 1"


def test_an_input_that_the_solver_made_up_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    example = {"a": np.zeros(1, np.int32), "n": 1}
    monkeypatch.setattr("sim.check.aim.find.InputSearch._found", lambda *_: (example, ""))
    monkeypatch.setattr("sim.check.aim.find.TRIED", 0)
    (never,) = of_function("--find", "not taken at f.c:7 b.ls", "--opt", "O0", "--lengths", "1", code=3)
    assert (never["inputs"], never["reason"]) == (None, "what the solver found does not meet it when it is run")
    (rival,) = found("kernel.py", "--find", "unlike but_for_one", "--lengths", "1", code=3)
    assert (rival["inputs"], rival["reason"]) == (None, "what the solver found is none when it is run")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("kernel.py", "--find", "a tie"), "'a tie' is nothing that can be found: say WHAT at FILE:LINE"),
        (("kernel.py", "--find", "tie at f.c:7"), "no instruction at f.c:7 has 'tie'; the line has "),
        (("kernel.py", "--find", "tie at f.c:700"), "no code is of f.c:700: it is of f.c:"),
        (("kernel.py", "--find", "unlike nothing"), "has no convention 'nothing': it has but_for_one, in_two_steps"),
        (("kernel.py", "--find", "unlike but_for_one at out[9]"), "no output of these lengths has out[9]"),
        (("kernel.py", "--find", "unlike but_for_one at a[0]"), "no output of these lengths has a[0]"),
        (("kernel.py", "--find", BRANCH, "--all-lengths"), "--find looks for one input: it goes without --same"),
        (("sqadd", "--find", BRANCH), "--find is about kernels"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_said_in_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    result = lanewise("prove", *arguments, *(["--lengths", "1..5"] if "kernel.py" in arguments else []))
    assert (result.exit_code, says in result.output) == (2, True), result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("-g", ", f.c:9, f.c:10, f.c:11\n"),
        ("-g0", "no code is of f.c:700: its build has no line numbers: compile with -g"),
    ],
)
def test_the_lines_that_there_are_come_in_their_order(flag: str, says: str) -> None:
    result = lanewise(
        "prove", PROTOTYPE, "--source", "f.c", "--cflags", flag, "--find", "tie at f.c:700", "--opt", "O0"
    )
    assert (result.exit_code, says in result.output) == (2, True), result.output


def test_the_last_instruction_of_a_function_is_of_a_line_too_though_nothing_runs_it() -> None:
    Path("f.c").write_text(
        SOURCE.replace("(size_t i", "if (n > 999)\n__builtin_trap();\nfor (size_t i", 1).replace("for if", "if")
    )
    result = lanewise("prove", PROTOTYPE, "--source", "f.c", "--find", "tie at f.c:700", "--opt", "O2")
    assert (result.exit_code, ", f.c:6, " in result.output) == (2, True), result.output


def test_questions_are_read_as_they_are_written() -> None:
    assert wanted_of("saturated high at a b/k.c:3 sqxtn v0".replace("a b/", "")) == AtLine(
        "saturated high", "k.c:3", "sqxtn v0"
    )
    assert wanted_of(" not taken at k.c:14") == AtLine("not taken", "k.c:14", "")
    assert wanted_of("unlike ruy") == Unlike("ruy", None, ())
    assert wanted_of("unlike ruy at output[31]") == Unlike("ruy", "output", (31,))
    assert wanted_of("unlike ruy at out[1][2]") == wanted_of("unlike ruy at out[1, 2]") == Unlike("ruy", "out", (1, 2))
    places = [Unlike("ruy", "out", at).number((2, 3)) for at in ((1, 2), (5,), (0, 1), (2, 0), (6,), (1,), (1, 1, 1))]
    assert places == [5, 5, 1, None, None, 1, None]
    for wrong in ("", "tie", "tie at k.c", "ties at k.c:3", "unlike", "unlike ruy at output"):
        with pytest.raises(FindError):
            wanted_of(wrong)


def test_arguments_that_are_written_are_read_as_the_same() -> None:
    _, signature = parse_prototype(
        "float g(const float a[n], const int8_t b[m][2], const int64_t c[2], const uint8_t *_Nullable d[n], size_t n, "
        "int m, double e, bool h)"
    )
    given = {
        "a": np.array([0.1, -0.0, 3e-45], np.float32), "b": np.array([[1, -2], [3, 4]], np.int8),
        "c": np.array([2**63 - 1, -(2**63), 0]), "d": None, "n": 3, "m": 2, "e": 0.1, "h": True,
    }  # fmt: skip
    texts = written_arguments(signature, given)
    assert texts is not None
    _, read = read_arguments(signature, texts)
    for name, value in given.items():
        same = np.asarray(value, np.asarray(read[name]).dtype)
        assert np.asarray(read[name]).tobytes() == same.tobytes(), name
