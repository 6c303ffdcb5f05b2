"""What a check names as the place of a fault: kernels of a user's own, with one fault each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.check.check import Job, check_job
from sim.check.repair.place import with_faults
from sim.check.report import Mismatch
from sim.check.vectors import Vectors, make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from support.sampled import sampled

Inputs = Mapping[str, Any]
PER_CHANNEL = """
#include <stddef.h>
#include <stdint.h>
void shifted(const int32_t *values, const int32_t *shift, int32_t *output, size_t rows, size_t channels)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c) {
            int32_t moved = values[r * channels + c] >> shift[c];
            output[r * channels + c] = 3 * moved - 1;
        }
}
"""
PER_CHANNEL_PROTOTYPE = (
    "void shifted(const int32_t values[rows][channels], const int32_t shift[channels], "
    "int32_t output[rows][channels], size_t rows, size_t channels)"
)


def tripled(inputs: Inputs) -> dict[str, np.ndarray]:
    moved = inputs["values"] >> inputs["shift"]
    return {"shift": moved, "triple": 3 * moved, "last": 3 * moved + 1}


def mismatch_of(
    text: str, prototype: str, steps: Callable[[Inputs], dict[str, np.ndarray]], folder: Path, level: str,
    **domain: Domain,
) -> Mismatch:  # fmt: skip
    """The mismatch of a C kernel whose golden output is the last of its golden steps."""
    source = folder / "kernel.c"
    source.write_text(text)
    name, signature = parse_prototype(prototype)
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, domain=domain, steps=steps,
        golden=lambda inputs: {"output": [*steps(inputs).values()][-1].astype(np.int32)},
    )  # fmt: skip
    vectors = make_vectors(kernel, 100, seed=1)
    job = Job(source, (f"-{level}",))
    (outcome,) = with_faults(kernel, [job], vectors, [check_job(kernel, job, vectors, engine="machine")])
    assert outcome.mismatch is not None
    return outcome.mismatch


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize("level", sampled(["O2", "O0"], 2))
def test_a_golden_step_named_like_an_argument_is_told_apart_from_it(level: str, tmp_path: Path) -> None:
    domain = {"values": Domain(-9999, 9999), "shift": Domain(1, 5)}
    found = mismatch_of(PER_CHANNEL, PER_CHANNEL_PROTOTYPE, tripled, tmp_path, level, **domain)
    assert (found.parted_at, found.agreed) == ("last", ("shift", "triple"))


PRODUCTS = """
#include <stddef.h>
#include <stdint.h>
void products(const int8_t *a, const int8_t *b, int8_t *output, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const int8_t x = a[i];
        const int8_t y = b[i];
        const int32_t product = x * y + 63;
        const int32_t rounded = product >> 7;
        output[i] = (int8_t)(rounded > 127 ? 127 : rounded);
    }
}
"""


def rounded_products(inputs: Inputs) -> dict[str, np.ndarray]:
    product = inputs["a"].astype(np.int64) * inputs["b"]
    return {"product": product, "round": (product + 64) >> 7, "saturate": np.minimum((product + 64) >> 7, 127)}


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize(
    ("a", "b"),
    [([127], [64]), ([64], [1]), ([1], [64]), ([-3, 5, 7, -64], [1, 2, 3, -1]), ([0, 0, 0, 119, 0], [64] * 5)],
)
def test_what_loads_or_widens_a_right_number_is_not_blamed(
    a: list[int], b: list[int], level: str, tmp_path: Path
) -> None:
    """Of one call alone, where a factor is a golden step too by chance."""
    source = tmp_path / "products.c"
    source.write_text(PRODUCTS)
    name, signature = parse_prototype("void products(const int8_t a[n], const int8_t b[n], int8_t output[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, steps=rounded_products,
        golden=lambda inputs: {"output": rounded_products(inputs)["saturate"].astype(np.int8)},
    )  # fmt: skip
    inputs = {"a": np.array(a, np.int8), "b": np.array(b, np.int8), "n": len(a)}
    outcome = check_job(kernel, Job(source, (f"-{level}",)), Vectors([inputs], [kernel.expected(inputs)], 0))
    assert outcome.mismatch is not None
    assert outcome.mismatch.source == "products.c:9"
    assert outcome.mismatch.instruction.split()[0] in ("add", "madd", "mla", "smlal")


SCALED = """#include <stddef.h>
void scaled(const float *scale, float *output, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        output[i] = scale[i] * 3 - 1;
}
"""


def test_a_golden_step_that_is_an_argument_with_nan_in_it_is_that_argument(tmp_path: Path) -> None:
    """So it is agreed, and no step that the kernel would have to compute."""

    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        triple = inputs["scale"] * np.float32(3)
        return {"scale": inputs["scale"], "triple": triple, "last": triple + np.float32(1)}

    source = tmp_path / "kernel.c"
    source.write_text(SCALED)
    name, signature = parse_prototype("void scaled(const float scale[n], float output[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(source,), signature=signature, steps=steps,
        golden=lambda inputs: {"output": steps(inputs)["last"]},
    )  # fmt: skip
    inputs = {"scale": np.array([np.nan, 1.5, 2.5, 4], np.float32), "n": 4}
    outcome = check_job(
        kernel, Job(source, ("-O2",)), Vectors([inputs], [kernel.expected(inputs)], 1), engine="machine"
    )
    assert outcome.mismatch is not None
    assert outcome.mismatch.agreed == ("scale", "triple")


@pytest.mark.slow
def test_no_source_is_named_where_no_instruction_was_found(tmp_path: Path) -> None:
    text = "void copied(const int *a, int *output, int n) { for (int i = 0; i < n; ++i) output[i] = a[0]; }"
    prototype = "void copied(const int32_t a[n], int32_t output[n], int32_t n)"
    found = mismatch_of(text, prototype, lambda inputs: {"a": inputs["a"]}, tmp_path, "O1", n=Domain(1, 20))
    assert (found.parted_at, found.instruction, found.source) == ("a", "", "")


def line_of(text: str, part: str) -> str:
    """Where a part of a source is that stands in it once."""
    (number,) = [number for number, line in enumerate(text.splitlines(), 1) if part in line]
    return f"kernel.c:{number}"


TWO_BRANCHES = """
#include <arm_neon.h>
void sum(const int32_t *a, const int32_t *b, int32_t *output, int n)
{
    for (int i = 0; i + 4 <= n; i += 4) {
        int32x4_t x = vld1q_s32(a + i), y = vld1q_s32(b + i);
        x = vrshrq_n_s32(x, 3);
        y = vaddq_s32(y, vdupq_n_s32(7));
        y = vshrq_n_s32(y, 2);
        vst1q_s32(output + i, vaddq_s32(x, y));
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", sampled(["O2", "O0"], 2))
def test_a_fault_in_the_second_of_two_branches_is_named(level: str, tmp_path: Path) -> None:
    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        a, b = (inputs[name].astype(np.int64) for name in "ab")
        x, y = (a + 4) >> 3, (b + 7 + 2) >> 2
        return {"a shift": x, "b offset": b + 7, "b shift": y, "sum": x + y}

    prototype = "void sum(const int32_t a[n], const int32_t b[n], int32_t output[n], int32_t n)"
    domain = {"a": Domain(-9999, 9999), "b": Domain(-9999, 9999), "n": Domain(4, 4)}
    found = mismatch_of(TWO_BRANCHES, prototype, steps, tmp_path, level, **domain)
    assert (found.source, found.parted_at) == (line_of(TWO_BRANCHES, "vshrq_n_s32(y"), "b shift")


THRESHOLD = """
void bounded(const int *a, int *output, int n, int low, int high)
{
    for (int i = 0; i < n; ++i) {
        int below = a[i] < low;
        int above = a[i] >= high;
        output[i] = a[i] * 4 + below + 2 * above;
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", sampled(["O2", "O0"], 2))
def test_a_comparison_is_named_in_scalar_code(level: str, tmp_path: Path) -> None:
    def steps(inputs: Inputs) -> dict[str, np.ndarray]:
        a = inputs["a"].astype(np.int64)
        return {"bounded": a * 4 + (a < inputs["low"]) + 2 * (a > inputs["high"])}

    prototype = "void bounded(const int32_t a[n], int32_t output[n], int32_t n, int32_t low, int32_t high)"
    domain = {"a": Domain(-50, 50), "n": Domain(1, 30), "low": Domain(-20, -5), "high": Domain(5, 20)}
    found = mismatch_of(THRESHOLD, prototype, steps, tmp_path, level, **domain)
    assert found.source == line_of(THRESHOLD, ">= high")


SQUARE = "void line(const int *a, int *output, int n) { for (int i = 0; i < n; ++i) output[i] = a[i] * a[i]; }"
RIGHT_BEHIND = """
void line(const int *a, int *output, int n)
{
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        output[i] = a[i] * a[i];
        output[i + 1] = a[i + 1] * a[i + 1];
    }
    for (; i < n; ++i)
        output[i] = 7 * a[i] + 1;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", sampled([SQUARE, RIGHT_BEHIND], 2), ids=["everywhere", "before a tail that is right"])
def test_a_fault_that_no_small_change_repairs_is_said_to_be_unknown(text: str, tmp_path: Path) -> None:
    prototype = "void line(const int32_t a[n], int32_t output[n], int32_t n)"
    domain = {"a": Domain(-99, 99), "n": Domain(1, 20)}
    found = mismatch_of(text, prototype, lambda inputs: {"line": inputs["a"] * 7 + 1}, tmp_path, "O2", **domain)
    assert found.fault is not None
    assert (found.fault.lines, "is not known" in str(found)) == ((), True)


def test_an_input_that_other_sets_lack_is_changed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(int x, int by) { return x + by + (x == 5); }")
    name, signature = parse_prototype("int f(int x, int by)")
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "f.c",), signature=signature,
        arguments=lambda inputs: {"x": inputs["x"], "by": inputs.get("by", 0)},
        golden=lambda inputs: {"returned": np.asarray(inputs["x"] + inputs.get("by", 0), np.int32)},
        steps=lambda inputs: {"sum": np.asarray(inputs["x"] + inputs.get("by", 0), np.int32)},
    )  # fmt: skip
    inputs = [{"x": 2}, {"x": 5, "by": 7}]
    vectors = Vectors(inputs, [kernel.expected(one) for one in inputs], seed=1)
    mismatch = check_job(kernel, Job(kernel.sources[0], ("-O1",)), vectors).mismatch
    assert mismatch is not None
    assert (mismatch.got, mismatch.parted_at) == (13, "sum")


BOUNDED = """
void bounded(const int *a, const int *b, int *output, int n, const struct limits *p)
{
    for (int i = 0; i < n; ++i) {
        int sum = a[i] + b[i];
        int halved = sum >> 1;
        if (halved < p->low)
            halved = p->low;
        if (halved > p->high)
            halved = p->high;
        output[i] = halved;
    }
}
"""
BOUNDED_PROTOTYPE = (
    "void bounded(const int32_t a[n], const int32_t b[n], int32_t output[n], int32_t n, "
    "const struct { int32_t low; int32_t high; } *p)"
)


def bounded(inputs: Inputs) -> dict[str, np.ndarray]:
    total = inputs["a"].astype(np.int64) + inputs["b"]
    halved = (total + 1) >> 1
    return {"sum": total, "halve": halved, "bound": np.clip(halved, inputs["p"]["low"], inputs["p"]["high"])}


@pytest.mark.parametrize("level", ["O0", "O1"])
@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [(17, 4, -9, 90), (17, 4, 10, 90), (0, 1, 0, 1)],
    ids=["no bound", "the lower bound", "and the upper one is the sum"],
)
def test_of_a_wrong_lane_that_is_a_bound_the_step_is_told_that_was_compared_with_it(
    a: int, b: int, low: int, high: int, level: str, tmp_path: Path
) -> None:
    """By a select or a branch; 21 halves to 11 and not to 10, which is the lower bound too."""
    text = "struct limits { int low, high; };" + BOUNDED.replace("<", "<=", 2).replace("i <= n", "i < n")
    kernel = bounded_kernel(text, tmp_path)
    arrays = {"a": np.array([a], np.int32), "b": np.array([b], np.int32)}
    inputs = {**arrays, "n": 1, "p": {"low": low, "high": high}}
    vectors = Vectors([inputs], [kernel.expected(inputs)], 0)
    mismatch = check_job(kernel, Job(kernel.sources[0], (f"-{level}",)), vectors, engine="machine").mismatch
    assert mismatch is not None
    assert (mismatch.parted_at, mismatch.agreed) == ("halve", ("sum",))
    assert (mismatch.source, mismatch.came_from) == (line_of(text, ">> 1"), ("a[0]", "b[0]"))


def bounded_kernel(text: str, folder: Path) -> Kernel:
    (folder / "kernel.c").write_text(text)
    name, signature = parse_prototype(BOUNDED_PROTOTYPE)
    return Kernel(
        name=name, symbol=name, sources=(folder / "kernel.c",), signature=signature, steps=bounded,
        golden=lambda inputs: {"output": bounded(inputs)["bound"].astype(np.int32)},
    )  # fmt: skip


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_right_lanes_that_are_bounds_do_not_mislead_about_a_wrong_one(level: str, tmp_path: Path) -> None:
    """Nearly all lanes are bounds: what these came from is no step, and says nothing of the others."""
    text = "struct limits { int low, high; };" + BOUNDED
    kernel, limits = bounded_kernel(text, tmp_path), {"low": 0, "high": 40}
    arrays = [([9000, 8, 8000], [1, 17, 3]), ([-9000, 6, 8000], [-1, 16, 3])]
    inputs = [
        {"a": k * np.array(a, np.int32), "b": np.array(b, np.int32), "n": 3, "p": limits}
        for k in (1, 3, 5)
        for a, b in arrays
    ]
    inputs.append({"a": np.array([8, 9000], np.int32), "b": np.array([17, 5], np.int32), "n": 2, "p": limits})
    vectors = Vectors(inputs, [kernel.expected(one) for one in inputs], 0)
    mismatch = check_job(kernel, Job(kernel.sources[0], (f"-{level}",)), vectors, engine="machine").mismatch
    assert mismatch is not None
    assert (mismatch.parted_at, mismatch.agreed, mismatch.source) == ("halve", ("sum",), line_of(text, ">> 1"))


CONSTANT = """
void filled(const int *a, int *output, int n, const int *p)
{
    for (int i = 0; i < n; ++i)
        output[i] = p[0] + n;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", sampled(["O2", "O0"], 2))
def test_of_code_that_reads_no_array_the_first_step_is_told(level: str, tmp_path: Path) -> None:
    text = CONSTANT.replace("const int *p", "const struct { int by; } *p").replace("p[0]", "p->by")
    prototype = "void filled(const int32_t a[n], int32_t output[n], int32_t n, const struct { int32_t by; } *p)"
    domain = {"a": Domain(-99, 99), "n": Domain(1, 9), "p.by": Domain(1000, 2000)}
    found = mismatch_of(text, prototype, lambda inputs: {"twice": inputs["a"] * 2}, tmp_path, level, **domain)
    assert (found.parted_at, found.instruction[:5], found.came_from) == ("twice", "add w", ("no element of any array",))


TABLE_OF_ROWS = """
void added(const short *const *rows, int *output, long count, long n)
{
    for (long i = 0; i < n; ++i) {
        output[i] = 1;
        for (long k = 0; k < count; ++k)
            output[i] += rows[k][i];
    }
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("verdict_alone")
@pytest.mark.parametrize("level", sampled(["O2", "O0"], 2))
def test_elements_behind_a_table_of_pointers_are_named_by_their_rows(level: str, tmp_path: Path) -> None:
    """The rows do not lie next to each other: there is room between each two."""
    prototype = "void added(const int16_t **rows[count][n], int32_t output[n], size_t count, size_t n)"
    domain = {"rows": Domain(-99, 99), "count": Domain(3, 3), "n": Domain(5, 5)}
    found = mismatch_of(
        TABLE_OF_ROWS, prototype, lambda inputs: {"sum": inputs["rows"].sum(axis=0)}, tmp_path, level, **domain
    )
    (lane,) = found.lane
    assert found.came_from == tuple(f"rows[{row}][{lane}]" for row in range(3))
