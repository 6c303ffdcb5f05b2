"""The constants of `lanes/lanewise_pkg.sv`: the latencies of the units, and the addresses of the registers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from rtl_models.tools.sources import LANES

PACKAGE: Final = LANES / "lanewise_pkg.sv"
_CONSTANT: Final = re.compile(r"^ *localparam +(?:int|logic \[\d+:0\]) +(\w+) *= *([^;]+);", re.MULTILINE)
_NUMBER: Final = re.compile(r"(?:\d*'([dh]))?([0-9a-fA-F_]+)")


def latency(unit: str, deep: bool) -> int:
    """The register stages of a unit such as "quantize_down": shallow, or deep.

    Raises ValueError where the package has no latency of that unit.
    """
    name = "".join(part.capitalize() for part in unit.split("_")) + ("Deep" if deep else "Shallow")
    constants = package_constants()
    if name not in constants:
        raise ValueError(f"{PACKAGE.name} has no {name}: no unit is called {unit!r}")
    return constants[name]


@cache
def package_constants() -> Mapping[str, int]:
    """By name the value of every constant of the package."""
    return constants_of(PACKAGE.read_text())


def constants_of(text: str) -> Mapping[str, int]:
    """The constants of a package, each a sum of numbers (decimal or hexadecimal) and of constants before it.

    Raises ValueError for a term that is neither.
    """
    values: dict[str, int] = {}
    for name, total in _CONSTANT.findall(text):
        terms = []
        for term in map(str.strip, total.split("+")):
            if term in values:
                terms.append(values[term])
            elif number := _NUMBER.fullmatch(term):
                base, digits = number.groups()
                terms.append(int(digits, 16 if base == "h" else 10))
            else:
                raise ValueError(f"{term!r} is neither a number nor a constant before it")
        values[name] = sum(terms)
    return values
