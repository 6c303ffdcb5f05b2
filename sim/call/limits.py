"""What runs a call, and how long it may: by itself, as commands name it in their help without loading anything."""

from __future__ import annotations

from typing import Final, Literal

Engine = Literal["lockstep", "machine"]
MAX_INSTRUCTIONS: Final = 20_000_000
"""Of one call: minutes in lockstep, far above any kernel on a row of test vectors."""
