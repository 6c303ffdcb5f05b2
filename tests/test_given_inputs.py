"""An input set that somebody gives is looked at before anything runs: a wrong one is no verdict on a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sim.check import check_kernel
from sim.check.given import require_inputs
from sim.check.report import Outcome
from sim.check.vectors import Vectors
from sim.kernels import (
    Domain,
    Kernel,
    KernelError,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    built_in_kernel,
    parse_prototype,
)
from sim.kernels.signature import FunctionArgument, VectorArgument
from sim.pytest_plugin import assert_kernel_equal
from sim.pytest_plugin.message import MOST_WRITTEN, Request, failed
from sim.shrink.failing import Shrunk

PROTOTYPE = parse_prototype(
    """typedef struct { int32_t low; int32_t high; } bounds;
    void add(const int32_t acc[n][2], const int32_t bias[2], const bounds *p, int32_t out[n][2], size_t n);"""
)


def reference(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": np.clip(inputs["acc"] + inputs["bias"], inputs["p"]["low"], inputs["p"]["high"]).astype(np.int32)}


KERNEL = Kernel(
    name="add", symbol="add", sources=("nowhere.c",), signature=PROTOTYPE.signature, golden=reference,
    domain={name: Domain(-9, 9) for name in ("acc", "bias", "p.low", "p.high")},
    valid=lambda inputs: bool(inputs["p"]["low"] <= inputs["p"]["high"]),
)  # fmt: skip
RIGHT: dict[str, Any] = {
    "acc": np.ones((3, 2), np.int32), "bias": np.zeros(2, np.int32), "p": {"low": -5, "high": 5}, "n": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"acc": RIGHT["acc"].astype(np.int64)}, r"the argument 'acc' must be int32\[3, 2\], not int64\[3, 2\]"),
        ({"acc": RIGHT["acc"][:2]}, r"the argument 'acc' must be int32\[3, 2\], not int32\[2, 2\]"),
        ({"acc": [[1, 2]]}, r"the argument 'acc' must be an array int32\[3, 2\], not list"),
        ({"bias": None}, "the argument 'bias' is missing"),
        ({"n": 3.0}, "the argument 'n' must be uint64, not 3.0"),
        ({"n": "three"}, "the argument 'n' is no uint64"),
        ({"n": 1 << 40}, r"have no extents: .* is too large"),
        ({"p": {"low": 1}}, "the argument 'p' is no such structure: its fields are low, high, not low"),
        ({"p": {"low": 5, "high": -5}}, "these inputs are none of add: its valid refuses them"),
        ({"scale": 1}, "'scale' is no input of add: its inputs are n, acc, bias, p"),
        ({"out": RIGHT["acc"]}, "'out' is an output of add: its inputs are"),
    ],
)
def test_a_wrong_input_set_is_refused_by_the_name_of_what_is_wrong(change: dict[str, Any], sentence: str) -> None:
    """Before anything is compiled: there is no source."""
    with pytest.raises(KernelError, match=sentence):
        assert_kernel_equal(KERNEL, levels=("O1",), inputs=RIGHT | change)


@pytest.mark.parametrize("missing", RIGHT)
def test_what_is_missing_is_named_with_all_that_there_must_be(missing: str) -> None:
    given = {name: value for name, value in RIGHT.items() if name != missing}
    with pytest.raises(
        KernelError, match=f"the argument '{missing}' of add is missing: its inputs are n, acc, bias, p"
    ):
        assert_kernel_equal(KERNEL, inputs=given)


def test_of_what_makes_no_arguments_the_first_line_is_told_with_what_an_input_set_has() -> None:
    def made(given: Mapping[str, Any]) -> dict[str, Any]:
        raise ValueError("no scale\nand much more")

    own = Kernel(
        name="add", symbol="add", sources=(), signature=PROTOTYPE.signature, golden=reference, arguments=made,
        corners=lambda: iter(()), sample=lambda rng: {"scale": rng.random(), "rows": 2},
    )  # fmt: skip
    with pytest.raises(KernelError) as caught:
        require_inputs(own, {"scale": 0.5})
    assert str(caught.value) == (
        "these inputs make no arguments of add, which takes scale, rows: ValueError: no scale"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("strangers", "sentence"),
    [
        ({"out": 1, "scale": 1}, "'out' is an output of add"),
        ({"scale": 1, "out": 1}, "'scale' is no input of add"),
        ({"q": 1}, "'q' is an output of add"),
        ({"q.low": 1}, "'q.low' is an output of add"),
        ({"low": 1}, "'low' is no input of add"),
    ],
)
def test_of_several_that_are_no_inputs_the_first_is_told(strangers: dict[str, Any], sentence: str) -> None:
    """A structure that is written is an output as a whole, and in each of its fields."""
    written = parse_prototype(
        """typedef struct { int32_t low; int32_t high; } bounds;
        void add(const int32_t acc[n], bounds *out_of_it, int32_t out[n], bounds *q, size_t n);"""
    )
    kernel = Kernel(name="add", symbol="add", sources=(), signature=written.signature, golden=reference)
    given = dict.fromkeys(("acc", "n")) | strangers
    with pytest.raises(KernelError, match=sentence):
        require_inputs(kernel, given)


def of(signature: Signature, **given: Any) -> Kernel:
    return Kernel(name="f", symbol="f", sources=(), signature=signature, golden=dict, **given)


def test_a_shared_table_needs_what_says_which_array_each_pointer_is() -> None:
    table = Pointer("x", "int8", ("m", "n"), indirect=True, shared=True)
    kernel = of(Signature((table, ScalarArgument("m", "int32"), ScalarArgument("n", "int32"))))
    with pytest.raises(KernelError, match=r"the argument 'x.rows' of f is missing"):
        require_inputs(kernel, {"x": np.zeros((2, 3), np.int8), "m": 2, "n": 3})


@pytest.mark.parametrize(("rows", "there"), [([0, 1], True), ([0, 2], False), ([0, -1], False)])
def test_a_shared_table_points_at_arrays_that_there_are(rows: list[int], there: bool) -> None:
    table = Pointer("x", "int8", ("m", "n"), indirect=True, shared=True)
    kernel = of(Signature((table, ScalarArgument("m", "int32"), ScalarArgument("n", "int32"))))
    assert kernel.accepts({"x": np.zeros((2, 3), np.int8), "x.rows": np.array(rows), "m": 2, "n": 3}) == there


def test_arguments_that_a_kernel_makes_are_looked_at_too() -> None:
    """Numbers of both kinds, a vector, a function, a structure behind a pointer; one number is not there."""
    signature = Signature(
        (
            VectorArgument("v", "int32", 4), FunctionArgument("op", (None, "g")), ScalarArgument("r", "float32"),
            Struct("s", (("low", "int32"),), by_pointer=True), ScalarArgument("n", "int32"),
        )
    )  # fmt: skip
    made: dict[str, Any] = {"v": np.arange(4, dtype=np.int32), "op": "g", "r": 1.5, "s": {"low": 1}, "n": 5}

    def kernel(*lacks: str) -> Kernel:
        return of(
            signature, arguments=lambda given: {name: one for name, one in made.items() if name not in lacks},
            corners=lambda: iter(()), sample=lambda rng: {},
        )  # fmt: skip

    require_inputs(kernel(), {})
    require_inputs(kernel("op"), {})  # which no arrays are made of
    with pytest.raises(KernelError, match=r"^the argument 'n' is missing$"):
        require_inputs(kernel("n"), {})


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(KernelError, match="inputs are arrays and numbers by name, not list"):
        assert_kernel_equal(KERNEL, inputs=[1, 2])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["quantize_down", "requantize", "conv2d", "pool", "transpose1xw", "matrix_product"])
def test_what_a_kernel_draws_is_its_own(name: str) -> None:
    kernel = built_in_kernel(name)
    for inputs in [kernel.sample(np.random.default_rng(seed)) for seed in range(5)]:
        if kernel.accepts(inputs):
            require_inputs(kernel, inputs)


def test_right_inputs_are_run() -> None:
    require_inputs(KERNEL, RIGHT)
    with pytest.raises(AssertionError, match=r"nowhere\.c"):
        assert_kernel_equal(KERNEL, levels=("O1",), inputs=RIGHT)


def test_inputs_of_many_numbers_are_not_written_into_the_line() -> None:
    request = Request(
        kernel=KERNEL, name="add.py", levels=("O1",), vectors=50, seed=1, engine="lockstep", are_given=True
    )
    many = RIGHT | {"acc": np.ones((MOST_WRITTEN, 2), np.int32), "n": MOST_WRITTEN}
    *_, line = request.lines(inputs=many)
    call, _, comment = line.partition("  # ")
    assert call == 'assert_kernel_equal("add.py", levels=("O1",), inputs=inputs, seed=1)'
    assert comment == "inputs: the 2,005 numbers that were given"
    *_, short = request.lines(inputs=RIGHT)
    assert 'inputs={"acc": np.array([[1, 1], [1, 1], [1, 1]], "int32")' in short


def test_a_message_cuts_shrunk_inputs_of_many_numbers() -> None:
    request = Request(kernel=KERNEL, name="add.py", levels=("O1",), vectors=50, seed=1, engine="lockstep")
    wrong = Outcome(
        implementation="add.c", flags="-O1", vectors=1, lanes_compared=1, instructions=1, forms=frozenset(),
        qc_events=0, code="0", failure="out[0]: machine 1, golden 2",
    )  # fmt: skip
    numbers = np.arange(800, dtype=np.int32).reshape(400, 2)
    small = Shrunk({"acc": numbers, "n": 400}, wrong, "shrunk to 800 of 900 output lanes")
    lines = failed(request, [wrong], None, Vectors([], [], 1), small, ["assert_kernel_equal()"]).splitlines()
    (cut,) = [line for line in lines if line.startswith("    acc = ")]
    assert (len(cut) < 700, cut.startswith("    acc = np.array([[0, 1], [")) == (True, True)
    assert cut.endswith(", ... (800 numbers; the lines below make them)")
    assert "    n = 400" in lines


@pytest.mark.parametrize("option", [{"seed": "x"}, {"seed": -1}, {"vectors": None}, {"vectors": True}])
def test_an_amount_that_is_none_is_refused_by_its_name(option: dict[str, Any]) -> None:
    ((name, value),) = option.items()
    with pytest.raises(ValueError, match=f"{name} takes a whole number of 0 or more, not {value!r}"):
        check_kernel(built_in_kernel("requantize"), **option)


def test_a_check_of_a_text_says_what_makes_a_kernel_of_it() -> None:
    with pytest.raises(KernelError, match=r"takes a Kernel, not 'mine\.py': sim\.kernels\.load_kernel makes one"):
        check_kernel("mine.py")  # type: ignore[arg-type]
