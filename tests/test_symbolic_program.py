"""Programs of intrinsics as a side of proofs: followed on symbols, proved, and refuted where they compute otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isa.acle.elements import ElementType
from isa.intrinsics import ElementPointer, vaddq_s32, vdupq_n_s32, vgetq_lane_s32, vld1q_s32, vqaddq_s32, vst1q_s32
from isa.lane import Place, Read
from sim.kernels import Kernel, parse_prototype
from sim.kernels.kernel import built_in_kernel
from sim.symbolic.kernel_proof import KernelProof
from sim.symbolic.numbers.integers import SymbolicInt
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from sim.toolchain.objects import open_image
from support.command import lanewise
from support.sampled import sampled

Program = Callable[..., None]


def proved(kernel: Kernel, lengths: tuple[int, ...], builds: Mapping[str, Image | None], **given: Any) -> KernelProof:
    options: dict[str, Any] = {"each": {}, "known": frozenset(), "seconds": 20, "jobs": 1, "kept_in": None}
    return Prover(kernel, builds, shapes_of(kernel, lengths), **options | given).run()


def of_program(kernel: Kernel, *lengths: int, **given: Any) -> KernelProof:
    return proved(kernel, lengths, {"program": None}, **given)


def wrapped(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": inputs["x"] + np.full(4, inputs["more"], np.int32)}


def adding(program: Program, golden: Callable[[Mapping[str, Any]], dict[str, Any]] = wrapped) -> Kernel:
    """A kernel that adds a number to each element, by a program."""
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4], int32_t more)")
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, program=program)


def adds(x: ElementPointer, out: ElementPointer, more: int) -> None:
    vst1q_s32(out, vaddq_s32(vld1q_s32(x), vdupq_n_s32(more)))


def saturates(x: ElementPointer, out: ElementPointer, more: int) -> None:
    vst1q_s32(out, vqaddq_s32(vld1q_s32(x), vdupq_n_s32(more)))


def adds_but_for_one_number(x: ElementPointer, out: ElementPointer, more: int) -> None:
    vst1q_s32(out, vaddq_s32(vld1q_s32(x), vdupq_n_s32(6 if more == 1_234_567 else more)))


def adds_by_its_sign(x: ElementPointer, out: ElementPointer, more: int) -> None:
    one = vld1q_s32(x)
    vst1q_s32(out, vaddq_s32(vdupq_n_s32(more), one) if more < 0 else vaddq_s32(one, vdupq_n_s32(more)))


def refuses_a_number(x: ElementPointer, out: ElementPointer, more: int) -> None:
    if more == 77:
        raise ValueError("77 is too much")
    adds(x, out, more)


def takes_it_for_a_literal_of_a_lane(x: ElementPointer, out: ElementPointer, more: int) -> None:
    vst1q_s32(out, vdupq_n_s32(vgetq_lane_s32(vld1q_s32(x), 0) + more))


def goes_beyond(x: ElementPointer, out: ElementPointer, more: int) -> None:
    adds(x, out, more)
    vst1q_s32(out + 1, vld1q_s32(x))


def leaves_undefined(x: ElementPointer, out: ElementPointer, more: int) -> None:
    vst1q_s32(out, vaddq_s32(vld1q_s32(out), vdupq_n_s32(more)))


def takes_one_more(x: ElementPointer, out: ElementPointer, more: int) -> None:
    adds(x, out, more + 1)


@pytest.mark.parametrize("program", [adds, adds_by_its_sign])
def test_a_program_that_is_its_reference_is_proved(program: Program) -> None:
    found = of_program(adding(program), 4)
    assert (found.outcome, found.builds[0].proved) == ("proved", 4)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (saturates, "counter-example"),
        (adds_but_for_one_number, "counter-example"),
        (refuses_a_number, "raises on some input: 77 is too much"),
        (takes_one_more, "raises on some input: argument 1 of vdupq_n_s32 is not always int32_t"),
        (takes_it_for_a_literal_of_a_lane, "would have to become|becomes a number"),
        (goes_beyond, "out"),
        (leaves_undefined, "undefined"),
    ],
)
def test_a_program_that_is_not_its_reference_is_not_proved(program: Program, said: str) -> None:
    found = of_program(adding(program), 4)
    build = found.builds[0]
    sentences = [found.outcome, found.untraceable, *build.refused, *build.faults]
    assert found.outcome != "proved"
    assert any(part in sentence for sentence in sentences for part in said.split("|"))


def test_a_program_that_decides_is_told_with_what_it_decides_by() -> None:
    assert of_program(adding(adds_by_its_sign), 4).builds[0].depends_on == ["more"]


def test_intrinsics_take_numbers_that_are_not_known_only_while_a_program_is_followed() -> None:
    before = ElementType.bits_of
    assert of_program(adding(adds), 4).outcome == "proved"
    assert ElementType.bits_of is before


QUANTIZE = built_in_kernel("quantize_down")
SHIFT = {"parameters.shift": [5]}


@pytest.mark.slow
def test_the_program_of_quantize_down_is_proved_in_its_vectors_and_its_tail() -> None:
    found = of_program(QUANTIZE, 1, 17, each=SHIFT)
    assert (found.outcome, found.known) == ("proved", frozenset())


@pytest.mark.slow
def test_the_program_of_another_mode_is_refuted() -> None:
    other = replace(QUANTIZE, program=built_in_kernel("quantize_down", "page").program)
    assert of_program(other, 1, each=SHIFT, seconds=3).outcome == "counter-example"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "outcome", "seconds"), sampled([("acl_19_08", "proved", 20), ("page", "counter-example", 3)], 2)
)
def test_compiled_code_is_the_program_or_is_refuted(mode: str, outcome: str, seconds: int) -> None:
    """What is refuted at once leaves other questions that take all the time there is."""
    image = open_image(QUANTIZE.sources[0], QUANTIZE.symbol, "-O2")
    kernel = replace(QUANTIZE, program=built_in_kernel("quantize_down", mode).program)
    for builds in ({"program": None, "kernel.c": image}, {"kernel.c": image, "program": None}):
        assert proved(kernel, (1,), builds, each=SHIFT, same=True, seconds=seconds).outcome == outcome


@pytest.mark.parametrize("program", [adds_by_its_sign, adds_but_for_one_number])
def test_a_program_that_goes_two_ways_is_compared_on_both(program: Program) -> None:
    """As the first side, which is what others are compared with."""
    code = "dup v1.4s, w2\n ldr q0, [x0]\n add v0.4s, v0.4s, v1.4s\n str q0, [x1]\n ret"
    image = build_text(f".globl f\n.type f, %function\nf:\n {code}\n.size f, . - f\n", ".s")
    found = proved(adding(program), (4,), {"program": None, "f.s": image}, same=True)
    assert found.outcome == ("proved" if program is adds_by_its_sign else "counter-example")


def test_the_command_proves_a_program_and_refuses_it_where_there_is_none() -> None:
    done = lanewise("prove", "transpose1xw", "--program", "--lengths", "16", "--json")
    assert (done.exit_code, '"build": "program"' in done.stdout) == (0, True)
    refused = lanewise("prove", "transpose1xw", "--program", "--same", "program", "O2")
    assert (refused.exit_code, "give it without --program" in refused.stderr) == (2, True)
    for builds in (["--program"], ["--same", "program", "O2"]):
        refused = lanewise("prove", "transpose1xw", *builds, "--opt", "O2")
        assert (refused.exit_code, "--opt is for builds at levels" in refused.stderr) == (2, True)
    refused = lanewise("prove", "transpose1xw", "--program", "--source", "own.c")
    assert (refused.exit_code, "transpose1xw has none to be proved" in refused.stderr) == (2, True)


def test_nothing_symbolic_is_taken_for_a_number_outside_of_a_program() -> None:
    with pytest.raises(Exception, match="not known"):
        vdupq_n_s32(SymbolicInt(Read(Place("in.more"), 0, 9)))
