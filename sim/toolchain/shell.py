"""Commands as a person pastes them into a shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable


def typed(words: Iterable[str]) -> str:
    """The words as bash reads them.

    One with what is not shown as it is, such as bytes that are no UTF-8 or an escape sequence, stands in $'...'.
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _by_bytes(word) for word in words)


def _by_bytes(word: str) -> str:
    escaped = (
        chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in "\\'" else f"\\x{byte:02x}" for byte in os.fsencode(word)
    )
    return f"$'{''.join(escaped)}'"
