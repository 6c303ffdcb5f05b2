"""A compiled kernel called on symbols leaves what it leaves on numbers, for every input that is put in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Lane, Place, Read, walk
from sim.call.call import CompiledKernel
from sim.kernels import quantize_down
from sim.kernels.kernel import Kernel
from sim.kernels.signature import Pointer, Signature
from sim.symbolic.call import Path as Way
from sim.symbolic.call import SymbolicCall
from sim.symbolic.following.machine import NotFollowed
from sim.symbolic.nodes import Simplifier
from sim.toolchain.compilers import build, build_text

NAMES = ("accumulators", "bias", "multiplier", "offset", "lower", "upper")
SIGNATURE = Signature((Pointer("x", "int32", (4,)), Pointer("out", "int32", (4,), direction="out")))


class Values:
    """The numbers of an input set by leaf."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments

    def read(self, place: Place) -> int:
        return int(np.asarray(self._arguments[place.file.removeprefix("in.")]).reshape(-1).tolist()[place.index])  # type: ignore[index]  # no leaf has an open index

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError(f"memory at {address:#x} is asked for")


def kernel_of(text: str) -> tuple[Kernel, SymbolicCall]:
    kernel = Kernel(name="tried", symbol="tried", sources=(), signature=SIGNATURE, golden=lambda inputs: {})
    return kernel, SymbolicCall(kernel, build_text(text, ".c", "-O1"))


def one_way(ways: list[Way]) -> Way:
    (way,) = ways
    return way


@pytest.mark.parametrize("source", ["kernel.c", "kernel_plain.c"])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_a_kernel_leaves_on_symbols_what_it_leaves_on_numbers(source: str, level: str) -> None:
    kernel = quantize_down.KERNEL
    image = build(Path(quantize_down.__file__).parent / source, level)
    compiled, symbolic = CompiledKernel(image, kernel, engine="machine"), SymbolicCall(kernel, image)
    rng = np.random.default_rng(20)
    for length in (1, 17):
        inputs = dict(kernel.arguments(kernel.sample(rng)))
        inputs["length"], inputs["bias"] = length, np.zeros(length, np.int32)
        inputs["accumulators"] = np.zeros(length, np.int32)
        way = one_way(symbolic.traced(inputs, NAMES))
        assert not way.faults
        for _ in range(3):
            inputs["accumulators"] = (rng.integers(-(2**31), 2**31, length) >> rng.integers(0, 31)).astype(np.int32)
            inputs["bias"] = rng.integers(-5000, 5000, length).astype(np.int32)
            inputs |= {
                "multiplier": int(rng.choice([-(2**31), 2**30, 1518500250])),
                "offset": int(rng.integers(-9, 200)),
            }
            wanted = compiled.call(inputs, seed=1).outputs["machine"]["output"].tolist()
            evaluation = Evaluation(Values(inputs))
            assert [evaluation.value(lane) for lane in way.outputs["output"]] == wanted


def test_an_address_that_depends_on_data_is_refused_with_its_line() -> None:
    _, call = kernel_of("void tried(const int *x, int *out) {\n out[0] = x[x[1]];\n out[1] = out[2] = out[3] = 0; }")
    with pytest.raises(NotFollowed, match=r"the address that it reads depends on data$") as caught:
        call.traced({"x": np.zeros(4, np.int32)}, {"x"})
    assert caught.value.line.endswith(":2")


def test_a_load_of_one_of_a_table_is_what_the_index_chooses() -> None:
    _, call = kernel_of(
        "static const short table[8] = {7, -3, 11, 2, 5, -1, 0, 4};\nvoid tried(const int *x, int *out) {"
        " out[0] = x[x[1] & 3]; out[1] = table[x[2] & 7]; out[2] = table[(x[3] & 1) + 6]; out[3] = x[x[0] & 3]; }"
    )
    way = one_way(call.traced({"x": np.zeros(4, np.int32)}, {"x"}))
    rng, table = np.random.default_rng(3), (7, -3, 11, 2, 5, -1, 0, 4)
    for _ in range(40):
        x = rng.integers(-(2**31), 2**31, 4).astype(np.int32)
        evaluation = Evaluation(Values({"x": x}))
        made = [evaluation.value(lane) for lane in way.outputs["out"]]
        assert made == [x[x[1] & 3], table[x[2] & 7], table[(x[3] & 1) + 6], x[x[0] & 3]]
    assert {name for names in way.branches.values() for name in names} == {"in.x"}


def test_a_table_of_which_some_may_not_be_read_is_refused() -> None:
    _, call = kernel_of("void tried(const int *x, int *out) { out[0] = out[1] = out[2] = out[3] = x[x[1] & 7]; }")
    with pytest.raises(NotFollowed, match=r"the address that it reads depends on data, and .*past the end of 'x'"):
        call.traced({"x": np.zeros(4, np.int32)}, {"x"})


@pytest.mark.slow
def test_a_loop_that_data_ends_is_refused() -> None:
    _, call = kernel_of("void tried(const int *x, int *out) { for (int i = x[0]; i; i = 3 * i + x[1]) *out = i; }")
    with pytest.raises(NotFollowed, match="it branches on data inside of 32 others: a loop that data ends"):
        call.traced({"x": np.zeros(4, np.int32)}, {"x"})


def test_a_byte_that_nobody_wrote_is_found_in_an_output() -> None:
    _, call = kernel_of("void tried(const int *x, int *out) { out[0] = x[0]; out[1] = out[2] = 1; }")
    way = one_way(call.traced({"x": np.zeros(4, np.int32)}, {"x"}))
    assert way.faults == ("out[3] depends on undefined bytes (undefined.memory)",)


def test_a_write_past_the_end_is_refused() -> None:
    _, call = kernel_of("void tried(const int *x, int *out) { for (int i = 0; i < 5; ++i) out[i] = x[3]; }")
    with pytest.raises(NotFollowed, match="past the end of 'out'"):
        call.traced({"x": np.zeros(4, np.int32)}, {"x"})


def test_a_way_that_no_input_takes_may_fail() -> None:
    text = "void tried(const int *x, int *out) { unsigned y = x[0]; out[0] = out[1] = out[2] = out[3] = 0;"
    _, call = kernel_of(f"{text} if ((y * 2 & 1) || (y ^ y >> 1) == 1u << 31 && y == 0) out[100] = 1; }}")
    way = one_way(call.traced({"x": np.zeros(4, np.int32)}, {"x"}))
    assert [lane.value for lane in way.outputs["out"]] == [0, 0, 0, 0]


def test_a_register_that_is_not_kept_is_found() -> None:
    kernel = Kernel(name="tried", symbol="tried", sources=(), signature=SIGNATURE, golden=lambda inputs: {})
    text = ".globl tried\n.type tried, %function\ntried:\n ldr q9, [x0]\n str q9, [x1]\n ret\n.size tried, .-tried\n"
    call = SymbolicCall(kernel, build_text(text, ".s"))
    assert one_way(call.traced({"x": np.zeros(4, np.int32)}, {"x"})).faults == ("d9 is not given back as it was",)


def test_where_arrays_lie_is_not_known_and_a_branch_on_it_is_followed_both_ways() -> None:
    _, call = kernel_of(
        """#include <stdint.h>
        void tried(const int32_t *x, int32_t *out) {
            if (out - x < 4) { out[0] = x[1]; __asm__ volatile(""); } else out[0] = x[2];
            out[1] = out[2] = 1, out[3] = (intptr_t)x >> 3; }"""
    )
    way = one_way(call.traced({"x": np.zeros(4, np.int32)}, {"x"}))
    depends = [{node.place.file for node in walk([lane]) if isinstance(node, Read)} for lane in way.outputs["out"]]
    assert depends == [{"address of x", "address of out", "in.x"}, set(), set(), {"address of x"}]
    assert {name for names in way.branches.values() for name in names} == {"address of x", "address of out"}


def test_that_many_instructions_saturate_is_put_together_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions of two shapes by turns: put together as they come, each would change the order of those before."""
    text = """#include <arm_neon.h>
        void tried(const int16_t *x, int8_t *out) {
            for (int i = 0; i < 64; i += 16) {
                vst1_s8(out + i, vqrshrn_n_s16(vld1q_s16(x + i), 2));
                vst1_s8(out + i + 8, vqmovn_s16(vld1q_s16(x + i + 8))); } }"""
    signature = Signature((Pointer("x", "int16", (64,)), Pointer("out", "int8", (64,), direction="out")))
    kernel = Kernel(name="tried", symbol="tried", sources=(), signature=signature, golden=dict)
    steps, computed = list[str](), Simplifier.computed

    def counted(self: Simplifier, operator: Any, a: Lane, b: Lane | int) -> Lane:
        steps.append(operator)
        return computed(self, operator, a, b)

    monkeypatch.setattr(Simplifier, "computed", counted)
    call = SymbolicCall(kernel, build_text(text, ".c", "-O1"), Simplifier())
    assert one_way(call.traced({"x": np.zeros(64, np.int16)}, {"x"})).saturates.high == 1
    assert len(steps) < 6_000
