"""Which lines a repair says to be at fault, besides that of the changed instruction: callers, addends, constants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job
from sim.check.repair.place import find_fault
from sim.check.vectors import make_vectors
from sim.kernels.kernel import Inputs
from support.faulty import EACH, SHORT, Faulty, faulty_kernel, ties_away, wide
from support.sampled import sampled


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "sum -= 3 * i;\n"])
def test_what_may_have_been_left_out_of_any_addend_is_told_of_all_or_of_no_line(more: str, tmp_path: Path) -> None:
    lines = f"int64_t sum = a[i];\nsum += b[i];\n{more}sum += 5 * a[i];\noutput[i] = sum >> 4;"
    faulty = Faulty(
        EACH + lines + "}", lambda i: 6 * wide(i, "a") + wide(i, "b") - bool(more) * 3 * np.arange(len(i["a"])) + 8 >> 4
    )
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    if more:
        assert str(found).startswith("which of many lines is at fault is not known: every lane is right with asr ")
    assert set(found.lines) == (set() if more else {f"kernel.c:{line}" for line in (4, 5, 6, 7)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "golden", "told"),
    sampled(
        [
            (
                "x = (a[i] + half) >> 4;\nx ^= b[i] - half;\nx += half * a[i];",
                lambda i: ((wide(i, "a") + 8 >> 4) ^ wide(i, "b") - 8) + 8 * wide(i, "a"),
                {4},
            ),
            (
                "x = (a[i] + half) >> 4;\nx ^= b[i] * 16 + half >> 4;\nx += b[i] * 32 + half >> 5;",
                lambda i: ((wide(i, "a") + 8 >> 4) ^ wide(i, "b")) + wide(i, "b"),
                {4, 6},
            ),
            (
                "half += i;\nx = (a[i] + half) >> 4;\nx ^= b[i];",
                lambda i: (wide(i, "a") + 8 + np.cumsum(np.arange(len(i["a"]))) >> 4) ^ wide(i, "b"),
                {4, 6, 7},
            ),
        ],
        3,
    ),
    ids=["needed by all", "needed by one", "stored again"],
)
def test_of_the_lines_that_take_a_wrong_variable_one_is_told_that_alone_needs_another_number(
    lines: str, golden: Callable[[Inputs], np.ndarray], told: set[int], tmp_path: Path
) -> None:
    faulty = Faulty(f"int half = 7;\n{EACH}int x;\n{lines}\noutput[i] = x; }}", golden)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {f"kernel.c:{line}" for line in told}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "factor", "told"),
    sampled(
        [
            ("output[i] = (a[i] * FACTORS[1] >> 2) ^ b[i];", [1, 7, 4], {3, 8}),
            ("output[i] = (a[i] * FACTORS[1] >> 2);\noutput[i] ^= b[i] * FACTORS[1];", [1, 7, 7], {3}),
            ("output[i] = (a[i] * FACTORS[1] >> 2);\noutput[i] ^= b[i] * FACTORS[1];", [1, 7, 6], {8}),
        ],
        3,
    ),
    ids=["taken once", "taken twice", "one line takes another number"],
)
def test_a_table_with_a_wrong_number_is_told_by_the_line_it_was_written_on(
    lines: str, factor: list[int], told: set[int], tmp_path: Path
) -> None:
    _, one, other = factor

    def golden(i: Inputs) -> Any:
        return (wide(i, "a") * one >> 2) ^ (wide(i, "b") * (other if "\n" in lines else 1))

    kernel = faulty_kernel(Faulty(f"{EACH}\n{lines} }}", golden), tmp_path)
    table = "\n\nstatic const int FACTORS[3] = {1, 6, 2};\n"
    kernel.sources[0].write_text(table + kernel.sources[0].read_text())
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {f"kernel.c:{line}" for line in told}


@pytest.mark.slow
@pytest.mark.parametrize("number", sampled([7, 100_007], 2))
def test_where_a_compiler_puts_a_constant_in_the_place_of_its_name_both_lines_are_told(
    number: int, tmp_path: Path
) -> None:
    faulty = Faulty(
        f"const int half = {number};\n{EACH}\noutput[i] = (b[i] ^ half) >> 2;\noutput[i] ^= a[i]; }}",
        lambda i: ((wide(i, "b") ^ number + 1) >> 2) ^ wide(i, "a"),
    )
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {"kernel.c:4", "kernel.c:6"}


HELPED = """static int rounded(int x)
{
 return (x + 8) >> 4;
}
static int twice(int x)
{
 return 2 *
  rounded(x);
}
"""
CALLED = {
    "wrong for both lines": (
        "output[i] = rounded(a[i]);\n output[i] += 3 * rounded(a[i] - b[i]); }",
        lambda i: ties_away(wide(i, "a"), 4) + 3 * ties_away(wide(i, "a") - wide(i, "b"), 4), {3},
    ),
    "called twice by one line": (
        "output[i] = 3 - (b[i] < 0 ? rounded(a[i]) : rounded(a[i] - b[i])); }",
        lambda i: 3 - ties_away(wide(i, "a") - np.maximum(wide(i, "b"), 0), 4), {3, 13},
    ),
    "wrong for one line, the other one knows no ties": (
        "output[i] = rounded(a[i]);\n output[i] += 3 * rounded(b[i] * 16); }",
        lambda i: ties_away(wide(i, "a"), 4) + 3 * wide(i, "b"), {3, 13},
    ),
    "called for another one by one line": (
        "output[i] = rounded(a[i]);\n output[i] += 3 * rounded(b[i] - a[i]); }",
        lambda i: (wide(i, "a") + 8 >> 4) + 3 * ties_away(wide(i, "b") - wide(i, "a"), 4), {14},
    ),
    "called for another one by a function": (
        "output[i] = twice(a[i]);\n output[i] += rounded(b[i]); }",
        lambda i: 2 * ties_away(wide(i, "a"), 4) + (wide(i, "b") + 8 >> 4), {8, 13},
    ),
    "wrong for one line of the functions above": (
        "output[i] = twice(a[i]);\n output[i] += twice(b[i] * 16); }",
        lambda i: 2 * ties_away(wide(i, "a"), 4) + 2 * wide(i, "b"), {3, 8, 13},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(CALLED, 3))
def test_of_a_function_that_several_lines_call_those_are_told_that_may_be_at_fault(kind: str, tmp_path: Path) -> None:
    text, golden, lines = CALLED[kind]
    kernel = faulty_kernel(Faulty(EACH + text, golden), tmp_path)
    kernel.sources[0].write_text(HELPED + kernel.sources[0].read_text())
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {f"kernel.c:{line}" for line in lines}


@pytest.mark.slow
def test_of_a_function_that_calls_another_the_line_is_told_that_must_find_the_repair(tmp_path: Path) -> None:
    helpers = "static int more(int x)\n{\n return x + 8;\n}\nstatic int rounded(int x)\n{\n return more(x) >> 4;\n}\n"
    text, golden, _ = CALLED["wrong for one line, the other one knows no ties"]
    kernel = faulty_kernel(Faulty(EACH + text, golden), tmp_path)
    kernel.sources[0].write_text(helpers + kernel.sources[0].read_text())
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {"kernel.c:7", "kernel.c:12"}


@pytest.mark.slow
@pytest.mark.parametrize("kept", sampled(["int16_t", "int32_t"], 2))
def test_what_begins_with_a_constant_may_have_to_begin_with_the_first_element(kept: str, tmp_path: Path) -> None:
    lines = f"{kept} before = 0;\nfor (int i = 0; i < n; ++i) {{\noutput[i] = a[i] - before;\nbefore = a[i]; }}"
    faulty = Faulty(lines, lambda i: np.diff(wide(i, "a"), prepend=wide(i, "a")[:1]), SHORT)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert (set(found.lines), "of the first element where a (set at kernel.c:" in str(found)) == ({"kernel.c:4"}, True)


@pytest.mark.slow
def test_of_many_repairs_three_are_told_and_how_many_more_there_are(tmp_path: Path) -> None:
    """Any of five numbers may be the one that is one too low."""
    lines = "int x = a[i] ^ b[i];\n" + "".join(f"x += {number};\n" for number in (10, 20, 30, 40, 50))
    faulty = Faulty(f"{EACH}{lines}output[i] = x; }}", lambda i: (wide(i, "a") ^ wide(i, "b")) + 151)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    numbers = [repair.rpartition("#")[2].partition(" (")[0] for repair in found.repairs]
    assert (found.lines, numbers) == ((), ["0xb", "0x15", "0x1f", "2 more"])


@pytest.mark.slow
def test_a_difference_where_a_variable_belongs_is_told_with_that_variable(tmp_path: Path) -> None:
    lines = "int kept = a[i] * b[i] + 3;\nint64_t wide = kept;\noutput[i] = (a[i] - b[i]) ^ 85;\noutput[i] += wide; }"
    kernel = faulty_kernel(
        Faulty(EACH + lines, lambda i: ((wide(i, "a") * wide(i, "b") + 3) ^ 85) + wide(i, "a") * wide(i, "b") + 3),
        tmp_path,
    )
    found = find_fault(kernel, Job(kernel.sources[0], ("-O0",)), make_vectors(kernel, 60, seed=1))
    assert "with kept (set at kernel.c:4) in its place" in str(found)
    assert set(found.lines) == {"kernel.c:6"}
