"""Blame: from one wrong output lane back through everything that was executed, to where it left the golden reference.

The steps of the golden reference are looked for along the nodes of the lane's `origin`, each in what follows from
those that it can come from; the first step whose value does not appear is where the kernel parts from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sim.check.origin import LaneOrigin, Node

USUALLY = 0.9
"""Well above the half of the lanes in which a shift that rounds by a correction holds its result before it, and below
all, because a lane can be right although a step of it was wrong."""
SMALLEST = 8
"""Bits of a number: that flags are equal says nothing."""
ENOUGH = 2
"""A single value would be met by every constant."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """One output lane: where it is, where it came from, the golden steps there, and its own element of each input.

    `inputs` gives the address of that element for each step that is an input, `numbers` what it holds, where known.
    `arrays` are those of the call of which the lane came from some element, with the addresses of these elements; of a
    bound they only decided that it was chosen.
    """

    address: int
    origin: LaneOrigin
    steps: Mapping[str, int]
    inputs: Mapping[str, int]
    numbers: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, frozenset[int]] = field(default_factory=dict)
    is_bound: bool = False

    @property
    def is_written(self) -> bool:
        """Whether the call wrote the lane at all; one that is changed in place comes from itself too."""
        return bool(self.origin.nodes) or self.address not in self.origin.memory

    @property
    def is_chosen(self) -> bool:
        """Whether a constant was put there that no array decided, as far as can be told."""
        return bool(self.inputs) and self.is_written and not self.arrays

    @cached_property
    def computing(self) -> frozenset[Node]:
        """The nodes that may hold a golden step: of a bound what the elements went into, which was compared with it."""
        if not self.is_bound:
            return frozenset(self.origin.nodes)
        elements = frozenset[int]().union(*self.arrays.values())
        return frozenset(_followers(node for at in elements for node in self.origin.readers.get(at, ())))

    @property
    def is_own(self) -> bool:
        """Whether the lane came from its own elements."""
        return all(address in self.origin.memory for step, address in self.inputs.items() if step in self.steps)

    @cached_property
    def kept(self) -> dict[Node, str]:
        """The lanes that hold the number of an own element as it is, loaded or widened, by the name of the input."""
        found: dict[Node, str] = {}
        for name, number in self.numbers.items():
            pending = list(self.origin.readers.get(self.inputs[name], ()))
            while pending:
                node = pending.pop()
                if node not in found and node.holds(number) and len(node.sources()) == 1:
                    found[node] = name
                    pending.extend(node.consumers)
        return found

    @cached_property
    def computed_steps(self) -> dict[str, int]:
        """The steps that are no input and change what they are given: another value than the step before."""
        given = {value for step, value in self.steps.items() if step in self.inputs}
        computed = {}
        for step, value in self.steps.items():
            if step not in self.inputs:
                if value not in given:
                    computed[step] = value
                given = {value}
        return computed


@dataclass(frozen=True)
class Parting:
    """Where an output lane leaves the golden reference.

    `step` is the first golden step that is not reproduced and `golden` its value; `agreed` are the steps before it;
    `node` is the first lane computed from the last agreeing value, None where no lane was, or only constants.
    """

    step: str
    golden: int
    agreed: tuple[str, ...]
    node: Node | None


@dataclass
class Calibration:
    """Which instructions of an implementation compute which golden step, learned from lanes that are right.

    An instruction may hold the value of a step by chance: of those that were seen, only the ones that hold it most
    often are its `makers`, the others are `refuted`.  A step that no instruction holds in at least `USUALLY` of the
    lanes is not computed by itself (`fused`).  Nothing is learned of a step with fewer than
    `ENOUGH` different values, nor from a lane that came from fewer arrays: it became a bound at a branch.  `reads` says
    whether one of them came from an array at all.
    """

    makers: dict[str, set[object]] = field(default_factory=dict)
    refuted: dict[str, set[object]] = field(default_factory=dict)
    fused: set[str] = field(default_factory=set)
    reads: bool = True

    @classmethod
    def of(cls, right: Sequence[Lineage], wrong: Lineage) -> Calibration:
        """What right lanes say about the instructions that a wrong lane came through."""
        own = [lineage for lineage in right if lineage.is_own and lineage.arrays.keys() >= wrong.arrays.keys()]
        calibration = cls(reads=any(lineage.arrays for lineage in right))
        passed = {_instruction(node) for node in wrong.origin.nodes}
        for step in wrong.computed_steps:
            shares = {place: share for place, share in _shares(own, step).items() if place in passed}
            if shares:
                best = max(shares.values())
                if best < USUALLY:
                    calibration.fused.add(step)
                calibration.makers[step] = {instruction for instruction, share in shares.items() if share == best}
                calibration.refuted[step] = set(shares) - calibration.makers[step]
        return calibration

    def agrees(self, node: Node, step: str, value: int) -> bool:
        """Whether the lane is the value of the step; a maker may keep only its low bits.  A flag is no number."""
        if node.bits < SMALLEST:
            return False
        instruction = _instruction(node)
        if instruction in self.makers.get(step, ()):
            return node.ends(value)
        return node.holds(value) and instruction not in self.refuted.get(step, ())


def _shares(lineages: Sequence[Lineage], step: str) -> dict[object, float]:
    """In which share of the lanes that an instruction reached it held the step's value or its low bits.

    Only instructions that were seen with enough different values are counted.
    """
    seen: dict[object, list[tuple[int, bool]]] = {}
    for lineage in lineages:
        value = lineage.computed_steps.get(step)
        if value is not None:
            held = {_instruction(node) for node in lineage.computing if node.bits >= SMALLEST and node.ends(value)}
            for instruction in {_instruction(node) for node in lineage.computing}:
                seen.setdefault(instruction, []).append((value, instruction in held))
    return {
        instruction: sum(held for _, held in cases) / len(cases)
        for instruction, cases in seen.items()
        if len({value for value, _ in cases}) >= ENOUGH
    }


Dependences = Mapping[str, frozenset[str]]
"""What of the inputs the value of each golden step depends on, by name."""


def find_parting(lineage: Lineage, calibration: Calibration, dependences: Dependences | None = None) -> Parting | None:
    """The first golden step that a wrong lane does not reproduce; None where the golden steps are none, or where it was
    chosen among several of them and what the inputs made is not on its way, though it is on that of other lanes.

    A step is looked for in what follows from those before it, of which it has all arguments: others are of another
    branch.  Without `dependences` the steps are one chain.  A step that is an input agrees where the lane's own element
    was read; a step that changes nothing agrees with the one before it.  A lane that keeps the number of an own element
    is no step that depends on another one too, and nothing parts in it.  A fused step agrees if the next one does, and
    is where the lane parts if that does not.  Where all steps appear, the lane was right so far: it parts behind the
    last computed one, at the step that changes nothing there, if there is one.
    """
    if lineage.is_chosen and calibration.reads and len(lineage.steps) > 1:
        return None
    for step in lineage.inputs:
        if step in lineage.steps and lineage.inputs[step] not in lineage.origin.memory:
            return Parting(step, lineage.steps[step], _steps_before(lineage, step), None)

    def follows(one: str, other: str) -> bool:
        return dependences is None or dependences.get(one, frozenset()) <= dependences.get(other, frozenset())

    def is_kept_of_another(node: Node, step: str) -> bool:
        own = (dependences or {}).get(step, frozenset()) & set(lineage.inputs)
        return node in lineage.kept and bool(own - {lineage.kept[node]})

    found: dict[str, set[Node]] = {}
    unsettled: list[str] = []
    computed = lineage.computed_steps
    parted = ""
    for step, value in computed.items():
        if step in calibration.fused:
            unsettled.append(step)
            continue
        reachable = set(lineage.computing)
        for before in found:
            if follows(before, step):
                reachable &= _followers(found[before])
        matches = {
            node for node in reachable
            if calibration.agrees(node, step, value) and not is_kept_of_another(node, step)
        }  # fmt: skip
        if not matches:
            parted = next((fused for fused in unsettled if follows(fused, step)), step)
            break
        found[step] = matches
        unsettled = [fused for fused in unsettled if not follows(fused, step)]
    parted = parted or next(iter(unsettled), "")
    last_step = parted or next(reversed(computed), "")
    if not last_step:
        return None
    agreeing = [step for step in found if step != parted and follows(step, last_step)]
    if not parted:  # what it held of the last one was lost at a step that should keep it
        behind = list(lineage.steps)[list(lineage.steps).index(last_step) + 1 :]
        parted = next((step for step in behind if step not in lineage.inputs), last_step)
    if agreeing:
        last, number = max(found[agreeing[-1]], key=lambda node: node.index), computed[agreeing[-1]]
        changed = [node for node in _followers([last]) if node.value != last.value and not node.holds(number)]
    else:  # from the inputs, so none that only prepared a parameter
        readers = [lineage.origin.readers.get(address, frozenset()) for address in lineage.inputs.values()]
        changed = [*_followers(frozenset().union(*readers)) - set(lineage.kept)] or [*lineage.origin.nodes]
    first = min(changed, key=lambda node: node.index, default=None)
    return Parting(parted, lineage.steps[parted], _steps_before(lineage, parted), first)


def _steps_before(lineage: Lineage, step: str) -> tuple[str, ...]:
    names = tuple(lineage.steps)
    return names[: names.index(step)]


def _instruction(node: Node) -> object:
    """The same for all executions of one instruction; a program of intrinsics has no addresses, so its form."""
    return node.recorded.pc or node.recorded.occurrence.instruction.form.name


def _followers(nodes: Iterable[Node]) -> set[Node]:
    """The nodes and everything computed from them."""
    found: set[Node] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(node.consumers)
    return found
