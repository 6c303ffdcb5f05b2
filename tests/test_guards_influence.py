"""What undefined bytes reach, on calls that are written down: lanes, ways, the byte that counts, its first use."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isa.lane import Place
from sim.call.caller import RETURN_ADDRESS
from sim.call.guards import influence
from sim.call.guards.bounds import Breach
from sim.call.guards.findings import GuardFinding
from sim.call.guards.influence import Influence, ObservedCall, _changed, _Repetition, _Target, _Use
from sim.call.guards.origins import ByteOrigin
from sim.machine.errors import ExecutionError
from sim.machine.trace import Step
from support.one_instruction import named

OUTPUTS = {"a": np.array([[1, 2], [3, 4]], np.int32), "b": np.array([0.0, np.nan], np.float32)}


def observed(branches: Sequence[int] = (8, 16), stopped: str = "", **outputs: Any) -> ObservedCall:
    made = {} if stopped else {name: outputs.get(name, own) for name, own in OUTPUTS.items()}
    return ObservedCall(made, array("Q", branches), 10, stopped)


@pytest.mark.parametrize(
    ("other", "targets"),
    [
        (observed(), []),
        (observed([8, 20]), [("", ())]),
        (observed([8]), [("", ())]),
        (observed(stopped="limit"), [("", ())]),
        (observed(a=np.array([[1, 2], [9, 9]], np.int32)), [("a", (1, 0))]),
        (observed(a=np.array([[1, 2], [3, 0x0400_0004]], np.int32)), [("a", (1, 1))]),
        (observed(b=np.array([-0.0, np.nan], np.float32)), [("b", (0,))]),
        (observed(a=np.zeros((2, 2), np.int32), b=np.zeros(2, np.float32)), [("a", (0, 0)), ("b", (1,))]),
    ],
)
def test_what_is_another_is_the_way_or_else_the_first_lane_of_each_output(
    other: ObservedCall, targets: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert list(_changed(observed(), other)) == [_Target(*target) for target in targets]


def test_a_target_is_compared_by_its_bytes_and_is_none_where_a_call_was_stopped() -> None:
    lane = _Target("a", (1, 0))
    assert (lane.of(observed()), lane.of(observed(stopped="limit"))) == (np.int32(3).tobytes(), None)
    way = _Target()
    assert way.of(observed()) == way.of(observed(a=np.zeros((2, 2), np.int32)))
    assert way.of(observed(stopped="limit")) != way.of(observed(stopped="fault"))


def repetition(drawn: int = 0, **given: Any) -> Any:
    image = SimpleNamespace(
        place_of=lambda pc: f"f.c:{pc}", inlined_at=lambda pc: f"by g at {pc}",
        full_place_of=lambda pc: f"folder/f.c:{pc}", function_at=lambda pc: "",
    )  # fmt: skip
    made = SimpleNamespace(_drawn=drawn, _caller=SimpleNamespace(image=image, machine=None), **given)
    for name in ("at", "_reached", "_use"):
        if name not in given:
            setattr(made, name, getattr(_Repetition, name).__get__(made))
    return made


@pytest.mark.parametrize("drawn", [1, 2, 3, 7, 16])
def test_the_byte_that_counts_is_found_by_halving(drawn: int) -> None:
    for counts in range(drawn + 1):
        asked = list[int]()

        def value(count: int, counts: int = counts, asked: list[int] = asked) -> ObservedCall:
            assert 0 <= count <= drawn
            asked.append(count)
            return observed([8, 16] if count <= counts else [8, 20])

        found = _Repetition._first_that_counts(repetition(drawn, _observed=value), _Target())
        assert found == (counts if counts < drawn else None)
        assert len(asked) <= 2 + drawn.bit_length()


X0, X1 = Place("x", 0), Place("x", 1)


def step(pc: int, new: int, old: int = 0, place: Place = X0, next_pc: int | None = None, stored: bytes = b"") -> Step:
    memory = ((0x10, bytes(len(stored)), stored),) if stored else ()
    return Step(0, pc, named("nop "), ((place, old, new),), memory, (), pc + 4 if next_pc is None else next_pc)


def use(one: list[Step], other: list[Step]) -> _Use:
    def steps(count: int) -> Iterator[Step]:
        return iter({5: one, 6: other}[count])

    return _Repetition._use(repetition(steps=steps), 5)


def test_the_first_use_of_a_byte_leaves_another_number_and_changes_other_bits() -> None:
    """What only keeps the byte leaves another number, and what writes over it changes other bits: neither uses it."""
    keeps = [step(0, 0x101, 0x100), step(0, 0x201, 0x200)]
    writes_over = [step(4, 7, 0x101), step(4, 7, 0x201)]
    uses = [step(8, 5, 0), step(8, 6, 0)]
    later = [step(12, 9, 0), step(12, 8, 0)]
    one, other = ([some[at] for some in (keeps, writes_over, uses, later)] for at in (0, 1))
    assert use(one, other) == _Use(other[2], None)
    assert use(one[:2], other[:2]) == _Use(None, None)
    stored = [[step(0, 1, stored=b"a")], [step(0, 1, stored=b"b")]]
    assert use(*stored) == _Use(stored[1][0], None)
    moved = [[step(0, 1, place=X0)], [step(0, 1, place=X1)]]
    assert use(*moved) == _Use(moved[1][0], None)


def test_a_branch_that_goes_elsewhere_ends_the_comparison() -> None:
    one = [step(0, 1), step(4, 2, next_pc=0x40), step(0x40, 3)]
    other = [step(0, 1), step(4, 2, next_pc=0x80), step(0x80, 4)]
    assert use(one, other) == _Use(None, other[1])
    used = [step(0, 9), *other[1:]]
    assert use(one, used) == _Use(used[0], used[1])
    assert use(one[:1], used[:1]) == _Use(used[0], None)


def test_no_more_than_so_many_steps_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(influence, "LONGEST_TRACE", 2)
    one, other = ([step(4 * at, 1 + last * (at == 2)) for at in range(3)] for last in (0, 1))
    assert use(one, other) == _Use(None, None)


BREACH = Breach("over-read", "reads byte 12, past the end of 'a'", "a", 12, 15)


def test_a_finding_is_placed_at_its_step_or_nowhere() -> None:
    found = _Repetition.at(repetition(), step(8, 1), "over-read", "it says", BREACH)
    assert found == GuardFinding(
        kind="over-read", says="it says", instruction="nop ".strip(), pc=8, source="f.c:8", inlined="by g at 8",
        where="a", first=12, last=15,
    )  # fmt: skip
    nowhere = _Repetition.at(repetition(), None, "over-read", "it says", BREACH)
    assert nowhere == GuardFinding(kind="over-read", says="it says", where="a", first=12, last=15)


@pytest.mark.parametrize(
    ("target", "used", "reached"),
    [
        (_Target("a", (1, 0)), _Use(None, None), "reached a[1][0]"),
        (_Target(), _Use(None, None), "decided whether the call goes on"),
        (_Target(), _Use(None, step(8, 1)), "decided where nop (folder/f.c:8) went"),
    ],
)
def test_what_a_byte_reached_is_told(target: _Target, used: _Use, reached: str) -> None:
    assert _Repetition._reached(repetition(), target, used) == reached


def test_an_over_read_that_reaches_nothing_is_a_note_and_one_that_does_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three declared over-reads, one is found to reach; another array has a finding of another kind."""
    reaching = GuardFinding(kind="over-read", says="reached a[0]", where="a")
    other = GuardFinding(kind="uninitialised", says="uses x9", where="b")
    limits = list[int]()

    class Repeated(_Repetition):
        def __init__(self, caller: Any, follower: Any, call: Any, parts: Any, limit: int) -> None:
            limits.append(limit)
            self._caller = caller

        def findings(self, seen: Any, declared: Any) -> Iterator[GuardFinding]:
            yield from (reaching, other)

    monkeypatch.setattr(influence, "_Repetition", Repeated)
    declared = {name: (BREACH._replace(where=name), step(8, 1)) for name in ("a", "b", "c")}
    made: Any = SimpleNamespace(_caller=repetition()._caller, _follower=None)
    call: Any = None
    found = list(Influence.findings(made, call, (), observed(), declared))
    assert found[:2] == [reaching, other]
    assert [(one.where, one.harmless, one.says) for one in found[2:]] == [
        (name, True, f"{BREACH.says}, which reached no output") for name in ("b", "c")
    ]
    assert limits[0] >= 2 * 10


@pytest.mark.parametrize(
    ("origin", "used", "target", "kind", "says", "pc"),
    [
        (ByteOrigin("a", 13, "byte 13 of 'a'", True), _Use(step(4, 1), None), _Target("out", (2,)), "over-read",
         f"{BREACH.says}, and byte 13 reached out[2]", 8),
        (ByteOrigin("a", 13, "byte 13 of 'a'", False), _Use(step(4, 1), None), _Target("out", (2,)), "uninitialised",
         "uses byte 13 of 'a', which nobody has set, and it reached out[2]", 4),
        (ByteOrigin("c", 13, "byte 13 of 'c'", True), _Use(step(4, 1), None), _Target("out", (2,)), "uninitialised",
         "uses byte 13 of 'c', which nobody has set, and it reached out[2]", 4),
        (ByteOrigin("x9", 3, "byte 3 of x9"), _Use(None, None), _Target("out", (2,)), "never written",
         "out[2] holds byte 3 of x9", None),
        (ByteOrigin("x9", 3, "byte 3 of x9"), _Use(None, step(16, 1)), _Target(), "uninitialised",
         "uses byte 3 of x9, which nobody has set, and it decided where nop (folder/f.c:16) went", 16),
        (ByteOrigin("x9", 3, "byte 3 of x9"), _Use(None, None), _Target(), "uninitialised",
         "uses byte 3 of x9, which nobody has set, and it decided whether the call goes on", None),
    ],
)  # fmt: skip
def test_what_is_found_of_a_byte_is_by_where_it_lies_and_what_used_it(
    origin: ByteOrigin,
    used: _Use,
    target: _Target,
    kind: str,
    says: str,
    pc: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(influence, "Snapshot", lambda machine: None)
    monkeypatch.setattr(influence, "first_difference", lambda *_: origin)
    prepared = list[int]()
    made = repetition(_prepare=prepared.append, _use=lambda count: used)
    found = _Repetition._finding(made, target, 5, {"a": (BREACH, step(8, 1))})
    assert (found.kind, found.says, found.pc, found.where) == (kind, says, pc, origin.where)
    assert (found.output, found.lane) == (target.output, target.lane or None)
    assert prepared == [5, 6]
    if kind != "over-read":
        assert (found.first, found.last) == (origin.byte, origin.byte)


class Machine:
    """A pc that goes from place to place with each step or at once; an error ends it."""

    def __init__(self, places: Sequence[int], error: bool = False) -> None:
        self.places, self.error = list(places), error
        self.pc, self.instructions_executed, self.memory = 0x100, 7, "memory"

    def step(self) -> Step:
        if not self.places:
            raise ExecutionError(0, 4, "no more")
        self.pc, before = self.places.pop(0), self.pc
        self.instructions_executed += 1
        return step(before, 1, next_pc=self.pc)

    def follow(self, until: int, limit: int, branches: array[int]) -> None:
        assert (until, limit) == (RETURN_ADDRESS, 99)
        while self.places:
            branches.append(self.places[0])
            self.step()
        if self.error:
            raise ExecutionError(0, 4, "a fault")


def on_machine(machine: Machine) -> Any:
    prepared = list[int]()
    caller = SimpleNamespace(machine=machine, outputs=lambda *given: {"given": given})

    def prepare(count: int) -> str:
        prepared.append(count)
        return "placed"

    return SimpleNamespace(_caller=caller, _follower=machine, _limit=99, _prepare=prepare, prepared=prepared)


@pytest.mark.parametrize(
    ("places", "error", "stopped"),
    [
        ([0x104, RETURN_ADDRESS], False, ""),
        ([0x104, 0x108], False, "limit"),
        ([0x104, RETURN_ADDRESS], True, "a fault"),
    ],
)
def test_a_repeated_call_is_observed_to_its_end_or_to_what_stopped_it(
    places: list[int], error: bool, stopped: str
) -> None:
    machine = Machine(places, error)
    made = on_machine(machine)
    outputs = {} if stopped else {"given": (machine, "memory", "placed")}
    assert _Repetition._observed(made, 3) == ObservedCall(outputs, array("Q", places), 2, stopped)  # type: ignore[arg-type]
    assert made.prepared == [3]


@pytest.mark.parametrize(("places", "count"), [([0x104, RETURN_ADDRESS, 0x108], 2), ([0x104, 0x108], 2), ([], 0)])
def test_a_repeated_call_is_gone_through_step_by_step_to_where_it_returns_or_stops(
    places: list[int], count: int
) -> None:
    made = on_machine(Machine(places))
    assert [one.next_pc for one in _Repetition.steps(made, 3)] == places[:count]
    assert made.prepared == [3]


def test_a_call_is_repeated_as_it_was_with_the_bytes_that_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def prepare(call: Any, undefined: Any) -> str:
        asked.append((call, undefined.draw(2)))
        return "placed"

    made = _Repetition(SimpleNamespace(prepare=prepare), None, "call", [b"ab"], 9)  # type: ignore[arg-type]
    assert made._prepare(1) == "placed"  # type: ignore[comparison-overlap]
    assert asked == [("call", b"\x9eb")]
    assert (made._limit, made._drawn) == (9, 2)


def test_of_all_that_is_another_what_one_byte_makes_so_is_told() -> None:
    other = observed(a=np.zeros((2, 2), np.int32), b=np.zeros(2, np.float32))
    counts = {"a": None, "b": 4}
    made = SimpleNamespace(
        _drawn=9, _observed=lambda count: other if count == 9 else None,
        _first_that_counts=lambda target: counts[target.output],
        _finding=lambda target, count, declared: (target.output, count, declared),
    )  # fmt: skip
    declared: Any = {"x": "declared"}
    assert list(_Repetition.findings(made, observed(), declared)) == [("b", 4, declared)]  # type: ignore[arg-type, comparison-overlap]


def test_so_many_steps_of_a_call_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    class Repeated(_Repetition):
        def steps(self, count: int) -> Iterator[Step]:
            assert (count, self._limit) == (0, 2)
            return iter([step(0, 1), step(4, 1), step(8, 1)])

    monkeypatch.setattr(influence, "_Repetition", Repeated)
    made: Any = SimpleNamespace(_caller=None, _follower=None)
    call: Any = None
    assert [one.pc for one in Influence.steps(made, call, [], 2)] == [0, 4]
