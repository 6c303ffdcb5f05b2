"""Where a kernel is wrong, as far as that can be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

FAULT_PLACE: Final = re.compile(r".+:\d+|.+\+0x[0-9a-f]+")
"""A place that `--fault` takes: a source line, or an instruction of code without lines, such as "kernel+0x1c"."""


@dataclass(frozen=True, kw_only=True)
class FaultLines:
    """The source lines of a fault: it is on the one, or on one of several; none where that cannot be told.

    It cannot be told either where there are `repairs` on more lines than a person looks through: each says where it is.
    `repairs` says after which changes of the code every lane was right, each as "INSTRUCTION as INSTRUCTION" or in
    words, none where only the lines are known; `instruction` is the first one that was changed; `build` are the flags
    of the build on which they were tried; `addresses` say where the changes are in code without source lines, such as
    "kernel+0x1c (0x1101c)".  `macros` are those of the same file that the lines use, with their own
    lines: what they come to stands on the line of their use, wherever it is wrong.  `inlined` says of each line by
    which calls its code came into the function that it is in, as `Image.inlined_at` does.  `roles` says which line is
    in a function and which calls it, where there are both: "in rounded", "calls rounded"; and of which the code stands
    in front of a loop, and may be of any line of it.
    """

    lines: tuple[str, ...] = ()
    instruction: str = ""
    repairs: tuple[str, ...] = ()
    build: str = ""
    macros: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    inlined: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.lines and not self.repairs:
            return "which line is at fault is not known: no small change of one source line makes every lane right"
        if not self.lines:
            place = "which of many lines is at fault is not known"
        elif not any(":" in line for line in self.lines):
            place = f"fault at {' or '.join(self.addresses or self.lines)}, in code without source lines"
        else:
            told = [
                " ".join(filter(None, (line, calls, f"({role})" * bool(role))))
                for line, calls, role in zip_longest(self.lines, self.inlined, self.roles, fillvalue="")
            ]
            place = f"fault {'at' if len(told) == 1 else 'among'} {('; ' if any(self.inlined) else ', ').join(told)}"
            place += f" (or in what it uses: {', '.join(self.macros)})" if self.macros else ""
        built = f", compiled at {self.build}" if self.build else ""
        return f"{place}: every lane is right with {'; or with '.join(self.repairs)}{built}" if self.repairs else place
