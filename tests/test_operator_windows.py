"""What ACL's operators tell of themselves: names, the largest window, border, and windows cut from it."""

import numpy as np
import pytest

from sim.kernels import kernel_names, operator_interface
from sim.kernels.offset_contribution.configure import OffsetContribution
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.operator import (
    AclFunction,
    AclKernel,
    BorderSize,
    ConfigurationError,
    TensorInfo,
    Window,
    maximum_window,
    region_of,
)
from sim.kernels.quantize_down.configure import QuantizeDown
from sim.kernels.quantize_down.golden import Parameters
from sim.kernels.transpose1xw.configure import Transpose1xW

ACL = {
    "arithmetic_addition", "fused_output_stage", "interleave4x4", "matrix_product", "matrix_reduction",
    "offset_contribution", "quantize_down", "transpose1xw",
}  # fmt: skip
CL, CL_WINDOW, NEON, NEON_20_11 = "acl_19_08_cl", "acl_19_08_cl_window", "acl_19_08_neon", "acl_20_11_neon"


def quantize_down() -> QuantizeDown:
    operator = QuantizeDown()
    operator.configure(TensorInfo((3, 21), "S32"), None, TensorInfo(), Parameters(2**30, 1))
    return operator


def offset_contribution(mode: str, columns: int = 21) -> OffsetContribution:
    operator = OffsetContribution()
    sums = TensorInfo((columns,), "S32")
    operator.configure(TensorInfo((3, columns), "S32"), sums, None, None, Offsets(1, 1, 0), mode)
    return operator


def transpose1xw(data_type: str, mode: str = "acl_19_08") -> Transpose1xW:
    operator = Transpose1xW()
    operator.configure(TensorInfo((3, 21), data_type), TensorInfo(), mode)
    return operator


@pytest.mark.parametrize(
    ("operator", "name", "columns"),
    [
        (quantize_down(), "NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPointKernel", slice(0, 21, 1)),
        (offset_contribution(CL), "CLGEMMLowpOffsetContributionKernel", slice(0, 24, 4)),
        (offset_contribution(CL_WINDOW), "CLGEMMLowpOffsetContributionKernel", slice(0, 24, 4)),
        (offset_contribution(NEON), "NEGEMMLowpOffsetContributionKernel", slice(0, 32, 16)),
        (offset_contribution(NEON_20_11), "NEGEMMLowpOffsetContributionKernel", slice(0, 21, 1)),
        (transpose1xw("U8"), "NEGEMMTranspose1xWKernel", slice(0, 32, 16)),
        (transpose1xw("F16"), "NEGEMMTranspose1xWKernel", slice(0, 24, 8)),
        (transpose1xw("S32", "acl_20_11"), "NEGEMMTranspose1xWKernel", slice(0, 24, 4)),
    ],
)
def test_name_and_largest_window(operator: AclKernel, name: str, columns: slice) -> None:
    assert (operator.name(), operator.window()) == (name, (slice(0, 3, 1), columns))
    assert (operator.is_parallelisable(), operator.border_size()) == (True, BorderSize(0, 0, 0, 0))


@pytest.mark.parametrize("name", kernel_names())
def test_those_of_acl_and_no_others_answer(name: str) -> None:
    answers = issubclass(operator_interface(name).operator, AclKernel)
    assert answers is (name in ACL)


@pytest.mark.parametrize("operator", [QuantizeDown(), Transpose1xW()])
def test_functions_have_a_step_of_preparation_that_does_nothing(operator: AclFunction) -> None:
    """Upstream allows it before configure() as well; a kernel has none."""
    before = vars(operator).copy()
    operator.prepare()
    assert vars(operator) == before
    assert not hasattr(OffsetContribution(), "prepare")


@pytest.mark.parametrize("operator", [QuantizeDown(), OffsetContribution(), Transpose1xW()])
def test_there_is_no_window_before_configure(operator: AclKernel) -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        operator.window()


def test_which_kernel_it_is_depends_on_the_mode_that_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        OffsetContribution().name()


@pytest.mark.parametrize("mode", [CL, CL_WINDOW, NEON])
def test_the_largest_window_runs_the_whole_tensor(mode: str) -> None:
    operator, sums = offset_contribution(mode), np.arange(32, dtype=np.int32)
    stride = operator.window()[-1].stop
    whole, windowed = np.zeros((3, stride), np.int32), np.zeros((3, stride), np.int32)
    operator.run(whole, sums[:stride])
    operator.run(windowed, sums[:stride], window=operator.window())
    assert windowed.tolist() == whole.tolist() == [list(range(stride))] * 3


@pytest.mark.parametrize("mode", [CL, NEON])
def test_parts_of_the_largest_window_run_as_threads_do(mode: str) -> None:
    operator = offset_contribution(mode)
    rows, columns = operator.window()
    mm, sums = np.zeros((3, columns.stop), np.int32), np.arange(columns.stop, dtype=np.int32)
    for first in range(columns.start, columns.stop, columns.step):
        part = slice(first, first + columns.step, columns.step)
        operator.run(mm, sums, window=(rows, part))
    assert mm.tolist() == [sums.tolist()] * 3


def test_the_largest_window_of_the_others_runs_the_whole_tensor() -> None:
    accumulators, quantized = np.full((3, 21), 40, np.int32), np.zeros((3, 21), np.uint8)
    quantize_down().run(accumulators, None, quantized, quantize_down().window())
    operator, stacked = transpose1xw("U8"), np.zeros((2, 48), np.uint8)
    operator.run(np.ones((3, 32), np.uint8), stacked, operator.window())
    assert (quantized.min(), stacked.min()) == (10, 1)


@pytest.mark.parametrize(
    ("window", "step", "region"),
    [
        ((slice(0, 24, 4),), 4, (slice(0, 21),)),
        ((slice(4, 8, 4),), 4, (slice(4, 8),)),
        ((slice(20, 24, 4),), 4, (slice(20, 21),)),
        ((slice(None, None, 4),), 4, (slice(0, 21),)),
    ],
)
def test_a_window_in_steps_ends_with_the_axis(window: Window, step: int, region: Window) -> None:
    assert region_of(window, (21,), step) == region


@pytest.mark.parametrize(
    ("window", "step"),
    [((slice(0, 28, 4),), 4), ((slice(0, 24, 2),), 4), ((slice(0, 24),), 4), ((slice(0, 22, 1),), 1)],
)
def test_a_window_beyond_the_last_step_is_refused(window: Window, step: int) -> None:
    with pytest.raises(ValueError, match="window has slice"):
        region_of(window, (21,), step)


def test_the_largest_window_of_a_tensor_without_shape_is_empty() -> None:
    assert maximum_window((), 16) == (slice(0, 0, 16),)
