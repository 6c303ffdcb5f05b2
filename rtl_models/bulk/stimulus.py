"""Frames for volume, made by columns: settings of layers and of corners, numbers that come to ties and to the ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.stimulus import edges
from rtl_models.benches.coverage.unit_stimulus import wrapped
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.register_map import CHANNELS
from rtl_models.unit_values import ONE_ROUNDING, channel_setting
from rtl_models.units import Unit
from sim.golden.fixed_point import Int64Array

Random = np.random.Generator
_EDGES: Final = np.array(edges(S32))
_BEATS: Final = (1, 2, 3, 7, 16, 61, 256, 1_000, 2_000)
"""Of a frame: many frames are short, most beats are in long ones."""
_CHUNK_BYTES: Final = 16


def frames(unit: Unit, lanes: int, seed: int, beats: int) -> Iterator[UnitFrame]:
    """Frames of so many beats in all, or a few more; the same for the same seed."""
    rng, left, longest = np.random.default_rng(seed), beats, max(1, beats // 50)
    while left > 0:
        frame = _MAKERS[unit.name](rng, lanes, min(left, longest, _one_of(rng, _BEATS)))
        left -= frame.beats
        yield frame


def long_frame(unit: Unit, lanes: int, seed: int, beats: int) -> UnitFrame:
    """One frame of about so many beats."""
    return _MAKERS[unit.name](np.random.default_rng(seed), lanes, beats)


def _one_of(rng: Random, choices: Sequence[int]) -> int:
    return choices[int(rng.integers(len(choices)))]


def int32_numbers(rng: Random, *shape: int) -> Int64Array:
    """An eighth of them edges, the others of all magnitudes."""
    uniform = rng.integers(S32.low, S32.high, shape, endpoint=True) >> rng.integers(0, 32, shape)
    return np.where(rng.random(shape) < 1 / 8, rng.choice(_EDGES, shape), uniform)


def _factors(rng: Random, *shape: int) -> tuple[Int64Array, Int64Array]:
    """Multipliers and shifts: half of them as layers have them, the others any, powers of two and ends among them."""
    layer = rng.random(shape) < 1 / 2
    multiplier = np.where(layer, rng.integers(1 << 30, 1 << 31, shape), int32_numbers(rng, *shape))
    return multiplier, np.where(layer, rng.integers(0, 16, shape), rng.integers(0, 32, shape))


def _output(rng: Random) -> dict[str, int]:
    """Bytes of either kind: a zero point, one time in four any number, and bounds of all of them or of some."""
    signed = int(rng.integers(2))
    low = -128 * signed
    offset = int32_numbers(rng) if rng.random() < 1 / 4 else low + rng.integers(0, 256)
    ends = (0, 255) if rng.random() < 1 / 2 else sorted(rng.integers(0, 255, 2, endpoint=True).tolist())
    return {"signed": signed, "offset": int(offset), "minimum": low + ends[0], "maximum": low + ends[1]}


def _rescaled_ones(
    rng: Random, shape: tuple[int, int], multiplier: Int64Array, shift: Int64Array, output: Mapping[str, int]
) -> Int64Array:
    """Numbers to rescale: some that come half-way between two bytes, some whose product is a tie, some of any kind."""
    halves = rng.integers(-8, 264, shape) - 128 * output["signed"] - output["offset"] + 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        aimed = np.nan_to_num(np.rint(halves * 2.0 ** (shift + 31) / multiplier), nan=0, posinf=0, neginf=0)
    near = np.clip(aimed, S32.low, S32.high).astype(np.int64) + rng.integers(-1, 2, shape)
    power = np.where(multiplier == 0, 1, multiplier & -multiplier)
    ties = (rng.integers(0, 1 << 30, shape) * 2 + 1) * ((1 << 30) // np.minimum(power, 1 << 30))
    return wrapped(np.choose(rng.integers(0, 4, shape), (near, near, ties, int32_numbers(rng, *shape))))


def _quantize_down(rng: Random, lanes: int, beats: int) -> UnitFrame:
    (multiplier, shift), output = _factors(rng), _output(rng)
    total = _rescaled_ones(rng, (beats, lanes), multiplier, shift, output)
    biases = int32_numbers(rng, *total.shape) * rng.integers(0, 2, (len(total), 1))  # none in half of the beats
    operands = {"accumulator_i": wrapped(total - biases), "bias_i": biases}
    return UnitFrame({"multiplier": int(multiplier), "shift": int(shift), **output}, operands)


def _quantize_down_channels(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Rows over all channels; what stands behind the end of one is any number."""
    channels = int(rng.integers(1, CHANNELS, endpoint=True))
    width = -(-channels // lanes) * lanes
    (multiplier, shift), output = _factors(rng, width), _output(rng)
    bias = int32_numbers(rng, width) * rng.integers(0, 2)
    total = _rescaled_ones(rng, (max(1, beats * lanes // width), width), multiplier, shift, output)
    tables = {"bias": bias, "multiplier": multiplier, "shift": shift}
    of_channels = {channel_setting(f, c): int(tables[f][c]) for f in tables for c in range(channels)}
    accumulators = wrapped(total - bias).reshape(-1, lanes)
    settings = {"channels": channels, **output, **of_channels}
    return UnitFrame(settings, {"accumulator_i": accumulators})


def _offset_contribution(rng: Random, lanes: int, beats: int) -> UnitFrame:
    settings = {name: int(int32_numbers(rng)) for name in ("a_offset", "b_offset", "constant")}
    operands = {f"{name}_i": int32_numbers(rng, beats, lanes) for name in ("product", "column_sums", "bias")}
    return UnitFrame(settings, {**operands, "row_sum_i": int32_numbers(rng, beats, 1)})


def _transpose1xw(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Rows of one element up to all of the frame, some ending with a chunk.

    Of the longest frames some have far more rows than beats are asked for, of a beat each: all bits of a height count.
    """
    tall = beats >= _BEATS[-1] and rng.random() < 1 / 32
    beats = min(int(rng.integers(1 << 10, 1 << 16)) * 4 // 3, 65_535) if tall else beats  # often the highest of all
    element = _one_of(rng, (1, 2, 4))
    a_beat = 4 * lanes // element
    most = a_beat if tall else min(a_beat * beats, 65_535)
    width = int(rng.integers(1, _one_of(rng, (most, min(most, 80))), endpoint=True))
    width = max(width & -(_CHUNK_BYTES // element), 1) if rng.random() < 1 / 4 else width
    a_row = -(-width // a_beat)
    settings = {
        "destination": _CHUNK_BYTES * int(_one_of(rng, (0, (1 << 28) - 2, int(rng.integers(1 << 28))))),
        "width": width, "height": max(1, beats // a_row), "element": element, "zero_tail": int(rng.integers(2)),
    }  # fmt: skip
    return UnitFrame(settings, {"data_i": rng.integers(0, 1 << 32, (settings["height"] * a_row, lanes))})


def _quantized_add(rng: Random, lanes: int, beats: int) -> UnitFrame:
    multipliers = ("a_multiplier", "b_multiplier", "multiplier")
    if rng.random() < 1 / 2:  # as in a layer, operands and results of about the same scale: the sum comes back to bytes
        scales = {name: int(rng.integers(1 << 30, 1 << 31)) for name in multipliers}
        scales |= {"left_shift": 20, "a_shift": int(rng.integers(3)), "b_shift": int(rng.integers(3))}
        scales |= _zero_points(rng)
        scales["shift"] = int(rng.integers(17, 22))
    else:  # also those that wrap, saturate, or make all results the same
        factors, shifts = (column.tolist() for column in _factors(rng, 3))
        scales = dict(zip(multipliers, factors, strict=True))
        scales |= dict(zip(("a_shift", "b_shift", "shift"), shifts, strict=True))
        scales |= _zero_points(rng)
        scales["left_shift"] = int(rng.integers(21))
    return UnitFrame(scales | _output(rng), {port: rng.integers(0, 256, (beats, lanes)) for port in ("a_i", "b_i")})


def _quantized_add_float(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Layers, sums of numbers far apart that come to a byte for the bytes of the first beat, and any bits at all."""
    a, b = rng.integers(0, 256, (2, beats, lanes))
    kind = rng.random()
    if kind < 1 / 4:
        words = rng.integers(0, 1 << 32, 3).astype(np.uint32)
    else:
        scales = np.float32(2.0) ** (rng.integers(-30, 30, 2) if kind < 3 / 4 else rng.integers(-9, 1, 2))
        factor, constant = rng.uniform(-2, 2, 2).astype(np.float32) * scales
        if kind < 3 / 4:  # one of b's bytes brings the sum back
            a[rng.random(a.shape) < 1 / 2], b[rng.random(b.shape) < 1 / 2] = a[0, 0], max(int(b[0, 0]), 1)
        first = np.float32(a[0, 0]) * factor + constant
        second = np.float32(rng.integers(0, 511) / 2 - first) / np.float32(max(int(b[0, 0]), 1))
        words = np.array((factor, second, constant), np.float32).view(np.uint32)
    names = ("a_multiplier", "b_multiplier", "constant")
    settings = dict(zip(names, words.view(np.int32).tolist(), strict=True))
    modes = {"rounding": int(rng.integers(2)), "unfused": int(rng.integers(2))}
    return UnitFrame(settings | modes, {"a_i": a, "b_i": b})


def _zero_points(rng: Random) -> dict[str, int]:
    """Those of bytes; one time in four any numbers."""
    offsets = int32_numbers(rng, 2) if rng.random() < 1 / 4 else rng.integers(-256, 256, 2)
    return dict(zip(("a_offset", "b_offset"), offsets.tolist(), strict=True))


def _requantize(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Factors of each number of a beat."""
    rounding, output = int(rng.integers(3)), _output(rng)
    factors = _factor_operands(rng, rounding, beats, lanes)
    right = factors["shift_i"] - factors["left_shift_i"]
    total = _rescaled_ones(rng, (beats, lanes), factors["multiplier_i"], right, output)
    biases = int32_numbers(rng, *total.shape) * rng.integers(0, 2, (len(total), 1))  # none in half of the beats
    operands = {"accumulator_i": wrapped(total - biases), "bias_i": biases}
    return UnitFrame({"rounding": rounding, **output}, operands | factors)


def _quantized_multiplier(rng: Random, lanes: int, beats: int) -> UnitFrame:
    rounding = int(rng.integers(3))
    factors = _factor_operands(rng, rounding, beats, lanes)
    right, near_zero = factors["shift_i"] - factors["left_shift_i"], {"signed": 1, "offset": 0}
    values = _rescaled_ones(rng, (beats, lanes), factors["multiplier_i"], right, near_zero)
    return UnitFrame({"rounding": rounding}, {"value_i": values, **factors})


def _factor_operands(rng: Random, rounding: int, beats: int, lanes: int) -> dict[str, Int64Array]:
    """Those that the rounding takes; half of them without a left shift."""
    multiplier, right = _factors(rng, beats, lanes)
    once = rounding == ONE_ROUNDING
    left = rng.integers(0, 31 if once else 32, (beats, lanes)) * rng.integers(0, 2, (beats, lanes))
    multiplier = np.minimum(np.abs(multiplier), S32.high) if once else multiplier
    return {"multiplier_i": multiplier, "left_shift_i": left, "shift_i": right}


def _integer_scale(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Sums that come near to a byte, and any."""
    shift, output = int(rng.integers(32)), _output(rng)
    multiplier = int(int32_numbers(rng)) if rng.random() < 1 / 4 else int(rng.integers(1, 200))
    numbers = rng.integers(-8, 264, (beats, lanes)) - 128 * output["signed"]
    aimed = (numbers << shift) // (multiplier or 1) + rng.integers(-2, 3, numbers.shape)
    total = np.where(rng.random(numbers.shape) < 3 / 4, aimed, int32_numbers(rng, *numbers.shape))
    biases = int32_numbers(rng, *numbers.shape) * rng.integers(0, 2, (beats, 1))
    operands = {"accumulator_i": wrapped(total - biases - output["offset"]), "bias_i": biases}
    settings = {"multiplier": multiplier, "shift": shift, "rounding": int(rng.integers(3))}
    return UnitFrame(settings | output, operands)


def _interleave4x4(rng: Random, lanes: int, beats: int) -> UnitFrame:
    return UnitFrame({"element": _one_of(rng, (1, 2, 4))}, {"data_i": rng.integers(0, 1 << 32, (beats, lanes))})


_MAKERS: Final[Mapping[str, Callable[[Random, int, int], UnitFrame]]] = {
    "quantize_down": _quantize_down,
    "quantize_down_channels": _quantize_down_channels,
    "offset_contribution": _offset_contribution,
    "transpose1xw": _transpose1xw,
    "quantized_add": _quantized_add,
    "quantized_add_float": _quantized_add_float,
    "requantize": _requantize,
    "quantized_multiplier": _quantized_multiplier,
    "integer_scale": _integer_scale,
    "interleave4x4": _interleave4x4,
}
