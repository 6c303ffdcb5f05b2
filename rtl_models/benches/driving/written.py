"""Writes: which are due, which of those meet a beat, and what the functional coverage wants of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rtl_models.benches.driving.testbench import Write
from rtl_models.register_map import ADDRESSES, CHANNELS, REGISTERS, TABLES, Settings, register_writes
from rtl_models.units import Unit

_CHANNEL_BYTES: Final = 16


def new_writes(settings: Settings, written: dict[int, int], channels: int = CHANNELS) -> list[Write]:
    """The writes by which registers get settings, where `written`, which takes note of them, has another last word.

    That of CHANNELS is always made, since it starts a row.
    """
    due = register_writes(settings, channels)
    new = [(at, data) for at, data in due if written.get(at) != data or at == ADDRESSES["CHANNELS"]]
    written |= dict(new)
    return new


def chosen_in_turn(writes: Sequence[Write], turn: int) -> Write:
    """One of the writes: every register in turn, all channels counting as one, and of these every one in turn."""
    kinds = list(dict.fromkeys(_kind(address) for address, _ in writes))
    alike = [write for write in writes if _kind(write[0]) == kinds[turn % len(kinds)]]
    return alike[turn // len(kinds) % len(alike)]


def _kind(address: int) -> int:
    """The register, of channel 0 where it is one of a table."""
    return address if address < TABLES else TABLES + address % _CHANNEL_BYTES


def coverpoints_of_writes(unit: Unit, written_with_a_beat: Mapping[int, int]) -> Mapping[str, int]:
    """By coverpoint its hits, given those of addresses: each register of the unit in the cycle of an accepted beat."""
    registers = {
        register.name: {register.address}
        for register in REGISTERS
        if any(field.setting in unit.settings for field in register.fields)
    }
    tables = {
        f"{field} of a channel": {at for at in written_with_a_beat if _kind(at) == TABLES + 4 * number}
        for number, field in enumerate(unit.tables)
    }
    return {
        f"{name} written in the cycle of an accepted beat": sum(
            times for address, times in written_with_a_beat.items() if address in addresses
        )
        for name, addresses in (registers | tables).items()
    }
