"""Mutants of `core128`: at places that a seed chooses, one operator, constant, slice or condition of its text is wrong.

All are planted in one simulator, which takes the number of a mutant as `+fault=N` and has none at 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from rtl_models.cores.core128.design import FOLDER, generated
from rtl_models.cores.core128.rows import all_rows
from rtl_models.cores.core128.units import UNITS, ArithmeticUnit, rows_text
from rtl_models.formal.core_rows import MODULE
from rtl_models.formal.equations.written import Subject, SubjectSources
from support.core128_faults import CHOICE

SHARES: Final = {
    "core128.sv": 30, "core128_decode.sv": 20, "core128_vector.sv": 20, "core128_scalar.sv": 10, "core128_access.sv": 8,
    "core128_mla.sv": 4, "core128_accumulate.sv": 4, "core128_align.sv": 4,
}  # fmt: skip
"""Of a hundred mutants those of each file."""
_OTHERS: Final = {
    " + ": " - ", " - ": " + ", " * ": " + ", " & ": " | ", " | ": " & ", " ^ ": " | ", " && ": " || ", " || ": " && ",
    " == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " << ": " >> ",
    " >> ": " << ", " >>> ": " >> ", "~": "",
}  # fmt: skip
"""An operator, and what stands in its place."""
_OPERATOR: Final = re.compile("|".join(map(re.escape, sorted(_OTHERS, key=len, reverse=True))))
_LITERAL: Final = re.compile(r"\b(\d+)'(s?)([hdb])([0-9a-f]+)")
_SLICE: Final = re.compile(r"\[(\d+):(\d+)\]")
_ASSIGNED: Final = re.compile(r"^ *(?:\d+'d\d+: |default: )?(?:assign )?[\w.\[\]+:*-]+ +<?= (?P<right>[^;]+);")
_CONDITION: Final = re.compile(r"^ *(?:end )?(?:else )?if \((?P<right>.+)\) (?:begin|[\w.\[\]+:*{}, -]+ <?= [^;]+;)")
_BODY: Final = re.compile(r"function automatic [^;(]*\b((?:row|lane)_\d+)\((.*?)endfunction", re.DOTALL)
_FUNCTION: Final = re.compile(r"function automatic .*\b((?:row|lane)_\d+)\(")


class TextMutant(NamedTuple):
    """In a line of a file of the design an expression, and the wrong one in its place."""

    file: str
    line: int
    at: int
    right: str
    wrong: str

    def __str__(self) -> str:
        """As told."""
        return f"{self.file}:{self.line + 1}: {self.right} as {self.wrong}"


def texts() -> dict[str, str]:
    """Of the files that are mutated."""
    return {file: {**generated(), "core128.sv": (FOLDER / "core128.sv").read_text()}[file] for file in SHARES}


class FewMutants(LanewiseError):
    """A file has fewer mutants than its share of those that are wanted: one sentence."""


def mutants(count: int, seed: int) -> list[TextMutant]:
    """So many different ones, of each file its share: a function or a line of it, then one of the mutants there.

    Raises FewMutants.
    """
    rng, found, share = Random(seed), dict[TextMutant, None](), 0

    def one_bit(bits: int) -> Iterable[int]:
        return (rng.randrange(bits),)

    for file, text in texts().items():
        groups = [group for group in _groups(file, text.splitlines()) if group]
        share += SHARES[file]
        wanted = round(count * share / sum(SHARES.values()))
        there = {mutant for group in groups for place in group for mutant in _mutated(file, *place, range)}
        if wanted - len(found) > len(there):
            raise FewMutants(f"{file} has {len(there)} mutants, and its share of {count} is {wanted - len(found)}")
        while len(found) < wanted:
            found[rng.choice(list(_mutated(file, *rng.choice(rng.choice(groups)), one_bit)))] = None
    return list(found)


def planted(chosen: list[TextMutant]) -> Mapping[str, str]:
    """The texts of the design with all of them, each where its number is chosen: the first is 1."""
    found = {file: text.splitlines() for file, text in texts().items()}
    places: dict[tuple[str, int, int, str], list[tuple[int, str]]] = {}
    for number, mutant in enumerate(chosen, 1):
        places.setdefault((mutant.file, mutant.line, mutant.at, mutant.right), []).append((number, mutant.wrong))
    for (file, line, at, right), wrong in places.items():
        expression = right
        for number, other in wrong:
            expression = f"((fault == {number}) ? ({other}) : ({expression}))"
        before = found[file][line]
        found[file][line] = before[:at] + expression + before[at + len(right) :]
    whole = {file: "\n".join(lines) + "\n" for file, lines in found.items()}
    return {file: _inlined(text).replace("\n);\n", f"\n);\n{CHOICE}", 1) for file, text in whole.items()}


def rows_with(mutant: TextMutant) -> tuple[ArithmeticUnit, list[int], SubjectSources] | None:
    """The rows of a unit that a mutant is in, and a module that computes them with it; None outside of functions."""
    unit = next((unit for unit in UNITS.values() if f"{unit.module}.sv" == mutant.file), None)
    if unit is None:
        return None
    lines = texts()[mutant.file].splitlines(keepends=True)
    place = sum(map(len, lines[: mutant.line])) + mutant.at
    text = "".join(lines)
    text = text[:place] + mutant.wrong + text[place + len(mutant.right) :]
    bodies = list(_BODY.finditer(text))
    functions = {found[1]: found[0] for found in bodies}
    within = next((found[1] for found in bodies if found.start() <= place < found.end()), None)
    if within is None:
        return None
    calls = re.compile(rf"\b{within}\(")
    users = {name: body for name, body in functions.items() if name.startswith("row_") and calls.search(body)}
    numbers = [int(name.removeprefix("row_")) for name in users]
    needed = {call for body in users.values() for call in re.findall(r"\blane_\d+(?=\()", body)}
    kept = "\n".join(f"  {body}" for name, body in functions.items() if name in needed or name in users)
    whole = rows_text(MODULE, unit, [(number, all_rows()[number]) for number in numbers])
    ports, _, rest = whole.partition("\n);\n")
    assigned = rest[rest.index(f"  assign row_{numbers[0]}_o") :]
    return unit, numbers, SubjectSources(Subject(MODULE, ()), {f"{MODULE}.sv": f"{ports}\n);\n{kept}\n{assigned}"})


def _inlined(text: str) -> str:
    """Functions that read the number of the mutant, or call one that does, must be inlined."""
    reading = {name for name, body in _BODY.findall(text) if "(fault ==" in body}
    calls = re.compile("|".join(rf"\b{name}\(" for name in reading if name.startswith("lane_")) or "(?!)")

    def written(matched: re.Match[str]) -> str:
        reads = matched[1] in reading or calls.search(matched[2])
        return matched[0].replace("    // verilator no_inline_task\n", "") if reads else matched[0]

    return _BODY.sub(written, text)


def _groups(file: str, lines: list[str]) -> Iterator[list[tuple[int, int, str]]]:
    """The expressions that have mutants, with line and place: of a function together, elsewhere of a line."""
    function: list[tuple[int, int, str]] | None = None
    for number, line in enumerate(lines):
        if _FUNCTION.search(line):
            function = []
        if "endfunction" in line and function is not None:
            yield function
            function = None
        matched = _ASSIGNED.match(line) or _CONDITION.match(line)
        if matched is None or line.lstrip().startswith(("localparam", "for ", "logic ")):
            continue
        right = matched["right"]
        if _balanced(right) and next(_mutated(file, number, matched.start("right"), right, range), None):
            place = (number, matched.start("right"), right)
            if function is None:
                yield [place]
            else:
                function.append(place)


def _balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return False
    return depth == 0


def _mutated(
    file: str, line: int, at: int, right: str, bits_of: Callable[[int], Iterable[int]]
) -> Iterator[TextMutant]:
    """Every operator as another; of every constant, which has so many bits, some of these; every slice a bit lower."""
    for match in _OPERATOR.finditer(right):
        yield TextMutant(file, line, at, right, right[: match.start()] + _OTHERS[match[0]] + right[match.end() :])
    for match in _LITERAL.finditer(right):
        bits, sign, base, digits = match.groups()
        for bit in bits_of(int(bits)):
            value = int(digits, {"h": 16, "d": 10, "b": 2}[base]) ^ 1 << bit
            wrong = f"{bits}'{sign}h{value:x}"
            yield TextMutant(file, line, at, right, right[: match.start()] + wrong + right[match.end() :])
    for match in _SLICE.finditer(right):
        high, low = map(int, match.groups())
        if low > 0:
            wrong = f"[{high - 1}:{low - 1}]"
            yield TextMutant(file, line, at, right, right[: match.start()] + wrong + right[match.end() :])
