"""Theorems about `config_registers.sv`: what is legal is what `rtl_models.register_map` says, and only that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from isa.lane import S8, U1, U8, U16, U32, Int, Lane, constant, select
from rtl_models.formal.claims import ReadSignal, Signals, Statement, all_of, claim, total
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Theorem
from rtl_models.register_map import (
    ADDRESSES,
    CAUSES,
    CHANNELS,
    MOST_CHANNELS,
    STATUS,
    TABLES,
    Register,
    RegisterField,
    registers,
)

_FILE = "config_registers.sv"
_U2, _U3, _U12 = (Int(bits, signed=False) for bits in (2, 3, 12))
_ACCEPTED = "assign accepted  = write_i & aligned & mapped & legal;"
_ALWAYS = Fault(_FILE, _ACCEPTED, "assign accepted = aligned & mapped & legal;")
_UNCHECKED = Fault(_FILE, _ACCEPTED, "assign accepted = write_i & aligned & mapped;")
_FORGOTTEN = Fault(_FILE, "(status_q & ~cleared) | {unmapped", "{unmapped")
_READ_WRONG = Fault(
    _FILE,
    "lanewise_pkg::AddressOffset:      read_data_o = offset_q",
    "lanewise_pkg::AddressOffset: read_data_o = constant_q",
)
_TABLE_WRONG = Fault(_FILE, "table_write_o   = accepted && in_tables", "table_write_o = write_i && in_tables")


def configuration_theorems() -> Iterator[Theorem]:
    """With as many channels as by default, and with the most that there can be."""
    for channels in (CHANNELS, MOST_CHANNELS):
        yield from _with_channels(channels)


def _with_channels(channels: int) -> Iterator[Theorem]:
    """Each register, then what they share."""
    subject = Subject("config_registers", (("Channels", channels),))
    for register in registers(channels):
        name = f"{subject}: {register.name} takes what is legal and keeps it"
        checked = register.name in _RULES or any(field.low >= 0 for field in register.fields)
        yield Theorem(claim(name, partial(_kept, register)), subject, _UNCHECKED if checked else _ALWAYS)
    sticky = claim(f"{subject}: an illegal write sets its bit of STATUS, which is sticky", partial(_status, channels))
    yield Theorem(sticky, subject, _FORGOTTEN)
    legal_alone = claim(f"{subject}: the tables get legal writes alone", partial(_tables, channels))
    yield Theorem(legal_alone, subject, _TABLE_WRONG)
    read_back = claim(f"{subject}: what is read is what is kept", partial(_read_back, channels))
    yield Theorem(read_back, subject, _READ_WRONG)


def _address(read: ReadSignal) -> Lane:
    return read("address_i", U16)


def _data(read: ReadSignal) -> Lane:
    return read("data_i", U32)


def _kept(register: Register, read: Signals) -> Statement:
    """Reset gives every setting its value; a legal write changes those of its register; nothing else does."""
    writes = read("write_i", U1) & _address(read).equals(register.address) & legal(register, _data(read))
    resets = read.resets()
    return {
        field.setting: (
            _setting(read.after(1), field),
            select(
                resets, _field(register.reset, field), select(writes, _field(_data(read), field), _setting(read, field))
            ),
        )
        for field in register.fields
    }


def _kind(field: RegisterField) -> Int:
    return Int(field.bits, signed=False)


def _setting(read: ReadSignal, field: RegisterField) -> Lane:
    return read(f"{field.setting}_o", _kind(field))


def _field(data: Lane | int, field: RegisterField) -> Lane:
    return _kind(field).field(data if isinstance(data, Lane) else constant(data), field.lsb)


def legal(register: Register, data: Lane) -> Lane:
    """Whether a register takes a word: nothing beside the fields, those in their ranges, and the register's rule.

    A field that is read as a signed number, or as bytes of either kind, takes every value of its bits.
    """
    beside = U32.high & ~sum(field.mask for field in register.fields)
    conditions = [(data & beside).equals(0)]
    for field in register.fields:
        value, any_value = _field(data, field), constant(1)
        within = any_value if field.low < 0 else (value < field.low).equals(0) & (value > field.high).equals(0)
        conditions.append(within)
    return all_of([*conditions, *(rule(data) for name, rule in _RULES.items() if name == register.name)])


def _ordered(data: Lane) -> Lane:
    """The bounds as their sign says."""
    low, high = U8.field(data, 0), U8.field(data, 8)
    signed, unsigned = S8.wrap(low) > S8.wrap(high), low > high
    return select(U1.field(data, 16), signed, unsigned).equals(0)


_RULES: dict[str, Callable[[Lane], Lane]] = {
    "BOUNDS": _ordered,
    "DESTINATION": lambda data: (data & 15).equals(0),
    "ELEMENT": lambda data: (data & 7).equals(3).equals(0),
}
"""What `rtl_models.register_map` has as rules of a register: a test tries both on many words."""


def _channel(read: ReadSignal) -> Lane:
    return (_address(read) - TABLES) >> 4


def _in_tables(read: ReadSignal, channels: int) -> Lane:
    channel = _channel(read)
    return (channel < 0).equals(0) & (channel < channels)


def cause_set(read: ReadSignal, channels: int = CHANNELS) -> Lane:
    """The bit of STATUS that is set: an address that is not aligned is nothing else."""
    address, data, in_tables = _address(read), _data(read), _in_tables(read, channels)
    shifts = in_tables & ((address >> 3) & 1)
    legal_there = shifts.equals(0) | (data < select((address >> 2) & 1, 31, 32))
    mapped = in_tables | (address & 0xFFFC).equals(STATUS)
    for register in registers(channels):
        legal_there = legal_there & (address.equals(register.address).equals(0) | legal(register, data))
        mapped = mapped | (address & 0xFFFC).equals(register.address)
    bad_value = select(legal_there, 0, CAUSES["illegal value"])
    aligned = select(mapped, bad_value, CAUSES["unmapped address"])
    fault = select((address & 3).equals(0), aligned, CAUSES["unaligned address"])
    return select(read("write_i", U1), fault, 0)


def _status(channels: int, read: Signals) -> Statement:
    """Writing 1 to a bit clears it; a reset clears all; `error_o` is whether any is set."""
    later, status = read.after(1), read("status_q", _U3)
    clears = read("write_i", U1) & _address(read).equals(STATUS)
    kept = status & ~select(clears, _data(read) & 7, 0) & 7
    resets = read.resets()
    return {
        "STATUS": (later("status_q", _U3), select(resets, 0, kept | cause_set(read, channels))),
        "error_o": (read("error_o", U1), status > 0),
    }


def _tables(channels: int, read: Signals) -> Statement:
    """A restart goes with each legal write of CHANNELS."""
    taken = read("write_i", U1) & cause_set(read, channels).equals(0)
    return {
        "table_write_o": (read("table_write_o", U1), taken & _in_tables(read, channels)),
        "table_restart_o": (read("table_restart_o", U1), taken & _address(read).equals(ADDRESSES["CHANNELS"])),
        "table_channel_o": (read("table_channel_o", _U12), _U12.wrap(_channel(read))),
        "table_field_o": (read("table_field_o", _U2), (_address(read) >> 2) & 3),
        "table_data_o": (read("table_data_o", U32), _data(read)),
    }


def _read_back(channels: int, read: Signals) -> Statement:
    """0 where there is no register."""
    word = select(_address(read).equals(STATUS), read("status_q", _U3), 0)
    for register in registers(channels):
        fields = total([_setting(read, field) << field.lsb for field in register.fields])
        word = select(_address(read).equals(register.address), fields, word)
    return {"read_data_o": (read("read_data_o", U32), word)}
