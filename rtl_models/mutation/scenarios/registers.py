"""What the tests of the configuration registers try, as rows: every word that says something, at every address."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.driving.illegal_writes import illegal_writes
from rtl_models.mutation.scenarios.scenario import Scenario, Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.register_map import ADDRESSES, CHANNELS, MOST_CHANNELS, REGISTERS, STATUS, TABLES, Register, cause
from rtl_models.units import SETTING_BITS, TABLE_BITS

CHANNELS_REGISTER: Final = ADDRESSES["CHANNELS"]
_RANDOM_WORDS: Final = 40
"""For each register."""
_BACKGROUNDS: Final = (0xFFFFFFFF, 0xFFFFFFF0, 0x1FF80, 0x104, 0x1F, 0x14, 0x55555550, 0xAAAAAAA0)
"""Words for all registers that take them, while each is written."""
Row = tuple[int, int, int]
"""Whether it writes, address, data."""


class Map:
    """The registers as `rtl_models.register_map` has them, with tables of so many channels."""

    def __init__(self, channels: int = CHANNELS) -> None:
        self._channels = channels
        self._words = {register.address: register.reset for register in REGISTERS}
        self._status = 0

    def outputs(self, row: Row) -> dict[str, int]:
        """What is on the outputs in a cycle, with `table_*` of the write that is made in it."""
        writes, address, data = row
        settings: dict[str, int] = {}
        for register in REGISTERS:
            settings |= register.decoded(self._words[register.address])
        taken = bool(writes) and cause(address, data, self._channels) == 0
        return settings | {
            "read_data": self._status if address == STATUS else self._words.get(address, 0),
            "error": int(self._status != 0),
            "table_restart": int(taken and address == CHANNELS_REGISTER),
            "table_write": int(taken and address >= TABLES),
            "table_channel": (address - TABLES >> 4) % (1 << 12),
            "table_field": address >> 2 & 3,
            "table_data": data,
        }

    def edge(self, row: Row) -> None:
        """The edge at the end of the cycle."""
        writes, address, data = row
        if not writes:
            return
        wrong = cause(address, data, self._channels)
        cleared = data if address == STATUS and not wrong else 0
        self._status = self._status & ~cleared | wrong
        if not wrong and address in self._words:
            self._words[address] = data


def scenarios(channels: int, seed: int) -> list[Scenario]:
    """A program twice: the reset between must make all as it was."""
    program = list(register_program(Random(seed), channels))
    registers, outputs = Map(channels), []
    for row in program:
        outputs.append(registers.outputs(row))
        registers.edge(row)
    bits = SETTING_BITS | TABLE_BITS | {"read_data": 32, "error": 1}
    columns = {name: np.array([values[name] for values in outputs], np.int64) for name in outputs[0]}
    inputs = zip(("write_i", "address_i", "data_i"), (1, 16, 32), np.array(program, np.int64).T, strict=True)
    steps = Steps(
        {port: PortSignal(size, numbers) for port, size, numbers in inputs},
        {f"{name}_o": PortSignal(bits[name], numbers) for name, numbers in columns.items()},
        np.zeros(len(program), bool),
    )
    return [
        Scenario(name=name, cycles=steps, beats=steps.none())
        for name in ("words of every kind", "the same after a reset")
    ]


def register_program(rng: Random, channels: int = CHANNELS) -> Iterator[Row]:
    """Words at every register, one after the other, with reads and writes that are refused in between."""
    addresses = [STATUS, *(register.address for register in REGISTERS)]
    for register in REGISTERS:
        for word in _words_of(register, rng):
            yield 1, register.address, word
            yield 0, register.address, rng.getrandbits(32)
    for word in _BACKGROUNDS:
        yield from ((1, address, word) for address in addresses)
        yield from ((1, address, data) for address in addresses for data in (1, 16))
    for illegal in illegal_writes(channels):
        yield 1, illegal.address, illegal.data
        yield from ((0, address, 0xFFFFFFFF) for address in (illegal.address & ~3, STATUS))
        yield from ((1, STATUS, ~illegal.cause & 7), (0, STATUS, 7), (1, STATUS, illegal.cause))
    ends = [c for c in (0, 1, channels - 1, channels, 1 << 11) if c < MOST_CHANNELS]
    at_ends = (word for end in (1, channels) for word in (end - 1, end, end + 1))
    yield from ((1, CHANNELS_REGISTER, word) for word in at_ends)
    of_tables = [TABLES + 16 * channel + 4 * field for channel in ends for field in range(4)]
    anywhere = [rng.randrange(1 << 16) for _ in range(200)]
    for address in (*addresses, *of_tables, *anywhere):
        yield from ((writes, address, rng.choice((rng.getrandbits(32), rng.randrange(40)))) for writes in (1, 0, 1))
        yield from ((0, STATUS, 7), (1, STATUS, 7))
    yield from ((0, 1 << bit, 0) for bit in range(16))
    yield from ((0, address ^ (1 << bit), 0) for address in addresses for bit in range(16))
    yield from ((1, address ^ (1 << bit), 1) for address in addresses for bit in range(16))


def _words_of(register: Register, rng: Random) -> Iterator[int]:
    """Corners of its fields together, single bits, and random words; illegal ones too."""
    width = max(field.lsb + field.bits for field in register.fields)
    yield from (0, (1 << 32) - 1, 0x55555555, 0xAAAAAAAA, register.reset)
    yield from (register.reset ^ 1 << bit for bit in range(32))
    yield from (base | 1 << bit for base in (0, 2, 4) for bit in range(32))
    yield from range(40)
    yield from (rng.getrandbits(width) for _ in range(_RANDOM_WORDS))
