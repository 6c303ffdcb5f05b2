"""Shrinking failing inputs: shorter, simpler, still failing in the same way; and writing them down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.lane import Int, Lane
from isa.rows import TABLE
from isa.semantics.elementwise import SIGNED, each
from sim.check.check import Job
from sim.kernels import Domain, Inputs, Kernel, Outputs, Tolerance, parse_prototype, quantize_down
from sim.kernels.inputs import choices, cut, numbers_of, sizes_of
from sim.kernels.kernel_file import load_kernel
from sim.kernels.quantize_down.golden import Parameters
from sim.shrink.external import shrink_external_backend
from sim.shrink.failing import Shrunk, shrink
from sim.shrink.literal import as_bytes, from_bytes, is_literal, literal
from sim.shrink.trial import Trial, alone
from sim.view.lanes import lane_table

EXAMPLE = Path(__file__).resolve().parents[1] / "sim" / "command" / "example"
SOURCE = (EXAMPLE / "my_kernel.c").read_text()
LENGTH = 37
"""Two whole steps of the example, and a tail of five."""


@pytest.fixture
def planted(tmp_path: Path) -> Callable[[str, str], Kernel]:
    """The example with a text of its source replaced."""

    def kernel(old: str, new: str) -> Kernel:
        assert old in SOURCE
        (tmp_path / "my_kernel.py").write_text((EXAMPLE / "my_kernel.py").read_text())
        (tmp_path / "my_kernel.c").write_text(SOURCE.replace(old, new))
        return load_kernel(tmp_path / "my_kernel.py")

    return kernel


def random_row(length: int = LENGTH) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    drawn = rng.integers(-128, 128, (2, length)).astype(np.int8)
    return {"length": length, "a": drawn[0], "b": drawn[1]}


def shrunk(kernel: Kernel, inputs: Inputs, level: str = "O1") -> Shrunk:
    return shrink(kernel, Job(kernel.sources[0], (f"-{level}",)), alone(kernel, inputs, seed=1), 0)


def test_a_tail_left_out_shrinks_to_one_lane_of_zeros(planted: Callable[[str, str], Kernel]) -> None:
    found = shrunk(planted("i < length; ++i", "i + 1 < length; ++i"), random_row())
    assert literal(found.inputs) == literal({"length": 1, "a": np.zeros(1, np.int8), "b": np.zeros(1, np.int8)})


@pytest.mark.slow
def test_a_missing_saturation_shrinks_to_one_step_with_the_one_product_that_saturates(
    planted: Callable[[str, str], Kernel],
) -> None:
    """Only -128 times -128 is more than 127 after rounding, and only whole steps of sixteen have the fault."""
    inputs = random_row()
    inputs["a"][20] = inputs["b"][20] = -128
    found = shrunk(planted("vqrshrn_n_s16", "vrshrn_n_s16"), inputs).inputs
    wanted = [0] * 15 + [-128]
    assert (found["length"], sorted(found["a"].tolist(), reverse=True), (found["a"] == found["b"]).all()) == (
        16, wanted, True,
    )  # fmt: skip


@pytest.mark.slow
def test_numbers_shrink_to_the_edge_of_the_fault(planted: Callable[[str, str], Kernel]) -> None:
    """Without the rounding, positive products are wrong from 64 on: with either number one less, it would be right."""
    kernel = planted("(a * b + 64) >> 7", "(a * b) >> 7")
    positive = replace(kernel, domain={"a": Domain(low=0), "b": Domain(low=0)})
    row = {"length": 3, "a": np.array([9, 100, 3], np.int8), "b": np.array([2, 97, 5], np.int8)}
    found = shrunk(positive, row).inputs
    a, b = int(found["a"][0]), int(found["b"][0])
    assert max((a - 1) * b, a * (b - 1)) < 64 <= a * b


def test_what_is_shrunk_fails_when_checked_alone(planted: Callable[[str, str], Kernel]) -> None:
    outcome = shrunk(planted("(a * b + 64) >> 7", "(a * b) >> 7"), random_row()).outcome
    assert outcome is not None
    assert outcome.failure.splitlines()[0].endswith("(1 lane differs)")  # though it was tried in two places


@pytest.mark.slow
def test_the_text_counts_lanes(planted: Callable[[str, str], Kernel]) -> None:
    found = shrunk(planted("(a * b + 64) >> 7", "(a * b) >> 7"), random_row())
    assert found.text == f"shrunk to 1 of {LENGTH} output lanes"


def test_wrong_lanes_do_not_shrink_to_an_over_read(planted: Callable[[str, str], Kernel]) -> None:
    """A first number of 0 is simpler than the 1 that makes lanes wrong, but is another kind of failure."""
    fault = "(length && !a[0] ? *(const volatile int8_t *)(a + length) : 0, multiply_one(a[i], b[i]) ^ (a[0] != 0))"
    found = shrunk(planted("= multiply_one(a[i], b[i])", f"= {fault}"), random_row()).inputs
    assert (found["length"], found["a"].tolist()) == (1, [1])


def test_an_over_read_shrinks_to_another_over_read(planted: Callable[[str, str], Kernel]) -> None:
    """Reading one step too many makes wrong lanes as well, but they are another kind of failure."""
    found = shrunk(planted("i + 16 <= length", "i < length"), random_row())
    assert found.outcome is not None
    assert [finding.kind for finding in found.outcome.findings] == ["over-read"]


SATURATING = """
#include <arm_neon.h>
void add(const int32_t *a, const int32_t *b, int32_t *output) {
    vst1q_s32(output, vqaddq_s32(vld1q_s32(a), vld1q_s32(b)));
}
"""


def wrapping_sum(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a + b)


def test_a_finding_does_not_shrink_to_that_of_another_instruction_or_array(tmp_path: Path) -> None:
    """Nothing at all over-reads by another instruction: the very first element of the other array."""
    text = """
        #include <stddef.h>
        #include <stdint.h>
        void add(const int8_t *a, const int8_t *b, int8_t *out, size_t n) {
            int8_t first = *(volatile const int8_t *)b;
            for (size_t i = 0; i < n; i++) out[i] = first + *(volatile const int8_t *)(a + i + (i > 3));
        }
    """
    (tmp_path / "add.c").write_text(text)
    name, signature = parse_prototype("void add(const int8_t a[n], const int8_t b[n], int8_t out[n], size_t n)")
    kernel = Kernel(
        name=name,
        symbol=name,
        sources=(tmp_path / "add.c",),
        signature=signature,
        golden=lambda inputs: {"out": inputs["b"][:1].repeat(inputs["n"]) + inputs["a"]},
    )
    row = {"n": 9, "a": np.arange(9, dtype=np.int8), "b": np.ones(9, np.int8)}
    assert shrunk(kernel, row).inputs["n"] == 5


@pytest.mark.slow
def test_a_divergence_shrinks_to_the_numbers_at_which_the_engines_part(tmp_path: Path) -> None:
    """A machine that wraps where SQADD saturates parts from the emulator at 2^31 - 1 and 1, or the like."""
    (tmp_path / "add.c").write_text(SATURATING)
    name, signature = parse_prototype("void add(const int32_t a[4], const int32_t b[4], int32_t output[4])")
    kernel = Kernel(
        name=name,
        symbol=name,
        sources=(tmp_path / "add.c",),
        signature=signature,
        golden=lambda x: {"output": saturated(x["a"], x["b"])},
    )
    row = {"a": np.array([1, 2, 2_000_000_000, 4], np.int32), "b": np.array([5, 6, 1_999_999_999, 8], np.int32)}
    table = TABLE.replacing("sqadd .4s,.4s,.4s", each(SIGNED, wrapping_sum))
    job = Job(kernel.sources[0], ("-O1",))
    failure = Trial(kernel, job, 1, table=table).first_failure(row)
    found = shrink(kernel, job, alone(kernel, row, seed=1), 0, table=table)
    assert failure is not None
    assert failure.kind == "divergence"
    assert np.sort(found.inputs["a"].astype(np.int64) + found.inputs["b"]).tolist() == [0, 0, 0, 2**31]


def saturated(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total: np.ndarray[Any, Any] = np.clip(a.astype(np.int64) + b, -(2**31), 2**31 - 1)
    return total.astype(np.int32)


def test_an_endless_loop_is_a_kind_of_its_own(planted: Callable[[str, str], Kernel]) -> None:
    kernel = planted("i < length; ++i", "i < length;")
    failure = Trial(kernel, Job(kernel.sources[0], ("-O1",)), 1, "machine").first_failure(random_row())
    assert failure is not None
    assert failure.kind == "instruction limit"


QUANTIZED: dict[str, Any] = {
    "accumulators": np.arange(-300, 900, 60).astype(np.int32),
    "bias": np.full(20, 7, np.int32),
    "parameters": Parameters(1 << 30, 3, 77, 1, 200),
}


def without_offset(folder: Path) -> Path:
    """The plain source of quantize_down, which forgets to add the offset."""
    text = quantize_down.KERNEL.sources[1].read_text()
    assert "(uint32_t)scaled + (uint32_t)offset" in text
    (folder / "kernel.c").write_text(text.replace("(uint32_t)scaled + (uint32_t)offset", "(uint32_t)scaled"))
    return folder / "kernel.c"


def test_fields_of_parameters_are_simplified(tmp_path: Path) -> None:
    """The smallest offset that shows is 1, whatever else is given: a negative one is clamped to 0."""
    kernel = replace(quantize_down.KERNEL, sources=(without_offset(tmp_path),))
    assert literal(shrunk(kernel, QUANTIZED).inputs) == literal(
        {"accumulators": np.zeros(1, np.int32), "bias": np.zeros(1, np.int32), "parameters": Parameters(0, 0, 1)}
    )


@pytest.mark.slow
def test_inputs_stay_such_that_the_program_of_intrinsics_agrees(tmp_path: Path) -> None:
    def picky(**arguments: Any) -> None:
        if arguments["offset"] < 10:
            raise ValueError("an offset below 10 is not for this kernel")
        quantize_down.program.quantize_row(**arguments)

    kernel = replace(quantize_down.KERNEL, sources=(without_offset(tmp_path),), program=picky)
    assert shrunk(kernel, QUANTIZED).inputs["parameters"].offset == 10


def tenths(folder: Path, condition: str) -> Kernel:
    """Tenths in float32, which are one ulp off here and there, as is allowed; 0 where the condition holds."""
    (folder / "tenths.c").write_text(
        "void tenths(const float *x, float *y, int n) {\n"
        f"  for (int i = 0; i < n; i++) y[i] = {condition} ? 0.0f : x[i] * 0.1f;\n}}\n"
    )
    name, signature = parse_prototype("void tenths(const float x[n], float y[n], int n)")
    return Kernel(
        name=name, symbol=name, sources=(folder / "tenths.c",), signature=signature, tolerance=Tolerance(ulps=1),
        golden=lambda inputs: {"y": (inputs["x"].astype(np.float64) / 10).astype(np.float32)},
    )  # fmt: skip


def row_of_tenths() -> dict[str, Any]:
    x = np.linspace(-90, 90, 23).astype(np.float32)
    x[20] = 200
    return {"x": x, "n": 23}


@pytest.mark.slow
def test_lanes_within_the_tolerance_do_not_fail(tmp_path: Path) -> None:
    found = shrunk(tenths(tmp_path, "x[i] > 100.0f"), row_of_tenths())
    assert literal(found.inputs) == literal({"x": np.array([101], np.float32), "n": 1})


def test_of_a_backend_neither(tmp_path: Path) -> None:
    kernel = tenths(tmp_path, "0")

    class Tenths:
        name, made_as = "tenths", "by hand"

        def run(self, inputs: Sequence[Inputs]) -> list[Outputs]:
            return [{"y": np.where(each["x"] > 100, 0, each["x"] * np.float32(0.1))} for each in inputs]

        def show(self, inputs: Inputs) -> str:
            return ""

    found = shrink_external_backend(kernel, Tenths(), alone(kernel, row_of_tenths(), seed=1), 0)
    assert (found.inputs["n"], found.inputs["x"][0] > 100) == (1, True)


def test_a_number_from_which_extents_are_computed_shrinks_with_them(tmp_path: Path) -> None:
    """Wherever in the arrays the lane lies that is wrong."""
    (tmp_path / "blocks.c").write_text(
        "void blocks(const signed char *a, signed char *y, unsigned long n)"
        "{ for (unsigned long i = 0; i < 8 * n; ++i) y[i] = a[i] + (a[i] == 100); }"
    )
    name, signature = parse_prototype("void blocks(const int8_t a[8 * n], int8_t y[8 * n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(tmp_path / "blocks.c",), signature=signature,
        golden=lambda inputs: {"y": inputs["a"].copy()},
    )  # fmt: skip
    row = np.arange(-68, 68).astype(np.int8)[::-1].copy()
    row[99] = 100
    found = shrunk(kernel, {"a": row, "n": 17}).inputs
    assert (found["n"], sorted(found["a"])) == (1, [0, 0, 0, 0, 0, 0, 0, 100])


def test_scalars_stay_in_their_domain(planted: Callable[[str, str], Kernel]) -> None:
    kernel = planted("i < length; ++i", "i + 1 < length; ++i")
    even = replace(kernel, domain={**kernel.domain, "length": Domain(3, 40)})
    assert shrunk(even, random_row()).inputs["length"] == 3


def test_numbers_of_arrays_stay_in_their_domain(planted: Callable[[str, str], Kernel]) -> None:
    kernel = planted("i < length; ++i", "i + 1 < length; ++i")
    positive = replace(kernel, domain={"a": Domain(5, 100), "b": Domain(choices=(-7, 90, 3))})
    row = {"length": 2, "a": np.array([50, 99], np.int8), "b": np.array([90, -7], np.int8)}
    found = shrunk(positive, row).inputs
    assert (found["a"].tolist(), found["b"].tolist()) == ([5], [3])


def test_inputs_that_fail_only_among_others_stay(planted: Callable[[str, str], Kernel]) -> None:
    found = shrunk(planted("i + 16 <= length", "i + 16 <= length"), row := random_row())
    assert (found.inputs, found.outcome, found.text) == (
        row, None, "not shrunk, as input set 0 fails only among the others",
    )  # fmt: skip


def test_nothing_smaller_is_said_so(planted: Callable[[str, str], Kernel]) -> None:
    row = {"length": 1, "a": np.zeros(1, np.int8), "b": np.zeros(1, np.int8)}
    found = shrunk(planted("i < length; ++i", "i + 1 < length; ++i"), row)
    assert (found.text, found.inputs) == ("not shrunk, as nothing smaller fails", row)


def test_a_cut_goes_round_the_end_of_every_axis_of_that_size() -> None:
    kinds = {"rows": np.arange(6).reshape(2, 3), "row": np.arange(3), "tuple": (7, 8, 9), "length": 3, "other": 2}
    made = cut(kinds, 3, start=2, length=2)
    assert literal(made) == literal(
        {"rows": np.array([[2, 0], [5, 3]]), "row": np.array([2, 0]), "tuple": (9, 7), "length": 2, "other": 2}
    )


def test_sizes_are_those_of_outputs_then_of_inputs_the_last_axes_first() -> None:
    rows = np.zeros((2, 9))
    assert sizes_of({"out": rows, "sum": np.zeros(2)}, {"a": np.zeros((5, 9)), "none": None, "b": np.zeros(0)}) == [
        9,
        2,
        5,
    ]


def test_choices_are_ordered_by_simplicity_and_end_with_the_number_itself(
    planted: Callable[[str, str], Kernel],
) -> None:
    kernel = replace(planted("i + 16", "i + 16"), domain={})
    row = {"length": 1, "a": np.array([-6], np.int8), "b": np.array([0], np.int8)}
    assert choices(kernel, row) == {("a", 0): [0, 1, -1, 3, -3, 5, -5, 6, -6]}


def test_numbers_are_found_at_any_depth() -> None:
    found = numbers_of({"p": Parameters(1, 2, 3), "t": (np.float32(0.5), {"x": True}), "none": None})
    assert list(found) == [
        *(("p", name) for name in ("multiplier", "shift", "offset", "minimum", "maximum")), ("t", 0), ("t", 1, "x"),
    ]  # fmt: skip


NAN_OF_ITS_OWN = np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32)
WRITTEN = (
    {"a": np.array([[1, -2], [3, 4]], np.int16), "length": 2, "none": None, "flag": True},
    {"a": np.array([0.1, np.inf, -np.inf, -0.0], np.float32), "scale": np.float32(0.1), "factor": float("inf")},
    {"a": NAN_OF_ITS_OWN, "empty": np.zeros((0, 3), np.uint8), "scalar": np.array(5, np.int64)},
    {"p": Parameters(1, 2, 3), "t": (1, 2.5), "one": (1,), "bounds": {"low": np.array([1], np.uint8)}},
)


def bits_of(value: Any) -> Any:
    """What two values must share to be the same: types, shapes and bytes."""
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: bits_of(part) for name, part in value.items()}
    return repr(value)


@pytest.mark.parametrize("inputs", WRITTEN)
def test_a_literal_makes_the_same_inputs_again(inputs: dict[str, Any]) -> None:
    made, names = literal(inputs), dict[str, Any]()
    exec("\n".join(made.imports), names)
    assert bits_of(eval(made.text, names)) == bits_of(inputs)


@dataclass(frozen=True)
class Nested:
    inner: object


def test_what_cannot_be_imported_is_no_literal() -> None:
    @dataclass(frozen=True)
    class Local:
        number: int = 1

    assert is_literal({"p": Nested(Parameters(1, 2))})
    assert not is_literal({"p": Nested(Local())})


@pytest.mark.parametrize("inputs", WRITTEN)
def test_bytes_of_the_database_make_the_same_inputs_again(inputs: dict[str, Any]) -> None:
    assert bits_of(from_bytes(as_bytes(inputs), inputs)) == bits_of(inputs)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff", b"[]", b"{}", b'{"a": {"array": "00", "dtype": "int32", "shape": [1]}}',
        b'{"a": {"array": "00", "dtype": "O", "shape": [1]}}', b'{"a": {"number": "zz"}}', b'{"a": {}}',
    ],
)  # fmt: skip
def test_other_bytes_of_a_database_are_refused(data: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_bytes(data, {"a": np.zeros(1, np.int32)})


def test_the_lane_table_shows_wrong_lanes_with_their_neighbours() -> None:
    golden, got = np.arange(9, dtype=np.int8), np.arange(9, dtype=np.int8)
    got[1], got[7] = 5, -7
    table = lane_table({"a": golden * 10, "n": 9}, {"out": golden}, {"machine": {"out": got}, "emulator": {"out": got}})
    assert table.splitlines() == [
        "out   a  golden  machine  emulator  difference",
        "  0   0       0        0         0",
        "  1  10       1        5         5          +4  <",
        "  2  20       2        2         2",
        "...",
        "  6  60       6        6         6",
        "  7  70       7       -7        -7         -14  <",
        "  8  80       8        8         8",
        "2 of 9 lanes of this call are wrong",
    ]


def test_the_lane_table_leaves_out_what_the_tolerance_allows() -> None:
    golden = np.array([1, 2, 3], np.float32)
    got = np.array([1.5, 2, 9], np.float32)
    table = lane_table({}, {"out": golden}, {"machine": {"out": got}}, Tolerance(absolute=0.5))
    assert table.splitlines()[-1] == "1 of 3 lanes of this call is wrong"


def test_the_lane_table_has_at_most_twenty_lanes() -> None:
    golden = np.zeros((3, 50), np.float32)
    table = lane_table({}, {"out": golden}, {"machine": {"out": golden + 1}}).splitlines()
    assert (len(table), table[-1]) == (1 + 20 + 1, "150 of 150 lanes of this call are wrong, 130 of them not shown")


def test_the_lane_table_is_empty_where_every_lane_is_right() -> None:
    assert lane_table({}, {"out": np.zeros(3)}, {"machine": {"out": np.zeros(3)}}) == ""


def test_the_lane_table_shows_a_returned_number() -> None:
    table = lane_table({}, {"returned": np.array(3)}, {"machine": {"returned": np.array(4)}}).splitlines()
    assert table[1].split() == ["-", "3", "4", "+1", "<"]
