"""Where a module and what is due of it meet on the way: what both come to is proved there, and forgotten after.

    due       min(max(wrap(RDP(SQRDMULH(wrap(a + b), c), n) + offset), low), high)
    module    biased = a + b,  product = biased * c,  rounded = ...,  quotient = ...

`biased` and `wrap(a + b)` are the same number, so both become one of which nothing is known but its range; then
`rounded` and SQRDMULH are asked of that one, and so on to the end: short questions in the place of a long one.  Which
are the same is guessed by their values on data that are drawn, and proved before it is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Final

from isa.evaluate.exact import Evaluation
from isa.evaluate.smt_products import highest_corners, second_highest_product
from isa.lane import Binary, Field, Int, Lane, Saturate, rebuilt
from rtl_models.formal.equations.replay import Bits, applied
from rtl_models.formal.equations.unrolling import WireBits
from rtl_models.formal.schedules.named import NamedCut
from rtl_models.formal.schedules.polynomial import same_number
from rtl_models.formal.schedules.question import Answered, Due, WordQuestion
from rtl_models.formal.schedules.symbols import Name, Word, WordNode, WordPiece, width_of
from sim.prove.claim import ClaimInputs, Range, any_of, input_lane

_DRAWN: Final = 24
"""Sets of data by which numbers are told apart."""
_TRIES: Final = 4_096
"""Draws of data, of which some are not allowed."""
_FEWEST_BITS: Final = 8
"""Of what is compared: smaller numbers are alike by chance."""
_SHARE: Final = 0.2
"""Of the time that is left, for one place where both may meet."""


Meant = Mapping[NamedCut, Sequence[Word]]
"""The cut points that a user names, each with the words that are seen on its wire, of beat 0."""


def answered(word: Word, due: Due, ports: Mapping[str, int], seconds: float, named: Meant | None = None) -> Answered:
    """By way of the places where they meet; where that does not prove it, as it is.  `ports`: bits of each input.

    Each question may take so many seconds; those about the places share as many.
    """
    deadline = time.monotonic() + seconds
    nodes = set(_nodes_of(word))
    used = {cut: words for cut, words in (named or {}).items() if any(nodes & {one.node for one in w} for w in words)}
    for cut in used:
        due = Due(due.lane, due.given, {**due.kinds, **cut.kinds})
    meeting = _Meeting(word, due, ports, deadline)
    for cut, words in used.items():
        if refusal := meeting.refusal(cut, words, seconds):
            return Answered("unknown", refusal)
    lane = meeting.shortened(due.lane)
    deadline = time.monotonic() + seconds
    answer = WordQuestion(word, Due(lane, meeting.given, due.kinds), ports, deadline, meeting.cuts).answer()
    if answer.outcome == "proved" or not meeting.cuts:
        return answer
    return WordQuestion(word, due, ports, deadline).answer()


class _Meeting:
    """`cuts` are the nodes of the module in the place of which a new number stands; `given` is what holds of all."""

    def __init__(self, word: Word, due: Due, ports: Mapping[str, int], deadline: float) -> None:
        self._due, self._ports, self._deadline = due, ports, deadline
        self._nodes = [node for node in _nodes_of(word) if node.width >= _FEWEST_BITS and node.name is None]
        self._known: dict[Lane, Lane] = {}
        self._named: list[NamedCut] = []
        self.cuts: dict[WordNode, Lane] = {}
        self.given = due.given

    def refusal(self, cut: NamedCut, words: Sequence[Word], seconds: float) -> str:
        """Why a wire cannot be taken for what it is said to be; "" where it is."""
        due = Due(cut.asked, self.given, self._due.kinds)
        for word in words:
            if word[0].node is None or len(word) > 1 or word[0].width < word[0].node.width:
                return f"{cut.wire} is put together of several: name a wire that is computed"
            question = WordQuestion(word, due, self._ports, time.monotonic() + seconds, self.cuts)
            answer = question.answer()
            if answer.outcome != "proved":
                why = answer.reason or f"it is another number where {_told(answer)}"
                return f"the cut point {cut.wire} is not proved: {why}"
        for word in words:
            if word[0].node is not None:
                self.cuts[word[0].node] = cut.leaf
        self._named.append(cut)
        return ""

    def shortened(self, lane: Lane) -> Lane:
        """With new numbers in the place of what the module has too."""
        if lane not in self._known:
            made = rebuilt(lane, [self.shortened(arg) for arg in lane.args]) if lane.args else lane
            met = self._met(lane, made)
            if met is not made and isinstance(made, Binary):
                self.given = self.given & _where_highest(met, made)
            self._known[lane] = met
        return self._known[lane]

    def _met(self, original: Lane, lane: Lane) -> Lane:
        """A new number, if the module has it, else the same."""
        if not _is_kept(original) or original.high - original.low < 1 << _FEWEST_BITS - 1:
            return lane
        for cut in self._named:
            if same_number(original, cut.whole):
                return cut.leaf
        values = [evaluation.value(original) for evaluation in self._evaluations]
        found: Lane | None = None
        for node in self._nodes:
            if node in self.cuts or not _fits(original, node.width):
                continue
            if self._values[node] == [value & (1 << node.width) - 1 for value in values] and self._same(node, lane):
                found = found or input_lane(f"number {len(self.cuts)}", Range(original.low, original.high))
                self.cuts[node] = found
        return found or lane

    def _same(self, node: WordNode, lane: Lane) -> bool:
        if _is_product(lane) and node.operation == "bvmul":
            orders = (node.args, node.args[::-1])
            return any(all(map(self._proved, args, lane.args)) for args in orders)
        return self._proved((WordPiece(node, 0, node.width),), lane)

    def _proved(self, word: Word, lane: Lane) -> bool:
        now = time.monotonic()
        until = now + _SHARE * (self._deadline - now)
        question = WordQuestion(word, Due(lane, self.given, self._due.kinds), self._ports, until, self.cuts)
        return question.answer().outcome == "proved"

    @cached_property
    def _evaluations(self) -> Sequence[Evaluation]:
        return [Evaluation(ClaimInputs(signals)) for signals, _ in self._drawn]

    @cached_property
    def _values(self) -> Mapping[WordNode, list[int]]:
        """By node its numbers on the data."""
        memories = [(data, dict[WordNode, int]()) for _, data in self._drawn]
        return {node: [_value(node, data, known) for data, known in memories] for node in self._nodes}

    @cached_property
    def _drawn(self) -> list[tuple[dict[str, int], _Data]]:
        """Data that are allowed, as signals of what is due and as symbols of the module."""
        rng, found = Random(1), list[tuple[dict[str, int], _Data]]()
        for _ in range(_TRIES):
            data = _Data({(port, 0): drawn_number(rng, bits) for port, bits in self._ports.items()}, rng)
            signals = {name: _signal(name, kind, data) for name, kind in self._due.kinds.items()}
            if Evaluation(ClaimInputs(signals)).value(self._due.given):
                found.append((signals, data))
            if len(found) == _DRAWN:
                break
        return found


def _told(answer: Answered) -> str:
    numbers = [f"{port} = {value}" for data in answer.data.values() for port, value in data.items()]
    return ", ".join(numbers) or "it does not depend on the data"


class _Data:
    """The numbers of symbols; those that are not given are drawn."""

    def __init__(self, given: dict[Name, int], rng: Random) -> None:
        self._numbers, self._rng = given, rng

    def of(self, name: Name, width: int) -> int:
        if name not in self._numbers:
            self._numbers[name] = self._rng.getrandbits(width)
        return self._numbers[name]


def drawn_number(rng: Random, bits: int) -> int:
    """Of any size, word by word."""
    words = [rng.getrandbits(32) >> rng.choice((0, 0, 8, 16, 24)) for _ in range(-(-bits // 32))]
    return sum(word << 32 * k for k, word in enumerate(words)) & (1 << bits) - 1


def _signal(name: str, kind: Int, data: _Data) -> int:
    signal = WireBits.named(name)
    return kind.wrapped(data.of((signal.wire, 0), 0) >> signal.lsb)


def _where_highest(number: Lane, product: Binary) -> Lane:
    """That a product, for which a number stands, is highest just where both factors are those of it.

    Hardware asks the product or its factors where it saturates.
    """
    a, b = product.args
    corners = highest_corners(a, b)
    at_corner = any_of(a.equals(x) & b.equals(y) for x, y in corners)
    is_highest, is_higher = number.equals(corners[0][0] * corners[0][1]), number > second_highest_product(a, b)
    return is_highest.equals(at_corner) & is_higher.equals(at_corner)


def _is_kept(lane: Lane) -> bool:
    """Whether hardware has a number in some form: what is narrowed to a type, and products.

    Where what is between them is forgotten too, such as half of a unit to be added, that it belongs to a shift is lost.
    """
    return isinstance(lane, Field | Saturate) or _is_product(lane)


def _is_product(lane: Lane) -> bool:
    return isinstance(lane, Binary) and lane.operator == "multiply"


def _fits(lane: Lane, bits: int) -> bool:
    """Whether so many bits tell each of its numbers from the others; of a product fewer are compared too."""
    return lane.high - lane.low < 1 << bits or _is_product(lane)


def _nodes_of(word: Word) -> Iterator[WordNode]:
    """Operands before what is made of them, each once."""
    seen: set[WordNode] = set()
    waiting = [(piece.node, False) for piece in word if piece.node is not None]
    while waiting:
        node, done = waiting.pop()
        if done:
            yield node
        elif node not in seen:
            seen.add(node)
            inside = [piece.node for arg in node.args for piece in arg if piece.node is not None]
            waiting += [(node, True), *((one, False) for one in inside)]


def _value(node: WordNode, data: _Data, known: dict[WordNode, int]) -> int:
    for one in _nodes_of((WordPiece(node, 0, node.width),)):
        if one not in known:
            known[one] = _computed(one, data, known)
    return known[node]


def _computed(node: WordNode, data: _Data, known: Mapping[WordNode, int]) -> int:
    if node.name is not None:
        return data.of(node.name, node.width)
    args = [Bits(_number(arg, known), width_of(arg)) for arg in node.args]
    if node.operation == "ite":
        return args[1].value if args[0].value else args[2].value
    return applied(node.operation, args).value


def _number(word: Word, known: Mapping[WordNode, int]) -> int:
    value, at = 0, 0
    for node, low, width in word:
        bits = low if node is None else known[node] >> low & (1 << width) - 1
        value, at = value | bits << at, at + width
    return value
