"""What synthesis finds of a design, kept for as long as sources, tools and what is asked are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from rtl_models.synthesis.designs import Design
from rtl_models.synthesis.digest import MAKERS
from rtl_models.synthesis.netlist import NETLIST, Size, synthesize
from rtl_models.synthesis.nextpnr import PlacedDesign, Unplaced, nextpnr_version, place_and_route
from rtl_models.tools.locks import alone
from rtl_models.tools.scratch import scratch_folder
from rtl_models.tools.yosys import yosys_version
from sim.toolchain.kept import write_whole

_NOTHING: Final = "nothing is left of it but wires and constants, which have no clock"
_HELD: Final = "waiting for another process that synthesizes; what it finishes is kept and not made again here"


@dataclass(frozen=True)
class Figures:
    """The size of a design, and by seed its clock, or why nextpnr refuses it."""

    design: Design
    size: Size
    placements: Mapping[int, PlacedDesign | str]

    @property
    def placed(self) -> list[PlacedDesign]:
        """The placements there are, the slowest first."""
        return sorted(found for found in self.placements.values() if isinstance(found, PlacedDesign))

    @property
    def refusal(self) -> str | None:
        """What nextpnr says of the first seed that it does not place."""
        return next((found for found in self.placements.values() if isinstance(found, str)), None)

    @property
    def megahertz(self) -> float | None:
        """The median of the seeds; None where none is placed."""
        return median(found.megahertz for found in self.placed) if self.placed else None

    @property
    def elements_per_second(self) -> float | None:
        """At that clock, with a beat in every cycle."""
        return None if self.megahertz is None else self.design.lanes * self.megahertz * 1e6


def tools() -> str:
    """The versions of both.  Raises YosysMissing, NextpnrMissing."""
    return f"{yosys_version()}, {nextpnr_version()}"


def figures_of(design: Design, clock: int, seeds: Sequence[int], cache: Path) -> Figures:
    """The design with a clock of so many MHz to be reached; the directory keeps every seed as soon as it is finished.

    Raises YosysMissing, Refused, NextpnrMissing, ScratchUnusable,
    rtl_models.tools.environment.SimulationUnavailable, and OSError where the directory cannot be used.
    """
    makers = [Path(__file__).with_name(name).read_text() for name in MAKERS]
    made_from = [sorted(design.sources.items()), design.parameters, design.copies]
    keys = {seed: json.dumps([tools(), makers, made_from, clock, seed]) for seed in seeds}
    files = {s: cache / f"synthesis-{hashlib.sha256(key.encode()).hexdigest()}.json" for s, key in keys.items()}
    if _missing(files):
        with alone(cache / "synthesis.lock", _HELD):
            for seed, found in _made(design, clock, _missing(files)):
                write_whole(files[seed], json.dumps(found).encode())
    kept = {seed: json.loads(file.read_bytes()) for seed, file in files.items()}
    placements = {seed: found["placement"] for seed, found in kept.items()}
    return Figures(design, Size(*kept[seeds[0]]["size"]), {
        seed: found if isinstance(found, str) else PlacedDesign._make(found) for seed, found in placements.items()
    })  # fmt: skip


def _missing(files: Mapping[int, Path]) -> list[int]:
    """The seeds whose files there are not; asked again when no other process makes them any more."""
    return [seed for seed, file in files.items() if not file.is_file()]


def _made(design: Design, clock: int, seeds: Sequence[int]) -> Iterator[tuple[int, object]]:
    """Each seed with what is kept of it, as they come."""
    if not seeds:
        return
    with scratch_folder() as scratch:
        size = synthesize(design, scratch)
        for seed in seeds:
            placement: PlacedDesign | str
            try:
                placement = place_and_route(NETLIST, scratch, clock, seed) if any(size) else _NOTHING
            except Unplaced as refusal:
                placement = str(refusal)
            yield seed, {"size": size, "placement": placement}
