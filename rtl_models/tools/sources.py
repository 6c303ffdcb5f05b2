"""The SystemVerilog files of the lanes and units: one module a file, of the same name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

LANES: Final = Path(__file__).parents[1] / "lanes"
"""The directory of the modules, their package and what they include."""

_MENTIONS: Final = (
    (re.compile(r'^ *`include "(\w+\.svh)"', re.MULTILINE), ""),
    (re.compile(r"\b(\w+_pkg)::"), ".sv"),
    (re.compile(r"^ +(\w+) (?:#\(|u_\w+ \()", re.MULTILINE), ".sv"),
)
"""How a file says which others it needs; an instance starts a line."""


def module_names() -> list[str]:
    """The modules there are, in alphabetical order."""
    return sorted(file.stem for file in LANES.glob("*.sv") if not file.stem.endswith("_pkg"))


def sources_of(module: str) -> dict[str, str]:
    """By file name the texts of a module and of all that it needs: what is included, then packages, then modules.

    Raises ValueError where there is no module of that name.
    """
    if module not in module_names():
        raise ValueError(f"no lane module is called {module!r}: there are {', '.join(module_names())}")
    names = _reached([f"{module}.sv"])
    names.sort(key=lambda name: (0 if name.endswith(".svh") else 1 if name.endswith("_pkg.sv") else 2, name))
    return {name: (LANES / name).read_text() for name in names}


def _reached(names: list[str]) -> list[str]:
    texts = [(LANES / name).read_text() for name in names]
    found = {f"{match}{end}" for text in texts for mention, end in _MENTIONS for match in mention.findall(text)}
    new = sorted(name for name in found - set(names) if (LANES / name).is_file())
    return _reached(names + new) if new else names
