"""A bench of one's own for requantizer.sv, in plain cocotb: lanewise is a library here that says what is due.

`make` runs it; nothing of lanewise's benches is used.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from numpy.typing import NDArray

from sim import golden

BEATS = 2000
LANES = 4
MULTIPLIER, SHIFT, ZERO, LOW, HIGH = 1518500250, 7, 3, -100, 120  # bytes are int8


def due(accumulators: NDArray[np.int32], biases: NDArray[np.int32]) -> NDArray[np.int32]:
    """By the golden arithmetic: two roundings, of which the first brings ties up and the second away from zero."""
    biased = golden.wrap_int32(accumulators.astype(np.int64) + biases)
    scaled = golden.divide_by_power_of_two_ties_away(golden.doubling_high_multiply(biased, MULTIPLIER), SHIFT)
    return golden.clamp(golden.wrap_int32(scaled.astype(np.int64) + ZERO), LOW, HIGH)


def packed(numbers: NDArray[np.int32]) -> int:
    """The word of a port: the first number in the low bits."""
    return int.from_bytes(numbers.astype("<i4").tobytes(), "little")


async def send(dut: Any, accumulators: NDArray[np.int32], biases: NDArray[np.int32]) -> None:
    """All beats, with pauses; what is offered stays until it is accepted."""
    for accumulator, bias in zip(accumulators, biases, strict=True):
        while random.random() < 0.3:
            await RisingEdge(dut.clk)
        dut.s_acc.value, dut.s_bias.value, dut.s_valid.value = packed(accumulator), packed(bias), 1
        while True:
            await ReadOnly()
            accepted = dut.s_ready.value == 1
            await RisingEdge(dut.clk)
            if accepted:
                break
        dut.s_valid.value = 0


async def receive(dut: Any, count: int) -> list[list[int]]:
    """So many beats, taken now and then."""
    came: list[list[int]] = []
    while len(came) < count:
        dut.m_ready.value = int(random.random() < 0.5)
        await ReadOnly()
        if dut.m_valid.value == 1 and dut.m_ready.value == 1:
            came.append(np.frombuffer(int(dut.m_bytes.value).to_bytes(LANES, "little"), np.int8).tolist())
        await RisingEdge(dut.clk)
    return came


@cocotb.test(timeout_time=100_000, timeout_unit="step")
async def agrees_with_the_golden_arithmetic(dut: Any) -> None:
    """Random accumulators, ties of the division among them, under stalls of both sides."""
    Clock(dut.clk, 2, "step").start()
    settings = {"mult": MULTIPLIER, "shift": SHIFT, "zero": ZERO, "low": LOW & 0xFF, "high": HIGH, "int8": 1}
    for name, value in settings.items():
        getattr(dut, f"cfg_{name}").value = value
    dut.rst.value, dut.s_valid.value, dut.m_ready.value = 1, 0, 0
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    rng = np.random.default_rng(random.getrandbits(32))
    accumulators = rng.integers(-30_000, 30_000, (BEATS, LANES), dtype=np.int32)
    biases = rng.integers(-1_000, 1_000, (BEATS, LANES), dtype=np.int32)
    cocotb.start_soon(send(dut, accumulators, biases))
    came = np.array(await receive(dut, BEATS))
    wrong = np.argwhere(came != due(accumulators, biases))
    if len(wrong):
        beat, lane = wrong[0]
        said = f"{came[beat, lane]}, due {due(accumulators, biases)[beat, lane]}"
        raise AssertionError(f"{len(wrong)} numbers differ; the first is number {lane} of beat {beat}: {said}")
