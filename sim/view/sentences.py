"""Sentences that all reports share."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """Such as "1 instruction" and "2,000 instructions"."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
