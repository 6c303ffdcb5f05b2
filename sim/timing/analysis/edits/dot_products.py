"""Products of bytes that are only added up, as the one instruction that does all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from isa.instruction import Instruction
from isa.lane import Place
from isa.rows import TABLE
from sim.timing.analysis.edits.code import CodeEdit, TriedCode, places_of, readers_of, writer_of

_PRODUCT: Final = re.compile(r"([su])m(ull|lal)(2?) v(\d+)\.8h, (v\d+)\.(?:8b|16b), (v\d+)\.(?:8b|16b)")
_SUMMED: Final = re.compile(r"([su])(adalp|addw2?) v(\d+)\.4s,(?: v\3\.4s,)? v(\d+)\.(?:8h|4h)")
_OF_A_PRODUCT: Final = (["adalp"], ["addw", "addw2"])
"""What together adds eight numbers of 16 bits to sums of 32."""


def dot_products(code: TriedCode) -> Iterator[CodeEdit]:
    """All products of the bytes of two registers that are only added up, as SDOT or UDOT; once, if any."""
    found = [one for place in range(len(code.steps)) if (one := _dot_product(code, place)) is not None]
    while found:
        adding = {at for one in found for at in one.sums}
        apart = {p for at, step in enumerate(code.steps) if at not in adding for p in places_of(step)}
        kept = [one for one in found if apart.isdisjoint(one.totals(code))]
        if kept == found:
            break
        found = kept
    if not found:
        return
    dots = {one.first: one.instruction(code) for one in found}
    left_out = {at for one in found for at in (one.second, *one.sums)}
    steps = tuple(
        step._replace(executed=step.executed._replace(instruction=dots[at])) if at in dots else step
        for at, step in enumerate(code.steps)
        if at not in left_out
    )
    what = "; ".join(
        f"{code.steps[one.first].text}, {code.steps[one.second].text} and their sums as {dots[one.first].text}"
        for one in found
    )
    totals = dict.fromkeys(f"v{place.index}" for one in found for place in one.totals(code))
    condition = f"if the lanes of {', '.join(totals)} are added up in the end"
    wraps = any("mlal" in code.steps[at].text for one in found for at in (one.first, one.second))
    condition += ", and no two products wrap in 16 bits" * wraps
    yield CodeEdit(what, condition, replace(code, steps=steps))


class _DotProduct(NamedTuple):
    """The places of both halves of products of bytes, and of what adds them up."""

    first: int
    second: int
    sums: tuple[int, ...]

    def totals(self, code: TriedCode) -> list[Place]:
        """The registers of the sums."""
        return [Place("v", code.steps[at].executed.instruction.registers[0]) for at in self.sums]

    def instruction(self, code: TriedCode) -> Instruction:
        """What does all of it."""
        made = _PRODUCT.fullmatch(code.steps[self.first].text)
        assert made is not None
        total = self.totals(code)[0].index
        return TABLE.instruction(f"{made[1]}dot", f"v{total}.4s, {made[5]}.16b, {made[6]}.16b")


def _dot_product(code: TriedCode, first: int) -> _DotProduct | None:
    """That of which the first half is there."""
    one = _PRODUCT.fullmatch(code.steps[first].text)
    if one is None or one[2] != "ull":
        return None
    for second in range(first + 1, len(code.steps)):
        other = _PRODUCT.fullmatch(code.steps[second].text)
        if other is None or other.group(1, 5, 6) != one.group(1, 5, 6) or other[3] == one[3]:
            continue
        factors = [Place("v", int(name[1:])) for name in one.group(5, 6)]
        if any(writer_of(code, first, factor) != writer_of(code, second, factor) for factor in factors):
            return None
        if other[2] == "lal":
            sums = _sums(code, second, one[1]) if readers_of(code, first) == [second] else None
        else:
            halves = _sums(code, first, one[1]), _sums(code, second, one[1])
            sums = None if None in halves else [at for half in halves for at in half or ()]
        return None if sums is None else _DotProduct(first, second, tuple(sums))
    return None


def _sums(code: TriedCode, product: int, sign: str) -> list[int] | None:
    """The places of what adds a product to sums, if nothing else reads it."""
    readers = readers_of(code, product)
    added = [_SUMMED.fullmatch(code.steps[at].text) for at in readers]
    kinds = sorted(one[2] for one in added if one is not None and one[1] == sign)
    is_all = kinds in _OF_A_PRODUCT and len(kinds) == len(readers) and min(readers) > product
    return readers if is_all else None
