"""Texts with holes: numbers of lanes, of bits and of distances in memory, which may follow a lane `i` or a term `k`.

Texts that have one skeleton and numbers in constant steps are one text with `i` or `k` in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_HOLE = re.compile(r"⟨(\+?)(-?\d+)(?:,(-?\d+))?⟩")


def index(number: int) -> str:
    """A hole with a number of a lane or bit, which may follow the lane."""
    return f"⟨{number}⟩"


def offset(number: int) -> str:
    """A hole with a distance in memory: ` + 16`, or nothing for 0."""
    return f"⟨+{number}⟩"


def skeleton(text: str) -> str:
    """The text without the numbers of its holes."""
    return _HOLE.sub("⟨⟩", text)


def hole_numbers(text: str) -> tuple[int, ...]:
    """The numbers of its holes in order."""
    return tuple(int(match[2]) for match in _HOLE.finditer(text))


def filled(text: str, steps: Sequence[int] = ()) -> str:
    """The text to be read: each hole with its number and with so many times `i`, 0 where `steps` says nothing."""
    pending = iter(steps)

    def fill(match: re.Match[str]) -> str:
        inner = _affine(((next(pending, 0), "i"), (int(match[3] or 0), "k")), int(match[2]))
        if not match[1]:
            return inner
        return "" if inner == "0" else f" - {inner[1:]}" if inner.startswith("-") else f" + {inner}"

    return _HOLE.sub(fill, text)


def _affine(terms: Iterable[tuple[int, str]], base: int) -> str:
    """`4*i + k + 2`; a positive term comes first."""
    parts = [(factor < 0, name if abs(factor) == 1 else f"{abs(factor)}*{name}") for factor, name in terms if factor]
    parts += [(base < 0, str(abs(base)))] if base or not parts else []
    parts.sort(key=lambda part: part[0])
    text = "".join(f" {'-' if negative else '+'} {part}" for negative, part in parts)
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def steps_of(texts: Sequence[str]) -> tuple[int, ...] | None:
    """By how much the number in each hole grows from text to text; None where they differ otherwise or not at all."""
    rows = [hole_numbers(text) for text in texts]
    if len({skeleton(text) for text in texts}) > 1 or len(set(rows)) < len(rows):
        return None
    steps = tuple(b - a for a, b in zip(rows[0], rows[1], strict=True))
    expected = (tuple(a + j * step for a, step in zip(rows[0], steps, strict=True)) for j in range(len(rows)))
    return steps if all(row == want for row, want in zip(rows, expected, strict=True)) else None


def collected(name: str, texts: Sequence[str], inner: Sequence[str]) -> list[str]:
    """The operands of a chain, adjacent ones that differ in a constant step replaced by one `sum k=0..3 (...)`."""
    found, at = [], 0
    while at < len(texts):
        end = at + 1
        while end < len(inner) and "k=" not in inner[at] and steps_of(inner[at : end + 1]):
            end += 1
        long = end - at >= 3
        found.append(_over_k(name, inner[at:end]) if long else texts[at])
        at = end if long else at + 1
    return found


def _over_k(name: str, texts: Sequence[str]) -> str:
    steps = iter(steps_of(texts) or ())

    def with_k(match: re.Match[str]) -> str:
        step = next(steps)
        return f"⟨{match[1]}{match[2]},{step}⟩" if step else match[0]

    return f"{name} k=0..{len(texts) - 1} ({_HOLE.sub(with_k, texts[0])})"


def lane_runs(texts: Sequence[str]) -> list[str]:
    """Adjacent lanes of one register as `v1.b[0..15]`."""
    found: list[tuple[str, int, int]] = []
    for text in texts:
        match = re.fullmatch(r"(v\d+\.[bhsd])\[⟨(\d+)⟩\]", text)
        register, at = (match[1], int(match[2])) if match else (text, -1)
        if match and found and found[-1][0] == register and found[-1][2] == at - 1:
            found[-1] = (register, found[-1][1], at)
        else:
            found.append((register, at, at))
    return [name if at < 0 else f"{name}[{at}..{end}]" for name, at, end in found]
