"""Whether the names of an adapter file are the module's, and its ports as wide as what they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rtl_models.adapters.file import Adapter, MalformedAdapter, keys_of
from rtl_models.adapters.wrapper import wrapper_of, wrapper_text
from rtl_models.tools.build_cache import TopModule
from rtl_models.tools.environment import SimulationUnavailable
from rtl_models.tools.linter import lint_output
from rtl_models.units import TABLE_BITS, setting_range
from sim.view.sentences import counted

_UNKNOWN: Final = re.compile(r"(Pin|Parameter) not found: '(\w+)'(?:\n *: \.\.\. Suggested alternative: '(\w+)')?")
_WIDTH: Final = re.compile(r"port connection '(\w+)' expects (\d+) bits.* generates (\d+) bits")


def require_fitting(adapter: Adapter, folder: Path) -> None:
    """Ask Verilator of the adapter's module, which lies in the folder, for each number of a beat.

    Says nothing where there is no Verilator, or where it refuses the module for another reason: what then is run says
    it.  Raises MalformedAdapter, with the key of the file, the port, and what the module has instead.
    """
    for lanes in adapter.lane_counts:
        design = TopModule(wrapper_of(adapter), {f"{wrapper_of(adapter)}.sv": wrapper_text(adapter, lanes)}, (folder,))
        try:
            said = lint_output(design)
        except SimulationUnavailable:
            return
        for problem in (*_unknown_names(adapter, said), *_other_widths(adapter, lanes, said)):
            raise MalformedAdapter(f"{adapter.file}: {problem}")


def _unknown_names(adapter: Adapter, said: str) -> Iterator[str]:
    keys = keys_of(adapter)
    for kind, name, suggested in _UNKNOWN.findall(said):
        guess = f" ({suggested}?)" if suggested else ""
        if kind == "Parameter" and name == adapter.lanes:
            yield f"lanes is {name!r}: {adapter.module} has no such parameter{guess}"
        elif kind == "Pin" and name in keys:
            given = "there" if name in adapter.tied else repr(name)
            yield f"{keys[name]} is {given}: {adapter.module} has no such port{guess}"


def _other_widths(adapter: Adapter, lanes: int, said: str) -> Iterator[str]:
    """Of ports that are not as wide as what they stand for; one may have more bits than an unsigned setting."""
    keys = keys_of(adapter)
    for port, has, due in _WIDTH.findall(said):
        key = keys.get(port, "")
        table, _, name = key.partition(".")
        if not key or (table == "settings" and int(has) > int(due) and _is_unsigned(name)):
            continue
        of = f" for {counted(lanes, 'number')} a beat" if table in ("input", "output") else ""
        is_port = "" if table == "constants" else f" is {port!r}"
        yield f"{key}{is_port}: that port of {adapter.module} has {counted(int(has), 'bit')}, {due} are due{of}"


def _is_unsigned(name: str) -> bool:
    """Whether a setting is never below 0, or a wire that fills the tables, of which the data may be."""
    return name != "table_data" if name in TABLE_BITS else setting_range(name)[0] >= 0
