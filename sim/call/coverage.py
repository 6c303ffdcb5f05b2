"""What the runs of a build have covered: source lines, branch outcomes and, where looked at, operand classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from isa.instruction import Instruction
from sim.toolchain.branches import with_targets
from sim.toolchain.image import Image

_CONDITIONAL: Final = ("b.", "cbz", "cbnz", "tbz", "tbnz")


@dataclass(frozen=True)
class Coverage:
    """What can be met in one build, and whether it was, in order of address.

    `lines` are source lines of the functions that were entered, such as "kernel.c:41"; `branches` the two outcomes of
    each conditional branch that was executed, such as "kernel.c:41 b.lo to kernel.c:39 taken"; `classes` the operand
    classes of each arithmetic vector instruction, such as "kernel.c:48 sqadd v0.4s, v1.4s, v2.4s at 0x110dc: max",
    where they were looked at.
    """

    lines: Mapping[str, bool]
    branches: Mapping[str, bool]
    classes: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Share:
    """How many of something were met, and what never was."""

    met: int
    of: int
    never: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """As plain data."""
        return {"met": self.met, "of": self.of, "never": list(self.never)}


def share_of_lines(builds: Iterable[Coverage]) -> Share:
    """The source lines that some build met, of those that some build has."""
    met = dict[str, bool]()
    for build in builds:
        for line, was_met in build.lines.items():
            met[line] = met.get(line, False) or was_met
    return _share(met)


def share_of_branches(builds: Mapping[str, Coverage]) -> Share:
    """The branch outcomes of all builds, by their titles."""
    return _share({f"{title}: {name}": met for title, build in builds.items() for name, met in build.branches.items()})


def share_of_classes(builds: Mapping[str, Coverage]) -> Share:
    """The operand classes of all builds, by their titles."""
    return _share({f"{title}: {name}": met for title, build in builds.items() for name, met in build.classes.items()})


def _share(met: Mapping[str, bool]) -> Share:
    return Share(sum(met.values()), len(met), tuple(name for name, was_met in met.items() if not was_met))


def code_coverage(image: Image, went: Collection[tuple[int, int]], at: Callable[[int], Instruction]) -> Coverage:
    """From the addresses that were executed, each with where it went on; `at` gives the instruction at an address."""
    hit = frozenset(pc for pc, _ in went)
    entered = {
        s.address: s for s in image.symbols.values() if any(a in hit for a in range(s.address, s.address + s.size, 4))
    }
    lines = dict[str, bool]()
    for _, symbol in sorted(entered.items()):
        for address in range(symbol.address, symbol.address + symbol.size, 4):
            line = image.source_line(address)
            if line is not None:
                lines[str(line)] = lines.get(str(line), False) or address in hit
    branches, names = dict[str, bool](), dict[int, str]()
    for pc in hit:
        instruction = at(pc)
        if instruction.form.name.startswith(_CONDITIONAL):
            target = with_targets(instruction.text, image).split()[-1]
            names[pc] = f"{image.place_of(pc)} {instruction.text.split()[0]} to {target}"
    alike = Counter(names.values())
    for pc, next_pc in sorted(pair for pair in went if pair[0] in names):
        name = names[pc] + f" at {pc:#x}" * (alike[names[pc]] > 1)
        for outcome, met in (("taken", next_pc != pc + 4), ("not taken", next_pc == pc + 4)):
            key = f"{name} {outcome}"
            branches[key] = branches.get(key, False) or met
    return Coverage(lines, branches)
