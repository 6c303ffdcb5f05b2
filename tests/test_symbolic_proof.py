"""Builds of kernels are proved against their references, and refuted wherever a fault is planted."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from isa.evaluate.exact import Evaluation
from isa.lane import Place
from sim.check import call_kernel
from sim.check.check import Job
from sim.kernels.inputs import numbers_of
from sim.kernels.kernel import Kernel, built_in_kernel
from sim.kernels.names import kernel_names
from sim.kernels.prototype import parse_prototype
from sim.symbolic.kernel_proof import KernelProof
from sim.symbolic.numbers.elementwise import settled
from sim.symbolic.numbers.tracing import Untraceable
from sim.symbolic.proof import Prover
from sim.symbolic.proving.rehearsal import WronglyTraced
from sim.symbolic.proving.substitution import Substitution
from sim.symbolic.reference import traced_reference
from sim.symbolic.shapes import NoShape, shapes_of
from sim.toolchain.objects import open_image
from sim.view.prove import show_kernel_proof
from support.sampled import sampled

QUANTIZE = built_in_kernel("quantize_down")
SHIFT = {"parameters.shift": [5]}


def proved(
    kernel: Kernel, *flags: str, source: Path | None = None, lengths: tuple[int, ...] = (1,), **options: Any
) -> KernelProof:
    source = source or kernel.sources[0]
    builds = {source.name: open_image(source, kernel.symbol, *(flags or ("-O2",)), *kernel.flags)}
    given: dict[str, Any] = {"each": SHIFT, "known": frozenset(), "seconds": 20, "jobs": 1, "kept_in": None}
    return Prover(kernel, builds, shapes_of(kernel, lengths), **given | options).run()


@pytest.mark.slow
def test_a_build_is_proved_in_its_tail_and_its_vectors_with_and_without_a_bias() -> None:
    found = proved(QUANTIZE, lengths=(0, 1, 17))
    assert found.outcome == "proved"
    assert {shape.name for shape in found.shapes} >= {"length 17", "length 17, no bias"}
    assert [(build.proved, build.elements) for build in found.builds] == [(found.builds[0].elements,) * 2]
    assert found.builds[0].elements > 0


def mutated(tmp_path: Path, was: str, becomes: str) -> Path:
    text = QUANTIZE.sources[0].read_text()
    assert was in text
    source = tmp_path / "mutant.c"
    source.write_text(text.replace(was, becomes))
    return source


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "becomes"),
    sampled(
        [
            ("vaddq_s32(value, vld1q", "vqaddq_s32(value, vld1q"),
            ("vqrdmulhq_n_s32", "vqdmulhq_n_s32"),
        ],
        2,
    ),
)
def test_a_fault_in_the_source_is_refuted_by_inputs_on_which_the_check_fails(
    tmp_path: Path, was: str, becomes: str
) -> None:
    source = mutated(tmp_path, was, becomes)
    found = proved(QUANTIZE, source=source, lengths=(16,))
    assert found.outcome == "counter-example"
    refuting = next(f for f in found.builds[0].failures if f.outcome == "counter-example")
    assert refuting.inputs is not None
    made = call_kernel(QUANTIZE, Job(source, ("-O2",)), refuting.inputs).outputs["machine"]["output"]
    assert not np.array_equal(made, QUANTIZE.golden(refuting.inputs)["output"])


def shifted(golden: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def one_more(inputs: Mapping[str, Any]) -> dict[str, Any]:
        output = golden(inputs)["output"]
        return {"output": np.where(output == 77, output + 1, output).astype(np.uint8)}

    return one_more


@pytest.mark.slow
def test_a_fault_in_the_reference_that_one_number_meets_is_refuted() -> None:
    kernel = replace(QUANTIZE, golden=shifted(QUANTIZE.golden))
    found = proved(kernel)
    assert found.outcome == "counter-example"
    inputs = next(f.inputs for f in found.builds[0].failures if f.inputs is not None)
    assert QUANTIZE.golden(inputs)["output"].tolist() == [77]


def test_a_fault_in_what_simplifies_is_met_before_anything_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Substitution.of
    monkeypatch.setattr(Substitution, "of", lambda self, lane, by: settled(right(self, lane, by) + 1))
    with pytest.raises(WronglyTraced, match=r"ways hold|is not what it is when it is run"):
        proved(QUANTIZE)


@pytest.mark.slow
def test_a_solver_without_time_leaves_what_it_was_asked_unknown() -> None:
    found = proved(QUANTIZE, seconds=0.0001)
    assert found.outcome == "unknown"
    assert found.builds[0].proved < found.builds[0].elements
    assert "time limit" in found.builds[0].failures[0].reason


def test_a_reference_that_takes_no_input_proves_nothing() -> None:
    def refuses(inputs: Mapping[str, Any]) -> dict[str, Any]:
        raise ValueError("no input is one of this kernel")

    kernel, shapes = replace(QUANTIZE, golden=refuses), shapes_of(QUANTIZE, [1])
    builds = {"kernel.c": open_image(kernel.sources[0], kernel.symbol, "-O2")}
    found = Prover(
        kernel, builds, shapes, each={}, known=frozenset(), seconds=5, jobs=1, kept_in=None
    ).run()  # fmt: skip
    assert found.outcome == "unknown"


KNOWN = ("left_shifts", "minimum", "maximum")
"""Numbers whose conditions go many ways, which takes its time;"""
KNOWN_OF = {"activation_table": ("parameters",)}
"""of a kernel alone those by which it makes its table, of which in fixed point much is made without them."""


UNTRACED = {
    ("arithmetic_addition", "fused"): r"byte_rounding.py:\d+: np.sign in float64 is not among what can be traced",
    ("arithmetic_addition", "qsymm16"): r"golden.py:\d+: np.sign in float64 is not among what can be traced",
    ("conv2d", "fp32"): r"sim/kernels/fully_connected/__init__.py:\d+: the result is float32, which is moved",
    ("depthwise_conv2d", "fp32"): r"sim/kernels/fully_connected/__init__.py:\d+: the result is float32, which is moved",
    ("fully_connected", "fp32"): r"sim/kernels/fully_connected/__init__.py:\d+: the result is float32, which is moved",
}
"""What `lanewise prove` says of references that it cannot follow, by kernel and end of the mode."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(kernel_names(), 3))
def test_every_reference_is_traced_or_it_is_said_why_not(name: str) -> None:
    known = (*KNOWN, *KNOWN_OF.get(name, ()))
    for mode, kernel in import_module(f"sim.kernels.{name}").MODES.items():
        rng = np.random.default_rng(2)
        reason = next((said for (of, end), said in UNTRACED.items() if name == of and mode.endswith(end)), None)
        example = min((kernel.sample(rng) for _ in range(20)), key=lambda one: len(numbers_of(one)))
        if reason is None:
            assert traced_reference(kernel, example, known).cases, mode
        else:
            with pytest.raises(Untraceable, match=reason):
                traced_reference(kernel, example, known)


def table_proof(mode: str, golden: Any = None) -> KernelProof:
    kernel = built_in_kernel("activation_table", mode)
    builds = {"kernel.c": open_image(kernel.sources[0], kernel.symbol, "-O2")}
    return Prover(
        kernel if golden is None else replace(kernel, golden=golden), builds, shapes_of(kernel, [1, 17]), each={},
        known=frozenset({"parameters"}), seconds=20, jobs=1, kept_in=None,
    ).run()  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mode", sampled(import_module("sim.kernels.activation_table").MODES, 3))
def test_a_table_that_numpy_makes_is_looked_up_by_every_byte(mode: str) -> None:
    assert table_proof(mode).outcome == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["logistic_s8", "tanh_u8", "tanh_s8_fixed_point"])
def test_a_table_of_which_one_entry_is_another_is_refuted_by_its_byte(mode: str) -> None:
    golden = built_in_kernel("activation_table", mode).golden

    def another(inputs: Any) -> dict[str, Any]:
        output = golden(inputs)["output"]
        return {"output": np.where(inputs["input"] == 93, output ^ 1, output)}

    found = table_proof(mode, another)
    assert found.outcome == "counter-example"
    assert all(93 in failure.inputs["input"] for failure in found.builds[0].failures if failure.inputs is not None)


def test_what_makes_a_table_stays_as_it_is_in_the_example_without_being_named() -> None:
    kernel = built_in_kernel("activation_table")
    traced = traced_reference(kernel, shapes_of(kernel, [1])[0].example)
    assert traced.known == {"parameters.scale", "parameters.zero"}


def test_a_length_that_a_kernel_cannot_have_is_named_with_those_that_there_are() -> None:
    with pytest.raises(NoShape, match=r"no input set of length 7: give some of 0, 16\.\.17, 21, 32\.\.33, 37, "):
        shapes_of(built_in_kernel("transpose1xw"), [7])
    with pytest.raises(NoShape, match=r"no input set of length 1: give some of 0, 16, 32, 48 by --lengths$"):
        shapes_of(built_in_kernel("matrix_product"), [1, 16])


def test_numbers_that_stay_as_they_are_in_the_example_are_told() -> None:
    kernel = built_in_kernel("quantized_multiplier")
    assert traced_reference(kernel, kernel.sample(np.random.default_rng(2))).known == {"factor"}
    parameters = traced_reference(QUANTIZE, shapes_of(QUANTIZE, [2])[0].example, ["offset"])
    assert parameters.known == {"parameters.offset"}


class Numbers:
    """The numbers of inputs by their leaves."""

    def __init__(self, values: Mapping[Place, int]) -> None:
        self._values = values

    def read(self, place: Place) -> int:
        return self._values[place]

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError(f"memory at {address:#x} is asked for")


@pytest.mark.slow
def test_how_far_an_image_is_padded_stays_as_it_is_and_what_is_traced_is_what_is_computed() -> None:
    kernel = built_in_kernel("conv2d")
    rng = np.random.default_rng(2)
    some = sorted((kernel.sample(rng) for _ in range(20)), key=lambda one: len(numbers_of(one)))
    traced = traced_reference(kernel, some[10], KNOWN)
    assert {f"geometry.{name}" for name in ("top", "bottom", "left", "right", "stride_y", "stride_x")} <= traced.known
    evaluation = Evaluation(Numbers(traced.values()))
    (case,) = [case for case in traced.cases if evaluation.value(case.given)]
    made = [evaluation.value(lane) for lane in case.outputs["output"]]
    assert made == kernel.expected(traced.example)["output"].ravel().tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("level", "names"), [("-O2", []), ("-O3", ["parameters.multiplier"])])
def test_the_inputs_that_control_flow_depends_on_are_told(level: str, names: list[str]) -> None:
    found = proved(QUANTIZE, level, source=QUANTIZE.sources[1], lengths=(17,))
    assert found.builds[0].depends_on == [name.removeprefix("parameters.") for name in names]
    assert {name for names in found.builds[0].branches.values() for name in names} == set(found.builds[0].depends_on)


@pytest.mark.slow
def test_code_that_computes_with_addresses_is_not_proved(tmp_path: Path) -> None:
    source = tmp_path / "leaks.c"
    text = QUANTIZE.sources[1].read_text()
    was = "lower, upper);\n    }\n}"
    assert text.count(was) == 1
    source.write_text(text.replace(was, "lower, upper) ^ ((uintptr_t)accumulators >> 2 & 1);\n    }\n}"))
    proof = proved(QUANTIZE, source=source, lengths=(1,))
    assert proof.outcome == "counter-example"
    assert any("where arrays lie: address of accumulators" in failure.reason for failure in proof.builds[0].failures)
    (refuting, *_) = (one.inputs for one in proof.builds[0].failures if one.outcome == "counter-example")
    assert refuting is not None
    calls = [call_kernel(QUANTIZE, Job(source, ("-O2",)), refuting, seed).outputs["machine"] for seed in range(8)]
    assert len({made["output"].tobytes() for made in calls}) > 1


def test_a_second_shape_of_a_length_is_named_by_its_sizes() -> None:
    name, signature = parse_prototype("void f(const uint8_t in[2*h*2*w], uint8_t out[h*w], size_t h, size_t w)")
    halved = Kernel(
        name=name, symbol=name, sources=(), signature=signature,
        golden=lambda inputs: {"out": np.zeros(int(inputs["h"]) * int(inputs["w"]), np.uint8)},
    )  # fmt: skip
    first, second = shapes_of(halved, [2])
    assert first.name == "length 2"
    assert second.name == f"length 2 (h {second.example['h']}, w {second.example['w']})"


def test_a_second_shape_of_a_length_is_named_by_the_arrays_that_have_another_shape() -> None:
    """Of input sets of a kernel's own, in which no argument is a size; one of the same arrays by its number."""
    first, second, *_ = shapes_of(built_in_kernel("fully_connected"), [2])
    assert first.name == "length 2"
    rows, depth = second.example["input"].shape
    assert (second.name, depth) == (
        f"length 2 (input {rows}x{depth}, weights 2x{depth})",
        second.example["weights"].shape[1],
    )
    names = [shape.name for shape in shapes_of(built_in_kernel("requantize"), [2])]
    assert len({*names}) == len(names)
    assert any(re.fullmatch(r"length 2 \(shape \d+\)", name) for name in names)


@pytest.mark.parametrize(("each", "told"), [({}, "all numbers"), ({"shift": [5]}, "all other numbers")])
def test_other_numbers_are_others_where_some_were_named(each: dict[str, list[int]], told: str) -> None:
    out = StringIO()
    show_kernel_proof(KernelProof(shapes=[], builds=[], each=each), QUANTIZE, Console(file=out, width=200))
    assert f"{told}: any of their domains" in out.getvalue().splitlines()
