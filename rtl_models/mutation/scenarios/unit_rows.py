"""Frames of a unit as rows of all its inputs, with what its outputs must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.mutation.scenarios.scenario import Steps
from rtl_models.mutation.scenarios.signals import PortSignal
from rtl_models.unit_values import Settings, channel_setting
from rtl_models.units import TABLE_BITS, Unit, setting_bits

_Columns = dict[str, NDArray[np.int64]]
"""By port the numbers of each row, int64 [rows, numbers]."""
_STROBES: Final = dict.fromkeys(TABLE_BITS, 0)


class UnitRows:
    """The rows of one stream of frames.  Settings change in rows without a beat, before the frame that they are for."""

    def __init__(self, unit: Unit, lanes: int) -> None:
        self._unit, self._lanes = unit, lanes
        self._inputs: list[_Columns] = []
        self._outputs: list[_Columns] = []
        self._silent: list[NDArray[np.bool_]] = []
        self._written: dict[str, int] = {}
        self._last = {port.name: np.zeros((1, port.count(lanes)), np.int64) for port in unit.operands}

    def add(self, frame: UnitFrame, next_settings: Settings | None = None) -> None:
        """Add a frame; where `next_settings` are given, they are there from its second beat on."""
        before = list(self._configuration(frame.settings))
        during = [_settings(self._unit, frame.settings)] * frame.beats
        if next_settings is not None:
            during[1:] = [_settings(self._unit, next_settings)] * (frame.beats - 1)
        operands = {
            port: np.concatenate([np.repeat(self._last[port], len(before), axis=0), numbers])
            for port, numbers in frame.operands.items()
        }
        self._last = {port: numbers[-1:] for port, numbers in operands.items()}
        settings = {f"{name}_i": np.array([[row[name]] for row in (*before, *during)], np.int64) for name in before[0]}
        self._inputs.append(operands | settings)
        results = self._unit.expected(frame.settings, frame.operands, self._lanes)
        self._outputs.append({port: np.pad(numbers, ((len(before), 0), (0, 0))) for port, numbers in results.items()})
        self._silent.append(np.arange(len(before) + frame.beats) < len(before))

    def steps(self) -> Steps:
        """All rows; an output is not known where there is no beat."""
        ports = {port.name: port.bits for port in (*self._unit.operands, *self._unit.results)}
        bits = ports | {f"{name}_i": size for name, size in setting_bits(self._unit).items()}
        inputs, outputs = _joined(self._inputs), _joined(self._outputs)
        silent = np.concatenate(self._silent)
        known = {port.name: port.defined(outputs[port.name]) & ~silent[:, None] for port in self._unit.results}
        return Steps(
            {port: PortSignal(bits[port], numbers) for port, numbers in inputs.items()},
            {port: PortSignal(bits[port], numbers, known[port]) for port, numbers in outputs.items()},
            silent,
        )

    def _configuration(self, settings: Settings) -> Iterator[dict[str, int]]:
        """The rows before a frame: new numbers in the tables, then the settings."""
        now = _settings(self._unit, settings)
        for channel in range(settings["channels"] if self._unit.tables else 0):
            for number, field in enumerate(self._unit.tables):
                name = channel_setting(field, channel)
                if self._written.get(name) != settings[name]:
                    self._written[name] = settings[name]
                    write = {"table_write": 1, "table_channel": channel, "table_field": number}
                    yield now | write | {"table_data": settings[name]}
        yield now | ({"table_restart": 1} if self._unit.tables else {})
        yield now


def _settings(unit: Unit, settings: Settings) -> dict[str, int]:
    """What is on the ports of the settings while nothing is written to the tables."""
    return {name: settings[name] for name in unit.settings} | (_STROBES if unit.tables else {})


def _joined(parts: list[_Columns]) -> _Columns:
    return {port: np.concatenate([part[port] for part in parts]) for port in parts[0]}
