"""The macros that a source line uses: debug information has what they come to on the line of their use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_DEFINED: Final = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*.*)")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def macros_used(line: str, source: Path) -> list[str]:
    """Such as "ROUND of kernel.c:5", of a line such as "kernel.c:30": the macros of that file that it uses, and theirs.

    None of a line of another file.
    """
    file, _, number = line.rpartition(":")
    if file != source.name or not number.isdigit():
        return []
    text = source.read_text(encoding="utf-8", errors="replace")
    defined = {found[1]: (text.count("\n", 0, found.start()) + 1, found[2]) for found in _DEFINED.finditer(text)}
    lines = text.split("\n")
    told: dict[str, None] = {}
    pending = [lines[int(number) - 1]] if 0 < int(number) <= len(lines) else []
    while pending:
        for name in _NAME.findall(pending.pop()):
            if name in defined and name not in told:
                told[name] = None
                pending.append(defined[name][1])
    return [f"{name} of {file}:{defined[name][0]}" for name in told]
