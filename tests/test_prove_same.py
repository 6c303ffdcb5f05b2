"""`lanewise prove PROTOTYPE --same A B`: two functions by their names, with structures, without a golden reference."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import sim.command.app

CODE = """#include <arm_neon.h>
#include <stddef.h>
#include <stdlib.h>
struct bounds { int8_t low; int32_t high; };
void plain(const int8_t *x, int8_t *y, const struct bounds *b, size_t n) {
    for (size_t i = 0; i < n; ++i) { int32_t v = x[i] > b->high ? b->high : x[i]; y[i] = v < b->low ? b->low : v; }
}
void lanes(const int8_t *x, int8_t *y, const struct bounds *b, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        vst1_s8(y + i, vmax_s8(vmin_s8(vld1_s8(x + i), vdup_n_s8(b->high)), vdup_n_s8(b->low)));
    plain(x + i, y + i, b, n - i);
}
int32_t forwards(const int8_t *x, size_t n, int32_t less) {
    if (less > 3) abort();
    int32_t sum = -less;
    for (size_t i = 0; i < n; ++i) sum += x[i];
    return sum;
}
int32_t backwards(const int8_t *x, size_t n, int32_t less) {
    int32_t sum = less == 4 ? 1 : 0;
    while (n--) sum += x[n];
    return sum - less;
}
void copied(const int8_t *x, int8_t *y, struct bounds b) { *y = *x; }
void spoilt(const int8_t *x, int8_t *y, struct bounds b) { *y = *x + (b.low == 77); }
"""
CLAMP = "void f(const int8_t x[n], int8_t y[n], const struct { int8_t low; int32_t high; } *b, size_t n)"
SUM = "int32_t f(const int8_t x[n], size_t n, int32_t less)"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(sim.command.app.app, ["prove", "--jobs", "1", "--no-cache", *arguments])


def same(folder: Path, prototype: str, one: str, other: str, *further: str, code: str = CODE) -> tuple[Result, Any]:
    """What the command says of two functions of the code; of a failure nothing is read."""
    file = folder / "pair.c"
    file.write_text(code)
    result = run(prototype, "--same", f"{file}:{one}", f"{file}:{other}", "--json", *further)
    return result, json.loads(result.stdout) if result.stdout else None


@pytest.mark.slow
def test_two_functions_are_proved_to_give_the_same(tmp_path: Path) -> None:
    result, found = same(tmp_path, CLAMP, "plain@O1", "lanes", "--lengths", "8,9", "--each", "high=0..127")
    assert result.exit_code == 0, result.output
    assert [(b["build"], b["proved"], b["elements"]) for b in found["builds"]] == [("pair.c:lanes -O2", 17, 17)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["vdup_n_s8(b->low)", "plain(x + i, y + i, b, n - i)"])
def test_a_function_that_gives_another_is_shown_beside_the_first(fault: str, tmp_path: Path) -> None:
    wrong = {"vdup_n_s8(b->low)": "vdup_n_s8(b->low - (b->low == 5))", "plain(x + i, y + i, b, n - i)": "*y = *x"}
    result, found = same(
        tmp_path, CLAMP, "plain", "lanes", "--lengths", "9", "--each", "high=0..127",
        code=CODE.replace(fault, wrong[fault]),
    )  # fmt: skip
    assert (result.exit_code, found["outcome"]) == (1, "counter-example")
    verdicts = [outcome["passed"] for outcome in found["check"]["implementations"]]
    assert verdicts == [True, False]  # the first is what is wanted: there is no other reference


@pytest.mark.slow
def test_behind_the_first_value_that_refutes_none_is_asked_and_it_is_the_one_that_is_told(tmp_path: Path) -> None:
    high, each = "vdup_n_s8(b->low - (b->high > 40 && b->low == 5))", ("--each", "high=0..127")
    high = CODE.replace("vdup_n_s8(b->low)", high)
    _, found = same(tmp_path, CLAMP, "plain", "lanes", "--lengths", "8", *each, "--jobs", "2", code=high)
    (told,) = found["builds"][0]["not_proved"]
    assert told["reason"].startswith("b.high = 41, b.low = 5, ")
    ways = found["decided_by"]
    assert (found["questions"], ways["counter-example"], ways["not asked, as a value before refutes"]) == (128, 1, 86)
    assert sum(ways.values()) == 128


@pytest.mark.slow
def test_of_many_numbers_those_that_are_not_0_are_told(tmp_path: Path) -> None:
    rare = CODE.replace("return sum - less;", "return sum - less + (x[3] == 5 && x[16] == 77);")
    _, found = same(tmp_path, SUM, "forwards", "backwards", "--lengths", "17", "--each", "less=3", code=rare)
    (told,) = found["builds"][0]["not_proved"]
    assert told["reason"] == "less = 3, x[3] = 5, x[16] = 77 and 15 that are 0"


@pytest.mark.slow
def test_neither_of_two_builds_is_called_right_and_the_numbers_that_matter_are_shown(tmp_path: Path) -> None:
    rare = CODE.replace("return sum - less;", "return sum - less + (x[3] == 5 && x[16] == 77);")
    words = (SUM, "forwards", "backwards", "--lengths", "17", "--each", "less=3")
    _, found = same(tmp_path, *words, code=rare)
    (failing,) = [one["mismatch"] for one in found["check"]["implementations"] if one["mismatch"]]
    assert failing["between"] == ["pair.c:forwards -O2", "pair.c:backwards -O2"]
    file = tmp_path / "pair.c"
    shown = run(SUM, "--same", f"{file}:forwards", f"{file}:backwards", *words[3:]).output
    assert re.search(
        r"pair.c:forwards -O2 gives (\d+), pair.c:backwards -O2 (?!\1\b)\d+; neither is taken as right", shown
    )
    assert re.search(r"inputs n=17, less=3, x\[3\]=5, x\[16\]=77, the others of x 0", shown)
    assert ", golden " not in shown
    assert "in 1 shape of the length 17" in shown


@pytest.mark.slow
def test_of_two_functions_neither_has_failed_and_both_are_opened_with_what_they_differ_in(tmp_path: Path) -> None:
    file = tmp_path / "pair.c"
    file.write_text(CODE.replace("return sum - less;", "return sum - less + (x[3] == 5);"))
    shown = run(SUM, "--same", f"{file}:forwards", f"{file}:backwards@O1", "--lengths", "4", "--each", "less=3").output
    assert "DIFFERENT pair.c:forwards -O2 and pair.c:backwards -O1\n" in shown
    assert "DIFFERENT: 2 builds of f do not give the same\n" in shown
    assert ("FAILED" in shown, "golden" in shown, " same? " in shown) == (False, False, True)
    one, other = re.findall(r"^(?:debug|beside it): lanewise (.*)$", shown, re.MULTILINE)
    for command, title in ((one, "pair.c:backwards -O1"), (other, "pair.c:forwards -O2")):
        session = CliRunner().invoke(sim.command.app.app, shlex.split(command), input="end\nlanes x0\nquit\n")
        given = re.search(rf"{re.escape(title)},? (?:gives )?(-?\d+)", shown)
        assert session.exit_code == 0, session.output
        assert given is not None
        assert session.stdout.endswith(f"(lanewise) lanes x0\n{int(given[1]) % 2**32}\n")
        assert "1 of 1 output lanes differ between pair.c" in session.stdout
        assert re.search(r"<- parts here\n.*\nbefore ", session.stdout, re.DOTALL)


def test_the_questions_that_are_told_add_up(tmp_path: Path) -> None:
    file = tmp_path / "pair.c"
    file.write_text(CODE)
    words = (CLAMP, "--same", f"{file}:plain@O1", f"{file}:lanes", "--lengths", "8,9", "--each", "high=0..127")
    shown = " ".join(run(*words).output.split())
    told = re.search(r"nothing is asked: (\d+) questions: (\d+) \((.*?)\)", shown)
    assert told is not None
    alike, asked, ways = told.groups()
    assert (int(alike), int(asked)) == (1, sum(map(int, re.findall(r"\d+", ways))))


@pytest.mark.slow
def test_extents_may_be_arithmetic(tmp_path: Path) -> None:
    prototype = (
        "void f(const int8_t x[8 * n], int8_t y[n * 8], const struct { int8_t low; int32_t high; } *b, size_t n)"
    )
    code = CODE.replace("size_t n) {", "size_t n) {\n    n *= 8;").replace("plain(x + i", "if (i < n) plain(x + i")
    each = ("--lengths", "2", "--each", "high=0..127")
    result, found = same(tmp_path, prototype, "plain", "lanes", *each, code=code)
    assert (result.exit_code, found["builds"][0]["proved"]) == (0, 16), result.output


def test_numbers_that_are_not_asked_about_do_not_lead_to_code_that_stops(tmp_path: Path) -> None:
    result, found = same(tmp_path, SUM, "forwards", "backwards", "--lengths", "0,5", "--each", "less=-2..3")
    assert (result.exit_code, found["outcome"]) == (0, "proved"), result.output
    result, _ = same(tmp_path, SUM, "forwards", "backwards", "--lengths", "5", "--each", "less=-2..4")
    assert result.exit_code == 3


def test_a_structure_by_value_is_refused_rather_than_taken_for_the_example(tmp_path: Path) -> None:
    prototype = "void f(const int8_t x[1], int8_t y[1], struct { int8_t low; int32_t high; } b)"
    result, found = same(tmp_path, prototype, "copied", "spoilt", "--lengths", "1")
    assert (result.exit_code, found["outcome"]) == (3, "unknown")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((SUM,), "a prototype has no golden reference: --same A B names two builds"),
        ((SUM, "--same", "O1", "O2"), "a prototype has no file"),
        ((SUM, "--same", "nothing.c:f", "O2"), "there is no file nothing.c"),
        (("int32_t f(const int8_t x[n)", "--same", "a.c", "b.c"), "'n)' is no extent"),
    ],
)
def test_what_is_given_wrong_is_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in " ".join(result.output.split())
    assert result.output.count("lanewise:") <= 1


@pytest.mark.parametrize(
    "fault", ["if (x[i] != 55) y[i] = x[i];", 'y[i] = x[i]; if (x[i] == 55) __asm__ volatile("add x19, x19, #1");']
)
def test_what_no_caller_may_find_is_tried_and_refutes(fault: str, tmp_path: Path) -> None:
    head = "#include <stddef.h>\n#include <stdint.h>\nvoid {}(const int8_t *x, int8_t *y, size_t n) {{ size_t i; "
    loop = "for (i = 0; i < n; ++i) {{ {} }} }}\n"
    code = (head + loop).format("right", "y[i] = x[i];") + (head + loop).format("wrong", fault)
    result, found = same(
        tmp_path,
        "void f(const int8_t x[n], int8_t y[n], size_t n)",
        "right@O1",
        "wrong@O1",
        "--lengths",
        "3",
        code=code,
    )
    assert (result.exit_code, found["outcome"]) == (1, "counter-example")
    assert any("= 55" in one["reason"] for one in found["builds"][0]["not_proved"])


ASKS_WHETHER_ARRAYS_OVERLAP = """#include <arm_neon.h>
#include <stddef.h>
void plain(const uint8_t *x, const uint8_t *y, uint8_t *z, size_t n, uint8_t gain) {
    for (size_t i = 0; i < n; ++i) {
        unsigned apart = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i], scaled = (apart * gain + 8) >> 4;
        z[i] = scaled > 255 ? 255 : scaled;
    }
}
void lanes(const uint8_t *x, const uint8_t *y, uint8_t *z, size_t n, uint8_t gain) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint16x8_t scaled = vmull_u8(vabd_u8(vld1_u8(x + i), vld1_u8(y + i)), vdup_n_u8(gain));
        vst1_u8(z + i, vrshrn_n_u16(scaled, 4));
    }
}
void nearby(const uint8_t *x, const uint8_t *y, uint8_t *z, size_t n, uint8_t gain) {
    plain(x, y, z, n, gain);
    for (size_t i = 0; i < n; ++i) z[i] ^= (uint8_t)((size_t)x >> 9 & 1);
}
"""
GAIN = "void f(const uint8_t x[n], const uint8_t y[n], uint8_t z[n], size_t n, uint8_t gain)"


@pytest.mark.slow
def test_a_difference_wherever_arrays_lie_is_a_counter_example_of_code_that_asks_where(tmp_path: Path) -> None:
    result, found = same(tmp_path, GAIN, "plain", "lanes", "--lengths", "16", code=ASKS_WHETHER_ARRAYS_OVERLAP)
    assert result.exit_code == 1, result.output
    (failure,) = found["builds"][0]["not_proved"]
    assert (failure["outcome"], "gain = " in failure["reason"]) == ("counter-example", True)
    assert found["check"]["passed"] is False


@pytest.mark.slow
def test_a_difference_in_some_places_of_arrays_only_is_none_of_all(tmp_path: Path) -> None:
    _, found = same(tmp_path, GAIN, "plain", "nearby", "--lengths", "16", code=ASKS_WHETHER_ARRAYS_OVERLAP)
    reasons = [failure["reason"] for failure in found["builds"][0]["not_proved"] if failure["outcome"] == "unknown"]
    assert any(reason.startswith("it depends on where arrays lie: address of") for reason in reasons)
