"""The map of the configuration registers: document, Python, package and hardware say the same."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, product

import numpy as np
import pytest

from rtl_models.benches.driving.illegal_writes import illegal_writes
from rtl_models.latencies import package_constants
from rtl_models.register_map import (
    CAUSES,
    CHANNELS,
    REGISTERS,
    STATUS,
    TABLES,
    Register,
    RegisterField,
    cause,
    register_writes,
)
from rtl_models.tools.sources import LANES
from rtl_models.units import UNITS
from support.rtl_cycles import Clocked

hardware = pytest.mark.rtl
DOCUMENT = (LANES.parent / "REGISTERS.md").read_text()
FIELDS = [(register, field) for register in REGISTERS for field in register.fields]
BY_ADDRESS = {register.address: register for register in REGISTERS}
BY_NAME = {register.name: register for register in REGISTERS}
SETTINGS = [f"{field.setting}_o" for _, field in FIELDS]
TABLE = ("table_restart_o", "table_write_o", "table_channel_o", "table_field_o", "table_data_o")
BUS = Clocked(
    "config_registers",
    ("rst_ni", "write_i", "address_i", "data_i"),
    ("read_data_o", "error_o", *SETTINGS, *TABLE),
)
MOST = 10_000
Write = tuple[int, int]
State = dict[str, int]


def cycles_of(program: Iterable[Write]) -> Iterator[State]:
    """A reset, then a write in every cycle, then STATUS is read."""
    yield {}
    for address, data in program:
        yield {"rst_ni": 1, "write_i": 1, "address_i": address, "data_i": data}
    yield {"rst_ni": 1, "address_i": STATUS}


def during(program: Iterable[Write]) -> list[State]:
    """The outputs in each cycle of the writes, and at last after them."""
    return BUS.after(cycles_of(program))[1:]


def settings_in(state: State) -> State:
    return {name: state[name] for name in SETTINGS}


def settings_changed(state: State) -> bool:
    """Whether a setting is not as after reset."""
    return any(state[name] != value for name, value in RESET_SETTINGS.items())


def bits_of(values: dict[str, int]) -> State:
    """Settings as the bits of their ports."""
    return {f"{field.setting}_o": values[field.setting] & field.mask >> field.lsb for _, field in FIELDS}


AFTER_RESET = {name: value for register in REGISTERS for name, value in register.decoded(register.reset).items()}


RESET_SETTINGS = bits_of(AFTER_RESET)


def with_register(register: Register, data: int) -> State:
    """All settings when one register has been written after reset."""
    values = register.decoded(data)
    own = {f"{field.setting}_o": values[field.setting] & field.mask >> field.lsb for field in register.fields}
    return RESET_SETTINGS | own


def corners(field: RegisterField) -> list[int]:
    """Bits of a field in its place: about its ends, and of one bit each."""
    ends = {value for end in (field.low, field.high, 0) for value in (end - 1, end, end + 1)}
    return sorted({value << field.lsb & field.mask for value in ends | {1 << bit for bit in range(field.bits)}})


def words(register: Register) -> list[int]:
    """Values to try: the corners of the fields, one with another, bits beside the fields, and random ones (seed 1).

    Of more than `MOST` corners of many fields as many are drawn: all pairs of two fields' are among them.
    """
    chosen = random.Random(1)
    together = [sum(parts) for parts in product(*map(corners, register.fields))]
    together = chosen.sample(together, min(len(together), MOST))
    beside = [register.reset ^ 1 << bit for bit in range(32)]
    return sorted({*together, *beside, *(chosen.getrandbits(32) >> chosen.randrange(32) for _ in range(50))})


def documented() -> list[tuple[str, ...]]:
    """The cells of the map's table in the document, for registers that have settings of their own."""
    rows = re.findall(r"^\| ([A-Z_]+) \| (\w+) \| ([\d:]+) \| `(\w+)` \| ([^|]+) \| (\d+) \|$", DOCUMENT, re.MULTILINE)
    return [tuple(row) for row in rows]


def row_of(register: Register, field: RegisterField) -> tuple[str, ...]:
    bits = f"{field.lsb + field.bits - 1}:{field.lsb}" if field.bits > 1 else f"{field.lsb}"
    values = "a byte" if (field.low, field.high) == (-128, 255) else f"{field.low}..{field.high}"
    reset = register.decoded(register.reset)[field.setting]
    return (register.name, f"0x{register.address:02X}", bits, f"{field.setting}", values, str(reset))


def test_the_documented_map_is_the_one_that_python_has() -> None:
    assert documented() == [row_of(register, field) for register, field in FIELDS]


def test_the_document_places_the_tables_where_python_does() -> None:
    rows = re.findall(r"^\| (\w+) of channel c \| (\w+) \+ 16 c \| [\d:]+ \| `\1\[c\]` \|", DOCUMENT, re.MULTILINE)
    placed = [(int(start, 16) + 16 * 3, 5) for _, start in rows]
    assert placed == register_writes({f"{field}[3]": 5 for field, _ in rows})


def test_the_document_gives_every_rule_beyond_the_ranges() -> None:
    reasons = {f"- {register.name}: {register.reason}" for register in REGISTERS if register.reason}
    assert {reason for reason in reasons if reason not in DOCUMENT} == set()


def test_the_document_gives_the_bits_of_status() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+ \w+)", DOCUMENT, re.MULTILINE)
    assert {words: 1 << int(bit) for bit, words in rows} == CAUSES


def section(title: str) -> str:
    return DOCUMENT.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_document_gives_the_settings_of_every_unit() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section("What the settings mean"), re.MULTILINE)
    documented = {unit: tuple(re.findall(r"`(\w+)`", settings)) for unit, settings in rows}
    assert documented == {unit.name: unit.settings for unit in UNITS.values()}


def test_the_example_of_the_document_gives_the_bytes_that_it_says() -> None:
    written = re.findall(r"^\| (0x\w+) \| (0x\w+) \|", section("The bus"), re.MULTILINE)
    said = re.search(r"accumulators (.+) with the biases 0 gives the bytes (.+)\.", section("The bus"))
    assert said is not None
    accumulators, wanted = (np.array([[int(number) for number in numbers.split(", ")]]) for numbers in said.groups())
    decoded = (BY_ADDRESS[int(address, 16)].decoded(int(data, 16)) for data, address in written)
    settings = {name: value for word in decoded for name, value in word.items()}
    operands = {"accumulator_i": accumulators, "bias_i": np.zeros_like(accumulators)}
    given = UNITS["quantize_down"].expected(settings, operands, 4)["result_o"]
    assert (given.tolist(), len(written)) == (wanted.tolist(), 4)


def test_the_addresses_are_those_of_the_package() -> None:
    named = {"STATUS": STATUS, "TABLES": TABLES} | {register.name: register.address for register in REGISTERS}
    package = {name: value for name, value in package_constants().items() if name.startswith("Address")}
    assert {f"Address{name.title().replace('_', '')}": address for name, address in named.items()} == package


def test_the_values_after_reset_are_legal() -> None:
    assert [register.name for register in REGISTERS if not register.takes(register.reset)] == []


def test_writes_give_settings_that_are_missing_their_value_after_reset() -> None:
    assert register_writes({"height": 3, "minimum": -5, "signed": 1, "maximum": 7}) == [
        (0x10, 0x107FB),
        (0x24, 0x0003_0001),
    ]


def test_writes_start_the_row_after_the_tables_are_written() -> None:
    settings = {"channels": 2, "rounding": 1, "shift[1]": 31, "left_shift[1]": 30, "bias[0]": -1}
    assert register_writes(settings) == [
        (0x1000, 0xFFFFFFFF),
        (0x1018, 31),
        (0x101C, 30),
        (0x44, 1),
        (0x40, 2),
    ]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"shift": 32}, "shift is 32: give 0..31"),
        ({"multiplier": 1 << 31}, "multiplier is 2147483648: give -2147483648..2147483647"),
        ({"element": 3}, "element 3, zero_tail 0: element must be 1, 2 or 4 bytes"),
        ({"scale": 1}, "there is no setting 'scale': see REGISTERS.md"),
        ({"bias[64]": 0}, "there is no setting 'bias[64]': see REGISTERS.md"),
    ],
)
def test_an_illegal_setting_is_refused_with_a_sentence(settings: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        register_writes(settings)


def test_a_write_right_behind_the_last_register_is_among_those_that_benches_try() -> None:
    """Whatever registers there are: that address alone tells a map that ends one word too late."""
    addresses = [value for name, value in package_constants().items() if name.startswith("Address") and value < TABLES]
    tried = [write.address for write in illegal_writes() if write.cause == CAUSES["unmapped address"]]
    assert max(addresses) + 4 in tried


@pytest.mark.slow
@hardware
def test_after_reset_every_setting_is_as_the_map_says() -> None:
    (state,) = during([])
    assert settings_in(state) == RESET_SETTINGS


@hardware
@pytest.mark.parametrize("name", BY_NAME)
def test_a_legal_word_sets_what_the_map_says_and_an_illegal_one_is_an_error_and_sets_nothing(name: str) -> None:
    register = BY_NAME[name]
    tried = words(register)
    held = accumulate(tried, lambda old, data: data if register.takes(data) else old, initial=register.reset)
    states = during(step for data in tried for step in ((register.address, data), (STATUS, 0b111)))
    assert list(map(settings_in, states[::2])) == [with_register(register, data) for data in held]
    assert [state["error_o"] for state in states[1::2]] == [not register.takes(data) for data in tried]


@pytest.mark.slow
@hardware
def test_every_address_has_the_cause_of_the_map() -> None:
    tried = [step for address in range(1, 1 << 16) for step in ((address, 0xFFFF_FFFF), (STATUS, 0b111))]
    read = [state["read_data_o"] for state in during(tried)[1::2]]
    assert read == [cause(address, 0xFFFF_FFFF) for address in range(1, 1 << 16)]


@pytest.mark.slow
@hardware
def test_at_an_address_that_is_refused_nothing_is_written() -> None:
    refused = [address for address in range(1 << 16) if cause(address, 1)]
    states = during((address, 1) for address in refused)
    written = [state for state in states if settings_changed(state) or state["table_write_o"]]
    assert (written, len(refused) > 0xF000) == ([], True)


@hardware
def test_status_keeps_every_cause_until_a_one_is_written_to_its_bit() -> None:
    causes = [(0x08, 32), (0x08, 3), (0x0A, 0), (0x54, 0)]
    cleared = [(STATUS, 0b100), (STATUS, 0b001), (STATUS, 0xFFFF_FFFF)]
    states = during([step for write in causes + cleared for step in (write, (STATUS, 0))])
    assert [state["read_data_o"] for state in states[1::2]] == [0b001, 0b001, 0b011, 0b111, 0b011, 0b010, 0]


@pytest.mark.slow
@hardware
def test_a_register_is_read_as_it_was_written_and_nothing_else_is_read() -> None:
    last = {register.address: max(filter(register.takes, words(register))) for register in REGISTERS}
    reads = [{"rst_ni": 1, "address_i": address} for address in range(1 << 16)]
    states = BUS.after([*list(cycles_of(last.items()))[:-1], *reads])[1 + len(last) :]
    assert [state["read_data_o"] for state in states] == [last.get(address, 0) for address in range(1 << 16)]


@hardware
def test_without_write_nothing_is_written() -> None:
    idle = [{"rst_ni": 1, "address_i": address, "data_i": 1} for address in range(1, 0x1100)]
    states = BUS.after([{}, *idle])[1:]
    seen = {(state["error_o"], state["table_write_o"], state["table_restart_o"]) for state in states}
    assert (list(filter(settings_changed, states)), seen) == ([], {(0, 0, 0)})


@hardware
def test_writes_of_tables_go_out_in_their_cycle_where_they_are_legal() -> None:
    tried = [(TABLES + 4 * word, data) for word in range(4 * CHANNELS + 8) for data in (31, 32, 0xFFFF_FFFF)]
    states = during(tried)[:-1]
    gone = [tuple(state[name] for name in TABLE[2:]) for state in states if state["table_write_o"]]
    legal = [(address - TABLES, data) for address, data in tried if not cause(address, data)]
    assert gone == [(offset // 16, offset % 16 // 4, data) for offset, data in legal]


@hardware
def test_the_tables_restart_with_a_legal_write_of_channels_only() -> None:
    tried = [*((register.address, 1) for register in REGISTERS), (TABLES, 1), (0x40, 65), (0x40, 0), (0x40, 64)]
    restarts = [write for write, state in zip(tried, during(tried)[:-1], strict=True) if state["table_restart_o"]]
    assert restarts == [(0x40, 1), (0x40, 64)]


@hardware
def test_reset_clears_settings_and_status_at_once() -> None:
    program = list(cycles_of([(0x08, 5), (0x08, 32)]))
    (state,) = BUS.after([*program, {"address_i": STATUS}])[-1:]
    assert (state["shift_o"], state["read_data_o"], state["error_o"]) == (0, 0, 0)
