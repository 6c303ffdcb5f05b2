"""A TOML file that a user wrote, read: what is wrong with it as such is one sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_MOST_BITS: Final = 64
"""Of a whole number, by the specification of TOML: Python has any, and does not show those of 4,301 digits."""


def read_toml(file: Path, what: str, refusal: Callable[[str], Exception]) -> dict[str, Any]:
    """The content of a file; `what` stands before its name where it cannot be read, such as "the campaign".

    Raises what `refusal` makes of a sentence.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise refusal(f"cannot read {what} {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise refusal(f"{file} is no TOML: it is not text in UTF-8") from None
    too_long = refusal(f"{file} is no TOML: a whole number has {_MOST_BITS} bits at most")
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise refusal(f"{file} is no TOML: {error}") from None
    except ValueError:  # of a number that Python does not read
        raise too_long from None
    if _longest(content) > _MOST_BITS:
        raise too_long
    return content


def _longest(value: object) -> int:
    """The bits of the longest whole number in a value, its sign among them."""
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return max(map(_longest, inside), default=0)
    return (value if value >= 0 else ~value).bit_length() + 1 if isinstance(value, int) else 0
