"""One build that is aimed at: which candidates are run for which mistakes and classes, and what is told of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from isa.lane import Place
from isa.rows import TABLE
from sim.call.prepared import PER_CALL
from sim.check.aim import aiming
from sim.check.aim.aiming import (
    EACH,
    EXAMPLES,
    FAILING,
    LOOKED_THROUGH,
    MISTAKES,
    PER_ELEMENT,
    WORK,
    _beside,
    _beyond,
    _Target,
    _unvaried,
    aimed_builds,
)
from sim.check.aim.candidates import CandidateSet
from sim.check.aim.demand import FOLLOWED
from sim.check.aim.mistakes import Mistake, places_of
from sim.check.aim.power import TriedMistake
from sim.check.check import Job
from sim.check.vectors import Vectors
from sim.kernels import Domain, Kernel, KernelError, parse_prototype
from sim.symbolic.following.lookout import Goal
from sim.toolchain.compilers import build_text
from sim.toolchain.image import ImageError
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

Inputs = Mapping[str, Any]


def kernel_of(prototype: str = "void f(const int32_t x[n], int32_t out[n], size_t n)", **given: Any) -> Kernel:
    name, signature = parse_prototype(prototype)
    golden = given.pop("golden", lambda inputs: {"out": inputs["x"] * np.int32(2)})
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, **given)


def candidate(*x: int, **given: Any) -> CandidateSet:
    array = np.array(x, np.int32)
    return CandidateSet({"x": array, "n": len(x)}, {"out": array * np.int32(2)}, **given)


def target(**given: Any) -> Any:
    """What a method of a target needs to know of it."""
    return SimpleNamespace(**given)


def numbers(inputs: Inputs) -> list[float]:
    found: list[float] = inputs["x"].tolist()
    return found


@pytest.mark.parametrize(
    ("domain", "more", "less"),
    [
        (Domain(), [0, 6, 10, -2, 2**31 - 1, 9, -1], [0, 4, 8, -4, 2**31 - 2, 7, -3]),
        (Domain(-3, 9), [0, 6, 9, -2, 2**31 - 1, 9, -1], [0, 4, 8, -3, 2**31 - 1, 7, -3]),
        (Domain(choices=(-9, 5, 6, 8, 9)), [0, 6, 9, -3, 2**31 - 1, 9, -2], [0, 5, 8, -3, 2**31 - 1, 8, -2]),
    ],
)
def test_beside_an_input_lie_those_with_one_more_and_one_less_where_it_is_not_the_example(
    domain: Domain, more: list[int], less: list[int]
) -> None:
    example = {"x": np.zeros(7, np.int32), "y": np.zeros(1, np.float32), "n": 6}
    inputs = {"x": np.array([0, 5, 9, -3, 2**31 - 1, 8, -2], np.int32), "y": np.ones(1, np.float32), "n": 7}
    found = [*_beside(kernel_of(domain={"x": domain}), example, inputs)]
    assert [numbers(one) for one in found] == [more, less]
    assert {(*one["y"].tolist(), one["n"]) for one in found} == {(1.0, 7)}


def test_a_field_has_its_own_domain_when_it_is_moved() -> None:
    inputs = {"p": {"low": np.array([3, 7])}}
    kernel: Any = SimpleNamespace(domain={"p.low": Domain(0, 7)})
    found = _beside(kernel, {"p": {"low": np.array([0, 0])}}, inputs)
    assert [one["p"]["low"].tolist() for one in found] == [[4, 7], [2, 6]]


def test_candidates_come_by_lot_kept_ones_first_and_those_of_a_doubt_last() -> None:
    tried = [candidate(at, undeclared=("x",) * (at % 3 == 0), is_long=at % 7 == 6) for at in range(60)]
    order = _Target._order(target(_tried=tried, _took=dict.fromkeys(range(50), 1)), {3, 4, 6, 55})
    assert sorted(order) == [at for at in range(50) if at % 7 != 6]
    assert (set(order[:2]), order.index(4)) == ({3, 4}, 0)
    doubts = [at % 3 == 0 for at in order[2:]]
    assert doubts == sorted(doubts)
    assert order[2:] != sorted(order[2:], key=lambda at: (at % 3 == 0, at))


def told_by(shown: Mapping[str, Collection[int]], took: Mapping[int, int]) -> tuple[list[int], dict[str, bool], Any]:
    """What is found for mistakes that some candidates show; and which were run for which, in turn."""
    runs = list[tuple[str, int]]()
    patches = list[object]()

    def is_shown(mistake: str, number: int) -> bool:
        runs.append((mistake, number))
        return number in shown[mistake]

    one = target(
        _order=lambda kept: sorted(took), _tries=[*shown], _took=took, _is_shown=is_shown, _shown={},
        _repeater=SimpleNamespace(patch=patches.append),
    )  # fmt: skip
    found = _Target.telling(one, set())
    assert patches == [{}]
    return found, one._shown, runs


def test_for_each_mistake_a_candidate_is_sought_that_shows_it_the_last_that_showed_one_first() -> None:
    found, shown, runs = told_by({"a": {2}, "b": {1, 2}, "c": {}, "d": {1}, "e": {0, 1}}, dict.fromkeys(range(3), 10))
    assert found == [2, 2, 1, 1]
    assert shown == {"a": True, "b": True, "c": False, "d": True, "e": True}
    assert runs == [
        ("a", 0), ("a", 1), ("a", 2), ("b", 2), ("c", 2), ("c", 0), ("c", 1), ("d", 2), ("d", 0), ("d", 1), ("e", 1),
    ]  # fmt: skip


def test_a_mistake_has_so_much_work_and_all_have() -> None:
    """A call counts what it takes and what it costs to begin it."""
    _, _, runs = told_by({"a": {}, "b": {}}, dict.fromkeys(range(9), EACH // 2 - PER_CALL + 1))
    assert runs == [(mistake, at) for mistake in "ab" for at in range(2)]
    names = [f"m{number}" for number in range(100)]
    _, shown, runs = told_by(dict.fromkeys(names, ()), {0: EACH - PER_CALL})
    assert [*shown] == names[: WORK // EACH]
    assert len(runs) == WORK // EACH + 1  # of the last it is not known


class Calls:
    """Runs that give the numbers of a call, and take as many instructions."""

    def __init__(self, outputs: Mapping[int, Sequence[int] | None]) -> None:
        self._outputs = outputs
        self.limits = list[int]()
        self.patches = list[object]()

    def prepare(self, inputs: Inputs, number: int) -> int:
        if number not in self._outputs:
            raise KernelError("no call can be made of it")
        return number

    def run(self, call: int, limit: int) -> tuple[dict[str, Any] | None, int]:
        self.limits.append(limit)
        made = self._outputs[call]
        return None if made is None else {"out": np.array(made, np.int32)}, 10 + call

    def patch(self, patches: object) -> None:
        self.patches.append(patches)


def run_on(tried: list[CandidateSet], outputs: Mapping[int, Sequence[int] | None]) -> tuple[Any, list[bool]]:
    one = target(
        _tried=tried, _repeater=Calls(outputs), _calls={}, _took={}, failing=[], doubtful={}, _kernel=kernel_of()
    )
    one._is_wrong = lambda number, made: _Target._is_wrong(one, number, made)
    return one, [_Target._run(one, number) for number in range(len(tried))]


def test_what_a_build_gives_for_a_candidate_is_right_or_wrong_or_doubtful() -> None:
    tried = [candidate(1), candidate(2), candidate(3, undeclared=("x",)), candidate(4), candidate(5), candidate(6, 7)]
    one, returned = run_on(tried, {0: [2], 1: [5], 2: [7], 3: None, 5: [12, 14]})
    assert returned == [True, True, True, False, True, True]
    assert (one._took, one.failing) == ({0: 10, 5: 15}, [1, 3])
    assert {number: made["out"].tolist() for number, made in one.doubtful.items()} == {2: [7]}
    assert one._repeater.limits == [PER_ELEMENT * 102] * 4 + [PER_ELEMENT * 104]


def test_the_first_that_is_doubtful_is_told() -> None:
    tried = [candidate(1, 2), candidate(3, 4, undeclared=("x", "y")), candidate(5, undeclared=("z",))]
    wrong = {1: {"out": np.array([6, 9], np.int32)}, 2: None}
    told = _Target.doubt(target(_tried=tried, _kernel=kernel_of(), doubtful=wrong), "k.c -O2")
    assert told.startswith("k.c -O2 differs on inputs made of the kernel's own by changes of x and y, of which no ")
    assert "; out[1]: machine 9, golden 8 for x[1]=4" in told
    several = {1: {"out": np.array([7, 9], np.int32)}}
    told = _Target.doubt(target(_tried=tried, _kernel=kernel_of(), doubtful=several), "k.c -O2")
    assert "; out[0]: machine 7, golden 6 for x[0]=3" in told
    told = _Target.doubt(target(_tried=tried, _kernel=kernel_of(), doubtful={2: None}), "k.c -O2")
    assert told.endswith("; it faults or does not return")


@pytest.mark.parametrize(
    ("given", "took", "failing"),
    [
        ([(5, 5), (6, 6), (7, 7)], [0, 1, 2], []),
        ([(5, 5), *[(6, 0)] * FAILING, (7, 7)], [0], [*range(1, FAILING + 1)]),
        ([(5, 5), (9, 9), (7, 7)], [0], [1]),  # which does not return
    ],
)
def test_a_build_is_run_until_it_does_not_return_or_is_wrong_often_enough(
    given: list[tuple[int, int]], took: list[int], failing: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives the number that it is given, but for 9."""
    monkeypatch.setattr(aiming, "PER_ELEMENT", 10)
    code = "ldr w3, [x0]\n1:\ncmp w3, #9\nb.eq 1b\nstr w3, [x1]\nret\n"
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}.size f, . - f\n", ".s")
    kernel = kernel_of("void f(const int32_t x[1], int32_t out[1])")
    sets = [CandidateSet({"x": np.array([x], np.int32)}, {"out": np.array([out], np.int32)}) for x, out in given]
    one = _Target(image, kernel, sets)
    assert ([*one._took], one.failing) == (took, failing)


ADD = Mistake(8, "sign", TABLE.instruction("add", "w0, w1, w2"), TABLE.instruction("sub", "w0, w1, w2"))


@pytest.mark.parametrize(
    ("unlike", "operands", "comes"),
    [
        (lambda values: values == (1, 2), {8: [(0, 0), (1, 2)]}, True),
        (lambda values: values == (1, 2), {8: [(0, 0)], 12: [(1, 2)]}, False),
        (lambda values: values == (1, 2), {}, False),
        (None, {8: [(0, 0)]}, True),
        (None, {12: [(0, 0)]}, False),
    ],
)
def test_a_mistake_comes_to_bear_where_some_execution_leaves_something_else(
    unlike: Any, operands: dict[int, list[tuple[int, int]]], comes: bool
) -> None:
    """Where only a run tells, where it is executed at all."""
    one = target(_unlike={ADD: unlike}, _operands=lambda number: operands)
    assert _Target._comes_to_bear(one, ADD, 3) == comes


def test_of_each_mistake_that_was_tried_it_is_told_whether_it_is_shown_or_changes_nothing() -> None:
    nothing = ADD._replace(pc=12)
    image = SimpleNamespace(place_of=lambda pc: f"k.c:{pc}", symbols={})
    one = target(_image=image, _shown={ADD: True, nothing: False}, _no_mistakes={nothing})
    assert [(each.build, str(each), each.kind, each.shown, each.impossible) for each in _Target.mistakes(one, "k")] == [
        ("k", "k.c:8 add w0, w1, w2 as sub w0, w1, w2", "sign", True, False),
        ("k", "k.c:12 add w0, w1, w2 as sub w0, w1, w2", "sign", False, True),
    ]


@pytest.mark.parametrize("bears", [True, False])
@pytest.mark.parametrize(("made", "is_shown"), [([2], False), ([3], True), (None, True)])
def test_a_mistake_is_shown_where_the_build_with_it_is_wrong(
    made: list[int] | None, is_shown: bool, bears: bool
) -> None:
    """It may take twice as long, and some more."""
    repeater = Calls({0: made})
    one = target(
        _tried=[candidate(1)], _kernel=kernel_of(), _repeater=repeater, _calls={0: 0}, _took={0: 70},
        _comes_to_bear=lambda mistake, number: bears,
    )  # fmt: skip
    one._is_wrong = lambda number, outputs: _Target._is_wrong(one, number, outputs)
    assert _Target._is_shown(one, ADD, 0) == (is_shown and bears)
    assert (repeater.patches, repeater.limits) == (([{8: ADD.instruction}], [240]) if bears else ([], []))


def test_what_registers_hold_in_a_call_is_noted_once() -> None:
    asked = list[Any]()

    def noted(*given: Any) -> dict[int, list[tuple[int, ...]]]:
        asked.append(given)
        return {8: [(1, 2)]}

    one = target(_noted={}, _calls={3: "call"}, _took={3: 70}, _places={8: []}, _repeater=SimpleNamespace(noted=noted))
    assert [_Target._operands(one, 3) for _ in range(2)] == [{8: [(1, 2)]}] * 2
    assert asked == [("call", 70, {8: []})]


def test_what_is_executed_has_the_registers_that_its_instruction_reads() -> None:
    """Among those that are noted for other instructions in its place."""
    x = [Place("x", number) for number in range(4)]
    one = target(
        _operands=lambda number: {8: [(1, 2, 3), (4, 5, 6)], 12: [(7, 8, 9)]},
        _instructions={8: ADD.original, 12: ADD.original}, _places={pc: [x[3], x[2], x[1]] for pc in (8, 12)},
    )  # fmt: skip
    found = [(pc, occurrence.registers) for pc, occurrence in _Target._executions(one, 0, {8})]
    assert found == [(8, {x[1]: 3, x[2]: 2}), (8, {x[1]: 6, x[2]: 5})]


def test_the_registers_that_are_noted_are_those_of_classes_and_of_mistakes() -> None:
    x = [Place("x", number) for number in range(4)]
    other = Mistake(8, "sign", ADD.original, TABLE.instruction("add", "w0, w1, w3"))
    elsewhere = ADD._replace(pc=16)
    one = target(
        _instructions=dict.fromkeys((8, 12, 16), ADD.original), _tries=[ADD, other, elsewhere],
        classes=SimpleNamespace(wanted={8, 12}),
    )  # fmt: skip
    found = _Target._places_noted(one)
    assert {pc: (set(places), len(places)) for pc, places in found.items()} == {
        8: ({*x[1:]}, 3), 12: ({x[1], x[2]}, 2), 16: ({*places_of(elsewhere)}, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("count", "every"), [(0, 1), (5, 1), (MISTAKES, 1), (MISTAKES + 1, 2), (2 * MISTAKES, 2), (2 * MISTAKES + 1, 3)]
)
def test_so_many_mistakes_are_tried_evenly_spread_over_the_code(
    count: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an order that is the same every time, and not that of the code."""
    monkeypatch.setattr(aiming, "mistakes_of", lambda pc, instruction: [pc])
    one = target(_instructions=dict.fromkeys(reversed(range(count)), ADD.original))
    found: list[Any] = _Target._mistakes(one)
    assert sorted(found) == [*range(0, count, every)]
    assert found == _Target._mistakes(one)
    assert not count or found != sorted(found)


def examples_of(took: Mapping[int, int], paths: Mapping[int, Collection[int]], places: set[int]) -> list[float]:
    one = target(
        _took=took, _tried={number: candidate(number) for number in took}, _calls={number: number for number in took},
        _repeater=SimpleNamespace(path=lambda call, limit: paths.get(call, ()) if limit == took[call] else None),
    )  # fmt: skip
    return [numbers(inputs)[0] for inputs in _Target._examples(one, places)]


def test_examples_are_the_shortest_calls_that_come_by_what_is_asked_for() -> None:
    paths = {1: [4, 8], 2: [4, 12], 3: [8], 4: [16], 5: [20]}
    took = {1: 30, 2: 20, 3: 10, 4: 40, 5: FOLLOWED + 1}
    assert examples_of(took, paths, {4, 8, 16}) == [3, 2, 4]
    assert examples_of(took, paths, {8}) == [3]
    assert examples_of(took, paths, {20, 24}) == []  # it is too long
    assert examples_of({**took, 5: FOLLOWED}, paths, {20, 24}) == [5]
    assert examples_of(took, paths, set()) == []
    many = dict.fromkeys(range(9), 10)
    assert len(examples_of(many, {number: [number] for number in many}, set(many))) == EXAMPLES
    late = dict.fromkeys(range(LOOKED_THROUGH + 1), 10)
    assert examples_of(late, {LOOKED_THROUGH - 1: [4]}, {4}) == [LOOKED_THROUGH - 1]
    assert examples_of(late, {LOOKED_THROUGH: [4]}, {4}) == []


def tried(place: str, shown: bool, kind: str = "round") -> TriedMistake:
    return TriedMistake(build="", place=place, kind=kind, instruction="", instead="", shown=shown)


@pytest.mark.parametrize(
    ("mistakes", "weak"),
    [
        ([tried("a", True)] * 9, set()),
        ([tried("a", True)] * 9 + [tried("b", False)] * 3, {"b"}),
        ([tried("a", True)] + [tried("b", False, "sign")] * 3, {"a", "b", "c"}),
    ],
)
def test_a_check_is_weak_at_blind_lines_and_everywhere_where_it_shows_too_little(
    mistakes: list[TriedMistake], weak: set[str]
) -> None:
    one = target(mistakes=lambda title: mistakes, _image=SimpleNamespace(place_of="abc".__getitem__))
    assert {"abc"[at] for at in range(3) if _Target._weakness(one)(at)} == weak


def test_of_any_length_is_only_asked_where_a_check_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each combination of null pointers the first example that is not long."""
    asked = list[Any]()

    def never(kernel: object, image: object, absences: object, goals: set[Goal]) -> set[Goal]:
        asked.append((absences, goals))
        return goals

    monkeypatch.setattr(aiming, "never", never)
    sets: list[Inputs] = [{"x": None, "y": 1}, {"x": 2, "y": 3}, {"x": 4, "y": 5}, {"x": None, "y": 6}]
    candidates = [CandidateSet(inputs, {}, is_long=at == 0) for at, inputs in enumerate(sets)]
    one = target(_tried=candidates, _kernel=None, _image=None, _weakness=lambda: lambda pc: pc == 8)
    goals = {Goal(8, ()), Goal(12, ())}
    assert _Target._never_at_any_length(one, goals) == {Goal(8, ())}
    assert asked == [({frozenset(["x"]): sets[3], frozenset(): sets[1]}, {Goal(8, ())})]
    assert _Target._never_at_any_length(one, {Goal(12, ())}) == set()
    assert len(asked) == 1


def test_what_never_varies_is_told_in_a_sentence() -> None:
    two, one = ({"x": np.array(x, np.int32), "n": 2} for x in ([1, 2], [3, 4]))
    (told,) = _unvaried(kernel_of(), [two, two])
    assert told.startswith("every input set has n = 2 and the same x, so what others would show is not known: ")
    (told,) = _unvaried(kernel_of(), [one, two])
    assert told.startswith("every input set has n = 2, so what others ")
    assert _unvaried(kernel_of(domain={"n": Domain(2, 2)}), [one, two]) == []


def test_numbers_of_arguments_without_a_domain_are_told_as_far_as_they_were_changed() -> None:
    kernel = kernel_of(
        "void f(const int32_t x[n], const int32_t y[n], int32_t out[n], size_t n)", sample=lambda rng: {}
    )
    sets = [
        {"x": np.array(x, np.int32), "y": np.array(y, np.int32), "n": 2}
        for x, y in (([1, 5], [2, 2]), ([-3, 0], [9, 4]))
    ]
    vectors = Vectors(sets, [{}, {}], 1)
    changed = [CandidateSet(sets[0], {}, undeclared=names) for names in ((), ("y", "x"), ("x",), ("other",))]
    assert _beyond(kernel, vectors, changed) == "y 2..9, x -3..5"
    assert _beyond(kernel, vectors, changed[:1]) == ""


def test_of_each_source_one_build_is_aimed_at_and_what_cannot_be_built_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults: dict[str, Exception] = {"none.c": ToolchainError("it does not compile")}

    def fits(image: str, symbol: str, signature: object) -> None:
        if image.startswith("other.c"):
            raise ImageError("its function takes something else")

    def opened(kernel: Kernel, source: Path, *flags: str) -> str:
        if source.name in faults:
            raise faults[source.name]
        return f"{source.name} {flags}"

    monkeypatch.setattr(aiming, "open_kernel", opened)
    monkeypatch.setattr(aiming, "require_fit", fits)
    a, b, none, other = map(Path, ("a.c", "b.c", "none.c", "other.c"))
    jobs = [
        Job(None, ()), Job(a, ("-O0",)), Job(a, ("-g", "-O2")), Job(a, ("-O3",)), Job(none, ()), Job(b, ("-O0",)),
        Job(b, ("-O3",)), Job(other, ()),
    ]  # fmt: skip
    found: list[Any] = aimed_builds(kernel_of(), jobs)
    assert found == [("a.c -g -O2", "a.c ('-g', '-O2')"), ("b.c -O0", "b.c ('-O0',)")]
    faults["b.c"] = ToolchainUnavailable("there is no compiler")
    with pytest.raises(ToolchainUnavailable):
        aimed_builds(kernel_of(), jobs)


class Classes:
    """Goals of classes and edges of comparisons that are open until an input meets them."""

    def __init__(self, goals: Collection[Goal], edges: Collection[Goal]) -> None:
        self.goals, self.edges, self.excluded = [*goals], [*edges], list[set[Goal]]()
        self.settled = list[object]()
        self.settle, self.exclude = self.settled.append, self.excluded.append

    def open_goals(self) -> list[Goal]:
        return [*self.goals]

    def open_edges(self) -> list[Goal]:
        return [*self.edges]

    def look(self, executions: tuple[int, set[int], Collection[Goal]]) -> bool:
        _, wanted, met = executions
        self.goals = [goal for goal in self.goals if goal not in met or goal.pc not in wanted]
        self.edges = [goal for goal in self.edges if goal not in met or goal.pc not in wanted]
        return True


TIE, WRAP, EDGE, OTHER_EDGE = (Goal(pc, ()) for pc in (4, 8, 12, 16))
HIDDEN, SHOWN, ELSEWHERE, WEAK = (ADD._replace(pc=pc) for pc in (20, 24, 28, 32))


def differs(mistake: Mistake) -> Goal | None:
    return None if mistake == ELSEWHERE else Goal(mistake.pc, ())


def demanded(
    monkeypatch: pytest.MonkeyPatch, asked: Sequence[Inputs | None], beside: Sequence[Inputs] = (),
    one_shape: bool = True,
) -> Any:  # fmt: skip
    """A target for which inputs are made that say what they meet and show, and whether they are right; its state."""
    monkeypatch.setattr(aiming, "Ranges", lambda image, kernel: "ranges")
    monkeypatch.setattr(aiming, "differing", differs)
    monkeypatch.setattr(
        aiming, "candidate_of", lambda kernel, base, inputs: CandidateSet(inputs, {}) if inputs else None
    )
    monkeypatch.setattr(aiming, "_beside", lambda kernel, example, inputs: iter(beside))
    monkeypatch.setattr(aiming, "has_one_shape", lambda kernel: one_shape)
    one = target(
        classes=Classes([TIE, WRAP], [EDGE, OTHER_EDGE]), _shown=dict.fromkeys((HIDDEN, ELSEWHERE, WEAK), False),
        _tried=[candidate(1), candidate(2)], _took={0: 1, 1: 1}, _image=None, _kernel=None, _no_mistakes=None,
        _repeater=Calls({}), _weakness=lambda: lambda pc: pc == WEAK.pc, looked=[], met=[], asked=[], doubtful=[],
        _never_at_any_length=lambda goals: {goal for goal in goals if goal != WRAP},
    )  # fmt: skip
    one._shown[SHOWN] = True
    one._order = lambda kept: ("in the order of", kept)
    one._look = one.looked.append
    one._examples = lambda places: ("examples of", places)
    one._executions = lambda number, wanted: (number, wanted, one._tried[number].inputs["meets"])
    one._is_shown = lambda mistake, number: mistake in one._tried[number].inputs.get("shows", ())

    def run(number: int) -> bool:
        if one._tried[number].inputs.get("is_right", True):
            one._took[number] = 1
        return bool(one._tried[number].inputs.get("returns", True))

    def sought(kernel: object, image: object, examples: object, goals: list[Goal], confirm: Any) -> set[Goal]:
        one.asked.append((examples, goals))
        one.met += [confirm({}, inputs) for inputs in asked]
        return {WRAP, OTHER_EDGE, TIE}

    def nothing_changed(kernel: object, image: object, mistakes: Sequence[Mistake]) -> set[Mistake]:
        one.doubtful.append(mistakes)
        return {*mistakes}

    one._run = run
    monkeypatch.setattr(aiming, "sought", sought)
    monkeypatch.setattr(aiming, "changing_nothing", nothing_changed)
    one.useful = _Target.demanded(one, {1})
    return one


def goals_of(*mistakes: Mistake) -> list[Goal]:
    return [Goal(mistake.pc, ()) for mistake in mistakes]


def test_inputs_are_asked_for_what_no_candidate_meets_and_those_are_kept_that_meet_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shows = [{"meets": [], "shows": some} for some in ([HIDDEN, SHOWN], [HIDDEN])]
    one = demanded(monkeypatch, [{"meets": [TIE]}, {"meets": [TIE]}, None, *shows])
    goals = [TIE, WRAP, *goals_of(HIDDEN, WEAK), EDGE, OTHER_EDGE]
    assert one.asked == [(("examples of", {goal.pc for goal in goals}), goals)]
    assert (one.looked, one.classes.settled) == ([("in the order of", {1})], ["ranges"])
    assert one.met == [[TIE], [], [], goals_of(HIDDEN), []]
    assert (one.useful, len(one._tried)) == ([2, 4], 6)
    assert one._shown == {HIDDEN: True, SHOWN: True, ELSEWHERE: False, WEAK: False}
    assert one._repeater.patches == [{}] * 4
    assert (one.doubtful, one._no_mistakes) == ([[WEAK]], {WEAK})
    assert one.classes.excluded == [{WRAP, TIE}]  # edges are not told


def test_inputs_that_are_wrong_or_do_not_return_are_kept_and_meet_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: Inputs = {"meets": [TIE], "is_right": False}
    endless: Inputs = {"meets": [TIE], "returns": False}
    one = demanded(monkeypatch, [wrong, endless, {"meets": [TIE], "shows": [WEAK]}], one_shape=False)
    assert (one.met, one.useful) == ([[], [], [TIE, *goals_of(WEAK)]], [2, 3, 4])
    assert (one.doubtful, one._no_mistakes) == ([], set())
    assert one.classes.excluded == [{TIE}]  # of any length


def test_beside_inputs_at_an_edge_of_a_comparison_others_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they meet is met as well."""
    beside: list[Inputs] = [{"meets": [WRAP]}, {"meets": []}]
    one = demanded(monkeypatch, [{"meets": [TIE]}, {"meets": [EDGE]}], beside)
    assert (one.met, one.useful, len(one._tried)) == ([[TIE], [EDGE, WRAP]], [2, 3, 4], 6)


class Build:
    """A target on candidates that fails, is doubtful, or is told some by mistakes and classes, by its image."""

    made: ClassVar[list[tuple[str, int]]] = []
    known: ClassVar[list[set[int]]] = []

    def __init__(self, image: str, kernel: Kernel, tried: list[CandidateSet]) -> None:
        self.image, self._tried = image, tried
        self.failing = [1, 2, 3, 5] if image == "fails" else []
        self.doubtful = {1: None} if image in ("fails", "doubtful") else {}
        self.classes = SimpleNamespace(told=lambda title, image: [f"operands of {title}"])
        self.made.append((image, len(tried)))

    def telling(self, kept: set[int]) -> list[int]:
        self.known.append({*kept})
        return [4, 8]

    def demanded(self, kept: set[int]) -> list[int]:
        self.known.append({*kept})
        self._tried.append(candidate(100))
        return [len(self._tried) - 1]

    def doubt(self, title: str) -> str:
        return f"doubt of {title}"

    def mistakes(self, title: str) -> list[str]:
        return [f"mistakes of {title}"]


@pytest.mark.parametrize("is_drawn", [True, False])
def test_what_is_kept_for_a_check_is_what_tells_something_and_is_within_declared_domains(
    is_drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a build that fails only where it does; the kernel's own sets are there already."""
    asked = list[Any]()
    found = candidate(7)

    def rivals_of(kernel: object, checked: list[CandidateSet], tried: list[CandidateSet], seed: int) -> Any:
        asked.append(([numbers(one.inputs)[0] for one in checked], [numbers(one.inputs)[0] for one in tried], seed))
        return "rivals", [found]

    made = [candidate(at, is_near=at >= 6, undeclared=("x",) * (at in (6, 8))) for at in range(50)]
    monkeypatch.setattr(aiming, "aimed_builds", lambda kernel, jobs: jobs)
    monkeypatch.setattr(aiming, "_Target", Build)
    monkeypatch.setattr(aiming, "candidates", lambda kernel, seed: iter(made))
    monkeypatch.setattr(aiming, "changed_candidates", lambda kernel, own, seed: iter(made[len(own) :]))
    monkeypatch.setattr(aiming, "rivals_of", rivals_of)
    Build.made.clear()
    Build.known.clear()
    own = [candidate(0), candidate(1), candidate(-5)]
    vectors = Vectors([one.inputs for one in own], [one.golden for one in own], 9, long_from=2)
    kernel = kernel_of() if is_drawn else kernel_of(sample=lambda rng: {})
    jobs: Any = [("a", "fails"), ("b", "doubtful"), ("c", "right")]
    aimed = aiming.aim(kernel, jobs, vectors)
    assert Build.made == [("fails", 50), ("doubtful", 50), ("right", 51)]
    kept = {7, 28, 48, 1, 2, 3, 5}  # every twentieth next to a step, and those that fail
    assert Build.known == [kept, kept | {4, 8}, kept | {4, 8, 50}, kept | {4, 8, 50}]
    chosen = [*range(1 if is_drawn else 2, 6), 7, 28, 48, 100, 100]
    assert [numbers(inputs)[0] for inputs in aimed.inputs] == [*chosen, 7]
    assert [golden["out"].tolist()[0] for golden in aimed.golden] == [2 * number for number in (*chosen, 7)]
    others = [at for at in range(0 if is_drawn else 2, 50) if at not in (*chosen, 6, 8)]
    assert asked == [([0, 1, *chosen], others, 9)]
    power: Any = aimed.power
    assert (power.operands, power.mistakes) == (
        ["operands of b", "operands of c"], ["mistakes of a", "mistakes of b", "mistakes of c"],
    )  # fmt: skip
    assert power.doubts[0] == "doubt of b"
    assert len(power.doubts) == 1 + (not is_drawn)
    assert (power.lanes_aimed, power.rivals) == (52 if is_drawn else 50, "rivals")
    assert power.beyond == "x -5..1"
    added = aimed.added_to(vectors)
    assert (added.inputs, added.seed, added.long_from) == ([*vectors.inputs, *aimed.inputs], 9, 2)
