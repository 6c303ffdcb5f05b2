"""The streaming units: which ports and settings, and what each must give.

Beside these ports every unit has clk_i, rst_ni and the handshake valid_i, ready_o, valid_o, ready_i.  The numbers of a
port lie side by side in it, the first in the low bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rtl_models import unit_values
from rtl_models.latencies import depths, latency, profile_of
from rtl_models.register_map import REGISTERS
from rtl_models.tools.sources import LANES
from rtl_models.unit_values import UNDEFINED, Operands, Results, Settings
from sim.golden.fixed_point import Int64Array

LANE_COUNTS: Final = (4, 8, 16)
"""The numbers of a beat that a unit can be built for: its parameter Lanes."""


@dataclass(frozen=True)
class UnitPort:
    """A port with numbers of so many bits, one for each lane, each beat or each chunk of 16 bytes."""

    name: str
    bits: int
    signed: bool
    per: Literal["lane", "beat", "chunk"] = "lane"

    def count(self, lanes: int) -> int:
        """The numbers in a beat."""
        return {"lane": lanes, "beat": 1, "chunk": lanes // 4}[self.per]

    def defined(self, numbers: Int64Array) -> NDArray[np.bool_]:
        """Which of the expected numbers are no `UNDEFINED`, of the same shape."""
        return np.full(numbers.shape, True) if self.signed else numbers != UNDEFINED


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A module `lanes/<name>.sv` with the parameters Lanes, Deep and mostly Depth, and what it computes.

    `settings` are the names of its configuration, each on the port `<setting>_i`.  `tables` are the fields that it has
    of each channel in tables instead, `unit_values.channel_setting` being their names; `expected` takes the settings,
    the operands of one frame and the lanes, and has the contract of `unit_values`.  It `mixes` where a result depends
    on more than the numbers of its own lane, or on a place in a frame.
    """

    name: str
    operands: tuple[UnitPort, ...]
    results: tuple[UnitPort, ...]
    settings: tuple[str, ...]
    expected: Callable[[Settings, Operands, int], Results]
    tables: tuple[str, ...] = ()
    mixes: bool = False

    @property
    def source(self) -> Path:
        """The file of the module."""
        return LANES / f"{self.name}.sv"

    @property
    def profiles(self) -> tuple[str, ...]:
        """The depths that its pipeline can have: "shallow" first, "deep" last, between them numbers of stages."""
        return tuple(profile_of(self.name, depth) for depth in depths(self.name))

    def latency(self, profile: str) -> int:
        """The register stages.  Raises ValueError for a profile that it has not."""
        return latency(self.name, profile)


TABLE_BITS: Final = {
    "table_restart": 1, "table_write": 1, "table_channel": 12, "table_field": 2, "table_data": 32,
}  # fmt: skip
"""By name of a wire that fills the tables its bits; the port of a unit that has tables is `<name>_i`."""
_FIELDS: Final = {field.setting: field for register in REGISTERS for field in register.fields}
SETTING_BITS: Final = {name: field.bits for name, field in _FIELDS.items()}
"""By name of a setting the bits of its port, `<name>_i`."""
DirectedPort = tuple[str, str, int]
"""Direction, name and bits of a port."""
CLOCKED: Final[tuple[DirectedPort, ...]] = (("input ", "clk_i", 1), ("input ", "rst_ni", 1))
HANDSHAKE: Final[tuple[DirectedPort, ...]] = (
    ("input ", "valid_i", 1), ("output", "ready_o", 1), ("output", "valid_o", 1), ("input ", "ready_i", 1),
)  # fmt: skip
_BYTES: Final = (UnitPort("result_o", 8, False),)
_FACTORS: Final = (
    UnitPort("multiplier_i", 32, True), UnitPort("left_shift_i", 5, False), UnitPort("shift_i", 5, False),
)  # fmt: skip
_ALL: Final = (
    Unit(
        name="quantize_down",
        operands=(UnitPort("accumulator_i", 32, True), UnitPort("bias_i", 32, True)),
        results=_BYTES,
        settings=("multiplier", "shift", "offset", "minimum", "maximum", "signed"),
        expected=unit_values.quantize_down,
    ),
    Unit(
        name="quantize_down_channels",
        operands=(UnitPort("accumulator_i", 32, True),),
        results=_BYTES,
        settings=("offset", "minimum", "maximum", "signed", "channels"),
        expected=unit_values.quantize_down_channels,
        tables=("bias", "multiplier", "shift"),
        mixes=True,
    ),
    Unit(
        name="offset_contribution",
        operands=(
            UnitPort("product_i", 32, True),
            UnitPort("column_sums_i", 32, True),
            UnitPort("row_sum_i", 32, True, "beat"),
            UnitPort("bias_i", 32, True),
        ),
        results=(UnitPort("result_o", 32, True),),
        settings=("a_offset", "b_offset", "constant"),
        expected=unit_values.offset_contribution,
    ),
    Unit(
        name="transpose1xw",
        operands=(UnitPort("data_i", 32, False),),
        results=(
            UnitPort("data_o", 32, False),
            UnitPort("address_o", 32, False, "chunk"),
            UnitPort("write_o", 1, False, "chunk"),
            UnitPort("last_o", 1, False, "beat"),
        ),
        settings=("destination", "width", "height", "element", "zero_tail"),
        expected=unit_values.transpose1xw,
        mixes=True,
    ),
    Unit(
        name="quantized_add",
        operands=(UnitPort("a_i", 8, False), UnitPort("b_i", 8, False)),
        results=_BYTES,
        settings=(
            "signed", "a_offset", "b_offset", "left_shift", "a_multiplier", "a_shift", "b_multiplier", "b_shift",
            "multiplier", "shift", "offset", "minimum", "maximum",
        ),
        expected=unit_values.quantized_add,
    ),
    Unit(
        name="quantized_add_float",
        operands=(UnitPort("a_i", 8, False), UnitPort("b_i", 8, False)),
        results=_BYTES,
        settings=("a_multiplier", "b_multiplier", "constant", "rounding", "unfused"),
        expected=unit_values.quantized_add_float,
    ),
    Unit(
        name="requantize",
        operands=(UnitPort("accumulator_i", 32, True), UnitPort("bias_i", 32, True), *_FACTORS),
        results=_BYTES,
        settings=("rounding", "offset", "minimum", "maximum", "signed"),
        expected=unit_values.requantize,
    ),
    Unit(
        name="quantized_multiplier",
        operands=(UnitPort("value_i", 32, True), *_FACTORS),
        results=(UnitPort("result_o", 32, True),),
        settings=("rounding",),
        expected=unit_values.quantized_multiplier,
    ),
    Unit(
        name="integer_scale",
        operands=(UnitPort("accumulator_i", 32, True), UnitPort("bias_i", 32, True)),
        results=_BYTES,
        settings=("multiplier", "shift", "offset", "rounding", "minimum", "maximum", "signed"),
        expected=unit_values.integer_scale,
    ),
    Unit(
        name="interleave4x4",
        operands=(UnitPort("data_i", 32, False),),
        results=(UnitPort("data_o", 32, False),),
        settings=("element",),
        expected=unit_values.interleave4x4,
        mixes=True,
    ),
)  # fmt: skip
UNITS: Final = {unit.name: unit for unit in _ALL}
"""By name."""


def setting_bits(unit: Unit) -> dict[str, int]:
    """By name of a setting, or of a wire of the tables, the bits of the unit's port `<name>_i`."""
    return {name: SETTING_BITS[name] for name in unit.settings} | (TABLE_BITS if unit.tables else {})


def setting_range(name: str) -> tuple[int, int]:
    """The least and the greatest number that a setting can be."""
    return _FIELDS[name].low, _FIELDS[name].high


def stream_ports(unit: Unit, lanes: int) -> list[DirectedPort]:
    """Its handshake, operands and results, for so many numbers a beat."""
    operands = [("input ", port.name, port.bits * port.count(lanes)) for port in unit.operands]
    results = [("output", port.name, port.bits * port.count(lanes)) for port in unit.results]
    return [*HANDSHAKE, *operands, *results]
