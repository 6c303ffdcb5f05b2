"""What `make mutants` plants in our own modules, what it leaves as it is, and which tests it asks."""

from __future__ import annotations

import ast
import json
from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest

from long.mutants import enough
from long.mutation.blocks import PROBE, Source, block_of, with_probes
from long.mutation.found import Found, KeptFindings
from long.mutation.judgement import Fate, Verdict
from long.mutation.mutants import AREAS, ROOT, Mutant, drawn, files_of
from long.mutation.operators import Change, changes
from long.mutation.reach import Reach, ReachingTest, read_record

CHANGE = Change("+ to -", 0, 0, "", 1, "f", 1)


def planted(text: str) -> set[str]:
    """The texts that a function's only line becomes."""
    source = Source.of(f"def f(a, b):\n    {text}\n".encode())
    return {one.planted(source).decode().splitlines()[1].strip() for one in changes(source)}


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("g = a < b", {"g = a <= b"}),
        ("g = a == b", {"g = a != b"}),
        ("g = a not in b", {"g = a in b"}),
        ("g = a < b <= a", {"g = a <= b <= a", "g = a < b < a"}),
        ("g = a + b", {"g = (a - b)"}),
        ("g = (a) // (b)", {"g = ((a) % (b))"}),
        ("g = a << b", {"g = ((a) << (b) + 1)", "g = ((a) << (b) - 1)"}),
        ("g = 7", {"g = (8)", "g = (6)"}),
        ("g = True", {"g = False"}),
        ("g = a and b", {"g = ((a) or (b))"}),
        ("g = -a", {"g = (a)"}),
        ("g = max(a, b)", {"g = min(a, b)"}),
        ("g = range(b)", {"g = range((b) + 1)", "g = range((b) - 1)"}),
        ("g = a[:b]", {"g = a[:(b) + 1]", "g = a[:(b) - 1]"}),
        ("g = a if b else a", {"g = a if (not (b)) else a"}),
        ("return a", {"return None"}),
        ("a += b", {"pass", "a -= b"}),
        ("a[b] = b", {"pass"}),
        ("a(b)", {"pass"}),
        ("raise a", {"pass"}),
        ("while not a: pass", {"while (a): pass"}),
    ],
)
def test_a_line_becomes(text: str, mutants: set[str]) -> None:
    assert planted(text) == mutants


@pytest.mark.parametrize(
    "text",
    [
        '"""At most 7."""',
        'g = "a + 7"',
        'g = f"{a + 7}"',
        "g: Literal[7]",
        "assert a < 7",
        "print_progress(a + 7)",
        "g = a.ljust(7)",
        "g = zip(a, b, strict=True)",
        'g = "a" + b',
        "g = isinstance(a, int | str)",
        "g = cast(tuple[int, int], a)",
        "return None",
    ],
)
def test_what_shows_or_types_is_left_as_it_is(text: str) -> None:
    assert planted(text) == set()


def test_the_words_of_an_error_are_left_as_they_are() -> None:
    assert planted("raise ValueError(a + 7)") == {"pass"}


def test_a_function_that_says_yes_or_no_says_the_opposite() -> None:
    source = Source.of(b"def f(a) -> bool:\n    return a.b\n")

    assert [one.text for one in changes(source)] == ["(not (a.b))"]


def test_every_mutant_of_a_module_can_be_compiled_and_differs() -> None:
    source = Source.of(
        b"X = 7\n\n\ndef f(a, b=0):\n    if a and not b:\n        a //= b[1:a] % (\n            2)\n    return a\n"
    )
    trees = {ast.dump(ast.parse(one.planted(source))) for one in changes(source)} - {ast.dump(source.tree)}

    assert len(trees) == len(changes(source))


def test_areas_have_modules_and_none_has_another_s() -> None:
    files = [file for area in AREAS for file in files_of(area)]
    assert len(files) == len(set(files))
    assert all(files_of(area) for area in AREAS)


BLOCKS = b'''"""A module."""
from __future__ import annotations


def f(a):
    """A function."""
    b = a
    if b:
        return 1
    c = 2
    for d in b:
        try:
            g(d)
        finally:
            c = 3
    return c
'''


def test_a_block_ends_where_something_may_leave_it() -> None:
    blocks = block_of(Source.of(BLOCKS))
    lines = {statement.lineno: block for statement, block in blocks.items()}

    assert lines == {
        1: None,
        2: None,
        5: None,
        6: None,
        7: 7,
        8: 7,
        9: 9,
        10: 10,
        11: 10,
        12: 10,
        13: 13,
        15: 15,
        16: 16,
    }


def test_probes_tell_what_is_reached_and_move_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[int] = []
    monkeypatch.setattr("long.mutation.recorder.probe", lambda module: reached.append)
    source = Source.of(BLOCKS)
    names: dict[str, Any] = {"__name__": "a", "g": str}
    exec(with_probes(source), names)
    assert reached == []
    names["f"]([])

    assert reached == [7, 10, 16]
    assert with_probes(source).count(b"\n") == BLOCKS.count(b"\n")


def test_no_module_has_the_name_that_probes_call() -> None:
    """One that had would call something else, and all of its tests would fail and be left out."""
    files = [file for area in AREAS for file in files_of(area)]
    assert [file for file in files if PROBE.encode() in (ROOT / file).read_bytes()] == []


def mutant(name: str, block: int | None = 1) -> Mutant:
    return Mutant(name, "sim/m.py", Source.of(b"a\n"), Change("+ to -", 0, 0, "", 1, "f", block))


def test_the_same_seed_draws_the_same_mutants_and_another_draws_others() -> None:
    mutants = [mutant(f"area-{number}") for number in range(100)]

    assert drawn(mutants, 10, 1) == drawn(mutants, 10, 1) != drawn(mutants, 10, 2)
    assert len(drawn(mutants, 10, 1)) == 10


def test_a_mutant_less_does_not_change_the_others_that_are_drawn() -> None:
    mutants = [mutant(f"area-{number}") for number in range(100)]
    before = drawn(mutants, 10, 1)

    assert set(before[1:]) < set(drawn([one for one in mutants if one is not before[0]], 10, 1))


def reaching(name: str, seconds: float, here: Set[int], elsewhere: Set[int] = frozenset()) -> ReachingTest:
    return ReachingTest(name, seconds, {"sim.m": frozenset(here)}, {"sim.m": frozenset(elsewhere)})


TESTS = (
    reaching("a::slow", 2, {1}),
    reaching("a::cases[1]", 0.2, {1}),
    reaching("a::cases[2]", 0.1, {1}),
    reaching("a::cases[3]", 0.8, {1}),
    reaching("a::other", 0, {2}),
    reaching("b::command", 1, {2}, {1}),
)


def names_of(block: int | None, imported: set[int]) -> list[list[str]]:
    reach = Reach(TESTS, {"sim.m": frozenset(imported)})
    return [[test.name for test in tests] for tests in reach.of(mutant("area-1", block))]


def test_tests_that_reach_the_block_are_asked_first_and_the_fastest_of_them_and_many_cases_of_one_later() -> None:
    assert names_of(1, set())[0] == ["a::cases[2]", "a::cases[1]", "a::slow", "a::cases[3]", "a::other"]


def test_tests_that_reach_it_in_another_process_are_asked_in_a_new_one() -> None:
    assert names_of(1, set())[1] == ["b::command"]


def test_what_an_import_runs_is_asked_of_new_processes() -> None:
    everything = ["a::other", "a::cases[2]", "a::cases[1]", "b::command", "a::slow", "a::cases[3]"]

    assert names_of(None, set()) == [[], everything]
    assert "a::slow" in names_of(1, {1})[1]


@pytest.mark.parametrize(
    ("fates", "passes"),
    [
        (["killed"] * 98 + ["survived"] * 2, True),
        (["killed"] * 97 + ["survived"] * 3, False),
        (["killed"] * 49 + ["survived"] + ["equivalent"] * 50, True),
        (["killed"] * 99 + ["judged wrongly"], False),
        (["equivalent"] * 3, False),
        ([], False),
    ],
)
def test_98_of_100_that_can_be_killed_are_enough(fates: list[Fate], passes: bool) -> None:
    assert enough([Verdict(mutant("area-1"), fate, "") for fate in fates]) is passes


KILLED, SURVIVED = Found("tests/test_house.py::test_that", "fails", 0), Found("", "", 7)


def test_what_a_hindered_program_could_not_write_to_its_end_is_left_out(tmp_path: Path) -> None:
    name = "tests/test_a.py::test_one"
    record = {"number": "7.0", "test": name, "fixtures": [], "seconds": 0.5, "outcome": "passed"}
    (tmp_path / "tests-7").write_text(json.dumps(record) + "\n")
    (tmp_path / "reached-7").write_text("7.0 sim.one 3\n")
    (tmp_path / "reached-8").write_text("7.0 sim.one 4\n7.0 sim.two 51")
    (test,) = read_record(tmp_path, ["tests/test_a.py"])["tests/test_a.py"]["tests"]
    assert (test["here"], test["elsewhere"]) == ({"sim.one": [3]}, {"sim.one": [4]})


def test_what_was_found_out_is_kept_for_the_next_run(tmp_path: Path) -> None:
    tests = ["tests/test_house.py", "tests/test_start.py"]
    for name, found in (("area-1", KILLED), ("area-2", SURVIVED)):
        KeptFindings(tmp_path / "findings", tests).add(name, found)
    kept = KeptFindings(tmp_path / "findings", tests)
    assert [kept.get(name) for name in ("area-1", "area-2", "area-3")] == [KILLED, SURVIVED, None]


def test_what_survived_other_tests_is_tried_again_and_what_one_of_them_killed_is_not(tmp_path: Path) -> None:
    before = KeptFindings(tmp_path / "findings", ["tests/test_house.py"])
    before.add("area-1", KILLED)
    before.add("area-2", SURVIVED)
    kept = KeptFindings(tmp_path / "findings", ["tests/test_house.py", "tests/test_start.py"])
    assert [kept.get(name) for name in ("area-1", "area-2")] == [KILLED, None]


@pytest.mark.parametrize(
    "line", ["", '{"mutant": "area-1", "dig', "[]", '{"mutant": "area-1", "digest": "0", "found": {"killer": 1}}']
)
def test_a_line_that_was_cut_is_passed_over(tmp_path: Path, line: str) -> None:
    (tmp_path / "findings").write_text(line + "\n")
    kept = KeptFindings(tmp_path / "findings", [])
    kept.add("area-2", KILLED)
    assert [KeptFindings(tmp_path / "findings", []).get(name) for name in ("area-1", "area-2")] == [None, KILLED]
