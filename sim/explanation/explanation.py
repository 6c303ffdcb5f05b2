"""The answer to "why does my output differ", as data and as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any, Final

from sim.explanation.apart import Directed
from sim.explanation.rule import RuleStep
from sim.explanation.scaling import shown

_LISTED: Final = 3
"""Names that a sentence has; the JSON form has all."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One element through a convention: what it was computed from, every step, and what was given instead.

    `exact` is the real result before it is limited to the output; `decided` says at which step something happened,
    such as "tie at the shift".  `results` are those of other conventions that come near, by name.
    """

    element: tuple[int, ...]
    inputs: Mapping[str, int]
    convention: str
    steps: tuple[RuleStep, ...]
    exact: Fraction
    decided: str
    result: int
    yours: int
    results: Mapping[str, int]

    def __str__(self) -> str:
        inputs = "".join(f"{name} {value}, " for name, value in self.inputs.items())
        decided = f" ({self.decided})" if self.decided else ""
        others = "".join(f", {name} {value}" for name, value in self.results.items())
        return (
            f"element {place_of(self.element)}: {inputs}exact {shown(self.exact)}{decided}: "
            f"{self.convention} gives {self.result}{others}; yours {self.yours}"
        )

    @property
    def steps_text(self) -> str:
        """Such as "multiply -1, shift -1 (exact -1/2)"."""
        told = []
        for step in self.steps:
            exact = "" if step.value == step.exact else f" (exact {shown(step.exact)})"
            told.append(f"{step.name} {step.value}{exact}")
        return ", ".join(told)

    def as_json(self) -> dict[str, Any]:
        """Plain data, fractions as text."""
        steps = [
            {"name": step.name, "value": step.value, "exact": str(step.exact), "event": step.event}
            for step in self.steps
        ]
        return {
            "element": list(self.element),
            "inputs": dict(self.inputs),
            "convention": self.convention,
            "steps": steps,
            "exact": str(self.exact),
            "decided": self.decided,
            "result": self.result,
            "yours": self.yours,
            "results": dict(self.results),
        }


@dataclass(frozen=True)
class Alike:
    """A convention that no input told from another: `is_all` says that there is no such input.

    `searched` says which inputs were tried.
    """

    name: str
    note: str
    searched: str
    is_all: bool


@dataclass(frozen=True)
class Match:
    """A convention that gives every element, with those that were not told from it.

    `directed` are inputs that tell it from the first of the matches, where the data do not: what that one makes of
    them, and what this one; none for the first itself.
    """

    name: str
    note: str
    directed: tuple[Directed, ...]
    alike: tuple[Alike, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """It, then those that were not told from it."""
        return (self.name, *(other.name for other in self.alike))


@dataclass(frozen=True)
class Near:
    """Conventions that give `differing` of `of` elements otherwise, and all the same: the first of these traced."""

    names: tuple[str, ...]
    note: str
    differing: int
    of: int
    traces: tuple[Trace, ...]

    @property
    def name(self) -> str:
        """The first of them, which is traced."""
        return self.names[0]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Which conventions give an output, which these data cannot tell from each other, which come near.

    `derived` says what the derivations made of a real scale.  `refused` are the conventions that do not define these
    parameters, with the sentence of each.  `hints` are changes of the question under which a convention gives every
    element, or nearly; `contradiction` names two elements that no convention can give.
    """

    shape: tuple[int, ...]
    dtype: str
    elements: int
    distinct: int
    candidates: int
    matches: tuple[Match, ...]
    nearest: tuple[Near, ...]
    derived: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    hints: tuple[str, ...]
    contradiction: str

    @property
    def explained(self) -> bool:
        """Whether a convention gives every element."""
        return bool(self.matches)

    @property
    def names(self) -> tuple[str, ...]:
        """The conventions that give every element."""
        return tuple(name for match in self.matches for name in match.names)

    @property
    def inseparable(self) -> tuple[str, ...]:
        """The matches that other data would tell from the first one."""
        return tuple(name for match in self.matches[1:] for name in match.names)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.matches:
            return f"none of {self.candidates} conventions gives all {self.elements:,} elements"
        given = f"{self.matches[0].name} gives all {self.elements:,} elements"
        if not self.inseparable:
            return given
        return f"{given}, but these data cannot tell it from {listed([match.name for match in self.matches[1:]])}"

    def sentences(self) -> Iterator[str]:
        """The verdict, what would tell the matches apart, the nearest others with some elements traced."""
        yield self.verdict
        yield from (f"hint: {hint}" for hint in self.hints)
        if self.contradiction:
            yield self.contradiction
        for match in self.matches:
            yield from (f"{match.name}: {told}" for told in [told_by(match)] if told)
            yield from (f"{match.name}: {told}" for told in alike_to(match))
        for near in self.nearest:
            yield f"{near.name} differs in {near.differing:,} of {near.of:,} elements{as_well(near)}"
            yield from (f"  {trace}" for trace in near.traces)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def as_json(self) -> dict[str, Any]:
        """The whole explanation as plain data."""
        matches = [
            {
                "name": match.name,
                "used_by": match.note,
                "directed": [{"operands": dict(d.operands), "first": d.first, "this": d.other} for d in match.directed],
                "alike": [
                    {"name": other.name, "used_by": other.note, "searched": other.searched, "is_all": other.is_all}
                    for other in match.alike
                ],
            }
            for match in self.matches
        ]
        nearest = [
            {
                "names": list(near.names),
                "used_by": near.note,
                "differing": near.differing,
                "of": near.of,
                "traces": [trace.as_json() for trace in near.traces],
            }
            for near in self.nearest
        ]
        return {
            "explained": self.explained,
            "verdict": self.verdict,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "elements": self.elements,
            "distinct": self.distinct,
            "candidates": self.candidates,
            "matches": matches,
            "nearest": nearest,
            "derived": list(self.derived),
            "refused": [{"name": name, "reason": reason} for name, reason in self.refused],
            "hints": list(self.hints),
            "contradiction": self.contradiction,
        }

    def _repr_html_(self) -> str:
        """Tables for a notebook."""
        sentences = [*self.derived, *(f"hint: {hint}" for hint in self.hints), self.contradiction]
        matches: list[tuple[str, ...]] = [
            (m.name, m.note, "; ".join(filter(None, (told_by(m), *alike_to(m))))) for m in self.matches
        ]
        near: list[tuple[str, ...]] = [
            (n.name + as_well(n), f"{n.differing:,} of {n.of:,}", str(n.traces[0]) if n.traces else "")
            for n in self.nearest
        ]
        return "".join(
            (
                f"<p><b>{escape(self.verdict)}</b></p>",
                *(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence),
                _table(("gives all elements", "used by", "told from the others"), matches),
                _table(("nearest others", "differ", "the first element that differs"), near),
            )
        )


def place_of(element: tuple[int, ...]) -> str:
    """Such as "[2][3]"."""
    return "".join(f"[{at}]" for at in element)


def told_by(match: Match) -> str:
    """The inputs that would tell a match from the first one; "" for that one."""
    if not match.directed:
        return ""
    return f"these data cannot tell it from the first, these inputs would: {'; '.join(map(str, match.directed))}"


def alike_to(match: Match) -> list[str]:
    """Sentences with what was not told from a match, by how far was searched."""
    found: dict[tuple[bool, str], list[str]] = {}
    for other in match.alike:
        found.setdefault((other.is_all, other.searched), []).append(other.name)
    return [
        f"{'equal on' if is_all else 'not told apart by'} {searched}: {listed(names)}"
        for (is_all, searched), names in found.items()
    ]


def as_well(near: Near) -> str:
    """The other conventions that give the same."""
    return f" (as do {listed(near.names[1:])})" if len(near.names) > 1 else ""


def listed(names: Sequence[str], joint: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{joint.join(names[:_LISTED])}{more}"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    cells = [[f'<td style="text-align:left">{escape(text)}</td>' for text in row] for row in rows]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
