"""What can run a captured call."""

from __future__ import annotations

from typing import Literal

Engine = Literal["lockstep", "machine", "emulator"]
