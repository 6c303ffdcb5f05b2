"""Exclusive loads and stores (Arm ARM B2.12 and C6.2: LDXR to STLXP, CLREX), as one thread sees them.

A load exclusive opens the monitor for its address.  A store exclusive stores and gives status 0 if the monitor is open
for its address, else it gives status 1 and memory keeps its bytes; either way the monitor is closed.

Of another address or size than the load's Arm leaves open whether it passes, and of another size what memory holds
then.  A call in lockstep stops there with a finding (`sim.call.guards.watch`), so the size of the load is not
remembered here.  Neither is the value it loaded: a plain store of the same thread in between does not close the
monitor, which Arm leaves to the implementation.  (The emulator compares the value and fails if it has changed.)

A store exclusive that fails stores the old bytes back, so it faults where the memory cannot be written.  Arm leaves
that to the implementation too.  (The emulator does not fault.)  The address must be a multiple of the size of the whole
access, for which engines stand, not expressions.
"""

from __future__ import annotations

from isa.lane import Int, Lane, Place, Write, constant, load, read, select
from isa.operands import Address, General, Immediate
from isa.semantics.elementwise import Body, Writes

MONITOR = Place("monitor")
_OPEN = 1 << 64


def _set_monitor(state: Lane) -> Write:
    return Write(MONITOR, MONITOR.bits, [state])


def _opened_for(address: Address) -> Write:
    return _set_monitor(address.value + _OPEN)


def load_exclusive(bits: int | None = None) -> Body:
    """LDXR, LDAXR: zero-extended; `bits` is the size in memory, by default that of the register."""

    def body(d: General, address: Address) -> Writes:
        return (*d.receive(load(address.value, (bits or d.bits) // 8)), _opened_for(address))

    return body


def load_exclusive_pair(first: General, second: General, address: Address) -> Writes:
    """LDXP, LDAXP: two adjacent values, the first register from the lower address."""
    low, high = first.type.lanes(load(address.value, first.bits // 4), 2)
    return (*first.receive(low), *second.receive(high), _opened_for(address))


def _store_if_open(status: General, address: Address, element: Int, values: list[Lane]) -> Writes:
    passes = read(MONITOR).equals(address.value + _OPEN)
    old = element.lanes(load(address.value, len(values) * element.bits // 8), len(values))
    lanes = [select(passes, new, kept) for new, kept in zip(values, old, strict=True)]
    stored = Write(address.memory(len(lanes) * element.bits // 8), element.bits, lanes)
    return (stored, *status.write(passes.equals(0)), _set_monitor(constant(0)))


def store_exclusive(bits: int | None = None) -> Body:
    """STXR, STLXR: the low bits of the register, and the status; `bits` is the size in memory."""

    def body(status: General, s: General, address: Address) -> Writes:
        element = Int(bits or s.bits, False)
        return _store_if_open(status, address, element, [element.wrap(s.value)])

    return body


def store_exclusive_pair(status: General, first: General, second: General, address: Address) -> Writes:
    """STXP, STLXP: the first register to the lower address, and the status."""
    return _store_if_open(status, address, first.type, [first.value, second.value])


def clear_exclusive(_option: Immediate | None = None) -> Writes:
    """CLREX: closes the monitor."""
    return (_set_monitor(constant(0)),)
