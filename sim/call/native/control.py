"""What Python and driver.c share: the structures of the driver, field for field."""

from __future__ import annotations

from ctypes import CDLL, Structure, c_int, c_uint8, c_uint32, c_uint64, sizeof
from enum import IntEnum, IntFlag
from struct import calcsize

from sim.call.native.status import MOST_PIECES, PIECE
from sim.call.native.steps import MOST_REGISTERS
from sim.machine.compiled.state import STATE

MOST_WENT = 4096
_MOST_STORES, _LARGEST_STORE = 80, 64
_NUMBERS = 68
"""v0 to v31, x0 to x30, sp, nzcv, fpsr, fpcr, tpidr."""
State = c_uint8 * calcsize(STATE)


class Stop(IntEnum):
    """Why the driver stopped."""

    GOES_ON = 0
    BUDGET = 1
    NO_STEP = 2
    REFUSED = 3
    MODES = 4
    GUARD = 5
    DIFFERS = 6
    FULL = 7


class Trait(IntFlag):
    """What the driver asks of an instruction."""

    BRANCHES = 1
    SATURATES = 2
    WRITES_PLATFORM = 4
    NEEDS_ALIGNED_SP = 8


class CodeEntry(Structure):
    """An instruction at its address."""

    _fields_ = (
        ("step", c_uint64),
        ("memory", c_uint64),
        ("next", c_uint64 * 2),
        ("flags", c_uint32),
        ("writes_v", c_uint32),
        ("writes_x", c_uint32),
        ("registers", c_uint8 * MOST_REGISTERS),
    )


class NotedStore(Structure):
    """A store, and what was there before."""

    _fields_ = (("address", c_uint64), ("bytes", c_uint64), ("size", c_uint64), ("old", c_uint8 * _LARGEST_STORE))


class AccessLog(Structure):
    """What one instruction did to memory."""

    _fields_ = (
        ("count", c_uint64),
        ("stores", NotedStore * _MOST_STORES),
        ("stack", c_uint64),
        ("stack_size", c_uint64),
        ("lowest", c_uint64),
        ("access", c_uint64),
        ("accesses", c_uint64),
        ("instruction", c_uint64),
    )


class Control(Structure):
    """All that the driver knows: `Lockstep` in driver.c, where its fields are explained."""

    _fields_ = (
        ("state", State), ("before", State), ("seen", State),
        ("mine", AccessLog), ("theirs", AccessLog),
        ("pages", c_uint64), ("regions", c_uint64), ("page", c_uint64), ("region", c_uint64),
        ("last_page", c_uint64), ("last_region", c_uint64),
        ("emulator", c_uint64), ("read_registers", c_uint64), ("stop", c_uint64), ("numbers", c_int * _NUMBERS),
        ("vectors", c_uint8 * 512), ("general", c_uint64 * 32), ("flags", c_uint64 * 4),
        ("x_in_place", c_uint64), ("v_in_place", c_uint64), ("v_stride", c_uint64),
        ("kept", c_uint64 * MOST_PIECES), ("pieces", c_uint64),
        ("kept_then", c_uint8 * (PIECE * MOST_PIECES)), ("flags_read", c_uint64),
        ("pc_is_known", c_uint64),
        ("fpsr_mask", c_uint64), ("fpcr_mask", c_uint64),
        ("why", c_uint64), ("pending", c_uint64), ("overflowed", c_uint64), ("saturated", c_uint64),
        ("entry", c_uint64), ("left", c_uint64), ("done", c_uint64), ("qc_events", c_uint64),
        ("guarded", c_uint64), ("platform_seen", c_uint64), ("platform_pc", c_uint64),
        ("seen_pc", c_uint64), ("changed", c_uint64), ("branches", c_uint64), ("branches_before", c_uint64),
        ("branch", c_uint64),
        ("went", c_uint64), ("went_from", c_uint64 * MOST_WENT), ("went_to", c_uint64 * MOST_WENT),
        ("path", c_uint64), ("status", c_uint64), ("value", c_uint64),
        ("values", c_uint64), ("most_values", c_uint64), ("most_accesses", c_uint64),
    )  # fmt: skip


def require_same_layout(driver: CDLL) -> None:
    """The compiler must see the structures as Python does."""
    theirs, mine = (c_uint64 * 3).in_dll(driver, "sizes"), [sizeof(Control), sizeof(AccessLog), sizeof(CodeEntry)]
    if list(theirs) != mine:
        raise AssertionError(f"the structures of driver.c have {list(theirs)} bytes, those of Python {mine}")
