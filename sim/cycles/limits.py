"""How much is timed at most."""

from __future__ import annotations

from typing import Final

LARGEST_LENGTH: Final = 1 << 20
"""Elements of a kernel's row."""
LIMIT: Final = 200_000
"""Instructions of a call; so many already take a minute on every core."""
