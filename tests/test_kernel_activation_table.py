"""activation_table: real functions on every byte, the operator, every way to run it, and faults that are noticed."""

from __future__ import annotations

import doctest
from math import exp, floor
from math import tanh as real_tanh
from pathlib import Path

import numpy as np
import pytest

from sim.check.check import Job, check_job, jobs_of
from sim.check.vectors import make_vectors
from sim.golden.layers import gemmlowp
from sim.kernels import Kernel, built_in_kernel, kernel_modes
from sim.kernels.activation_table import golden
from sim.kernels.activation_table.configure import ActivationTable
from sim.kernels.activation_table.golden import FUNCTIONS, MODES, Parameters, activation_table
from sim.kernels.operator import ConfigurationError, TensorInfo
from support.planted_source import wrong_lanes

NAME = "activation_table"
KERNELS = [built_in_kernel(NAME, mode) for mode in kernel_modes(NAME)]
CASES = [
    pytest.param(kernel, job, id=f"{kernel.mode} {job.name}")
    for kernel in (KERNELS[3], KERNELS[4])
    for job in jobs_of(kernel, ["O2"])
]
REAL = {"logistic": lambda x: 1 / (1 + exp(-x)), "tanh": real_tanh}


def every_byte(mode: str) -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(MODES[mode].dtype)


def test_every_docstring_example_runs() -> None:
    results = [doctest.testmod(module) for module in (golden, gemmlowp)]
    assert [(result.failed, result.attempted) for result in results] == [(0, 1), (0, 6)]


@pytest.mark.parametrize("mode", MODES)
def test_every_byte_has_the_nearest_to_the_real_function(mode: str) -> None:
    """But for what is within 2^-12 of a tie, where the arithmetic decides."""
    rule, limits = MODES[mode], np.iinfo(MODES[mode].dtype)
    for scale, zero in ((0.05, 3), (0.0123, 100), (0.3, 60)):
        made = activation_table(every_byte(mode), Parameters(np.float32(scale), zero), mode)
        for byte, got in zip(every_byte(mode).tolist(), made.tolist(), strict=True):
            exact = REAL[rule.function](float(np.float32(scale)) * (byte - zero)) * 2 ** FUNCTIONS[rule.function].units
            lowest, highest = (floor(exact + 0.5 + by) + rule.output_zero for by in (-(2.0**-12), 2.0**-12))
            assert min(lowest, limits.max) <= got <= min(highest, limits.max)


@pytest.mark.parametrize(("name", "units"), [("logistic", 256), ("tanh", 512)])
def test_fixed_point_is_within_some_units_of_the_real_function(name: str, units: int) -> None:
    """It is farthest off at a quarter of the unit and next to it: tanh by 305 units."""
    drawn = np.random.default_rng(5).integers(-15 * 2**27, 15 * 2**27, 2000)
    values = np.append(
        drawn, [sign * (2**24 * part + k) for sign in (1, -1) for part in (1, 2) for k in range(-500, 500)]
    )
    real = [REAL[name](value / 2**27) * 2**31 for value in values.tolist()]
    error = np.abs(FUNCTIONS[name].in_fixed_point(values.astype(np.int32)) - np.array(real)).max()
    assert units / 2 < error < units


def test_the_constants_of_fixed_point_are_those_of_their_formulas() -> None:
    assert [round(exp(-(2.0**k)) * 2**31) for k in range(-2, 5)] == list(gemmlowp._FACTORS)
    assert round(exp(-1 / 8) * 2**31) == gemmlowp._EXP_OF_EIGHTH
    assert (round(48 / 17 * 2**29), round(-32 / 17 * 2**29)) == (1515870810, -1010580540)


@pytest.mark.parametrize(
    ("scale", "byte", "function", "table", "fixed"),
    [(2.0**-7, 1, "logistic", 0, 1), (0.011719254776835442, 1, "tanh", 1, 2)],
)
def test_next_to_a_tie_the_arithmetics_part(scale: float, byte: int, function: str, table: int, fixed: int) -> None:
    """docs/spec/neighbours.md section 23: LiteRT without delegates gives the one, TensorFlow Lite Micro the other."""
    input, parameters = np.array([byte], np.int8), Parameters(np.float32(scale))
    made = [int(activation_table(input, parameters, f"{function}_s8{kind}")[0]) for kind in ("", "_fixed_point")]
    assert made == [table, fixed]


def test_what_the_mode_does_not_take_is_refused() -> None:
    input = np.zeros(1, np.int8)
    with pytest.raises(TypeError, match="input is not a numpy array of uint8"):
        activation_table(input, Parameters(np.float32(1)), "tanh_u8")
    with pytest.raises(ValueError, match=r"the zero point is 200: it must lie in -128\.\.127"):
        activation_table(input, Parameters(np.float32(1), 200))
    with pytest.raises(ValueError, match="unknown mode 'sigmoid': give one of logistic_s8, tanh_s8"):
        activation_table(input, Parameters(np.float32(1)), "sigmoid")
    with pytest.raises(TypeError, match=r"give a numpy\.float32"):
        Parameters(0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"it must lie in 2\^-20\.\.16"):
        Parameters(np.float32(17))


@pytest.mark.parametrize(("kernel", "job"), CASES)
def test_every_implementation_agrees_in_lockstep_on_all_corners(kernel: Kernel, job: Job) -> None:
    vectors = make_vectors(kernel, 0, seed=2)
    outcome = check_job(kernel, job, vectors, lambda _: None)
    assert (outcome.failure, outcome.vectors) == ("", vectors.count)


@pytest.mark.parametrize("kernel", KERNELS)
def test_corners_separate_the_mode_from_every_convention(kernel: Kernel) -> None:
    sets = list(kernel.corners())
    own = [kernel.golden(inputs)["output"] for inputs in sets]
    apart = {
        name: any((other(inputs)["output"] != one).any() for inputs, one in zip(sets, own, strict=True))
        for name, other in kernel.conventions.items()
    }
    assert (len(apart) >= 2, [name for name, is_apart in apart.items() if not is_apart]) == (True, [])


PLANTED = [
    ("logistic_s8", 0, "found = vqtbx4q_u8(found, table->quarter[2], index);", ""),
    ("tanh_u8", 0, "vld1q_dup_u8(input + i)", "vld1q_dup_u8(input)"),
    ("tanh_s8", 1, "table[(uint8_t)input[i]]", "table[(uint8_t)(input[i] + 128)]"),
]


@pytest.mark.parametrize(("mode", "source", "right", "wrong"), PLANTED)
def test_a_planted_fault_is_found(tmp_path: Path, mode: str, source: int, right: str, wrong: str) -> None:
    assert wrong_lanes(built_in_kernel(NAME, mode), source, right, wrong, tmp_path, random=5) > 0


# The operator.


def test_the_operator_computes_its_window_and_fills_in_the_output() -> None:
    operator, output_info = ActivationTable(), TensorInfo()
    operator.configure(TensorInfo((2, 3), "QASYMM8_SIGNED", quantization=(0.05, 0)), output_info, "tanh_s8")
    output = np.full((2, 3), 99, np.int8)
    operator.run(np.full((2, 3), 20, np.int8), output, (slice(1, 2), slice(0, 2)))
    assert (output_info.quantization, output.tolist()) == ((1 / 128, 0), [[99] * 3, [97, 97, 99]])


def test_nothing_runs_before_it_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="the operator is not configured"):
        ActivationTable().run(np.zeros(1, np.int8), np.zeros(1, np.int8))
