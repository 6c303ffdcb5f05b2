"""The constants of `lanes/lanewise_pkg.sv`: the depths of the pipelines, and the addresses of the registers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from rtl_models.tools.sources import LANES

PACKAGE: Final = LANES / "lanewise_pkg.sv"
_CONSTANT: Final = re.compile(r"^ *localparam +(?:int|logic \[\d+:0\]) +(\w+) *= *([^;]+);", re.MULTILINE)
_NUMBER: Final = re.compile(r"(?:\d*'([dh]))?([0-9a-fA-F_]+)")


PROFILES: Final = ("shallow", "deep")
"""The names of the least depth that a unit can have, and of the greatest; a profile is one, or a depth between."""
_LEVELS: Final = ("Shallow", "Multiplied", "Shifted", "Bounded", "Deep")
"""How the constants of a unit's depths end."""


@cache
def depths(module: str) -> tuple[int, ...]:
    """In how many register stages a unit, or a part such as "rescale", can be built: the least first.

    Each has one more kind of part deep than that before it: the multipliers, what shifts, the bounds, all else.  Raises
    ValueError where the package has none of that module.
    """
    name, constants = "".join(part.capitalize() for part in module.split("_")), package_constants()
    if f"{name}Shallow" not in constants:
        raise ValueError(f"{PACKAGE.name} has no {name}Shallow: no unit is called {module!r}")
    return tuple(constants[name + level] for level in _LEVELS if name + level in constants)


def latency(module: str, profile: str) -> int:
    """The register stages of a unit in a profile: "shallow", "deep", or their number.

    Raises ValueError where the unit cannot have it, or there is no such unit.
    """
    possible = depths(module)
    named = dict(zip(PROFILES, (possible[0], possible[-1]), strict=True)) | {str(depth): depth for depth in possible}
    if profile not in named:
        raise ValueError(f"{module} has the profiles {', '.join(named)}, not {profile!r}")
    return named[profile]


def profile_named(module: str, text: str) -> str:
    """A profile by a name or a number: by its name where it has one.  Raises as `latency`."""
    return profile_of(module, latency(module, text))


def profile_of(module: str, depth: int) -> str:
    """The profile that has so many register stages: "shallow", "deep", or their number."""
    return {depths(module)[0]: PROFILES[0], depths(module)[-1]: PROFILES[1]}.get(depth, str(depth))


def in_words(profile: str) -> str:
    """Such as "deep", or "7 stages"."""
    return profile if profile in PROFILES else f"{profile} stages"


def profile_parameter(module: str, profile: str) -> tuple[str, int]:
    """Name and value of the parameter with which a unit has a profile: Deep, which is all that some have, or Depth.

    Raises as `latency`.
    """
    named = profile_named(module, profile)
    return ("Deep", PROFILES.index(named)) if named in PROFILES else ("Depth", int(named))


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
