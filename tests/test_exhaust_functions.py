"""`lanewise exhaust` of two functions: conventions, and a function of a user's own against its golden reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sim.verify.exhaust import functions, user_function
from sim.verify.exhaust.functions import FunctionExhaustion, NumberRange, operands_of
from sim.verify.exhaust.user_function import UserFunction
from support.command import lanewise

AWAY, EVEN = "add_neon_ties_away", "add_neon_ties_even"
AVERAGE = "int8_t average(int8_t a, int8_t b) { return (int8_t)((a + b + 1) >> 1); }"
KERNEL = """
from pathlib import Path
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype

def golden(inputs):
    a, b = (np.asarray(inputs[name]).astype(np.int64) for name in "ab")
    return {{"returned": ({golden}).astype(np.int8)}}

NAME, SIGNATURE = parse_prototype("int8_t average(int8_t a, int8_t b)")
KERNEL = Kernel(
    name=NAME, symbol=NAME, sources=(Path("average.c"),), signature=SIGNATURE, golden=golden, domain={domain}
)
"""
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, cache: Path) -> Make:
    """A kernel file with a source and a golden reference."""

    def written(source: str = AVERAGE, golden: str = "(a + b + 1) >> 1", domain: str = "{}") -> Path:
        (tmp_path / "average.c").write_text(f"#include <stdint.h>\n{source}\n")
        (tmp_path / "average.py").write_text(KERNEL.format(golden=golden, domain=domain))
        return tmp_path / "average.py"

    return written


def exhausted(*arguments: object) -> dict[str, Any]:
    result = lanewise("exhaust", *arguments, "--jobs", 1, "--json")
    report: dict[str, Any] = json.loads(result.stdout)
    assert (result.exit_code, report["passed"]) in ((0, True), (1, False))
    return report


def test_conventions_differ_in_every_second_tie(cache: Path) -> None:
    """Halves of a + b, where that is odd; away from zero and to even part at 0.5, 2.5, 4.5, ...: a + b = 1 modulo 4."""
    report = exhausted(AWAY, "--against", EVEN)
    sums = sum((a + b) % 4 == 1 for a in range(256) for b in range(256))
    assert (report["compared"], report["differing"]) == (1 << 16, sums)
    assert report["first"] == {"operands": {"a": 0, "b": 1}, "results": [1, 0]}


def test_a_parameter_that_is_given_takes_the_place_of_the_plainest(cache: Path) -> None:
    assert exhausted(AWAY, "--against", EVEN, "--with", "output_scale=0.01")["differing"] == 0


def test_the_report_in_words_has_operands_parameters_and_the_first_difference(cache: Path) -> None:
    shown = lanewise("exhaust", AWAY, "--against", EVEN, "--jobs", 1, columns=400).stdout.splitlines()
    assert shown[0].startswith(f"{AWAY} against {EVEN}: all 65,536 values of a (0..255) and b (0..255), a_scale = 0.01")
    assert shown[1:] == ["  DIFFER in 16,384 of them, first in a = 0, b = 1: 1 and 0", "FAILED"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("shift_right_floor", "--against", "nope"), "there is no convention 'nope'"),
        (("shift_right_floor", "--against", "doubling_high_multiply"), "do not take the same operands"),
        (("derive_tflite", "--against", "derive_vela"), "derivation takes factor, float"),
        (("offsets_added", "--against", "zero_points_subtracted"), "are more than can be tried"),
        (("shift_right_floor", "--against", "vector_shift", "--with", "shift=40"), "refuses shift = 40"),
        (("shift_right_floor", "--against", "vector_shift", "--with", "count=1"), "has no parameter 'count'"),
        (("shift_right_floor", "--against", "vector_shift", "--with", "shift=1.5"), "shift is an integer, not 1.5"),
        (("shift_right_floor", "--against", "vector_shift", "--with", "shift"), "takes NAME=NUMBER, not 'shift'"),
        (
            ("shift_right_floor", "--against", "vector_shift", "--with", "shift=1e99"),
            "shift is -2.14748e+09..2.14748e+09",
        ),
        (("sqadd", "--with", "shift=1"), "--with says nothing about sqadd"),
        (("sqadd", "--golden", "g.c:f"), "--golden says nothing about sqadd"),
        (("average.py", "--against", "f"), "--against says nothing about average.py"),
        (("average.py", "--golden", "g.c"), "--golden takes FILE.c:FUNCTION, not 'g.c'"),
        (("none.py",), "there is no kernel file none.py"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = lanewise("exhaust", *arguments, "--jobs", 1)
    assert (result.exit_code, result.stdout, sentence in result.stderr) == (2, "", True), result.stderr


def test_a_function_that_is_its_golden_reference_passes_on_all_values(make: Make) -> None:
    report = exhausted(make())
    assert (report["compared"], report["differing"], report["first"]) == (1 << 16, 0, None)


@pytest.mark.parametrize("level", ["O0", "O3"])
def test_one_wrong_value_of_65536_is_found(make: Make, level: str) -> None:
    planted = AVERAGE.replace("{ return", "{ if (a == 77 && b == -128) return 0; return")
    report = exhausted(make(planted), "--opt", level)
    assert (report["differing"], report["first"]) == (1, {"operands": {"a": 77, "b": -128}, "results": [0, -25]})


def test_rounding_down_differs_where_the_sum_is_odd(make: Make) -> None:
    assert exhausted(make(golden="(a + b) >> 1"))["differing"] == 1 << 15


def test_only_values_of_the_domain_are_compared(make: Make) -> None:
    planted = AVERAGE.replace("{ return", "{ if (a < 0 || b == 3) return 0; return")
    report = exhausted(make(planted, domain='{"a": Domain(low=0), "b": Domain(choices=(2, 5))}'))
    assert (report["values"], report["differing"]) == (128 * 4, 0)


@pytest.mark.parametrize("in_c", [False, True])
def test_what_valid_refuses_is_not_compared(make: Make, tmp_path: Path, in_c: bool) -> None:
    """The golden reference differs where a exceeds b, and in one value else."""
    made = make(
        golden="np.where(a > b, 0, np.where((a == 3) & (b == 5), 9, (a + b + 1) >> 1))",
        domain="{}, valid=lambda inputs: inputs['a'] <= inputs['b']",
    )
    (tmp_path / "g.c").write_text("int g(int a, int b) { return a > b ? 0 : a == 3 && b == 5 ? 9 : (a + b + 1) >> 1; }")
    report = exhausted(made, *(["--golden", f"{tmp_path / 'g.c'}:g"] if in_c else []))
    assert (report["differing"], report["first"]) == (1, {"operands": {"a": 3, "b": 5}, "results": [4, 9]})


def test_a_golden_reference_is_not_asked_about_what_valid_refuses(make: Make) -> None:
    golden, domain = "a + 32 if np.all(b == 64) else None", "{}, valid=lambda inputs: inputs['b'] == 64"
    planted = AVERAGE.replace("{ return", "{ return (int8_t)(a + b / 2);")
    assert exhausted(make(planted, golden=golden, domain=domain))["differing"] == 0


@pytest.mark.parametrize(
    ("valid", "sentence"),
    [
        ("0 < inputs['a'] < 9", "valid of average fails for arrays"),
        ("len(np.shape(inputs['a'])) < 2", "valid of average makes bool[] of arrays: it must take arrays"),
        (
            "(inputs['a'] > 0) ^ (np.ndim(inputs['a']) > 0)",
            "valid of average makes something else of arrays than of {'a'",
        ),
    ],
)
def test_a_condition_that_does_not_take_arrays_is_refused(make: Make, valid: str, sentence: str) -> None:
    result = lanewise("exhaust", make(domain=f"{{}}, valid=lambda inputs: {valid}"), "--jobs", 1)
    assert (result.exit_code, result.stdout, sentence in result.stderr) == (2, "", True), result.stderr


def test_a_golden_reference_in_c_is_called_for_all_values(make: Make, tmp_path: Path) -> None:
    (tmp_path / "g.c").write_text("int other(int a, int b) { return a == 1 && b == 2 ? 7 : (a + b + 1) >> 1; }")
    report = exhausted(make(golden="a * 0"), "--golden", f"{tmp_path / 'g.c'}:other")
    assert (report["differing"], report["first"]["operands"]) == (1, {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("int f(int a, int b) { return a; }", "has no function other"),
        ("int f(int a); int other(int a, int b) { return f(a); }", "lacks what other needs"),
        ("int other(", "error"),
        (None, "cannot read"),
    ],
)
def test_a_golden_reference_in_c_that_cannot_be_used_is_told(
    make: Make, tmp_path: Path, text: str | None, sentence: str
) -> None:
    if text is not None:
        (tmp_path / "g.c").write_text(text)
    result = lanewise("exhaust", make(), "--golden", f"{tmp_path / 'g.c'}:other", "--jobs", 1)
    assert (result.exit_code, result.stdout, sentence in result.stderr) == (2, "", True), result.stderr


@pytest.mark.parametrize(
    ("golden", "sentence"),
    [
        ("a if a > b else b", "fails for arrays"),
        ("a.bit_length() - b", "fails for arrays"),
        ("a + 0 * b + np.ndim(a)", "makes something else of arrays than of"),
        ("np.sum(a)", "makes int8[] of arrays"),
    ],
)
def test_a_golden_reference_that_is_not_one_of_arrays_is_refused(make: Make, golden: str, sentence: str) -> None:
    result = lanewise("exhaust", make(golden=golden), "--jobs", 1)
    assert (result.exit_code, result.stdout, sentence in result.stderr) == (2, "", True), result.stderr


def test_a_function_that_faults_is_told_with_the_values(make: Make) -> None:
    planted = AVERAGE.replace("{ return", "{ if (a == 5 && b == 6) return *(volatile int8_t *)64; return")
    result = lanewise("exhaust", make(planted), "--jobs", 1)
    assert (result.exit_code, "average fails for a value from a = -128, b = -128" in result.stderr) == (2, True)
    assert "0x40 is not mapped" in result.stderr


def test_what_was_compared_is_not_compared_again(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(functions, "AT_ONCE", 1 << 12)
    planted = AVERAGE.replace("{ return", "{ if (a == 77 && b == -128) return 0; return")
    user = UserFunction(make(planted), None, ("-O1",))
    first = FunctionExhaustion(user, tmp_path)
    for _ in zip(range(13), first.run(1), strict=False):
        pass
    second = FunctionExhaustion(user, tmp_path)
    assert (second.done, second.result().differing) == (13 << 12, 1)
    assert [done >> 12 for done in second.run(1)] == [14, 15, 16]
    assert (second.result().kept, second.result().compared, second.result().differing) == (13 << 12, 1 << 16, 1)
    assert FunctionExhaustion(user, tmp_path, anew=True).done == 0


def test_other_code_has_nothing_kept(make: Make, tmp_path: Path) -> None:
    for source in (AVERAGE, AVERAGE.replace("+ 1", "+ 2")):
        run = FunctionExhaustion(UserFunction(make(source), None, ("-O1",)), tmp_path)
        assert run.done == 0
        assert list(run.run(1)) == [1 << 16]


def test_other_semantics_of_instructions_have_nothing_kept(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code runs on the lane machine: what it made of values before its instructions were mended says nothing."""
    before = UserFunction(make(), None, ("-O2",)).identity
    assert UserFunction(make(), None, ("-O2",)).identity == before
    monkeypatch.setattr(user_function, "semantics_digest", lambda: "mended")
    assert UserFunction(make(), None, ("-O2",)).identity != before


def test_another_mode_has_nothing_kept(make: Make, tmp_path: Path) -> None:
    """Both have one code, one name and one function behind their golden references."""
    file = make(golden="(a + b + inputs['one']) >> 1")
    modes = "{one: replace(KERNEL, golden=lambda i, one=one: golden({**i, 'one': int(one)})) for one in '12'}"
    file.write_text(f"{file.read_text()}\nfrom dataclasses import replace\nMODES = {modes}\n")
    assert [exhausted(file, "--mode", one)["differing"] for one in "121"] == [0, 1 << 15, 0]


def test_what_a_golden_reference_in_c_may_be_given_counts_too(make: Make, tmp_path: Path) -> None:
    (tmp_path / "g.c").write_text("int g(int a, int b) { return b == 3 ? 0 : (a + b + 1) >> 1; }")
    told = [
        exhausted(make(domain=f'{{"b": Domain(choices=({choices}))}}'), "--golden", f"{tmp_path / 'g.c'}:g")
        for choices in ("2, 4", "2, 3, 4")
    ]
    assert [one["differing"] for one in told] == [0, 254]


@pytest.mark.parametrize("golden", ["partial(golden)", "type('Golden', (), {'__call__': lambda _, i: golden(i)})()"])
def test_a_golden_reference_may_be_any_callable(make: Make, golden: str) -> None:
    file = make()
    text = file.read_text().replace("golden=golden", f"golden={golden}")
    file.write_text(f"from functools import partial\n{text}")
    assert exhausted(file)["differing"] == 0


def test_every_value_is_made_once_the_last_operand_fastest() -> None:
    operands = [NumberRange("a", "int8", -2, 1), NumberRange("b", "uint16", 5, 7)]
    a, b = operands_of(operands, 2, 7)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [
        (-2, 7),
        (-1, 5),
        (-1, 6),
        (-1, 7),
        (0, 5),
        (0, 6),
        (0, 7),
    ]
    assert (a.dtype, b.dtype) == ("int8", "uint16")
