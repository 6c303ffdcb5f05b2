"""What a call executes of lanewise's own runtime, in the place of the library of a platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.toolchain import compilers
from sim.toolchain.image import Image

_RUNTIME: Final = Path(compilers.__file__).parent / "runtime"


def runtime_in_words(stream: Sequence[Executed], image: Image) -> str:
    """How many instructions are in which functions of the runtime, in one sentence; "" where none are."""
    arrays, functions = array_stream(stream), Counter[str]()
    for (pc, _), times in zip(arrays.sites, arrays.executions.tolist(), strict=True):
        line = None if pc is None else image.source_line(pc)
        if pc is not None and line is not None and Path(line.file).is_relative_to(_RUNTIME):
            # The function is the nearest name before the address, local labels left out.
            before = (one for name, one in image.symbols.items() if one.address <= pc and not name.startswith("."))
            functions[max(before, key=lambda one: one.address).name] += times
    if not functions:
        return ""
    names = ", ".join(name for name, _ in functions.most_common())
    share = f"{functions.total():,} of {len(stream):,} instructions are in {names}"
    return f"{share} of lanewise's runtime; the library of your platform is another"
