"""Where branches go, as the texts of instructions say it, and the loops that they make of a function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from isa.decode import decode
from isa.table import UnknownInstruction
from sim.toolchain.image import Image

_ALWAYS: Final = ("b", "bl")
_BRANCH: Final = re.compile(
    r"\b(?P<branch>(?P<how>bl?|bc?\.[a-z]{2}|cbn?z|tbn?z) (?:[wx]\w+, )?(?:#\w+, )?)"
    r"#(?P<address>0x[0-9a-f]{1,16}|[0-9])(?![\w,])"
)


def branch_target(text: str) -> int | None:
    """Where a branch leads that names an address: 0x1107c of "b.hs #0x1107c"; None for calls and all else."""
    found = _BRANCH.fullmatch(text)
    return int(found["address"], 0) if found and found["how"] != "bl" else None


def with_targets(text: str, image: Image, *, addresses: bool = False) -> str:
    """Text with the place where branches in it go, in the place of their addresses: "b.hs kernel.c:43" of
    "b.hs #0x1107c", "bl round" of "bl #0x11004"; any other is as it was.

    With `addresses` what has no source line of its own keeps its address: for a listing that has addresses there.
    """

    def told(found: re.Match[str]) -> str:
        address = int(found["address"], 0)
        function = image.function_at(address)
        if function and image.symbols[function].address == address:
            return f"{found['branch']}{function}"
        if addresses and image.source_line(address) is None:
            return found[0]
        return f"{found['branch']}{image.place_of(address)}"

    return _BRANCH.sub(told, text)


def is_before_loop(address: int, image: Image) -> bool:
    """Whether an instruction stands in front of a loop that has the same line: optimizers put there what any line
    of the loop computes once, and give it that one or none.
    """
    line = image.place_of(address).removeprefix("near ")
    of_line = [loop for loop in _loops(image, image.function_at(address)) if str(image.source_line(loop[-1])) == line]
    return any(loop.start > address for loop in of_line) and not any(address in loop for loop in of_line)


def _loops(image: Image, function: str) -> Iterator[range]:
    """From where each branch on a condition that goes back in a function leads, to that branch."""
    start, code = (image.symbols[function].address, image.code_of(function)) if function else (0, b"")
    for at in range(0, len(code) - len(code) % 4, 4):
        try:
            text = decode(code[at : at + 4], start + at).text
        except UnknownInstruction as unknown:
            text = unknown.text
        target = branch_target(text)
        if target is not None and target <= start + at and text.split()[0] not in _ALWAYS:
            yield range(target, start + at + 4, 4)
