"""Which lines a repair says to be at fault, besides that of the changed instruction: callers, addends, constants.

`tests/long/long_repair_lines.py` has more such kernels; `tests/test_repair_place.py` asks each of code on paper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job
from sim.check.repair.place import find_fault
from sim.check.vectors import make_vectors
from support.faulty import EACH, SHORT, Faulty, faulty_kernel, ties_away, wide
from support.sampled import sampled, shown_too_by


@pytest.mark.slow
@shown_too_by("test_repair_place.py::test_what_is_a_constant_more_before_an_instruction_may_be_more_in_any_addend")
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
    "called twice by one line": (
        "output[i] = 3 - (b[i] < 0 ? rounded(a[i]) : rounded(a[i] - b[i])); }",
        lambda i: 3 - ties_away(wide(i, "a") - np.maximum(wide(i, "b"), 0), 4), {3, 13},
    ),
    "wrong for both lines": (
        "output[i] = rounded(a[i]);\n output[i] += 3 * rounded(a[i] - b[i]); }",
        lambda i: ties_away(wide(i, "a"), 4) + 3 * ties_away(wide(i, "a") - wide(i, "b"), 4), {3},
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
@pytest.mark.parametrize("kept", sampled(["int16_t", "int32_t"], 2))
def test_what_begins_with_a_constant_may_have_to_begin_with_the_first_element(kept: str, tmp_path: Path) -> None:
    lines = f"{kept} before = 0;\nfor (int i = 0; i < n; ++i) {{\noutput[i] = a[i] - before;\nbefore = a[i]; }}"
    faulty = Faulty(lines, lambda i: np.diff(wide(i, "a"), prepend=wide(i, "a")[:1]), SHORT)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert (set(found.lines), "of the first element where a (set at kernel.c:" in str(found)) == ({"kernel.c:4"}, True)
