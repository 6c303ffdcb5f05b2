"""What each streaming unit must give for a frame of beats, by `sim.golden` and the kernels' goldens.

The contract of every function: `settings` are by name the numbers in the unit's configuration, `operands` by port an
int64 array [beats, numbers of that port in a beat]; the result is the like by output port.  Bytes are 0..255 however
they are read.  `UNDEFINED` stands where a beat has no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from sim.golden import gemm_lowp
from sim.golden.addition import Folded
from sim.golden.fixed_point import (
    Int32Array,
    Int64Array,
    as_int32,
    clamp,
    divide_by_power_of_two_ties_away,
    divide_by_power_of_two_ties_up,
    shift_left_wrap,
    shift_right_floor,
    wrap_int32,
)
from sim.golden.scaling import double_rounding, double_rounding_ties_up, single_rounding
from sim.kernels.offset_contribution import golden as offsets
from sim.kernels.quantize_down import golden as down
from sim.kernels.quantized_add import golden as add
from sim.kernels.transpose1xw import golden as transpose

Settings = Mapping[str, int]
Operands = Mapping[str, Int64Array]
Results = dict[str, Int64Array]

ONE_ROUNDING: Final = 2
"""The setting `rounding`: 0 is two of them, ties of the second away from zero; 1 is two, ties up."""
UNDEFINED: Final = -1
"""A result that may be anything; all ports that have such results are unsigned."""


def channel_setting(field: str, channel: int) -> str:
    """The name of a number in the tables: bias, multiplier, shift or left_shift of a channel, such as "bias[3]"."""
    return f"{field}[{channel}]"


def quantize_down(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings multiplier, shift, offset, minimum, maximum, signed; the bounds in effect, a byte's where none are."""
    biases = operands["bias_i"]
    return {"result_o": _down(operands["accumulator_i"], biases, settings, settings["multiplier"], settings["shift"])}


def _down(accumulators: Int64Array, biases: Int64Array, settings: Settings, multiplier: int, shift: int) -> Int64Array:
    parameters = down.Parameters(multiplier, shift, settings["offset"])
    given, bias = as_int32(accumulators).ravel(), as_int32(biases).ravel()
    return _bounded(down.steps(given, bias, parameters)["offset"], settings).reshape(accumulators.shape)


def _bounded(values: Int32Array, settings: Settings) -> Int64Array:
    """Bytes, by bounds that are read as the setting `signed` says."""
    minimum, maximum = (int(read_bytes(settings[bound], settings)) for bound in ("minimum", "maximum"))
    return clamp(values, minimum, maximum).astype(np.int64) & 0xFF


def quantize_down_channels(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings offset, minimum, maximum, signed, channels, and of each channel a `channel_setting` of every field.

    A row of `channels` numbers starts a beat; in its last beat the lanes behind the row are undefined.
    """
    beats, beats_a_row = operands["accumulator_i"], -(-settings["channels"] // lanes)
    filled_up = np.pad(beats, ((0, -len(beats) % beats_a_row), (0, 0)))
    rows = filled_up.reshape(-1, beats_a_row * beats.shape[1])
    results = np.full_like(rows, UNDEFINED)
    for channel in range(settings["channels"]):
        bias, multiplier, shift = (settings[channel_setting(f, channel)] for f in ("bias", "multiplier", "shift"))
        column = rows[:, channel]
        results[:, channel] = _down(column, np.full_like(column, bias), settings, multiplier, shift)
    return {"result_o": results.reshape(-1, lanes)[: len(beats)]}


def requantize(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings rounding, offset, minimum, maximum, signed; multiplier_i, left_shift_i and shift_i are of each lane.

    With one rounding multipliers must not be negative.
    """
    scaled = _scaled(wrap_int32(operands["accumulator_i"] + operands["bias_i"]), operands, settings["rounding"])
    low, high = (int(read_bytes(settings[bound], settings)) for bound in ("minimum", "maximum"))
    return {"result_o": np.clip(scaled.astype(np.int64) + settings["offset"], low, high) & 0xFF}


def quantized_multiplier(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Setting rounding; multiplier_i, left_shift_i and shift_i are of each lane.

    With one rounding multipliers must not be negative, and left_shift_i at most 30.
    """
    scaled = _scaled(as_int32(operands["value_i"]), operands, settings["rounding"])
    return {"result_o": scaled.astype(np.int64)}


def _scaled(values: Int32Array, operands: Operands, rounding: int) -> Int32Array:
    multipliers, lefts, rights = (operands[f"{name}_i"] for name in ("multiplier", "left_shift", "shift"))
    if rounding == ONE_ROUNDING:
        return single_rounding(values, multipliers, lefts - rights)
    rule = double_rounding_ties_up if rounding else double_rounding
    return rule(shift_left_wrap(values, lefts), multipliers, -rights)


def integer_scale(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings multiplier, shift, offset, rounding, minimum, maximum, signed."""
    placed = wrap_int32(operands["accumulator_i"] + operands["bias_i"] + settings["offset"])
    multiplied = wrap_int32(placed.astype(np.int64) * settings["multiplier"])
    return {"result_o": _bounded(_DIVISIONS[settings["rounding"]](multiplied, settings["shift"]), settings)}


_DIVISIONS: Final = (divide_by_power_of_two_ties_away, divide_by_power_of_two_ties_up, shift_right_floor)
"""Of `integer_scale` by its setting `rounding`."""


def interleave4x4(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Setting element.  A beat has the next bytes of each of four rows, as many as there are lanes."""
    octets = operands["data_i"].astype("<u4").view(np.uint8).reshape(-1, gemm_lowp.BLOCK_ROWS, lanes)
    columns = np.ascontiguousarray(gemm_lowp.interleave4x4(octets.view(f"<u{settings['element']}")))
    return {"data_o": columns.view("<u4").reshape(-1, lanes).astype(np.int64)}


def offset_contribution(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings a_offset, b_offset, constant.  Each beat is a batch of its own, with its own column sums."""
    products = as_int32(operands["product_i"]).reshape(-1, 1, lanes)
    columns, rows = as_int32(operands["column_sums_i"]), as_int32(operands["row_sum_i"])
    parameters = offsets.Parameters(0, settings["a_offset"], settings["b_offset"])
    placed = offsets.offset_contribution(products, columns, rows, None, parameters).reshape(1, -1)
    zeros, biases = np.zeros(placed.size, np.int32), as_int32(operands["bias_i"]).ravel()
    constant = offsets.Parameters(settings["constant"], 1, 1)
    result = offsets.offset_contribution(placed, zeros, zeros[:1], biases, constant)
    return {"result_o": result.astype(np.int64).reshape(-1, lanes)}


def transpose1xw(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings destination, width, height, element, zero_tail; a frame of `height` rows of whole beats."""
    # the bytes of each row, those behind its end too
    rows = operands["data_i"].astype("<u4").view(np.uint8).reshape(settings["height"], -1)
    existing = -(-settings["width"] * settings["element"] // transpose.CHUNK_BYTES)
    writes = np.zeros((len(rows), rows.shape[1] // transpose.CHUNK_BYTES), np.int64)
    writes[:, :existing] = 1
    addresses, data = np.full_like(writes, UNDEFINED), np.full((*writes.shape, 4), UNDEFINED)
    # [row, block]: where in the output a chunk of 16 bytes stands, counted in chunks
    numbers = np.arange(len(rows) * existing).reshape(len(rows), existing)
    moved = transpose.transpose1xw(np.repeat(numbers.astype(np.int32), 4, axis=1)).reshape(-1, 4)[:, 0]
    places = np.argsort(moved).reshape(numbers.shape)
    whole = rows.view(f"<u{settings['element']}")
    values, padding = whole[:, : settings["width"]], whole[:, settings["width"] :]
    mode = "acl_20_11" if settings["zero_tail"] else "acl_19_08"
    output = transpose.transpose1xw(np.ascontiguousarray(values), padding, mode)
    chunks = np.ascontiguousarray(output).view("<u4").astype(np.int64).reshape(-1, 4)
    addresses[:, :existing] = (settings["destination"] + transpose.CHUNK_BYTES * places) & 0xFFFFFFFF
    data[:, :existing] = chunks[places]
    last = np.zeros((operands["data_i"].shape[0], 1), np.int64)
    last[-1] = 1
    beats = len(last)
    return {
        "data_o": data.reshape(beats, -1), "address_o": addresses.reshape(beats, -1),
        "write_o": writes.reshape(beats, -1), "last_o": last,
    }  # fmt: skip


def quantized_add(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings: every port of the unit's configuration; the shifts but left_shift to the right."""
    rescaled = []
    for name in "ab":
        difference = wrap_int32(read_bytes(operands[f"{name}_i"], settings) + settings[f"{name}_offset"])
        shifted = shift_left_wrap(difference, settings["left_shift"])
        rescaled.append(double_rounding(shifted, settings[f"{name}_multiplier"], -settings[f"{name}_shift"]))
    total = wrap_int32(rescaled[0].astype(np.int64) + rescaled[1])
    scaled = double_rounding(total, settings["multiplier"], -settings["shift"])
    return {"result_o": _bounded(wrap_int32(scaled.astype(np.int64) + settings["offset"]), settings)}


def quantized_add_float(settings: Settings, operands: Operands, lanes: int) -> Results:
    """Settings a_multiplier, b_multiplier and constant, the bits of float32; rounding, 1 being ties away; unfused."""
    a, b = (operands[f"{name}_i"].astype(np.uint8) for name in "ab")
    return {"result_o": add.folded_steps(a, b, folded(settings), mode_of(settings))["output"].astype(np.int64)}


def folded(settings: Settings) -> Folded:
    """The float32 numbers in the settings of `quantized_add_float`."""
    words = np.array([settings[name] for name in ("a_multiplier", "b_multiplier", "constant")], np.int64)
    return Folded(*as_int32(words).view(np.float32))


def mode_of(settings: Settings) -> str:
    """The mode of the kernel `quantized_add` that its settings ask for."""
    ties = "away" if settings["rounding"] == 1 else "even"
    return f"neon_ties_{ties}{'_unfused' if settings['unfused'] else ''}"


def read_bytes(values: Int64Array | int, settings: Settings) -> Int64Array:
    """Bytes as the setting `signed` says."""
    octets = np.asarray(values, np.int64) & 0xFF
    return np.where(octets >= 128, octets - 256, octets) if settings["signed"] else octets
