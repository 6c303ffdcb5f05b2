"""Whether two numbers are equal for all inputs under a condition: by their form, by the solver, or not known.

The same question is asked once, whatever its inputs are called.  Sides that compute alike are compared step by step,
and what they have in common, a product first of all, is taken for any number of its range: what is equal for all of
those is equal.  Where that does not suffice, the question is asked as it is.  A counter-example is believed when both
sides, evaluated exactly, differ on it.  A question of few inputs, a byte or two, is not asked: all of them are tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from hashlib import sha256
from itertools import product
from math import inf, nan, prod
from operator import or_
from pathlib import Path
from random import Random
from struct import pack
from typing import Final, NamedTuple, TypeVar

import isa.evaluate.smt
import sim.prove.claim
from isa.evaluate.exact import Evaluation
from isa.evaluate.smt import Impossible, Solver, Undecided, solver_version
from isa.evaluate.smt_products import highest_corners, second_highest_product
from isa.evaluate.smt_terms import Untranslatable
from isa.floating import FLOATS
from isa.lane import Binary, Floating, Lane, Place, Read, head, operands_first, walk
from sim.prove.cache import answered
from sim.prove.claim import ClaimInputs, Finding, Sides, tells_apart
from sim.prove.run import in_processes
from sim.symbolic.cases import QuestionCase, cases
from sim.symbolic.rules.expansion import expanded
from sim.symbolic.rules.shared_products import shared_products
from sim.symbolic.simplify import SIMPLIFIER, simplified
from sim.symbolic.unknowns import cut_out, replaced

T = TypeVar("T", bound=Hashable)
_TRIED: Final = 96
"""Random inputs on which the sides are compared before the solver is asked."""
_TRIED_ALONE: Final = 1000
"""So many of floating point, of which the solver finds none."""
_MOST_INPUTS: Final = 1 << 16
"""So many inputs at most are all tried,"""
_MOST_EVALUATED: Final = 1 << 22
"""and so many nodes at most are evaluated for that: seconds."""
_SHARE: Final = 0.5
"""Of the time limit, what trying all inputs, or the question with products taken for numbers, may take."""
_SECONDS_FOR_A_STEP: Final = 6.0
_POINTS: Final = 12
NO_INPUT: Final = "no input fulfils the condition"
"""How a question is decided that speaks of no input."""
ALL_TRIED: Final = "all inputs"
"""How one is decided by evaluating both sides on each input."""


class Equality(NamedTuple):
    """Whether `one` and `other` are equal for all inputs for which `given` is 1."""

    one: Lane
    other: Lane
    given: Lane


@dataclass(frozen=True)
class Answer:
    """What came of a question: `how` it was decided, and of a counter-example the inputs that it depends on."""

    finding: Finding
    how: str
    values: Mapping[Place, int]


class Canonical(NamedTuple):
    """A question without the names of its inputs: `key` tells it from others, `inputs` are its own in their order."""

    key: bytes
    inputs: tuple[Read, ...]


def asked(question: Sequence[Lane]) -> Canonical:
    """A question about these lanes by what it is, whatever its inputs are called."""
    numbers: dict[Lane, int] = {}
    inputs: list[Read] = []
    digest = sha256()
    for node in operands_first(question):
        args = tuple(numbers[arg] for arg in node.args)
        numbers[node] = len(numbers)
        if isinstance(node, Read):
            inputs.append(node)
            digest.update(f"in {node.low} {node.high};".encode())
        else:
            digest.update(f"{_named(head(node))} {args};".encode())
    digest.update(repr([numbers[lane] for lane in question]).encode())
    return Canonical(digest.digest(), tuple(inputs))


@cache
def _named(what: tuple[object, ...]) -> str:
    return repr(what)


def decide_all(
    questions: Mapping[T, Equality],
    seconds: float,
    jobs: int,
    kept_in: Path | None,
    report: Callable[[T, Answer], None],
    wanted: Callable[[T], bool] = lambda _: True,
) -> bool:
    """Answer questions, each in a process and within so many seconds; `report` gets each answer, and once each.

    `kept_in` is a directory of answers of earlier runs, or None.  A question that is no longer `wanted` when its turn
    comes may stay without an answer.  Whether it was interrupted.  Raises SolverMissing.
    """
    solver_version()
    alike: dict[bytes, list[tuple[T, Canonical]]] = {}
    for name, question in questions.items():
        if question.one is question.other or not question.given.high:
            report(name, Answer(Finding("proved", 0), "form" if question.given.high else NO_INPUT, {}))
            continue
        found = asked(question)
        alike.setdefault(found.key, []).append((name, found))
    tasks = []
    for key, named in alike.items():
        sides = _sides(questions[named[0][0]], named[0][1])
        entry = None if kept_in is None else kept_in / f"equal-{sha256(key + _deciders()).hexdigest()}.json"
        tasks.append((key, partial(answered, entry, sides, partial(settled_sides, sides, seconds))))

    def told(key: bytes, finding: Finding) -> None:
        for name, found in alike[key]:
            values = {lane.place: finding.values[f"i{k}"] for k, lane in enumerate(found.inputs) if finding.values}
            how = finding.reason if finding.outcome == "proved" else ""
            report(name, Answer(finding, how, values))

    return in_processes(tasks, seconds, jobs, told, lambda key: any(wanted(name) for name, _ in alike[key]))


def _sides(question: Equality, found: Canonical) -> Sides:
    """The question as a claim's sides, its inputs called i0, i1, ..."""
    named: dict[Lane, Lane] = {
        lane: Read(Place(f"i{number}"), lane.low, lane.high) for number, lane in enumerate(found.inputs)
    }
    one, other, given = replaced(question, named)
    inputs = tuple(lane for lane in named.values() if isinstance(lane, Read))
    return Sides(inputs, {"value": one}, {"value": other}, given)


@cache
def _deciders() -> bytes:
    """The versions of what decides: the solver's, and the text of all that asks it, simplifies or tries numbers."""
    return b"".join([solver_version().encode(), *(file.read_bytes() for file in deciding_files())])


def deciding_files() -> list[Path]:
    """The modules that an answer rests on: expressions, their evaluators, claims, the simplifier and its rules."""
    folder, evaluators = Path(__file__).parent, Path(isa.evaluate.smt.__file__).parent
    expressions = [evaluators.parent / name for name in ("lane.py", "floating.py")]
    own = [*folder.glob("*.py"), *folder.glob("rules/*.py"), *Path(sim.prove.claim.__file__).parent.glob("*.py")]
    return sorted([*expressions, *evaluators.glob("*.py"), *evaluators.glob("[!c]*/*.py"), *own])


def settled_sides(sides: Sides, seconds: float) -> Finding:
    """Decide for all inputs within so many seconds, in this process."""
    started = time.monotonic()
    deadline = started + seconds
    finding = (
        _by_trying(sides, deadline)
        or _by_trying_all(sides, started + _SHARE * seconds, deadline)
        or _by_cases(sides, deadline)
    )
    return replace(finding, seconds=time.monotonic() - started)


def counter_example(question: Equality, seconds: float) -> dict[Place, int]:
    """Inputs on which the two are different, found in this process within so many seconds; none where none were."""
    found = asked(question)
    finding = settled_sides(_sides(question, found), seconds)
    return {lane.place: finding.values[f"i{k}"] for k, lane in enumerate(found.inputs) if finding.values}


def _by_cases(sides: Sides, deadline: float) -> Finding:
    """Decided by cases; each has an equal share of what is left of the time."""
    one, other, given = map(simplified, (sides.left["value"], sides.right["value"], sides.given))
    parts, ways = cases(QuestionCase(one, other, given, {})), set[str]()
    for number, part in enumerate(parts):
        inputs = tuple(node for node in operands_first(part[:3]) if isinstance(node, Read))
        now = time.monotonic()
        limit = now + (deadline - now) / (len(parts) - number)
        finding = _case(Sides(inputs, {"value": part.one}, {"value": part.other}, part.given), limit)
        if finding.outcome == "unknown":
            return finding
        if finding.outcome == "counter-example":
            known = {place.file: lane.low for place, lane in part.narrowed.items()}
            nearest = {lane.place.file: _nearest(lane) for lane in sides.inputs}
            values = {**nearest, **known, **finding.values}
            if not tells_apart(sides, values):
                return Finding("unknown", 0, reason=f"{values} in a case is none of the whole: a fault of lanewise")
            return Finding("counter-example", 0, _small(sides, values, deadline))
        ways.add(finding.reason)
    if len(parts) > 1 and ways != {NO_INPUT}:
        return Finding("proved", 0, reason=f"solver, in {len(parts)} cases")
    return Finding("proved", 0, reason=ways.pop())


def _case(sides: Sides, deadline: float) -> Finding:
    """Decided step by step, or, after a part of the time, as a whole."""
    one, other = sides.left["value"], sides.right["value"]
    if one is other or _is_same_multiplied_out(one, other):
        return Finding("proved", 0, reason="form")
    now = time.monotonic()
    limit = now + _SHARE * (deadline - now)
    try:
        if isinstance(Solver(limit).check(*cut_out([sides.given])), Impossible):
            return Finding("proved", 0, reason=NO_INPUT)
        found = _step_by_step(sides, limit)
        if found is None and (reason := _unlike_operations(sides)):
            return Finding("unknown", 0, reason=reason)
        return found or _as_it_is(sides, deadline)
    except Untranslatable as error:
        return Finding("unknown", 0, reason=str(error))


def _is_same_multiplied_out(one: Lane, other: Lane) -> bool:
    """Whether two numbers are one polynomial."""
    return expanded(SIMPLIFIER, one) is expanded(SIMPLIFIER, other)


def _unlike_operations(sides: Sides) -> str:
    """Why sides with floating point are not decided, which is taken as it is; "" for sides without."""
    one, other = (
        {node: str(node.operation) for node in operands_first([side["value"]]) if isinstance(node, Floating)}
        for side in (sides.left, sides.right)
    )
    if not one and not other:
        return ""
    alone = [
        ", ".join(sorted({name for node, name in mine.items() if node not in others})) or "none of its own"
        for mine, others in ((one, other), (other, one))
    ]
    return f"floating-point operations are taken as they are, and they differ: {alone[0]} against {alone[1]}"


def _as_it_is(sides: Sides, deadline: float) -> Finding:
    """What the solver says of the whole question.  Raises Untranslatable."""
    solver = Solver(deadline)
    solver.require(sides.given)
    answer = solver.check(sides.differ)
    if isinstance(answer, Impossible):
        return Finding("proved", 0, reason="solver")
    if isinstance(answer, Undecided):
        return Finding("unknown", 0, reason=answer.reason)
    values = {lane.place.file: answer.values.get(lane.place, _nearest(lane)) for lane in sides.inputs}
    if not tells_apart(sides, values):
        reason = f"solver and exact evaluation disagree on {values}: this is a fault of lanewise"
        return Finding("unknown", 0, reason=reason)
    return Finding("counter-example", 0, values)


def _by_trying(sides: Sides, deadline: float) -> Finding | None:
    """A counter-example among random inputs."""
    rng = Random(1)
    is_floating = any(isinstance(node, Floating) for node in walk((sides.left["value"], sides.right["value"])))
    for _ in range(_TRIED_ALONE if is_floating else _TRIED):
        values = {lane.place.file: drawn(lane, rng) for lane in sides.inputs}
        if tells_apart(sides, values):
            return Finding("counter-example", 0, _small(sides, values, deadline))
    return None


def _by_trying_all(sides: Sides, limit: float, deadline: float) -> Finding | None:
    """Decided by exact evaluation on every input there is; None where these are many, or the limit is over.

    Every combination of the numbers in the ranges of all inputs that occur is one.
    """
    one, other, given = sides.left["value"], sides.right["value"], sides.given
    count = prod(lane.high - lane.low + 1 for lane in sides.inputs)
    if count > _MOST_INPUTS or count * sum(1 for _ in walk([one, other, given])) > _MOST_EVALUATED:
        return None
    how = NO_INPUT
    for numbers in product(*(range(lane.low, lane.high + 1) for lane in sides.inputs)):
        if time.monotonic() > limit:
            return None
        values = {lane.place.file: number for lane, number in zip(sides.inputs, numbers, strict=True)}
        evaluation = Evaluation(ClaimInputs(values))
        if evaluation.value(given):
            if evaluation.value(one) != evaluation.value(other):
                return Finding("counter-example", 0, _small(sides, values, deadline))
            how = ALL_TRIED
    return Finding("proved", 0, reason=how)


def _small(sides: Sides, values: Mapping[str, int], deadline: float) -> Mapping[str, int]:
    """Inputs that tell the sides apart with each number as near to 0 as halving brings it."""
    smaller = True
    while smaller and time.monotonic() < deadline:
        smaller = False
        for lane in sides.inputs:
            name = lane.place.file
            for number in _simpler(values[name], lane):
                if tells_apart(sides, {**values, name: number}):
                    values, smaller = {**values, name: number}, True
                    break
    return values


def _nearest(lane: Read) -> int:
    """The number of the range that is nearest to 0."""
    return min(max(0, lane.low), lane.high)


def drawn(lane: Read, rng: Random) -> int:
    """A number of a range by lot: a corner, a small one, or any; of 32 and 64 bits perhaps one in floating point."""
    kind = rng.randrange(3)
    format = FLOATS.get(lane.high.bit_length()) if lane.low == 0 and lane.high & (lane.high + 1) == 0 else None
    if format is not None and format.bits > 16 and rng.randrange(2):
        number = rng.choice((rng.randrange(-8, 9) / 2, rng.randrange(-600, 601) / 2, rng.uniform(-2, 2), inf, nan))
        return int.from_bytes(pack("<f" if format.bits == 32 else "<d", number), "little")
    if kind == 0:
        corners = (lane.low, lane.high, lane.low + 1, lane.high - 1, 0, 1, -1)
        return rng.choice([number for number in corners if lane.low <= number <= lane.high])
    if kind == 1:
        return min(max(rng.randrange(-200, 201), lane.low), lane.high)
    return rng.randint(lane.low, lane.high)


def _simpler(number: int, lane: Read) -> list[int]:
    """Numbers of the range nearer to 0, the nearest first, and of a negative one its opposite."""
    nearest = _nearest(lane)
    away, tried = abs(number - nearest), [nearest]
    sign = 1 if number > nearest else -1
    while away > 1:
        away //= 2
        tried.append(number - sign * away)
    if number < 0 and -number <= lane.high:
        tried.append(-number)
    return [one for one in tried if one != number]


def _step_by_step(sides: Sides, deadline: float) -> Finding | None:
    """Proved by steps that both sides have in common; None where those decide nothing.

    Numbers that agree on random inputs are proved equal first, those that the fewest others lead to before those that
    they lead to; what the sides share by then is any number of its range.
    """
    rng = Random(2)
    inputs = [ClaimInputs({lane.place.file: drawn(lane, rng) for lane in sides.inputs}) for _ in range(_POINTS)]
    points = [Evaluation(each) for each in inputs]
    one, other, given = sides.left["value"], sides.right["value"], sides.given
    by_values: dict[tuple[int, ...], Lane] = {}
    for node in operands_first([other]):
        values = tuple(point.value(node) for point in points)
        if len(set(values)) > 2:
            by_values.setdefault(values, node)
    steps, known = 0, dict[Lane, Lane]()
    for node in operands_first([one]):
        made = SIMPLIFIER.again(node, [known[arg] for arg in node.args]) if node.args else node
        same = by_values.get(tuple(point.value(node) for point in points))
        if same is not None and same is not made:
            limit = min(deadline, time.monotonic() + _SECONDS_FOR_A_STEP)
            if _is_same_multiplied_out(made, same) or is_step(made, same, None, limit):
                made, steps = same, steps + 1
        known[node] = made
    one = known[one]
    if one is other or is_step(one, other, given, deadline):
        return Finding("proved", 0, reason=f"solver, in {steps + (one is not other)} steps")
    return None


def is_step(one: Lane, other: Lane, given: Lane | None, deadline: float) -> bool:
    """Whether two numbers are proved equal by a deadline (monotonic), whatever the operands are that both have."""
    asked_about = [one, other, *([] if given is None else [given])]
    one, other, *under = replaced(asked_about, shared_products(SIMPLIFIER, asked_about))
    shared = set(operands_first([one])) & set(operands_first([other]))
    products = {node for node in shared if isinstance(node, Binary) and node.operator == "multiply"}
    facts = [_where_highest(product) for product in products]
    for at in (shared, products):
        a, b, *conditions = cut_out([one, other, *under, *facts], at)
        if a is b:
            return True
        solver = Solver(deadline)
        if isinstance(solver.check(*conditions, a.equals(b).equals(0)), Impossible):
            return True
    return False


def _where_highest(product: Binary) -> Lane:
    """That a product is higher than all but its highest just where both factors are those of it.

    A product that is taken for any number of its range says so no more, and code may ask it or its factors.
    """
    a, b = simplified(product.a), simplified(product.b)
    corners, equal = highest_corners(a, b), partial(SIMPLIFIER.computed, "equal")
    at_corner = reduce(or_, (equal(a, x) & equal(b, y) for x, y in corners))
    is_highest, is_higher = product.equals(corners[0][0] * corners[0][1]), product > second_highest_product(a, b)
    return is_highest.equals(at_corner) & is_higher.equals(at_corner)
