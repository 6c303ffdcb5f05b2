"""What a check says of a wrong implementation of a kernel: which conventions it follows, and one lane."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sim.call.call import CallResult
from sim.check.compare import Comparison
from sim.check.vectors import Vectors
from sim.explanation.of_kernel.changes import changes_that_explain
from sim.explanation.of_kernel.kernel import explain_kernel
from sim.explanation.of_kernel.recognition import recognised
from sim.golden import product_xnnpack
from sim.kernels import Tolerance, parse_prototype
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.kernels.quantize_down.golden import Parameters

HALF = 1 << 30


@pytest.fixture
def kernel() -> Kernel:
    return built_in_kernel("quantize_down", "acl_19_08")


def case(*accumulators: int) -> dict[str, Any]:
    """A quarter of the accumulators, and 10."""
    return {"accumulators": np.array(accumulators, np.int32), "bias": None, "parameters": Parameters(HALF, 1, 10)}


def output(*numbers: int) -> dict[str, np.ndarray]:
    return {"output": np.array(numbers, np.uint8)}


def test_convention_that_gives_all_lanes_is_named(kernel: Kernel) -> None:
    told = explain_kernel(kernel, [case(1, 4), case(-4)], [output(10, 11), output(9)])
    assert told[0].startswith("all 3 lanes agree with the convention page")


def test_one_lane_is_told_as_one(kernel: Kernel) -> None:
    assert explain_kernel(kernel, [case(1)], [output(10)])[0].startswith("the lane agrees with the convention page")


def test_lane_is_traced_through_the_golden_steps(kernel: Kernel) -> None:
    # 1/4: the multiply makes 1 of a half, the shift 1 of a half; a literal >> makes 0
    told = explain_kernel(kernel, [case(4, 1)], [output(11, 10)])
    assert "output[1]: accumulators 1" in told[1]
    assert "multiply 1, shift 1, offset 11" in told[1]
    assert told[2].strip().startswith("it is 10; 11 by the golden reference")


def test_nearest_conventions_are_counted_where_none_gives_all(kernel: Kernel) -> None:
    told = explain_kernel(kernel, [case(1, 4, 8)], [output(10, 11, 99)])
    assert told[0].startswith("none of ")
    assert told[1] == "page differs in 1 lane"


def test_what_the_tolerance_allows_is_no_wrong_lane() -> None:
    name, signature = parse_prototype("void f(const float x[n], float y[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, golden=lambda inputs: {"y": inputs["x"]},
        conventions={"doubled": lambda inputs: {"y": 2 * inputs["x"]}}, tolerance=Tolerance(absolute=0.5),
    )  # fmt: skip
    given = {"x": np.arange(4, dtype=np.float32), "n": 4}
    told = explain_kernel(kernel, [given], [{"y": np.array([0.5, 1.5, 9, 3], np.float32)}])
    assert told[1] == "the golden reference differs in 1 lane"
    assert told[3] == "input set 0, y[2]"  # it has no steps


def test_outputs_may_be_lists_and_a_convention_may_have_more_of_them() -> None:
    name, signature = parse_prototype("void f(const int64_t x[n], int64_t y[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature,
        golden=lambda inputs: {"y": inputs["x"].tolist()},
        conventions={"negated": lambda inputs: {"y": (-inputs["x"]).tolist(), "steps": 3}},
    )  # fmt: skip
    x = np.array([1, 2])
    given = {"x": x, "n": 2}
    told = explain_kernel(kernel, [given], [{"y": np.array([1, -2])}])
    assert told[-1] == "  it is -2; 2 by the golden reference; -2 by negated"
    agreeing = Comparison(
        kernel, Vectors([given], [kernel.expected(given)], 1), [CallResult({"machine": {"y": -x}}, 0, 0)]
    ).agreeing_conventions()
    assert agreeing == ("negated",)


def test_convention_that_refuses_an_input_set_is_told(kernel: Kernel) -> None:
    def refuse(inputs: Any) -> Any:
        raise ValueError("not here")

    told = explain_kernel(replace(kernel, conventions={"never": refuse}), [case(1)], [output(99)])
    assert "not defined for all of these inputs: never" in told


def test_results_of_the_golden_reference_are_its_own(kernel: Kernel) -> None:
    told = explain_kernel(kernel, [case(1, 4)], [output(11, 11)])
    assert told[0].startswith("all 2 lanes agree with the golden reference")


def test_one_lane_says_nothing_of_conventions_and_changed_inputs() -> None:
    """64 is 1 by many roundings, and 0 with anything left out."""
    name, signature = parse_prototype("void f(const int8_t a[n], const int8_t b[n], int8_t output[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature,
        golden=lambda inputs: {"output": ((inputs["a"].astype(np.int32) * inputs["b"] + 64) >> 7).astype(np.int8)},
    )  # fmt: skip
    inputs = {"a": np.array([64], np.int8), "b": np.array([1], np.int8), "n": 1}
    told = explain_kernel(kernel, [inputs], [output(0)])
    assert not [line for line in told if "golden reference is" in line or "left out" in line or "one less" in line]


def test_nothing_is_said_of_no_results(kernel: Kernel) -> None:
    assert explain_kernel(kernel, [case(1)], []) == []


def test_a_change_for_which_the_golden_reference_fails_explains_nothing() -> None:
    def golden(inputs: Any) -> Any:
        return {"output": np.array([math.floor(Fraction(int(x), inputs["parts"])) for x in inputs["x"]], np.int32)}

    name, signature = parse_prototype("void shared(const int32_t x[n], int32_t parts, int32_t output[n], size_t n)")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden)
    given = {"x": np.array([7, 9], np.int32), "parts": 2, "n": 2}
    assert changes_that_explain(kernel, [given], [{"output": np.array([100, -100], np.int32)}]) == []


def test_a_float_factor_for_each_channel_is_recognised() -> None:
    def scaled(inputs: Any) -> Any:
        columns = [product_xnnpack(inputs["x"][:, at], float(scale)) for at, scale in enumerate(inputs["scale"])]
        return {"output": np.clip(np.stack(columns, axis=1), -128, 127).astype(np.int8)}

    name, signature = parse_prototype(
        "void scaled(const int32_t x[rows][channels], const float scale[channels], int8_t output[rows][channels], "
        "size_t rows, size_t channels)"
    )
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=scaled, domain={})
    x = np.arange(-60, 60, dtype=np.int32).reshape(40, 3)
    case = {"x": x, "scale": np.array([0.5, 0.25, 0.375], np.float32), "rows": 40, "channels": 3}
    told = recognised(kernel, [case], [{"output": scaled(case)["output"] + np.int8(1)}])
    assert told[0].startswith("the golden reference is product_")
    assert " of x by scale" in told[0]
