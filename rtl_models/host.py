"""What a host does around a unit: an input set of a kernel becomes frames, and their results the kernel's outputs.

A host computes nothing but the constant of offset_contribution, and chooses which numbers meet in a beat.  Numbers that
fill up the last beat of a row are dropped with their results.  What no result is written to keeps what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.session import WentWrong
from rtl_models.unit_values import Results
from sim.golden.fixed_point import Int64Array
from sim.golden.gemm_lowp import BLOCK_ROWS
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.offset_contribution import golden as offsets

Arguments = Mapping[str, Any]
"""Those of the kernel's signature."""
FILLER: Final = 0x5A5A5A5A
"""Of lanes behind the end of a row."""
MEMORY: Final = 0x40000000
"""Where the outputs of transpose1xw lie, plane behind plane."""
CHUNK: Final = 16
_CL: Final = "acl_19_08_cl"
_NEON: Final = "acl_19_08_neon"


@dataclass(frozen=True)
class Host:
    """The host of a kernel: in these modes the unit computes the same.

    `frames` takes the kernel, an input set and the lanes; `outputs` an input set's arguments and its frames' results.
    """

    unit: str
    modes: tuple[str, ...]
    frames: Callable[[Kernel, Inputs, int], list[UnitFrame]]
    outputs: Callable[[Arguments, Sequence[Results]], Outputs]


def _beats(rows: Any, lanes: int, filler: int = FILLER) -> Int64Array:
    """The last axis in beats, each row beginning a new one: [beats, lanes]."""
    missing = -rows.shape[-1] % lanes
    padding = [(0, 0)] * (rows.ndim - 1) + [(0, missing)]
    return np.pad(rows.astype(np.int64), padding, constant_values=filler).reshape(-1, lanes)


def _rows(results: Sequence[Results], shape: tuple[int, ...]) -> Int64Array:
    """The numbers of `result_o`, those behind the ends of the rows dropped; the shape is that of all rows."""
    numbers = np.concatenate([result["result_o"] for result in results])
    return numbers.reshape(*shape[:-1], -1)[..., : shape[-1]]


def _quantize_down(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    given = kernel.arguments(inputs)
    accumulators, bias = given["accumulators"], given["bias"]
    settings = {name: int(given[name]) for name in ("multiplier", "shift", "offset")}
    settings |= {"minimum": int(given["lower"]), "maximum": int(given["upper"]), "signed": 0}
    biases = np.zeros_like(accumulators) if bias is None else bias
    frame = UnitFrame(settings, {"accumulator_i": _beats(accumulators, lanes), "bias_i": _beats(biases, lanes)})
    return [frame] if frame.beats else []


def _bytes(arguments: Arguments, results: Sequence[Results], of: str = "accumulators") -> Outputs:
    """The output of a kernel, of the shape of one of its operands."""
    shape = arguments[of].shape
    return {"output": (_rows(results, shape) if results else np.zeros(shape)).astype(np.uint8)}


def _touched(given: Arguments) -> int:
    """The columns that the kernel computes: whole steps, the last of them into the padding."""
    step = offsets.MODES[_NEON if _is_neon(given) else _CL].columns_per_step
    return -(-int(given["columns"]) // step) * step


def _is_neon(given: Arguments) -> bool:
    """Whether they are those of the NEON kernel, which alone has no bias."""
    return "bias" not in given


def _offset_contribution(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """The faults of the NEON kernel are in the sums that it takes: the host chooses the same ones."""
    given = kernel.arguments(inputs)
    end = _touched(given)
    mm = given["mm"][..., :end]
    k, a_offset, b_offset = (int(given[name]) for name in ("k", "a_offset", "b_offset"))
    constant = (k * a_offset * b_offset + (1 << 31)) % (1 << 32) - (1 << 31)
    columns, rows = given["column_sums"], given["row_sums"]
    rows = np.zeros(mm.shape[:-1]) if rows is None else rows
    if _is_neon(given):
        columns = None if columns is None else columns[:1]
        rows = np.broadcast_to(rows if a_offset else rows[:1], mm.shape[:-1])
    operands = {
        "product_i": _beats(mm, lanes),
        "column_sums_i": _beats(_of_batches(columns, mm.shape), lanes),
        "row_sum_i": np.repeat(rows.astype(np.int64).reshape(-1, 1), -(-end // lanes), axis=0),
        "bias_i": _beats(_of_batches(given.get("bias"), mm.shape), lanes),
    }
    frame = UnitFrame({"a_offset": a_offset, "b_offset": b_offset, "constant": constant}, operands)
    return [frame] if frame.beats else []


def _of_batches(rows: Any, shape: tuple[int, ...]) -> Any:
    """[columns], one for all, or [batches, columns], as often as there are rows; zeros for none."""
    if rows is None:
        return np.zeros(shape, np.int64)
    chosen = np.atleast_2d(rows)[: max(shape[0], 1), None, None, : shape[-1]]
    return np.broadcast_to(chosen, shape)


def _products(arguments: Arguments, results: Sequence[Results]) -> Outputs:
    mm = arguments["mm"].copy()
    touched = mm[..., : _touched(arguments)]
    if results:
        touched[...] = _rows(results, touched.shape)
    return {"mm": mm}


def _transpose1xw(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """A frame for each plane."""
    given, values = kernel.arguments(inputs), inputs["values"]
    whole = given["chunks"] * CHUNK
    planes = given["input"][..., :whole]
    planes = np.pad(planes, ((0, 0), (0, 0), (0, whole - planes.shape[-1])), constant_values=FILLER & 0xFF)
    settings = {"width": values.shape[-1], "height": values.shape[1], "element": values.itemsize}
    settings["zero_tail"] = int("width" in given)
    words = np.ascontiguousarray(planes).view("<u4") if whole else planes
    plane_bytes = int(given["chunks"] * given["rows"] * CHUNK)
    return [
        UnitFrame(settings | {"destination": MEMORY + plane * plane_bytes}, {"data_i": _beats(rows, lanes)})
        for plane, rows in enumerate(words)
        if rows.size
    ]


def _chunks(arguments: Arguments, results: Sequence[Results]) -> Outputs:
    """The memory after all writes; its rows of chunks are the beginnings of the output's rows.  Raises WentWrong."""
    output = arguments["output"].copy()
    used = output[..., : arguments["rows"] * CHUNK]
    memory = np.ascontiguousarray(used).reshape(-1, CHUNK)
    for result in results:
        written = result["write_o"] == 1
        data = result["data_o"].astype("<u4").reshape(*written.shape, 4)[written]
        addresses = result["address_o"][written]
        places, odd = np.divmod(addresses - MEMORY, CHUNK)
        wrong = (odd != 0) | (places < 0) | (places >= len(memory))
        if wrong.any():
            allowed = f"{MEMORY:#x} to {MEMORY + CHUNK * (len(memory) - 1):#x} in steps of {CHUNK}"
            raise WentWrong(f"transpose1xw writes a chunk at {int(addresses[wrong][0]):#x}: its output has {allowed}")
        memory[places] = np.ascontiguousarray(data).view(np.uint8)
    used[...] = memory.reshape(used.shape)
    return {"output": output}


def _quantized_add(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """Shifts are 0 or negative in the kernel, and count to the right in the unit."""
    given = kernel.arguments(inputs)
    same = ("a_offset", "b_offset", "left_shift", "a_multiplier", "b_multiplier", "multiplier", "offset")
    settings = {name: int(given[name]) for name in same}
    settings |= {name: -int(given[name]) for name in ("a_shift", "b_shift", "shift")}
    settings |= {"minimum": int(given["lower"]), "maximum": int(given["upper"]), "signed": 0}
    operands = {f"{name}_i": _beats(given[name], lanes) & 0xFF for name in "ab"}
    frame = UnitFrame(settings, operands)
    return [frame] if frame.beats else []


def _quantized_add_float(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """The unit takes the bits of the kernel's float32 numbers."""
    given = kernel.arguments(inputs)
    numbers = {"a_multiplier": "a_factor", "b_multiplier": "b_factor", "constant": "constant"}
    settings = {setting: int(np.float32(given[name]).view(np.int32)) for setting, name in numbers.items()}
    settings |= {"rounding": int("ties_away" in kernel.mode), "unfused": int(kernel.mode.endswith("unfused"))}
    frame = UnitFrame(settings, {f"{name}_i": _beats(given[name], lanes) & 0xFF for name in "ab"})
    return [frame] if frame.beats else []


def _quantized_multiplier(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """One factor for all values, given as a left shift, or as one to the right."""
    given = kernel.arguments(inputs)
    left = int(given["left_shift"]) if "left_shift" in given else -int(given["right_shift"])
    values = _beats(given["values"], lanes)
    factors = {"multiplier_i": int(given["multiplier"]), "left_shift_i": max(left, 0), "shift_i": max(-left, 0)}
    operands = {name: np.full_like(values, number) for name, number in factors.items()}
    return [UnitFrame({"rounding": 0}, {"value_i": values, **operands})] if values.size else []


def _requantize(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """A factor for each column, in the beats of every row."""
    given = kernel.arguments(inputs)
    values = given["values"]
    lefts = given["left_shifts"].astype(np.int64)
    factors = {"multiplier": given["multipliers"], "left_shift": np.maximum(lefts, 0), "shift": np.maximum(-lefts, 0)}
    # not every number is a factor: those behind the end of a row are 0
    operands = {
        f"{name}_i": _beats(np.broadcast_to(row, values.shape), lanes, filler=0) for name, row in factors.items()
    }
    frame = UnitFrame({"rounding": _ROUNDINGS[kernel.mode]}, {"value_i": _beats(values, lanes), **operands})
    return [frame] if frame.beats else []


def _numbers(arguments: Arguments, results: Sequence[Results], into: str) -> Outputs:
    """The int32 output of a kernel that scales its values."""
    shape = arguments["values"].shape
    return {into: (_rows(results, shape) if results else np.zeros(shape)).astype(np.int32)}


def _integer_scale(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    given = kernel.arguments(inputs)
    values, bias = given["values"], given["bias"]
    settings = {"shift": int(given["right_shift"]), "rounding": _ROUNDINGS[kernel.mode], "signed": 0}
    settings |= {name: int(given[name]) for name in ("multiplier", "offset")}
    settings |= {"minimum": int(given["lower"]), "maximum": int(given["upper"])}
    biases = np.zeros_like(values) if bias is None else bias
    frame = UnitFrame(settings, {"accumulator_i": _beats(values, lanes), "bias_i": _beats(biases, lanes)})
    return [frame] if frame.beats else []


_ROUNDINGS: Final = {
    "tflite_double_rounding": 0, "tflite_neon_helper": 1, "tflite_single_rounding": 2, "ruy": 2,
    "gemmlowp_integer_scale": 0, "acl_integer_scale": 2,
}  # fmt: skip
"""The setting of the unit for a mode of `requantize`."""


def _interleave4x4(kernel: Kernel, inputs: Inputs, lanes: int) -> list[UnitFrame]:
    """The rows of a group side by side, in as many beats as a row takes; what fills up the last is dropped."""
    rows = kernel.arguments(inputs)["input"]
    groups = (
        np.ascontiguousarray(rows)
        .view(np.uint8)
        .reshape(len(rows) // BLOCK_ROWS, BLOCK_ROWS, rows.shape[1] * rows.itemsize)
    )
    padded = np.pad(groups, ((0, 0), (0, 0), (0, -groups.shape[2] % lanes)), constant_values=FILLER & 0xFF)
    beats = padded.reshape(len(groups), BLOCK_ROWS, padded.shape[2] // lanes, lanes).swapaxes(1, 2)
    if not beats.size:
        return []
    words = np.ascontiguousarray(beats).reshape(-1, BLOCK_ROWS * lanes).view("<u4").astype(np.int64)
    return [UnitFrame({"element": rows.itemsize}, {"data_i": words})]


def _interleaved(arguments: Arguments, results: Sequence[Results]) -> Outputs:
    rows = arguments["input"]
    output = np.zeros((len(rows) // BLOCK_ROWS, BLOCK_ROWS * rows.shape[1]), rows.dtype)
    for result in results:
        octets = result["data_o"].astype("<u4").view(np.uint8).reshape(len(output), -1)
        output[...] = np.ascontiguousarray(octets[:, : output.shape[1] * output.itemsize]).view(output.dtype)
    return {"output": output}


_NEON_MODES: Final = ("neon_ties_away", "neon_ties_away_unfused", "neon_ties_even", "neon_ties_even_unfused")
_DOWN: Final = ("acl_19_08", "acl_20_02_left_shift", "acl_20_05_bounds", "acl_19_08_lanes_and_tail")
HOSTS: Final[Mapping[str, tuple[Host, ...]]] = {
    "quantize_down": (Host("quantize_down", _DOWN, _quantize_down, _bytes),),
    "offset_contribution": (Host("offset_contribution", (_CL, _NEON), _offset_contribution, _products),),
    "transpose1xw": (Host("transpose1xw", ("acl_19_08", "acl_20_11"), _transpose1xw, _chunks),),
    "quantized_add": (
        Host("quantized_add", ("tflite",), _quantized_add, partial(_bytes, of="a")),
        Host("quantized_add_float", _NEON_MODES, _quantized_add_float, partial(_bytes, of="a")),
    ),
    "quantized_multiplier": (
        Host(
            "quantized_multiplier",
            ("armnn_24_08", "acl_19_08", "acl_20_02", "tflite"),
            _quantized_multiplier,
            partial(_numbers, into="products"),
        ),
    ),
    "requantize": (
        Host(
            "quantized_multiplier",
            ("tflite_double_rounding", "tflite_single_rounding", "tflite_neon_helper", "ruy"),
            _requantize,
            partial(_numbers, into="output"),
        ),
        Host(
            "integer_scale",
            ("acl_integer_scale", "gemmlowp_integer_scale"),
            _integer_scale,
            partial(_bytes, of="values"),
        ),
    ),
    "interleave4x4": (
        Host(
            "interleave4x4",
            ("acl_19_08_8bit", "acl_19_08_16bit", "acl_19_08_32bit"),
            _interleave4x4,
            _interleaved,
        ),
    ),
}
"""By kernel; each mode has at most one."""


def hosted_modes(kernel: str) -> tuple[str, ...]:
    """The modes in which there is a unit for a kernel."""
    return tuple(mode for host in HOSTS[kernel] for mode in host.modes)


def host_of(kernel: str, mode: str) -> Host:
    """That of a mode which is among `hosted_modes`."""
    return next(host for host in HOSTS[kernel] if mode in host.modes)
