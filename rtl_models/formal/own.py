"""Theorems about a user's modules, of which nothing is known but their ports.

An operator is what it is here.  A streaming unit may have any registers and any latency: it is followed under all
schedules of its two sides.  The false claim of each is that its results are one higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from isa.errors import LanewiseError
from isa.lane import Int, Lane, constant
from rtl_models.adapters import Adapter
from rtl_models.adapters.wrapper import adapted_sources, wrapper_of
from rtl_models.formal.claims import ReadSignal, Value
from rtl_models.formal.equations.written import Subject, SubjectSources, derive_equations, design_of
from rtl_models.formal.models.integer_scale import integer_scale
from rtl_models.formal.models.interleave4x4 import interleave4x4
from rtl_models.formal.models.offset_contribution import offset_contribution
from rtl_models.formal.models.quantize_down import quantize_down
from rtl_models.formal.models.quantized_add import quantized_add
from rtl_models.formal.models.quantized_add_float import quantized_add_float
from rtl_models.formal.models.requantize import quantized_multiplier, requantize
from rtl_models.formal.operators import operator_theorems
from rtl_models.formal.schedules.proof import StreamFinding, proved, proved_at_once
from rtl_models.formal.theorem import NOT_ASKED, Lanes, Theorem, decided, refuted
from rtl_models.formal.units.pipelines import OutputBits, Pipeline
from rtl_models.operators import OPERATORS
from rtl_models.tools.sources import MODULE_ENDINGS
from rtl_models.units import UNITS
from sim.view.sentences import counted

_PIPELINES: Final[Mapping[str, Callable[[int, int], Pipeline]]] = {
    "quantize_down": quantize_down,
    "offset_contribution": offset_contribution,
    "quantized_add": quantized_add,
    "quantized_add_float": quantized_add_float,
    "requantize": requantize,
    "quantized_multiplier": quantized_multiplier,
    "integer_scale": integer_scale,
    "interleave4x4": interleave4x4,
}
_NOT_FOLLOWED: Final = {
    "quantize_down_channels": "what it gives depends on tables that are written between beats, not on its beat alone",
    "transpose1xw": "what it gives depends on where its beat stands in a frame, not on the beat alone",
}
_NOTHING: Final[Mapping[str, int]] = {}
_PART: Final = "it is a part of a unit, and what is proved of parts is about their registers"


class NothingProved(LanewiseError):
    """A module of a user's about which there is no theorem: one sentence, why."""


@dataclass(frozen=True)
class OwnTheorem:
    """A theorem about a user's module: about an operator `theorem`, else about the results of a stream.

    `cut_points` is the file of the wires that the user names; what is found is told with the ports of an `adapter`.
    """

    name: str
    design: SubjectSources
    results: tuple[OutputBits, ...] = ()
    theorem: Theorem | None = None
    cut_points: Path | None = None
    adapter: Adapter | None = None

    @property
    def subject(self) -> Subject:
        """The module at its parameters."""
        return self.design.subject

    def verdict(self, cache: Path, seconds: float) -> StreamFinding:
        """Ask, so many seconds for one question; `cache` keeps what yosys writes.

        Raises MalformedCuts, YosysMissing, Refused, NoSuchSignal, UnreadableEquations, OSError, and
        isa.evaluate.smt.SolverMissing.
        """
        equations = derive_equations(self.design, cache)
        if self.theorem is None:
            found = proved(equations, self.results, seconds, self.cut_points)
            return _in_words_of(self.adapter, found) if self.adapter else found
        finding = proved_at_once(equations, self.theorem.claim, seconds, self.cut_points) if self.cut_points else None
        if finding is None:
            finding = decided(self.theorem, equations, seconds)
        if finding.outcome != "proved":
            return StreamFinding(finding, NOT_ASKED, ())
        return StreamFinding(finding, refuted(_one_higher(self.theorem), equations, seconds), ())


def _in_words_of(adapter: Adapter, found: StreamFinding) -> StreamFinding:
    words, finding = adapter.in_its_words, found.finding
    values = {words(name): value for name, value in finding.values.items()}
    told = replace(finding, reason=words(finding.reason), values=values)
    return found._replace(finding=told, told=tuple(map(words, found.told)))


def _one_higher(theorem: Theorem) -> Theorem:
    right = theorem.claim.right

    def higher(*lanes: object) -> Lanes:
        results = right(*lanes)
        return {name: lane + 1 for name, lane in results.items()} if isinstance(results, Mapping) else {"": results + 1}

    return replace(theorem, claim=replace(theorem.claim, right=higher))


def adapted_theorem(adapter: Adapter, lanes: int, folder: Path) -> OwnTheorem:
    """That the module of an adapter gives what its unit gives, for so many numbers a beat.

    Raises NothingProved, UnreadableModule.
    """
    unit = adapter.unit.name
    if unit in _NOT_FOLLOWED:
        raise NothingProved(f"{adapter.module} cannot be proved to be {unit}: {_NOT_FOLLOWED[unit]}")
    design = SubjectSources(Subject(wrapper_of(adapter), ()), adapted_sources(adapter, lanes, folder))
    name = f"{unit} by {adapter.module}, {counted(lanes, 'lane')}: {_UNDER_ALL}"
    return OwnTheorem(name, design, results_of(unit, lanes, adapter.built_in), adapter=adapter)


_UNDER_ALL: Final = "every result is the one due, under all schedules"


def results_of(unit: str, lanes: int, built_in: Mapping[str, int] = _NOTHING) -> tuple[OutputBits, ...]:
    """What a unit gives for so many numbers a beat; nothing where that is not a matter of the beat alone.

    Operands and settings that are `built_in`, such as "shift", are these numbers.
    """
    results = _PIPELINES[unit](lanes, 0).results if unit in _PIPELINES else ()
    ports = {f"{name}_i": constant(number) for name, number in built_in.items()}

    def at(value: Value) -> Value:
        def having(read: ReadSignal) -> Lane:
            def given(wire: str, kind: Int, lsb: int | None = None) -> Lane:
                return kind.wrap(ports[wire]) if wire in ports else read(wire, kind, lsb)

            return value(given)

        return having

    return tuple(replace(bits, meaning=at(bits.meaning), given=at(bits.given)) for bits in results)


def own_theorems(folder: Path, lanes: int) -> list[OwnTheorem]:
    """About the modules of a folder that stand in the place of operators and of units here.

    Raises NothingProved where there are none, UnreadableModule.
    """
    names = sorted({file.stem for file in folder.iterdir() if file.suffix == MODULE_ENDINGS[0]})
    found = [*_about_operators(names, folder), *_about_units(names, folder, lanes)]
    if not found:
        raise NothingProved(f"nothing can be proved of {folder}: {'; '.join(_reasons(names))}")
    return found


def _reasons(names: Sequence[str]) -> Iterator[str]:
    """Of modules about which there is no theorem, why."""
    for name in names:
        if name not in OPERATORS and name not in _PIPELINES:
            yield f"{name} is not proved of a module of yours: {_NOT_FOLLOWED.get(name, _PART)}"


def _about_operators(names: Sequence[str], folder: Path) -> Iterator[OwnTheorem]:
    for theorem in operator_theorems():
        if theorem.subject.module in names:
            yield OwnTheorem(theorem.name, design_of(theorem.subject, folder), theorem=theorem)


def _about_units(names: Sequence[str], folder: Path, lanes: int) -> Iterator[OwnTheorem]:
    for name in (unit for unit in UNITS if unit in names and unit in _PIPELINES):
        for deep in (False, True):
            subject = Subject(name, (("Lanes", lanes), ("Deep", int(deep))))
            yield OwnTheorem(f"{subject}: {_UNDER_ALL}", design_of(subject, folder), results_of(name, lanes))
