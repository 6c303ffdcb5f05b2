"""What a search for an input tells: found and run, excluded for which inputs, or why it is not known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from isa.decode import decode
from isa.errors import LanewiseError
from isa.evaluate.exact import Occurrence
from isa.evaluate.smt import Found, Impossible, Solver
from isa.lane import Place, read
from isa.rows import TABLE
from sim.check.aim import find
from sim.check.aim.candidates import CandidateSet
from sim.check.aim.find import AtLine, FindError, FoundInput, InputSearch, Unlike, _is_unlike
from sim.check.aim.power import NOT_FOUND
from sim.check.aim.solving import FollowedShape, followed
from sim.kernels import Domain, Kernel, parse_prototype
from sim.machine.errors import MemoryFault
from sim.prove.claim import Finding
from sim.symbolic.equality import Answer, Equality
from sim.symbolic.following.lookout import Goal
from sim.symbolic.kernel_proof import Shape
from sim.symbolic.reference import traced_reference
from sim.toolchain.compilers import build
from sim.toolchain.image import Image

Inputs = Mapping[str, Any]
ONE, MANY = "void f(const int32_t x[1], int32_t out[1])", "void f(const int32_t x[n], int32_t out[n], size_t n)"
CODE = """.globl f
.type f, %function
f:
ldr w3, [x0]
cmp w3, #77
b.eq 2f
1:
str w3, [x1]
ret
.word 0
2:
mov w3, #1
cbnz w3, 1b
.size f, . - f
"""
"""The first number as it is, and 1 for 77; a branch is on line 6, and one on line 13, which is the last."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    file = tmp_path_factory.mktemp("find") / "f.s"
    file.write_text(CODE)
    return build(file, "-g")


def as_compiled(inputs: Inputs) -> dict[str, Any]:
    return {"out": np.where(inputs["x"] == 77, 1, inputs["x"]).astype(np.int32)}


def unchanged(inputs: Inputs) -> dict[str, Any]:
    return {"out": inputs["x"] + np.int32(0)}


def kernel_of(prototype: str = ONE, golden: Any = as_compiled, **given: Any) -> Kernel:
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=golden, **given)


def search_of(kernel: Kernel, *lengths: int, **given: Any) -> InputSearch:
    shapes = [Shape(f"length {n}", n, {"x": np.zeros(n, np.int32), "n": n}) for n in lengths]
    if not lengths:
        shapes = [Shape("", 1, {"x": np.zeros(1, np.int32)})]
    return InputSearch(kernel=kernel, shapes=shapes, seconds=9, jobs=1, kept_in=None, **given)


def solved(questions: Mapping[int, Equality], seconds: float, jobs: int, kept_in: None, report: Any) -> bool:
    """What `decide_all` says, by the solver in this process."""
    for name, question in questions.items():
        assert question.given.high <= 1
        found = Solver(time.monotonic() + 9).check(question.given, question.one.equals(question.other).equals(0))
        if isinstance(found, Found):
            report(name, Answer(Finding("counter-example", 0), "", found.values))
        else:
            assert isinstance(found, Impossible)
            report(name, Answer(Finding("proved", 0), "", {}))
    return False


def undecided(questions: Mapping[int, Equality], seconds: float, jobs: int, kept_in: None, report: Any) -> bool:
    for name in questions:
        report(name, Answer(Finding("unknown", 0, reason="no time"), "", {}))
    return False


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "decide_all", solved)
    monkeypatch.setattr(find, "TRIED", 0)


def asked(search: InputSearch, image: Image, what: str, place: str = "f.s:6", text: str = "") -> dict[str, FoundInput]:
    """By the way that an instruction goes."""
    found = [*search.at_line("f.s -g", image, AtLine(what, place, text))]
    by_way = {one.what.partition(" at ")[0]: one for one in found}
    assert len(by_way) == len(found)
    assert all(one.build == "f.s -g" and one.what.partition(" at ")[2].startswith(f"{place} b.eq ") for one in found)
    return by_way


@pytest.mark.parametrize(
    ("golden", "has_reference", "agrees"),
    [(as_compiled, True, (True, True)), (unchanged, True, (True, False)), (unchanged, False, (None, None))],
)
def test_inputs_that_go_each_way_are_found_and_it_is_told_whether_the_build_is_right(
    golden: Any, has_reference: bool, agrees: tuple[bool | None, bool | None], image: Image
) -> None:
    found = asked(search_of(kernel_of(golden=golden), has_reference=has_reference), image, "branch")
    assert [*found] == ["taken", "not taken"]
    assert [None if one.inputs is None else one.inputs["x"].tolist() == [77] for one in found.values()] == [True, False]
    assert (found["not taken"].agrees, found["taken"].agrees) == agrees
    assert {(one.verdict, one.proved, one.reason) for one in found.values()} == {("found", "", "")}
    assert found["taken"].as_json()["inputs"] == found["taken"].plain_inputs == {"x": [77]}
    code, entry = image.code_of("f"), image.symbol("f").address
    for text in ("b.eq", decode(code[8:12], entry + 8, TABLE).text):  # as it is shown, and as it is decoded
        assert [*asked(search_of(kernel_of()), image, "taken", text=text)] == ["taken"]
    assert search_of(kernel_of()).has_reference


@pytest.mark.parametrize(
    ("prototype", "lengths", "any_length", "which"),
    [
        (ONE, (), True, "of any length"), (MANY, (1,), True, "of any length"), (MANY, (1,), False, "of the length 1"),
        (MANY, (3, 1), False, "of the lengths 1, 3"),
    ],
)  # fmt: skip
def test_that_no_input_goes_a_way_is_said_of_the_lengths_that_were_looked_at_or_of_any(
    prototype: str,
    lengths: tuple[int, ...],
    any_length: bool,
    which: str,
    image: Image,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = list[Any]()

    def never(kernel: object, image: object, absences: object, goals: set[Goal]) -> set[Goal]:
        looked.append(absences)
        return goals if any_length else set()

    monkeypatch.setattr(find, "never", never)
    search = search_of(kernel_of(prototype, domain={"x": Domain(0, 76)}), *lengths)
    found = asked(search, image, "branch")
    assert found["not taken"].inputs is not None
    one = found["taken"]
    assert (one.verdict, one.proved, one.inputs) == ("none can", f"no input {which} brings it about", None)
    assert one.plain_inputs is None
    assert [{*each} for each in looked] == [{frozenset[str]()}] * (prototype == MANY)


@pytest.mark.parametrize("lengths", [(1, 3), (3, 1)])
def test_nothing_is_excluded_where_one_shape_is_not_followed(
    lengths: tuple[int, int], image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:

    def follow(kernel: Kernel, image: Image, example: Any, goals: Any, most: int) -> FollowedShape:
        if example["n"] == 3:
            raise LanewiseError("it has three")
        return followed(kernel, image, example, goals, most)

    monkeypatch.setattr(find, "followed", follow)
    monkeypatch.setattr(find, "never", lambda kernel, image, absences, goals: goals)
    found = asked(search_of(kernel_of(MANY, domain={"x": Domain(0, 76)}), *lengths), image, "branch")
    assert (found["not taken"].shape, found["not taken"].verdict) == ("length 1", "found")
    assert (found["taken"].verdict, found["taken"].reason) == (NOT_FOUND, "length 3: it has three")


def test_what_is_not_decided_is_told_with_the_first_reason_and_tried(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "decide_all", undecided)
    search = search_of(kernel_of(MANY), 1, 3)
    found = asked(search, image, "branch")
    assert {(one.verdict, one.reason) for one in found.values()} == {(NOT_FOUND, "no time")}
    monkeypatch.setattr(find, "TRIED", 10_000)
    taken = asked(search, image, "not taken")["not taken"]
    assert (taken.verdict, taken.shape, taken.agrees) == ("found", "drawn", False)  # of more than one number
    (number, *_) = (taken.plain_inputs or {})["x"]
    assert number != 77


def test_what_the_solver_made_up_is_not_told(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 0

    def lying(questions: Mapping[int, Equality], seconds: float, jobs: int, kept_in: None, report: Any) -> bool:
        for name in questions:
            report(name, Answer(Finding("counter-example", 0), "", {Place("in.x", 0): number}))
        return False

    monkeypatch.setattr(find, "decide_all", lying)
    for made_up, way in ((5, "taken"), (77, "not taken"), (100, "not taken")):  # of which 100 is no input
        number = made_up
        found = asked(search_of(kernel_of(domain={"x": Domain(0, 99)})), image, way)
        reason = "what the solver found does not meet it when it is run"
        assert (found[way].verdict, found[way].reason) == (NOT_FOUND, reason)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (
            AtLine("taken", "f.s:6", "b.ne"),
            "no instruction at f.s:6 b.ne has 'taken'; the line has taken, not taken",
        ),
        (AtLine("tie", "f.s:8", ""), "no instruction at f.s:8 has 'tie'; the line has nothing of that kind"),
        (AtLine("tie", "f.s:1", ""), "no code is of f.s:1: it is of f.s:4, f.s:5, f.s:6, f.s:8, f.s:9, f.s:12, f.s:13"),
    ],
)
def test_a_line_that_has_no_such_instruction_is_told_with_what_it_has(wanted: AtLine, says: str, image: Image) -> None:
    with pytest.raises(FindError, match=f"^{says}$"):
        next(search_of(kernel_of()).at_line("", image, wanted))


def tried(
    monkeypatch: pytest.MonkeyPatch, budget: int, takes: int, *sets: tuple[str, ...], is_drawn: bool = True
) -> tuple[int | None, list[int], list[int]]:
    """Which candidate is found where all meet a goal, the limits of the calls, and which are asked whether they do."""
    made = [CandidateSet({"at": at}, {}, undeclared=undeclared) for at, undeclared in enumerate(sets)]
    limits, runs = list[int](), list[int]()
    monkeypatch.setattr(find, "TRIED", budget)
    monkeypatch.setattr(find, "candidates" if is_drawn else "changed_candidates", lambda *_: iter(made))

    def run(call: int, limit: int) -> tuple[None, int]:
        limits.append(limit)
        return None, takes

    def meets(self: InputSearch, repeater: object, goal: object, one: CandidateSet) -> FoundInput | None:
        runs.append(one.inputs["at"])
        return FoundInput(build="", what="", inputs=one.inputs) if one.inputs["at"] == len(sets) - 1 else None

    monkeypatch.setattr(InputSearch, "_run", meets)
    repeater: Any = SimpleNamespace(prepare=lambda inputs, seed: 0, run=run)
    kernel = kernel_of() if is_drawn else kernel_of(sample=lambda rng: {})
    found = search_of(kernel)._by_trying(repeater, Goal(0, ()), [])
    return None if found is None or found.inputs is None else found.inputs["at"], limits, runs


@pytest.mark.parametrize("is_drawn", [True, False])
def test_candidates_are_tried_for_so_many_instructions_up_to_the_first_that_meets_it(
    is_drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But those of which it is not known whether they are inputs."""
    assert tried(monkeypatch, 100, 10, (), (), (), is_drawn=is_drawn) == (2, [100, 90, 80], [0, 1, 2])
    assert tried(monkeypatch, 100, 10, (), ("x",), (), is_drawn=is_drawn) == (2, [100, 90, 80], [0, 2])
    assert tried(monkeypatch, 100, 10, (), ("x",), is_drawn=is_drawn) == (None, [100, 90], [0])
    assert tried(monkeypatch, 100, 50, (), (), (), is_drawn=is_drawn) == (None, [100, 50], [0, 1])
    assert tried(monkeypatch, 101, 50, (), (), (), is_drawn=is_drawn) == (2, [101, 51, 1], [0, 1, 2])


@pytest.mark.parametrize(
    ("held", "faults", "is_met"),
    [((5, 7, 9), False, True), ((5, 9), False, False), ((7,), True, True), ((5,), True, False), ((), True, False)],
)
def test_a_goal_is_met_where_some_execution_meets_it_before_a_fault(
    held: tuple[int, ...], faults: bool, is_met: bool
) -> None:
    def executions(*_: object) -> Iterator[tuple[int, Occurrence]]:
        for number in held:
            yield 0, Occurrence(TABLE.instruction("nop", ""), {Place("x", 1): number}, {})
        if faults:
            raise MemoryFault(0, 4, "read")

    repeater: Any = SimpleNamespace(prepare=lambda *_: 0, executions=executions, run=lambda *_: (None, 3))
    found = search_of(kernel_of())._run(repeater, Goal(0, (read(Place("x", 1)).equals(7),)), CandidateSet({}, {}))
    assert (found is not None) == is_met
    assert found is None or found.agrees is False


def test_the_last_instruction_and_those_of_functions_that_are_called_are_looked_at(
    image: Image, tmp_path: Path
) -> None:
    (last,) = search_of(kernel_of()).at_line("", image, AtLine("taken", "f.s:13", ""))
    assert last.plain_inputs == {"x": [77]}
    file = tmp_path / "g.s"
    file.write_text(CODE.replace("str w3", "mov x4, x30\nbl g\nmov x30, x4\nstr w3") + "g:\ncbz w3, 3f\nnop\n3:\nret\n")
    search = search_of(kernel_of())
    place = f"g.s:{len(file.read_text().splitlines()) - 3}"
    (called,) = search.at_line("", build(file, "-g"), AtLine("taken", place, "cbz"))
    assert called.plain_inputs == {"x": [0]}


def but_at(*places: int, refused: bool = False) -> Callable[[Inputs], dict[str, Any]]:
    """As the golden reference, but for some elements where x is 9."""

    def golden(inputs: Inputs) -> dict[str, Any]:
        if refused:
            raise ValueError("never")
        out = [number + (number == 9 if at in places else 0) for at, number in enumerate(inputs["x"])]
        return {"out": np.stack(out).astype(np.int32)}

    return golden


def rivals(*rivals: Callable[[Inputs], dict[str, Any]], **given: Any) -> Kernel:
    return kernel_of(MANY, unchanged, conventions={f"r{at}": rival for at, rival in enumerate(rivals)}, **given)


def test_a_rival_is_unlike_where_it_gives_another_number_in_the_element_that_is_asked_for() -> None:
    kernel = rivals(but_at(1), but_at(), but_at(0, 2), but_at(refused=True))
    nines, others = ({"x": np.full(3, number, np.int32), "n": 3} for number in (9, 10))
    assert [_is_unlike(kernel, Unlike(f"r{at}", None, ()), nines) for at in range(4)] == [True, False, True, False]
    elements = [[_is_unlike(kernel, Unlike(f"r{r}", "out", (at,)), nines) for at in range(4)] for r in range(4)]
    assert elements == [[at in places for at in range(4)] for places in ((1,), (), (0, 2), ())]
    assert not _is_unlike(kernel, Unlike("r0", None, ()), others)


def test_a_rival_is_unlike_where_one_of_several_outputs_is_another() -> None:
    def shifted(by: int) -> Callable[[Inputs], dict[str, Any]]:
        return lambda inputs: {"one": inputs["x"] + np.int32(1), "other": inputs["x"] + np.int32(by)}

    prototype = "void f(const int32_t x[n], int32_t one[n], int32_t other[n], size_t n)"
    kernel = kernel_of(prototype, shifted(3), conventions={"r0": shifted(4)})
    inputs = {"x": np.zeros(2, np.int32), "n": 2}
    found = [
        _is_unlike(kernel, Unlike("r0", output, at), inputs)
        for output, at in ((None, ()), ("one", (0,)), ("other", (0,)))
    ]
    assert found == [True, False, True]


def unlike(kernel: Kernel, *lengths: int, at: int | None = None, rival: str = "r0") -> FoundInput:
    wanted = Unlike(rival, None, ()) if at is None else Unlike(rival, "out", (at,))
    return search_of(kernel, *lengths).unlike(wanted)


def test_an_input_on_which_a_rival_is_another_is_of_the_first_shape_that_has_one() -> None:
    found = unlike(rivals(but_at(1)), 1, 2, 3)
    assert (found.what, found.shape, found.build, found.agrees) == ("unlike r0", "length 2", "", None)
    assert found.inputs is not None
    assert found.inputs["x"][1] == 9
    found = unlike(rivals(but_at(0, 2)), 1, 2, 3, at=2)
    assert (found.what, found.shape) == ("unlike r0 at out[2]", "length 3")
    assert found.inputs is not None
    assert found.inputs["x"][2] == 9
    same = unlike(rivals(but_at(0)), 2, 3, at=1)
    assert same.proved == "they are the same for all inputs of the lengths 2, 3 that both are defined on"
    with pytest.raises(FindError, match=r"^no output of these lengths has out\[2\]$"):
        unlike(rivals(but_at(0)), 1, 2, at=2)
    with pytest.raises(FindError, match=r"^no output of these lengths has other\[0\]$"):
        search_of(rivals(but_at(0)), 1, 2).unlike(Unlike("r0", "other", (0,)))
    with pytest.raises(FindError, match=r"^f has no convention 'r1': it has r0$"):
        unlike(rivals(but_at(0)), 1, rival="r1")
    with pytest.raises(FindError, match=r"^f has no convention 'r1': it has none$"):
        unlike(rivals(), 1, rival="r1")


def test_why_it_is_not_known_whether_a_rival_is_another_is_the_first_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def traced(kernel: Kernel, example: Inputs) -> Any:
        if example["n"] == 2:
            raise LanewiseError("it has two")
        return traced_reference(kernel, example)

    monkeypatch.setattr(find, "traced_reference", traced)
    same = rivals(but_at())
    assert unlike(same, 1, 2, 3).reason == "length 2: it has two"
    assert (unlike(same, 1, 2, 3).proved, unlike(same, 1, 3).reason) == ("", "")
    assert unlike(rivals(but_at(2)), 2, 3).shape == "length 3"
    monkeypatch.setattr(find, "decide_all", undecided)
    assert [unlike(same, *lengths).reason for lengths in ((1, 2), (2, 1))] == ["no time", "length 2: it has two"]
    monkeypatch.setattr(InputSearch, "_found", lambda *_: ({"x": np.array([1], np.int32), "n": 1}, ""))
    made_up = "what the solver found is none when it is run"
    assert [unlike(same, *lengths).reason for lengths in ((1, 2), (2, 1))] == [made_up, "length 2: it has two"]


def test_of_numbers_that_a_reference_has_to_know_only_those_of_the_example_are_looked_at() -> None:
    def repeated(inputs: Inputs) -> dict[str, Any]:
        out = inputs["x"]
        for _ in range(inputs["times"]):
            out = out + np.int32(1)
        return {"out": out}

    name, signature = parse_prototype("void f(const int32_t x[n], int32_t times, int32_t out[n], size_t n)")
    kernel = Kernel(
        name=name, symbol=name, sources=(), signature=signature, conventions={"r0": repeated},
        golden=lambda inputs: {"out": inputs["x"] + np.int32(2)},
    )  # fmt: skip
    shapes = [Shape("", 1, {"x": np.zeros(1, np.int32), "times": 2, "n": 1})]
    search = InputSearch(kernel=kernel, shapes=shapes, seconds=9, jobs=1, kept_in=None)
    found = search.unlike(Unlike("r0", None, ()))
    assert (found.inputs, found.proved, found.reason) == (None, "", "times is as in the example")


def test_of_several_answers_the_first_input_counts_and_else_the_first_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever comes first."""
    said: list[tuple[Literal["proved", "counter-example", "unknown"], str, int]] = []

    def answering(questions: dict[int, None], seconds: float, jobs: int, kept_in: None, report: Any) -> bool:
        for name in reversed(questions):
            outcome, reason, number = said[name]
            values = {Place("in.x", 0): number} if outcome == "counter-example" else {}
            report(name, Answer(Finding(outcome, 0, reason=reason), "", values))
        return stopped

    monkeypatch.setattr(find, "decide_all", answering)
    stopped = False
    search = search_of(kernel_of())
    arguments: Any = SimpleNamespace(values=lambda: {Place("in.x", 0): 1, Place("in.x", 1): 2}, input_set=dict)
    wide = InputSearch(kernel=search.kernel, shapes=search.shapes, seconds=9, jobs=3, kept_in=None)
    questions: Sequence[Any] = [None] * 3
    said[:] = [("unknown", "first", 0), ("unknown", "second", 0), ("proved", "third", 0)]
    assert wide._found(questions, arguments) == (None, "first")
    said[:] = [("proved", "", 0), ("proved", "", 0), ("proved", "", 0)]
    assert wide._found(questions, arguments) == (None, "")
    said[:] = [("unknown", "first", 0), ("counter-example", "", 7), ("counter-example", "", 8)]
    found: Any = wide._found(questions, arguments)
    assert found == ({Place("in.x", 0): 7, Place("in.x", 1): 2}, "")
    stopped = True
    with pytest.raises(KeyboardInterrupt):
        wide._found(questions, arguments)
