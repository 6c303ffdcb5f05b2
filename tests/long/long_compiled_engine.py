"""The compiled engine beside the interpreter: every form, every rounding mode, every built-in kernel at every level."""

from __future__ import annotations

import pytest

from isa.evaluate.floating.formats import FZ
from sim.check.vectors import make_vectors
from sim.kernels.kernel import built_in_kernel
from sim.toolchain.compilers import build
from sim.toolchain.levels import LEVELS
from support.compiled_engine import Forms, KernelTwins, RandomCode, words_of

NAMES = (
    "fully_connected", "quantize_down", "quantized_multiplier", "requantize", "quantized_add", "offset_contribution",
    "transpose1xw",
)  # fmt: skip
CHUNKS, STATES, FLOATING_STATES, SEEDS = 8, 96, 96, 16


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_form_does_what_the_interpreter_says(chunk: int) -> None:
    names = list(words_of(step=1))[chunk::CHUNKS]
    assert Forms({name: words_of(step=1)[name] for name in names}).differences(STATES, FLOATING_STATES) == []


@pytest.mark.parametrize("fpcr", [mode << 22 | flush for mode in range(4) for flush in (0, FZ)])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_code_does_what_the_interpreter_says_with_faults(seed: int, fpcr: int) -> None:
    assert RandomCode(100 + seed, 1500, fpcr).differences(runs=20) == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_does_what_the_interpreter_says(name: str, level: str) -> None:
    kernel = built_in_kernel(name)
    inputs = [kernel.arguments(each) for each in make_vectors(kernel, 5000, 1).inputs]
    for source in kernel.sources:
        assert KernelTwins(build(source, f"-{level}"), kernel).differences(inputs) == []
