"""offset_contribution as ACL exposes it: validate() in upstream's order, padding, configure(), run() on windows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim.golden.fixed_point import Int32Array
from sim.kernels.offset_contribution.configure import OffsetContribution
from sim.kernels.offset_contribution.golden import Parameters, offset_contribution
from sim.kernels.offset_contribution.validation import validate
from sim.kernels.operator import ConfigurationError, ErrorCode, Shape, TensorInfo, Window

CL, NEON, NEON_20_11 = "acl_19_08_cl", "acl_19_08_neon", "acl_20_11_neon"
MM = TensorInfo((13, 33), "S32")  # numpy order: 33 is ACL's dimension 0
COLUMNS = TensorInfo((33,), "S32")
ROWS = TensorInfo((13,), "S32")
GOOD: dict[str, Any] = {
    "mm": MM, "column_sums": COLUMNS, "row_sums": ROWS, "bias": COLUMNS, "a_offset": 2, "b_offset": 3,
}  # fmt: skip
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("mm is null: give a TensorInfo", {"mm": None}),
    ("mm has data type F32: it must be S32", {"mm": replace(MM, data_type="F32")}),
    ("mm has 2 channels: it must have 1", {"mm": replace(MM, channels=2)}),
    ("bias has data type F16: it must be S32", {"bias": replace(COLUMNS, data_type="F16")}),
    ("bias has rank 2, shape (2, 33): it must have rank 1", {"bias": replace(COLUMNS, shape=(2, 33))}),
    ("bias: shape (32,), whose last axis must be the columns of mm, 33", {"bias": replace(COLUMNS, shape=(32,))}),
    ("column_sums is null: it is needed where a_offset is not 0", {"column_sums": None}),
    ("column_sums has data type U8: it must be S32", {"column_sums": replace(COLUMNS, data_type="U8")}),
    (
        "column_sums: shape (21,), whose last axis must be the columns of mm, 33",
        {"column_sums": replace(COLUMNS, shape=(21,))},
    ),
    ("row_sums is null: it is needed where b_offset is not 0", {"row_sums": None}),
    ("row_sums has data type U8: it must be S32", {"row_sums": replace(ROWS, data_type="U8")}),
    ("row_sums: shape (12,), whose last axis must be the rows of mm, 13", {"row_sums": replace(ROWS, shape=(12,))}),
    ("row_sums has 2 batches: mm has 1", {"row_sums": replace(ROWS, shape=(2, 13))}),
    (
        "column_sums has 2 batches: it must have 1, or those of row_sums, 1",
        {"column_sums": replace(COLUMNS, shape=(2, 33))},
    ),
    (
        "insufficient padding: mm has 2 right and 0 bottom, is not resizable, and needs 3 right and 0 bottom",
        {"mm": replace(MM, right_padding=2, resizable=False)},
    ),
    (
        "insufficient padding: column_sums has 0 right and 0 bottom, is not resizable, and needs 3 right and 0 bottom",
        {"column_sums": replace(COLUMNS, resizable=False)},
    ),
    (
        "insufficient padding: bias has 0 right and 0 bottom, is not resizable, and needs 3 right and 0 bottom",
        {"bias": replace(COLUMNS, resizable=False)},
    ),
]
PAIRS = [(a, b) for i, a in enumerate(FAULTS) for b in FAULTS[i + 1 :] if not a[1].keys() & b[1].keys()]


def status_of(changes: dict[str, Any], mode: str = CL) -> tuple[ErrorCode, str]:
    given = GOOD | ({"bias": None} if mode != CL else {}) | changes
    status = validate(**given, mode=mode)
    return status.code, status.description


@pytest.mark.parametrize(("sentence", "changes"), FAULTS)
def test_each_fault_alone(sentence: str, changes: dict[str, Any]) -> None:
    assert status_of(changes) == (ErrorCode.RUNTIME_ERROR, sentence)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_faults_the_first_in_upstream_order_is_reported(
    first: tuple[str, dict[str, Any]], second: tuple[str, dict[str, Any]]
) -> None:
    assert status_of(first[1] | second[1]) == (ErrorCode.RUNTIME_ERROR, first[0])


def test_an_accepted_status_is_true_and_says_nothing() -> None:
    assert status_of({}) == (ErrorCode.OK, "")


# Upstream's own cases: a product of (21, 13) and (33, 21).


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"mm": TensorInfo((13, 33), "S32", resizable=False)}, False),
        ({"mm": TensorInfo((13, 33), "QASYMM8")}, False),
        ({"mm": TensorInfo((32, 64), "S32"), "column_sums": TensorInfo((64,), "S32"),
          "row_sums": TensorInfo((32,), "S32")}, True),
    ],
)  # fmt: skip
def test_upstream_validate_cases(changes: dict[str, Any], accepted: bool) -> None:
    assert (status_of(changes, NEON)[0] is ErrorCode.OK) is accepted


@pytest.mark.parametrize(("right", "bottom", "accepted"), [(15, 12, True), (14, 12, False), (15, 11, False)])
def test_neon_asks_column_sums_for_rows_of_bottom_padding(right: int, bottom: int, accepted: bool) -> None:
    """Right 15 and bottom 12 for 13 x 33 (docs/spec/offset_contribution.md section 5)."""
    sums = replace(COLUMNS, right_padding=right, bottom_padding=bottom, resizable=False)
    assert (status_of({"column_sums": sums}, NEON)[0] is ErrorCode.OK) is accepted


def test_neon_asks_for_bottom_padding_even_when_whole_steps_fill_the_row() -> None:
    sums = TensorInfo((16,), "S32", resizable=False)
    changes = {"mm": TensorInfo((2, 16), "S32"), "column_sums": sums, "row_sums": TensorInfo((2,), "S32")}
    assert "insufficient padding: column_sums" in status_of(changes, NEON)[1]


def test_20_11_needs_no_padding() -> None:
    fixed = {name: replace(GOOD[name], resizable=False) for name in ("mm", "column_sums", "row_sums")}
    assert status_of(fixed, NEON_20_11) == (ErrorCode.OK, "")


def test_column_sums_that_are_not_used_need_no_padding() -> None:
    assert status_of({"column_sums": replace(COLUMNS, resizable=False), "a_offset": 0}, NEON)[0] is ErrorCode.OK


@pytest.mark.parametrize("changes", [{"a_offset": 0, "column_sums": None}, {"b_offset": 0, "row_sums": None}])
def test_sums_of_an_offset_0_may_be_null(changes: dict[str, Any]) -> None:
    assert status_of(changes) == (ErrorCode.OK, "")


@pytest.mark.parametrize(
    ("mm", "rows", "description"),
    [
        ((2, 13, 33), (26,), ""),
        ((5, 2, 13, 33), (5, 26), ""),
        ((5, 2, 13, 33), (5, 2, 13), ""),
        ((5, 2, 13, 33), (2, 26), "row_sums has 2 batches: mm has 5"),
        ((2, 13, 33), (25,), "row_sums: shape (25,), whose last axis must be the rows of mm, 26"),
        ((33,), (5,), "row_sums: shape (5,), whose last axis must be the rows of mm, 1"),
        ((33,), (7, 1), ""),
    ],
)
def test_row_sums_of_3d_and_batches(mm: Shape, rows: Shape, description: str) -> None:
    """A product of rank 1 is never read as 3-D, and the batches of its row sums are not compared."""
    changes = {"mm": replace(MM, shape=mm), "row_sums": replace(ROWS, shape=rows)}
    assert status_of(changes)[1] == description


def test_batches_of_column_sums_are_compared_with_row_sums_only() -> None:
    changes = {"mm": replace(MM, shape=(3, 13, 33)), "column_sums": replace(COLUMNS, shape=(2, 33)), "b_offset": 0}
    assert status_of(changes) == (ErrorCode.OK, "")


def test_a_bias_is_no_argument_of_neon() -> None:
    with pytest.raises(ValueError, match=f"bias was given: mode {NEON} has none"):
        status_of({"bias": COLUMNS}, NEON)


def test_an_unknown_mode_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(ValueError, match="unknown mode 'acl'"):
        status_of({"mm": None}, "acl")


# configure()


def configured(
    parameters: Parameters, mode: str = CL, shape: Shape = (3, 5), **infos: TensorInfo
) -> OffsetContribution:
    operator = OffsetContribution()
    given = {name: infos.get(name) for name in ("column_sums", "row_sums", "bias")}
    operator.configure(TensorInfo(shape, "S32"), **given, parameters=parameters, mode=mode)
    return operator


def test_configure_raises_the_status_text() -> None:
    with pytest.raises(ConfigurationError, match=r"^column_sums is null: it is needed where a_offset is not 0$"):
        configured(Parameters(1, 1, 0))


def test_configure_asserts_on_a_null_product() -> None:
    with pytest.raises(TypeError, match="mm is None: give a TensorInfo"):
        OffsetContribution().configure(None, None, None, None, Parameters(1, 0, 0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "mm", "sums"), [(CL, (3, 0), (3, 0)), (NEON, (15, 0), (15, 12)), (NEON_20_11, (0, 0), (0, 0))]
)
def test_configure_extends_padding(mode: str, mm: tuple[int, int], sums: tuple[int, int]) -> None:
    product, columns = replace(MM), replace(COLUMNS)
    OffsetContribution().configure(product, columns, ROWS, None, Parameters(21, 2, 3), mode)
    paddings = [(info.right_padding, info.bottom_padding) for info in (product, columns)]
    assert paddings == [mm, sums]


# run()


def numbers(seed: int, *shape: int) -> Int32Array:
    return np.random.default_rng(seed).integers(-(2**31), 2**31, shape).astype(np.int32)


def test_cl_writes_the_padding_of_its_last_step_and_no_more() -> None:
    mm, sums, rows, bias = numbers(0, 3, 8), numbers(1, 8), numbers(2, 3), numbers(3, 8)
    info = TensorInfo((5,), "S32")
    parameters, before = Parameters(9, -2, 13), mm.copy()
    operator = configured(parameters, column_sums=info, row_sums=TensorInfo((3,), "S32"), bias=replace(info))
    operator.run(mm, sums, rows, bias)
    np.testing.assert_array_equal(mm, offset_contribution(before, sums, rows, bias, parameters))


def test_padding_beyond_the_last_step_stays() -> None:
    operator, mm = OffsetContribution(), np.zeros((2, 12), np.int32)
    info, sums = TensorInfo((2, 5), "S32", right_padding=7), TensorInfo((5,), "S32")
    operator.configure(info, sums, None, None, Parameters(1, 1, 0))
    operator.run(mm, np.full(8, 7, np.int32))
    assert mm.tolist() == [[7] * 8 + [0] * 4] * 2


@pytest.mark.parametrize("mode", [CL, NEON])
def test_both_offsets_0(mode: str) -> None:
    mm = numbers(0, 3, 8 if mode == CL else 16)
    before = mm.copy()
    configured(Parameters(5, 0, 0), mode).run(mm)
    np.testing.assert_array_equal(mm, before)


def test_cl_adds_the_bias_with_both_offsets_0() -> None:
    mm = np.zeros((3, 8), np.int32)
    configured(Parameters(5, 0, 0), bias=TensorInfo((5,), "S32")).run(mm, bias=np.arange(8, dtype=np.int32))
    assert mm.tolist() == [list(range(8))] * 3


@pytest.mark.parametrize("mode", [CL, NEON])
def test_windows_together_are_the_whole(mode: str) -> None:
    step = 4 if mode == CL else 16
    width, parameters = 2 * step, Parameters(3, 5, -9)
    mm, sums, rows = numbers(0, 2, 3, width), numbers(1, 2, width), numbers(2, 2, 3)
    expected = offset_contribution(mm, sums, rows, None, parameters, mode)
    infos = {"column_sums": TensorInfo((2, width - 1), "S32"), "row_sums": TensorInfo((2, 3), "S32")}
    operator = configured(parameters, mode, (2, 3, width - 1), **infos)
    every = slice(None)
    for rows_of, columns in [(slice(0, 1), every), (slice(1, 3), slice(0, step)), (slice(1, 3), slice(step, None))]:
        operator.run(mm, sums, rows, window=(every, rows_of, columns))
    np.testing.assert_array_equal(mm, expected)


@pytest.mark.parametrize(
    "window", [(slice(0, 3), slice(2, 5)), (slice(0, 3), slice(0, 3)), (slice(0, 3), slice(0, 6)), (slice(0, 3),)]
)
def test_windows_that_cut_a_step_are_refused(window: Window) -> None:
    with pytest.raises(ValueError, match="window has"):
        configured(Parameters(1, 0, 0)).run(np.zeros((3, 8), np.int32), window=window)


def test_opencl_has_no_argument_for_sums_whose_offset_is_0() -> None:
    operator = configured(Parameters(1, 0, 0), column_sums=TensorInfo((5,), "S32"))
    with pytest.raises(ConfigurationError, match="column_sums was given although its offset is 0"):
        operator.run(np.zeros((3, 8), np.int32), np.zeros(5, np.int32))


def test_neon_ignores_sums_whose_offset_is_0() -> None:
    operator, mm = configured(Parameters(1, 0, 0), NEON, column_sums=TensorInfo((5,), "S32")), numbers(0, 3, 16)
    before = mm.copy()
    operator.run(mm, numbers(1, 5))
    np.testing.assert_array_equal(mm, before)


def test_fewer_batches_of_column_sums_than_of_mm_are_found_by_run() -> None:
    operator = configured(Parameters(1, 1, 0), CL, (3, 1, 4), column_sums=TensorInfo((2, 4), "S32"))
    with pytest.raises(ValueError, match="column sums have 2 batches, 3 are needed"):
        operator.run(np.zeros((3, 1, 4), np.int32), np.zeros((2, 4), np.int32))


def test_column_sums_with_a_z_stride_are_not_modelled_on_neon() -> None:
    operator = configured(Parameters(1, 1, 0), NEON, (2, 1, 16), column_sums=TensorInfo((2, 1, 16), "S32"))
    with pytest.raises(ValueError, match="mode acl_19_08_neon is modelled up to rank 2"):
        operator.run(np.zeros((2, 1, 16), np.int32), np.zeros((2, 1, 16), np.int32))


def test_column_sums_of_any_rank_are_collapsed_on_opencl() -> None:
    operator = configured(Parameters(1, 1, 0), CL, (2, 1, 4), column_sums=TensorInfo((2, 1, 4), "S32"))
    mm, sums = np.zeros((2, 1, 4), np.int32), numbers(1, 2, 1, 4)
    operator.run(mm, sums)
    np.testing.assert_array_equal(mm, sums)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"mm": np.zeros((3, 5), np.int32)}, r"mm has shape \(3, 5\): it was configured as \(3, 8\)"),
        ({"mm": np.zeros((3, 8), np.int64)}, "mm is not a numpy array of int32"),
        ({"mm": np.zeros((3, 8), np.int32), "bias": np.zeros(8, np.int32)}, "bias: given to one of configure"),
    ],
)
def test_arrays_that_were_not_configured_are_refused(arrays: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        configured(Parameters(1, 0, 0)).run(**arrays)


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"call configure\(\) before run\(\)"):
        OffsetContribution().run(np.zeros((1, 4), np.int32))
