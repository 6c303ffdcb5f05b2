"""The names of signals."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """SIGSEGV, or "signal 40" of one that Python has no name for, as most real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
