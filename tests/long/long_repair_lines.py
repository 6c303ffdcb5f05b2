"""Which lines a repair says to be at fault, of whole kernels; `tests/test_repair_place.py` asks it of code on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_repair_lines import CALLED

from sim.check.check import Job
from sim.check.repair.place import find_fault
from sim.check.vectors import make_vectors
from sim.kernels.kernel import Inputs
from support.faulty import EACH, Faulty, faulty_kernel, wide


@pytest.mark.parametrize(
    ("lines", "golden", "told"),
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
    ids=["needed by all", "needed by one", "stored again"],
)
def test_of_the_lines_that_take_a_wrong_variable_one_is_told_that_alone_needs_another_number(
    lines: str, golden: Callable[[Inputs], np.ndarray], told: set[int], tmp_path: Path
) -> None:
    faulty = Faulty(f"int half = 7;\n{EACH}int x;\n{lines}\noutput[i] = x; }}", golden)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {f"kernel.c:{line}" for line in told}


@pytest.mark.parametrize(
    ("lines", "factor", "told"),
    [
        ("output[i] = (a[i] * FACTORS[1] >> 2) ^ b[i];", [1, 7, 4], {3, 8}),
        ("output[i] = (a[i] * FACTORS[1] >> 2);\noutput[i] ^= b[i] * FACTORS[1];", [1, 7, 7], {3}),
        ("output[i] = (a[i] * FACTORS[1] >> 2);\noutput[i] ^= b[i] * FACTORS[1];", [1, 7, 6], {8}),
    ],
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


@pytest.mark.parametrize("number", [7, 100_007])
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


def test_of_a_function_that_calls_another_the_line_is_told_that_must_find_the_repair(tmp_path: Path) -> None:
    helpers = "static int more(int x)\n{\n return x + 8;\n}\nstatic int rounded(int x)\n{\n return more(x) >> 4;\n}\n"
    text, golden, _ = CALLED["wrong for one line, the other one knows no ties"]
    kernel = faulty_kernel(Faulty(EACH + text, golden), tmp_path)
    kernel.sources[0].write_text(helpers + kernel.sources[0].read_text())
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    assert set(found.lines) == {"kernel.c:7", "kernel.c:12"}


def test_of_many_repairs_three_are_told_and_how_many_more_there_are(tmp_path: Path) -> None:
    """Any of five numbers may be the one that is one too low."""
    lines = "int x = a[i] ^ b[i];\n" + "".join(f"x += {number};\n" for number in (10, 20, 30, 40, 50))
    faulty = Faulty(f"{EACH}{lines}output[i] = x; }}", lambda i: (wide(i, "a") ^ wide(i, "b")) + 151)
    kernel = faulty_kernel(faulty, tmp_path)
    found = find_fault(kernel, Job(kernel.sources[0], ("-O2",)), make_vectors(kernel, 60, seed=1))
    numbers = [repair.rpartition("#")[2].partition(" (")[0] for repair in found.repairs]
    assert (found.lines, numbers) == ((), ["0xb", "0x15", "0x1f", "2 more"])


def test_a_difference_where_a_variable_belongs_is_told_with_that_variable(tmp_path: Path) -> None:
    lines = "int kept = a[i] * b[i] + 3;\nint64_t wide = kept;\noutput[i] = (a[i] - b[i]) ^ 85;\noutput[i] += wide; }"
    kernel = faulty_kernel(
        Faulty(EACH + lines, lambda i: ((wide(i, "a") * wide(i, "b") + 3) ^ 85) + wide(i, "a") * wide(i, "b") + 3),
        tmp_path,
    )
    found = find_fault(kernel, Job(kernel.sources[0], ("-O0",)), make_vectors(kernel, 60, seed=1))
    assert "with kept (set at kernel.c:4) in its place" in str(found)
    assert set(found.lines) == {"kernel.c:6"}
