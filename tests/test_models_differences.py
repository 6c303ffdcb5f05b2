"""SUB layers: the arithmetics in fractions, which one made an output, what a network is run by, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest

from sim.golden.derivation import derive_tflite
from sim.golden.integer_addition import AddRescaling, rescaling_of
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.tflite_file import read_tflite
from support.exact_rounding import half_away, half_up
from support.sampled import sampled
from support.tflite_models import ModelWriter

A, B, Y = range(3)
ZEROS = (3, -5, 7)


def network_of(
    folder: Path, scales: Sequence[float | None], zeros: Sequence[int] = ZEROS, shapes: Sequence[tuple[int, ...]] = (),
    dtypes: Sequence[str] = ("int8",) * 3, **options: int,
) -> Network:  # fmt: skip
    made = ModelWriter()
    of_a, of_b = shapes or ((256, 1), (256,))
    for name, dtype, shape, scale, zero in zip(
        "aby", dtypes, (of_a, of_b, np.broadcast_shapes(of_a, of_b)), scales, zeros, strict=True
    ):
        made.tensor(name, dtype, shape, () if scale is None else scale, zero)
    made.layer("SUB", (A, B), (Y,), "SubOptions", **options)
    made.inputs, made.outputs = [A, B], [Y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def every(dtype: str) -> dict[int, np.ndarray]:
    """All pairs of bytes; of int16 pairs with every remainder of small powers of two."""
    limits = np.iinfo(dtype)
    numbers = np.arange(limits.min, limits.max + 1, 1 if limits.bits == 8 else 257)[:256]
    return {A: (numbers + (limits.bits > 8)).astype(dtype).reshape(-1, 1), B: numbers.astype(dtype)}


def made_by(network: Network, given: dict[int, np.ndarray], placed: Callable[[int, int], int]) -> np.ndarray:
    """The numbers that a function makes of both operands, saturated."""
    tensor = network.tensors[Y]
    limits = np.iinfo(tensor.dtype)
    a, b = np.broadcast_arrays(given[A], given[B])
    made = [
        max(limits.min, min(limits.max, placed(x, y)))
        for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    ]
    return np.array(made, tensor.dtype).reshape(tensor.shape)


def report_on(network: Network, given: dict[int, np.ndarray], made: np.ndarray) -> LayerReport:
    (report,) = compared(network, {**given, Y: made})
    return report


def report_of(network: Network, given: dict[int, np.ndarray], placed: Callable[[int, int], int]) -> LayerReport:
    return report_on(network, given, made_by(network, given, placed))


def doubled(value: int, multiplier: int, left_shift: int) -> int:
    return half_away(Fraction(half_up(Fraction(value * multiplier, 2**31)), 2**-left_shift))


def once(value: int, multiplier: int, left_shift: int) -> int:
    return half_up(Fraction(value * multiplier, 2 ** (31 - left_shift)))


def in_integers(
    by: AddRescaling, zeros: Sequence[int], bits: int, rescale: Callable[[int, int, int], int]
) -> Callable[[int, int], int]:
    def placed(a: int, b: int) -> int:
        left, right = (
            rescale((x - zero) << bits, *how) for x, zero, how in ((a, zeros[0], by.first), (b, zeros[1], by.second))
        )
        return rescale(left - right, *by.total) + zeros[2]

    return placed


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "bits"), sampled([("int8", 20), ("uint8", 20), ("int16", 15)], 2))
@pytest.mark.parametrize(("name", "rescale"), [("subtract_tflite", doubled), ("subtract_tflite_single_rounding", once)])
def test_differences_in_integers(
    name: str, rescale: Callable[[int, int, int], int], dtype: str, bits: int, tmp_path: Path
) -> None:
    scales, zeros = (0.031, 0.0173, 0.04), (0, 0, 0) if dtype == "int16" else (60, 5, 7)
    network, given = network_of(tmp_path, scales, zeros, dtypes=(dtype,) * 3, PotScaleInt16=0), every(dtype)
    exact = [float(np.float32(scale)) for scale in scales]
    placed = in_integers(rescaling_of((exact[0], exact[1], exact[2]), bits, derive_tflite), zeros, bits, rescale)
    made = made_by(network, given, placed)
    report = report_on(network, given, made)
    assert (report.outcome, report.kind) == ("equal", "subtraction")
    assert name in report.conventions
    assert "subtract_xnnpack" not in report.conventions
    at = int(given[A][130, 0]), int(given[B][130])
    made[130, 130] -= 1
    off = report_on(network, given, made)
    assert (off.outcome, off.differing, off.first, off.usual) == ("differs", 1, (130, 130), name)
    assert off.trace is not None
    units = [(x - zero) * Fraction(one) for x, zero, one in zip(at, zeros, exact, strict=False)]
    assert off.trace.steps[0].exact == (units[0] - units[1]) / Fraction(exact[2]) + zeros[2]


@pytest.mark.slow
def test_ties_of_what_is_taken_off_go_as_those_of_a_sum(tmp_path: Path) -> None:
    """Of 2^-2 to 2^-1: with the operand negated first, ties of the first multiply would go the other way."""
    scales = (0.25, 0.25, 0.5)
    network, given = network_of(tmp_path, scales, (0, 0, 0)), every("int8")
    up = report_of(network, given, lambda a, b: half_up(Fraction(a - b, 2)))
    away = report_of(network, given, lambda a, b: half_away(Fraction(a - b, 2)))
    assert "subtract_xnnpack" in up.conventions
    assert "subtract_tflite" in away.conventions
    assert not set(up.conventions) & set(away.conventions)


def test_differences_by_multipliers_of_21_bits(tmp_path: Path) -> None:
    """The larger factor, 0.031 / 0.04, is between 2^-1 and 1: its multiplier has 21 bits behind the point."""
    scales = (0.031, 0.0173, 0.04)
    first, second = (round(Fraction(float(np.float32(one) / np.float32(0.04))) * 2**21) for one in scales[:2])
    network, given = network_of(tmp_path, scales), every("int8")
    report = report_of(network, given, lambda a, b: half_up(Fraction((a - 3) * first - (b + 5) * second, 2**21)) + 7)
    assert report.conventions == ("subtract_xnnpack",)
    far = network_of(tmp_path, (0.031, 0.031 / 2**11, 0.04))
    report = report_of(far, given, lambda a, b: floor(a / 2))
    assert report.explanation is not None
    assert not any("subtract_xnnpack" in name for near in report.explanation.nearest for name in near.names)


def test_differences_of_16_bits_by_shifts(tmp_path: Path) -> None:
    """Of scales that are powers of two, where the file is marked so; a network is run by them."""
    scales, given = (2.0**-9, 2.0**-12, 2.0**-9), every("int16")
    network = network_of(tmp_path, scales, (0, 0, 0), dtypes=("int16",) * 3, PotScaleInt16=1)
    report = report_of(network, given, lambda a, b: a - half_away(Fraction(b, 8)))
    assert "subtract_tflite_pot" in report.conventions
    made = forward(network, given, "double_rounding")[Y]
    assert made[3, 40] == max(-32768, min(32767, int(given[A][3, 0]) - half_away(Fraction(int(given[B][40]), 8))))
    plain = network_of(tmp_path, scales, (0, 0, 0), dtypes=("int16",) * 3, PotScaleInt16=0)
    assert not np.array_equal(forward(plain, given, "double_rounding")[Y], made)


def test_bounds_of_an_activation_are_in_units_of_the_output(tmp_path: Path) -> None:
    network, given = network_of(tmp_path, (0.5, 0.5, 0.5), FusedActivationFunction=1), every("int8")
    report = report_of(network, given, lambda a, b: max(7, a - 3 - (b + 5) + 7))
    assert "subtract_tflite" in report.conventions
    unbounded = report_of(network, given, lambda a, b: a - 3 - (b + 5) + 7)
    assert (unbounded.outcome, "bounds_not_applied" in unbounded.conventions[0]) == ("equal", True)


@pytest.mark.parametrize(
    ("scales", "dtypes", "shapes", "reason"),
    [
        ((0.5, None, 0.5), ("int8",) * 3, (), "b has no scale"),
        ((0.5, 0.5, 0.5), ("int8", "int16", "int8"), (), "SUB of int8 and int16 to int8 is not computed"),
        ((0.5, 0.5, 0.5), ("int32",) * 3, (), "SUB of int32 and int32 to int32 is not computed"),
        ((0.5, 0.5, 0.5), ("int8", "int8", "uint8"), (), "SUB of int8 and int8 to uint8 is not computed"),
    ],
)  # fmt: skip
def test_what_is_not_subtracted_is_named(
    scales: Sequence[float | None],
    dtypes: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    reason: str,
    tmp_path: Path,
) -> None:
    network = network_of(tmp_path, scales, (0, 0, 0), shapes, dtypes)
    given = {A: np.zeros((256, 1), dtypes[0]), B: np.zeros(256, dtypes[1])}
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], given)


def test_shapes_and_scales_of_channels_are_refused(tmp_path: Path) -> None:
    network = network_of(tmp_path, (0.5, 0.5, 0.5), (0, 0, 0), ((4,), (4,)))
    with pytest.raises(NotComputed, match="its tensors do not fit: shape mismatch"):
        computed(network, network.layers[0], {A: np.zeros(4, np.int8), B: np.zeros(3, np.int8)})
    with pytest.raises(NotComputed, match="input 1 is not there"):
        computed(network, network.layers[0], {A: np.zeros(4, np.int8)})
    made = ModelWriter()
    for name in "aby":
        made.tensor(name, "int8", (2,), np.array([0.5, 0.25]) if name == "b" else 0.5)
    made.layer("SUB", (A, B), (Y,), "SubOptions")
    (tmp_path / "net.tflite").write_bytes(made.content())
    network = read_tflite(tmp_path / "net.tflite")
    with pytest.raises(NotComputed, match="SUB with a scale for each channel is not computed"):
        computed(network, network.layers[0], {A: np.zeros(2, np.int8), B: np.zeros(2, np.int8)})


@pytest.mark.parametrize(("field", "named"), [("first", "a"), ("second", "b")])
def test_a_multiplier_one_unit_off_is_named(field: str, named: str, tmp_path: Path) -> None:
    """Where both operands are nearly the same, in units so small that one of a multiplier is not shifted away."""
    of_a, of_b = (3, 5) if field == "first" else (5, 3)  # the larger scale's multiplier is exact
    scales, zeros, numbers = (of_a * 2.0**-10, of_b * 2.0**-10, 20 * 2.0**-25), (0, 0, 0), np.arange(-6553, 6554)
    network = network_of(tmp_path, scales, zeros, (numbers.shape,) * 2, ("int16",) * 3, PotScaleInt16=0)
    given = {A: (of_b * numbers).astype(np.int16), B: (of_a * numbers).astype(np.int16)}
    by = rescaling_of(scales, 15, derive_tflite)
    one = getattr(by, field)
    off = by._replace(**{field: one._replace(multiplier=one.multiplier + 1)})
    report = report_of(network, given, in_integers(off, zeros, 15, doubled))
    told = f"with the multiplier of {named} one more, subtract_tflite"
    assert any(cause.kind == "multiplier" and cause.told.startswith(told) for cause in report.causes), report.causes


@pytest.mark.parametrize(("off", "told"), [((1, 0), "a one more"), ((0, -1), "b one less")])
def test_a_multiplier_of_xnnpacks_one_unit_off_is_named(off: tuple[int, int], told: str, tmp_path: Path) -> None:
    scales = (0.031, 0.0173, 0.04)
    network, given = network_of(tmp_path, scales), every("int8")
    first, second = (
        round(Fraction(float(np.float32(scale) / np.float32(0.04))) * 2**21) + units
        for scale, units in zip(scales[:2], off, strict=True)
    )
    report = report_of(network, given, lambda a, b: half_up(Fraction((a - 3) * first - (b + 5) * second, 2**21)) + 7)
    said = f"with the multiplier of {told}, subtract_xnnpack"
    assert any(cause.kind == "multiplier" and cause.told.startswith(said) for cause in report.causes), report.causes
