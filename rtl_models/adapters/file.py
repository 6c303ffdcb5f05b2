"""An adapter file: a few lines of TOML that say which module stands for which unit, and how its ports are called.

Nothing of the file reaches the hardware but names, each an identifier, and choices among given words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from isa.errors import LanewiseError, did_you_mean
from rtl_models.operators import OPERATORS
from rtl_models.register_map import register_writes
from rtl_models.tools.sources import sources_of
from rtl_models.units import LANE_COUNTS, TABLE_BITS, UNITS, Unit, setting_range
from sim.toml import read_toml

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORT: Final = re.compile(r"\b(?!rst_ni\b)\w+_[io]\b")
"""A port of a unit in a text."""
_AROUND: Final = ("config_registers",)
"""What stands beside the module; a file of its own folder would be taken in its place."""
_ENDINGS: Final = (".sv", ".v")
_TABLES: Final[tuple[tuple[str, str, Mapping[str, str]], ...]] = (
    ("input", "_i", {"valid": "valid_i", "ready": "ready_o"}),
    ("output", "_o", {"valid": "valid_o", "ready": "ready_i"}),
    ("settings", "_i", {}),
)
"""Each with the end of its ports' names in the unit, and its handshake."""
_KEYS: Final = ("unit", "module", "clock", "lanes", "reset", "input", "output", "settings")


class MalformedAdapter(LanewiseError):
    """An adapter file that cannot be used: one sentence."""


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A module that stands for a unit.

    `ports` are the module's by the unit's own names, clock, reset and handshake among them.  `lanes` is its parameter
    with the numbers of a beat, or their number where it has none.  `tied` are inputs of one bit with the value that
    they always have.  `built_in` are operands and settings, such as "shift", for which it has no port but a number.
    """

    file: Path
    unit: Unit
    module: str
    ports: Mapping[str, str]
    lanes: str | int
    reset_active_high: bool
    asynchronous: bool
    tied: Mapping[str, int]
    built_in: Mapping[str, int]

    @property
    def lane_counts(self) -> tuple[int, ...]:
        """The numbers of a beat that it can be built for."""
        return LANE_COUNTS if isinstance(self.lanes, str) else (self.lanes,)

    def parameters(self, lanes: int) -> str:
        """Of an instance for so many numbers a beat."""
        return f" #(.{self.lanes}({lanes}))" if isinstance(self.lanes, str) else ""

    def connections(self, wires: Mapping[str, str]) -> dict[str, str]:
        """By port of the module what it is connected to, given by port of the unit the wire."""
        active = {"rst_ni": "~rst_ni"} if self.reset_active_high else {}
        connected = {port: active.get(name, wires[name]) for name, port in self.ports.items()}
        return connected | {port: f"1'b{value}" for port, value in self.tied.items()}

    def in_its_words(self, text: str) -> str:
        """What is told of the unit, with the module's own ports in it; the reset is not told by its port."""
        return _PORT.sub(lambda found: self.ports.get(found[0], found[0]), text)


def keys_of(adapter: Adapter) -> dict[str, str]:
    """By port of the module the key of the file that names it, such as "input.accumulator"."""
    names = {"clk_i": "clock", "rst_ni": "reset.port"}
    for table, end, handshake in _TABLES:
        names |= {port: f"{table}.{key}" for key, port in handshake.items()}
        names |= {f"{name}{end}": f"{table}.{name}" for name in unit_ports(adapter.unit)[table]}
    named = {port: names[name] for name, port in adapter.ports.items()}
    return named | {port: f"constants.{port}" for port in adapter.tied}


def unit_ports(unit: Unit) -> dict[str, list[str]]:
    """By table of the file the ports of the unit that it names, as in the file: "accumulator" is accumulator_i."""
    tables = list(TABLE_BITS) if unit.tables else []
    return {
        "input": [port.name.removesuffix("_i") for port in unit.operands],
        "output": [port.name.removesuffix("_o") for port in unit.results],
        "settings": [*unit.settings, *tables],
    }


def read_adapter(file: Path, modules: Path | None = None) -> Adapter:
    """The adapter in a file; its module lies in the folder `modules`, or beside it.

    Raises MalformedAdapter, with the file and what is wrong in it.
    """
    content = read_toml(file, "the adapter", MalformedAdapter)
    return _Reader(file, modules or file.parent).adapter(content)


class _Reader:
    """The checks of one file."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._file, self._folder = file, folder

    def adapter(self, content: Mapping[str, object]) -> Adapter:
        """The adapter that the file says."""
        unit = self._unit(content)
        named = unit_ports(unit)
        self._keys("", content, _KEYS, ("constants",))
        reset = self._table(content, "reset", ("port", "active", "kind"))
        ports = {"clk_i": self._name(content, "clock"), "rst_ni": self._name(reset, "port", "reset")}
        built_in: dict[str, int] = {}
        for table, end, handshake in _TABLES:
            stream = self._table(content, table, (*handshake, *named[table]))
            ports |= {port: self._name(stream, key, table) for key, port in handshake.items()}
            for name in named[table]:
                given = stream[name]
                if table != "output" and isinstance(given, int) and not isinstance(given, bool):
                    built_in[name] = self._number(unit, table, name, given)
                else:
                    ports[f"{name}{end}"] = self._name(stream, name, table)
        self._agree(unit, built_in)
        tied = self._tied(content.get("constants", {}))
        if twice := [port for port, times in Counter([*ports.values(), *tied]).items() if times > 1]:
            self._refuse(f"the port {twice[0]} is named twice")
        return Adapter(
            file=self._file.absolute(),
            unit=unit,
            module=self._module(content),
            ports=ports,
            lanes=self._lanes(content, unit),
            reset_active_high=self._one_of(reset, "active", ("high", "low"), "reset") == "high",
            asynchronous=self._one_of(reset, "kind", ("synchronous", "asynchronous"), "reset") == "asynchronous",
            tied=tied,
            built_in=built_in,
        )

    def _unit(self, content: Mapping[str, object]) -> Unit:
        """The unit that it stands for; of an operator is said how it is tested instead."""
        if isinstance(given := content.get("unit"), str) and given in OPERATORS:
            ports = [*(operand.port for operand in OPERATORS[given].operands), "result_o", "saturated_o"]
            self._refuse(
                f"unit is {given!r}, an operator, which has no stream and no adapter: put a module {given} with the "
                f"ports {', '.join(ports)} around yours, and give its folder as --modules (docs/own-hardware.md)"
            )
        return UNITS[self._one_of(content, "unit", UNITS)]

    def _number(self, unit: Unit, table: str, name: str, given: int) -> int:
        """What a module has built in for an operand or a setting."""
        if unit.mixes:
            self._refuse(f"{table}.{name} is {given}: {unit.name} takes no numbers that are built in, name a port")
        if name in unit.settings:
            low, high = setting_range(name)
        else:
            port = next(port for port in unit.operands if port.name == f"{name}_i")
            low = -(1 << port.bits - 1) if port.signed else 0
            high = low + (1 << port.bits) - 1
        if not low <= given <= high:
            self._refuse(f"{table}.{name} is {given}: give the name of a port, or {low}..{high} that is built in")
        return given

    def _agree(self, unit: Unit, built_in: Mapping[str, int]) -> None:
        """Whether the settings that are built in go together."""
        if "signed" in built_in:
            low, high = (-128, 127) if built_in["signed"] else (0, 255)
            for name in ("minimum", "maximum"):
                if name in built_in and not low <= built_in[name] <= high:
                    signed = f"signed = {built_in['signed']}"
                    self._refuse(f"settings.{name} is {built_in[name]}: with {signed} it is {low}..{high}")
        bounds = {name: built_in[name] for name in ("minimum", "maximum", "signed") if name in built_in}
        if len(bounds) == 3:
            try:
                register_writes(bounds)
            except ValueError as error:
                self._refuse(f"settings: {error}")

    def _module(self, content: Mapping[str, object]) -> str:
        module = self._name(content, "module")
        around = [name for part in _AROUND for name in sources_of(part)]
        if taken := [name for name in around if (self._folder / name).exists()]:
            self._refuse(f"{self._folder / taken[0]} has the name of a file that lanewise needs around the module")
        if not any((self._folder / f"{module}{ending}").is_file() for ending in _ENDINGS):
            self._refuse(f"there is no {module}{_ENDINGS[0]} or {module}{_ENDINGS[1]} in {self._folder}")
        return module

    def _lanes(self, content: Mapping[str, object], unit: Unit) -> str | int:
        given, possible = content["lanes"], LANE_COUNTS if unit.mixes else (1, *LANE_COUNTS)
        if isinstance(given, str):
            return self._name(content, "lanes")
        if not isinstance(given, int) or isinstance(given, bool) or given not in possible:
            self._refuse(f"lanes is {given!r}: give the name of a parameter, or {', '.join(map(str, possible))}")
        return given

    def _tied(self, given: object) -> dict[str, int]:
        if not isinstance(given, dict):
            self._refuse(f"constants is {given!r}: it is a table of ports")
        for port, value in given.items():
            self._identifier(port, "constants has")
            if type(value) is not int or value not in (0, 1):
                self._refuse(
                    f"constants.{port} is {value!r}: give 0 or 1, for a port of one bit; a wider one needs a "
                    "module around yours that gives it its value (docs/own-hardware.md)"
                )
        return given

    def _table(self, content: Mapping[str, object], name: str, keys: Collection[str]) -> Mapping[str, object]:
        table = content[name]
        if not isinstance(table, dict):
            self._refuse(f"{name} is {table!r}: it is a table with {', '.join(keys)}")
        self._keys(f"{name}.", table, keys)
        return table

    def _keys(
        self, prefix: str, table: Mapping[str, object], keys: Collection[str], optional: Collection[str] = ()
    ) -> None:
        missing = [key for key in keys if key not in table]
        if unknown := [key for key in table if key not in (*keys, *optional)]:
            meant = did_you_mean(unknown[0], [*missing, *optional])
            self._refuse(f"there is no key {prefix}{unknown[0]}{meant}: there are {', '.join((*keys, *optional))}")
        if missing:
            numbered = prefix in ("input.", "settings.") and missing[0] not in ("valid", "ready")
            what = ": name its port, or give the number that the module has built in" if numbered else ""
            self._refuse(f"{prefix}{missing[0]} is missing{what}")

    def _name(self, table: Mapping[str, object], key: str, prefix: str = "") -> str:
        return self._identifier(table[key], f"{prefix}{'.' if prefix else ''}{key} is")

    def _identifier(self, given: object, what: str) -> str:
        if not isinstance(given, str) or not _IDENTIFIER.fullmatch(given):
            self._refuse(f"{what} {given!r}: give a name of letters, digits and _")
        return given

    def _one_of(self, table: Mapping[str, object], key: str, allowed: Collection[str], prefix: str = "") -> str:
        given = table.get(key)
        if not isinstance(given, str) or given not in allowed:
            meant = did_you_mean(given, allowed) if isinstance(given, str) else ""
            shown = "missing" if key not in table else f"{given!r}{meant}"
            self._refuse(f"{prefix}{'.' if prefix else ''}{key} is {shown}: give one of {', '.join(allowed)}")
        return given

    def _refuse(self, what: str) -> NoReturn:
        raise MalformedAdapter(f"{self._file}: {what}")
