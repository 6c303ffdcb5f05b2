"""How much is timed at most."""

from __future__ import annotations

from typing import Final

LARGEST_LENGTH: Final = 1 << 20
"""Elements of a kernel's row."""
LIMIT: Final = 2_000_000
"""Instructions of a call; so many take half a minute on three cores, an hour where there is no compiler."""
