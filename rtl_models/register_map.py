"""The map of the configuration registers: where each setting of a unit is written, and what is legal there.

`lanes/config_registers.sv` is the hardware, REGISTERS.md the document; tests hold them and this together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

Settings = Mapping[str, int]
"""Numbers by the name of the setting."""

CHANNELS: Final = 64
"""The channels that the tables have, the default of the parameter Channels."""
MOST_CHANNELS: Final = 3840
"""The most that the parameter can be: from `TABLES` to the end of the addresses there is room for no more."""
STATUS: Final = 0x00
"""The address of the causes of `error_o`: a bit is set by a write that is refused, cleared by writing a 1 to it."""
CAUSES: Final = {"illegal value": 0b001, "unaligned address": 0b010, "unmapped address": 0b100}
"""The bits of STATUS."""
TABLES: Final = 0x1000
"""The address of channel 0; each channel has 16 bytes."""


@dataclass(frozen=True)
class RegisterField:
    """Bits `lsb` to `lsb + bits - 1` of a register: a number of `low` to `high`, in two's complement if `signed`."""

    setting: str
    lsb: int
    bits: int
    signed: bool
    low: int
    high: int

    @property
    def mask(self) -> int:
        """Its bits in the register."""
        return ((1 << self.bits) - 1) << self.lsb

    def encoded(self, value: int) -> int:
        """A number as bits of the register.  Raises ValueError where it is out of range."""
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.setting} is {value}: give {self.low}..{self.high}")
        return (value << self.lsb) & self.mask

    def decoded(self, data: int) -> int:
        """The number in the bits of the register."""
        value = (data & self.mask) >> self.lsb
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value


@dataclass(frozen=True)
class Register:
    """A word of the map.  `rule` is what must hold of its fields beyond their ranges, `reason` says it."""

    name: str
    address: int
    fields: tuple[RegisterField, ...]
    reset: int = 0
    rule: Callable[[Settings], bool] = lambda settings: True
    reason: str = ""

    def decoded(self, data: int) -> dict[str, int]:
        """The settings in a word."""
        return {field.setting: field.decoded(data) for field in self.fields}

    def takes(self, data: int) -> bool:
        """Whether a word of 32 bits is legal: nothing beside the fields, those in range, and what the rule says."""
        values = self.decoded(data)
        in_range = all(field.low <= values[field.setting] <= field.high for field in self.fields)
        return data & ~sum(field.mask for field in self.fields) == 0 and in_range and self.rule(values)

    def encoded(self, settings: Settings) -> int:
        """The word for some of its settings, the others as after reset.  Raises ValueError where it is illegal."""
        values = {name: settings.get(name, value) for name, value in self.decoded(self.reset).items()}
        data = sum(field.encoded(values[field.setting]) for field in self.fields)
        if not self.takes(data):
            raise ValueError(f"{', '.join(f'{name} {value}' for name, value in values.items())}: {self.reason}")
        return data


def _int32(setting: str) -> RegisterField:
    return RegisterField(setting, 0, 32, True, -(1 << 31), (1 << 31) - 1)


def _unsigned(setting: str, bits: int, low: int, high: int, lsb: int = 0) -> RegisterField:
    return RegisterField(setting, lsb, bits, False, low, high)


def _shift(setting: str) -> RegisterField:
    return _unsigned(setting, 5, 0, 31)


def _byte(setting: str, lsb: int) -> RegisterField:
    """A byte that the setting `signed` gives its meaning: given as -128..127 or as 0..255."""
    return RegisterField(setting, lsb, 8, False, -128, 255)


def _ordered(settings: Settings) -> bool:
    flip = 0x80 if settings["signed"] else 0  # puts signed bytes in the order of unsigned ones
    return settings["minimum"] ^ flip <= settings["maximum"] ^ flip


REGISTERS: Final = (
    Register("MULTIPLIER", 0x04, (_int32("multiplier"),)),
    Register("SHIFT", 0x08, (_shift("shift"),)),
    Register("OFFSET", 0x0C, (_int32("offset"),)),
    Register(
        "BOUNDS",
        0x10,
        (_byte("minimum", 0), _byte("maximum", 8), _unsigned("signed", 1, 0, 1, lsb=16)),
        reset=255 << 8,
        rule=_ordered,
        reason="minimum must not be above maximum, both read as signed says",
    ),
    Register("A_OFFSET", 0x14, (_int32("a_offset"),)),
    Register("B_OFFSET", 0x18, (_int32("b_offset"),)),
    Register("CONSTANT", 0x1C, (_int32("constant"),)),
    Register(
        "DESTINATION",
        0x20,
        (_unsigned("destination", 32, 0, (1 << 32) - 1),),
        rule=lambda settings: settings["destination"] % 16 == 0,
        reason="destination must be a multiple of 16",
    ),
    Register(
        "SIZE", 0x24, (_unsigned("width", 16, 1, 65535), _unsigned("height", 16, 1, 65535, lsb=16)), reset=0x0001_0001
    ),
    Register(
        "ELEMENT",
        0x28,
        (_unsigned("element", 3, 1, 4), _unsigned("zero_tail", 1, 0, 1, lsb=8)),
        reset=1,
        rule=lambda settings: settings["element"] != 3,
        reason="element must be 1, 2 or 4 bytes",
    ),
    Register("LEFT_SHIFT", 0x2C, (_unsigned("left_shift", 5, 0, 20),)),
    Register("A_MULTIPLIER", 0x30, (_int32("a_multiplier"),)),
    Register("A_SHIFT", 0x34, (_shift("a_shift"),)),
    Register("B_MULTIPLIER", 0x38, (_int32("b_multiplier"),)),
    Register("B_SHIFT", 0x3C, (_shift("b_shift"),)),
    Register("CHANNELS", 0x40, (_unsigned("channels", 12, 1, CHANNELS),), reset=1),
    Register("ROUNDING", 0x44, (_unsigned("rounding", 2, 0, 2), _unsigned("unfused", 1, 0, 1, lsb=8))),
    Register(
        "IMAGE",
        0x48,
        (_unsigned("image_width", 12, 1, 4095), _unsigned("image_height", 12, 1, 4095, lsb=16)),
        reset=0x0001_0001,
    ),
    Register(
        "PIXELS",
        0x4C,
        (_unsigned("pixel_words", 8, 1, 255), _unsigned("out_width", 12, 1, 4095, lsb=16)),
        reset=0x0001_0001,
    ),
    Register(
        "WINDOW",
        0x50,
        (
            _unsigned("window_width", 4, 1, 15),
            _unsigned("window_height", 4, 1, 15, lsb=4),
            _unsigned("stride_x", 4, 1, 15, lsb=8),
            _unsigned("stride_y", 4, 1, 15, lsb=12),
            _unsigned("left", 4, 0, 15, lsb=16),
            _unsigned("top", 4, 0, 15, lsb=20),
            _unsigned("windows", 1, 0, 1, lsb=24),
        ),
        reset=0x1111,
    ),
)
"""The registers that hold settings, in the order of their addresses."""
ADDRESSES: Final = {register.name: register.address for register in REGISTERS}
"""By name."""


@cache
def registers(channels: int = CHANNELS) -> tuple[Register, ...]:
    """`REGISTERS`, of hardware that has so many channels."""
    own = (_unsigned("channels", 12, 1, channels),)
    return tuple(replace(register, fields=own) if register.name == "CHANNELS" else register for register in REGISTERS)


@cache
def _tables(channels: int) -> tuple[Register, ...]:
    return tuple(
        Register(field.setting.upper(), TABLES + 16 * channel + 4 * number, (field,))
        for channel in range(channels)
        for number, field in enumerate(
            (
                _int32(f"bias[{channel}]"), _int32(f"multiplier[{channel}]"), _shift(f"shift[{channel}]"),
                _unsigned(f"left_shift[{channel}]", 5, 0, 30),
            )
        )
    )  # fmt: skip


@cache
def _by_address(channels: int) -> Mapping[int, Register]:
    return {register.address: register for register in (*registers(channels), *_tables(channels))}


def register_writes(settings: Settings, channels: int = CHANNELS) -> list[tuple[int, int]]:
    """The writes, (address, data), after which a unit has these settings; those of tables are named as "shift[3]".

    What shares a register with one of them and is not among them gets its value after reset.  CHANNELS comes last: it
    starts a row of the tables, which have so many `channels`.  Raises ValueError for a setting that there is not, and
    for an illegal one.
    """
    words = (*_tables(channels), *registers(channels))
    if unknown := sorted(set(settings) - {field.setting for register in words for field in register.fields}):
        raise ValueError(f"there is no setting {unknown[0]!r}: see REGISTERS.md")
    concerned = [register for register in words if any(field.setting in settings for field in register.fields)]
    concerned.sort(key=lambda register: register.name == "CHANNELS")
    return [(register.address, register.encoded(settings)) for register in concerned]


def outside(settings: Settings) -> str:
    """Which setting has a value that no register takes, and what is allowed; "" where all can be written."""
    fields = (field for register in REGISTERS for field in register.fields if field.setting in settings)
    wrong = (field for field in fields if not field.low <= settings[field.setting] <= field.high)
    return next((f"{field.setting} lies outside of {field.low}..{field.high}" for field in wrong), "")


def cause(address: int, data: int, channels: int = CHANNELS) -> int:
    """The bit of STATUS that a write sets: a value of `CAUSES`, or 0 where the write is taken.

    The hardware has tables of so many `channels`.
    """
    words = _by_address(channels)
    if address % 4:
        return CAUSES["unaligned address"]
    if address != STATUS and address not in words:
        return CAUSES["unmapped address"]
    return 0 if address == STATUS or words[address].takes(data) else CAUSES["illegal value"]
