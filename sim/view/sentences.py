"""Sentences that all reports share, and what of a text a terminal is shown."""

from __future__ import annotations

import re

_LONGEST = 600
_NUMBER = re.compile(r'(?<![\w.])(?:-?\d[\w.+-]*|float\("[^"]*"\))')


def counted(number: int, what: str) -> str:
    """Such as "1 instruction" and "2,000 instructions"."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def cut(text: str, width: int) -> str:
    """What of a text there is room for, with … at its end where that is not all."""
    return text if len(text) <= width else f"{text[: width - 1]}…"[:width]


def without_many_numbers(text: str, rest: str) -> str:
    """A shrunk input set as a person reads it: of a long line how many numbers it has, and where the `rest` is."""
    told = []
    for line in text.splitlines():
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST].rpartition(', ')[0]}, ... ({len(_NUMBER.findall(line)):,} numbers; {rest})"
        told.append(line)
    return "\n".join(told)


def until_then(wrong: int, done: int, what: str, how: str) -> str:
    """What was found before an interrupt, such as "until then 1 of 3 calls failed"."""
    return f"until then {wrong:,} of {counted(done, what)} {how}"


def visible(text: str) -> str:
    """What names and messages may hold, as it can be shown: no control characters, no bytes outside of UTF-8.

    A terminal would obey an escape sequence, what says that letters go from right to left would turn around the words
    of others behind it, and what is not Unicode cannot be written.
    """
    shown = (letter if letter >= " " or letter in "\n\t" else f"\\x{ord(letter):02x}" for letter in text)
    plain = "".join(shown).translate(_STEERING)
    return plain.encode(errors="backslashreplace").decode()


_STEERING = {code: f"\\x{code:02x}" for code in range(0x7F, 0xA0)}
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_STEERING |= {code: f"\\u{code:04x}" for code in _DIRECTIONS}
