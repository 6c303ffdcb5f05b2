"""Sentences that all reports share, and what of a text a terminal is shown."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """Such as "1 instruction" and "2,000 instructions"."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def visible(text: str) -> str:
    """What names and messages may hold, as a terminal can show it: no control characters, no bytes outside of UTF-8.

    An escape sequence would be obeyed, and what is not Unicode cannot be written.
    """
    shown = (letter if letter >= " " or letter in "\n\t" else f"\\x{ord(letter):02x}" for letter in text)
    plain = "".join(shown).translate(_HIGH_CONTROLS)
    return plain.encode(errors="backslashreplace").decode()


_HIGH_CONTROLS = {code: f"\\x{code:02x}" for code in range(0x7F, 0xA0)}
