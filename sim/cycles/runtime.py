"""What a call executes of lanewise's own runtime, in the place of the library of a platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import sim
from sim.image import Image
from sim.timing.stream import Executed

_RUNTIME: Final = Path(sim.__file__).parent / "runtime"


def runtime_in_words(stream: Sequence[Executed], image: Image) -> str:
    """How many instructions are in which functions of the runtime, in one sentence; "" where none are."""
    executed = Counter(one.pc for one in stream if one.pc is not None)
    functions: Counter[str] = Counter()
    for pc, times in executed.items():
        if _is_of_runtime(image, pc):
            functions[_function(image, pc)] += times
    if not functions:
        return ""
    names = ", ".join(name for name, _ in functions.most_common())
    share = f"{functions.total():,} of {len(stream):,} instructions are in {names}"
    return f"{share} of lanewise's runtime; the library of your platform is another"


def _is_of_runtime(image: Image, pc: int) -> bool:
    line = image.source_line(pc)
    return line is not None and Path(line.file).is_relative_to(_RUNTIME)


def _function(image: Image, pc: int) -> str:
    """The nearest name before the address, local labels left out."""
    before = (one for name, one in image.symbols.items() if one.address <= pc and not name.startswith("."))
    return max(before, key=lambda one: one.address).name
