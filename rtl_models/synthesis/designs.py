"""What is synthesized: units, pipelined pieces of units and single lanes, each for some numbers a beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from isa.errors import did_you_mean
from rtl_models.adapters import Adapter
from rtl_models.adapters.wrapper import adapted_sources, wrapper_of
from rtl_models.latencies import in_words, latency, profile_named, profile_parameter
from rtl_models.operators import OPERATORS
from rtl_models.tools.sources import sources_of
from rtl_models.units import UNITS

_PIECES: Final = ("rescale",)
"""Modules that are pipelined and one lane wide: as many copies stand side by side as there are numbers in a beat."""
_NARROW: Final = (
    "quantized_add_float", "requantize", "quantized_multiplier", "integer_scale", "interleave4x4",
)  # fmt: skip
"""Units of which the whole table has four lanes alone: it takes minutes more for each of the others."""
_SHOWN: Final = ("sqadd", "sqrdmulh", "sqrshl", "sdot4")
"""The lanes of the whole table: of a register, four numbers of 32 bits."""
_WIDTH: Final = 32


@dataclass(frozen=True)
class Design:
    """A module that takes `lanes` numbers a beat; `profile` is None for a lane, which has no registers of its own.

    Files in the `folder` go before those here; with an `adapter` its module lies there and stands for the unit.
    """

    name: str
    lanes: int
    profile: str | None
    folder: Path | None = None
    adapter: Adapter | None = None

    @property
    def top(self) -> str:
        """The module that is synthesized."""
        return wrapper_of(self.adapter) if self.adapter else self.name

    @property
    def parameters(self) -> Mapping[str, int]:
        """Of the module, by name."""
        if self.adapter:
            return {}
        if self.profile is None:
            return {"Width": _WIDTH}
        name, value = profile_parameter(self.name, self.profile)
        return {name: value, **({"Lanes": self.lanes} if self.name in UNITS else {})}

    @property
    def copies(self) -> int:
        """How often the module stands side by side."""
        return 1 if self.name in UNITS else self.lanes

    @property
    def sources(self) -> Mapping[str, str]:
        """The texts of the module and of all that it needs, by file name; of a user's may raise UnreadableModule."""
        if self.adapter and self.folder:
            return adapted_sources(self.adapter, self.lanes, self.folder)
        return sources_of(self.name, [self.folder] if self.folder else ())

    @property
    def latency(self) -> int | None:
        """Register stages; None for a lane, and for what is a user's: that may have any."""
        return latency(self.name, self.profile) if self.profile and not self.folder else None

    @property
    def module(self) -> str:
        """Such as "quantize_down deep"."""
        if self.adapter:
            return f"{self.name} by {self.adapter.module}"
        return f"{self.name} {in_words(self.profile)}" if self.profile else self.name

    @property
    def title(self) -> str:
        """Such as "quantize_down deep, 8 lanes"."""
        return f"{self.module}, {self.lanes} lanes"


def designs(names: Sequence[str], lanes: Sequence[int], profiles: Sequence[str]) -> list[Design]:
    """Those of the names; without names all units, last what has 4 numbers a beat alone, with pieces and some lanes.

    Raises ValueError for a name that none has, and for a profile that one has not.
    """
    if not names:
        several = [design for name in UNITS if name not in _NARROW for design in _of(name, lanes, profiles)]
        once = (*_NARROW, *_PIECES, *_SHOWN)
        return several + [design for name in once for design in _of(name, lanes[:1], profiles)]
    known = (*UNITS, *_PIECES, *OPERATORS)
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known)
            raise ValueError(f"no unit or lane is called {name!r}{meant}: there are {', '.join(known)}")
    return [design for name in dict.fromkeys(names) for design in _of(name, lanes, profiles)]


def own_designs(folder: Path, names: Sequence[str], lanes: Sequence[int], profiles: Sequence[str]) -> list[Design]:
    """Those of a user's folder, or of these names in it.  Raises ValueError as `designs`."""
    there = sorted({file.stem for file in folder.glob("*.sv")} & {*UNITS, *_PIECES, *OPERATORS})
    if missing := [name for name in names if name not in there]:
        raise ValueError(f"{folder} has no unit or lane {missing[0]!r}: it has {', '.join(there) or 'none'}")
    return [replace(design, folder=folder) for name in names or there for design in _of(name, lanes, profiles)]


def adapted_designs(adapter: Adapter, folder: Path, lanes: Sequence[int]) -> list[Design]:
    """The module of an adapter for some numbers a beat, of those that it can be built for."""
    return [Design(adapter.unit.name, count, None, folder, adapter) for count in lanes]


def _of(name: str, lanes: Sequence[int], profiles: Sequence[str]) -> list[Design]:
    named = (None,) if name in OPERATORS else list(dict.fromkeys(profile_named(name, profile) for profile in profiles))
    return [Design(name, number, profile) for number in lanes for profile in named]
