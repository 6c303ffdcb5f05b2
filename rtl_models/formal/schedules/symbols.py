"""Bit-vectors of a module whose inputs are symbols: numbers where nothing depends on these, else expressions of them.

A word is cut into pieces, so that what is put together of other words is found again when it is taken apart:

    {valid, count, data}     1, 7, and bits 0 to 31 of `accumulator_i of beat 0`

An expression is one object however often it is made, so that equal ones are found by `is`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import or_
from typing import Final, NamedTuple

from rtl_models.formal.equations.replay import Bits, applied

Name = tuple[str, int | None]
"""What a symbol stands for: a port and the number of the beat whose data it has, or a place of which nothing is known,
and None."""


class WordNode:
    """A symbol, or an operation of SMT-LIB on words; `beats` are those on whose data it depends.

    `unknown` says whether it depends on a place of which nothing is known.
    """

    __slots__ = ("args", "beats", "name", "operation", "unknown", "width")

    def __init__(self, operation: str, args: tuple[Word, ...], width: int, name: Name | None = None) -> None:
        self.operation, self.args, self.width, self.name = operation, args, width, name
        inside = [piece.node for word in args for piece in word if piece.node is not None]
        own = frozenset(() if name is None or name[1] is None else (name[1],))
        self.beats: frozenset[int] = reduce(or_, (node.beats for node in inside), own)
        self.unknown: bool = (name is not None and name[1] is None) or any(node.unknown for node in inside)


class WordPiece(NamedTuple):
    """Bits of a node, from bit `low` on; without a node the number `low` itself."""

    node: WordNode | None
    low: int
    width: int


Word = tuple[WordPiece, ...]
"""The lowest piece first."""


@cache
def symbol(name: Name, width: int) -> Word:
    """The symbol of a name."""
    return (WordPiece(WordNode("symbol", (), width, name), 0, width),)


def forgotten(register: int) -> Name:
    """What stands for the content of a register of which nothing is known."""
    return f"register {register}", None


def number(value: int, width: int) -> Word:
    """A number without sign."""
    return (WordPiece(None, value, width),)


def width_of(word: Word) -> int:
    """Its bits."""
    return sum(piece.width for piece in word)


def value_of(word: Word) -> int | None:
    """The number that a word is, if it is one."""
    return word[0].low if len(word) == 1 and word[0].node is None else None


def joined(words: Iterable[Word]) -> Word:
    """Words side by side, the first in the low bits."""
    made: list[WordPiece] = []
    for piece in (piece for word in words for piece in word):
        last = made[-1] if made else None
        if last is not None and last.node is piece.node is None:
            made[-1] = WordPiece(None, last.low | piece.low << last.width, last.width + piece.width)
        elif last is not None and last.node is piece.node and last.low + last.width == piece.low:
            made[-1] = WordPiece(last.node, last.low, last.width + piece.width)
        else:
            made.append(piece)
    return tuple(made)


def cut(word: Word, low: int, width: int) -> Word:
    """Some bits of a word, from bit `low` on."""
    made, at = [], 0
    for node, start, size in word:
        first, end = max(low - at, 0), min(low + width - at, size)
        if first < end:
            bits = start >> first & (1 << end - first) - 1 if node is None else start + first
            made.append(WordPiece(node, bits, end - first))
        at += size
    return tuple(made)


def operated(operation: str, words: Sequence[Word]) -> Word:
    """An operation of SMT-LIB on words, a truth value being one bit.  Raises UnreadableEquations."""
    if all(value_of(word) is not None for word in words):
        done = applied(operation, [Bits(word[0].low, word[0].width) for word in words])
        return number(done.value, done.width)
    if operation in _BITWISE:
        return reduce(lambda a, b: _bitwise(operation, a, b), words)
    if operation in ("not", "bvnot"):
        return joined(_inverted(piece) for piece in words[0])
    if operation in ("=", "distinct"):
        return _compared(operation, *words)
    return _node(operation, tuple(words), 1 if operation in _TRUTHS else width_of(words[0]))


def chosen(condition: Word, one: Word, other: Word) -> Word:
    """The one word where the condition is 1, which depends on symbols; else the other."""
    return one if one == other else _node("ite", (condition, one, other), width_of(one))


_BITWISE: Final[dict[str, tuple[str, int]]] = {
    "and": ("bvand", 0), "bvand": ("bvand", 0), "or": ("bvor", 1), "bvor": ("bvor", 1),
}  # fmt: skip
"""By operation that of vectors, and the bit that decides alone."""
_TRUTHS: Final = ("bvslt", "bvsle", "bvsgt", "bvsge", "bvult", "bvule", "bvugt", "bvuge")


@cache
def _node(operation: str, words: tuple[Word, ...], width: int) -> Word:
    return (WordPiece(WordNode(operation, words, width), 0, width),)


def _bitwise(operation: str, a: Word, b: Word) -> Word:
    """Part by part, so that a number decides the bits that it can."""
    plain, deciding = _BITWISE[operation]
    made = []
    for one, other in _aligned(a, b):
        if one == other:
            made.append(one)
        elif (known := value_of(one)) is None and value_of(other) is None:
            made.append(_node(plain, (one, other), width_of(one)))
        elif known is not None and value_of(other) is not None:
            made.append(operated(plain, (one, other)))
        else:
            mask, free = (one, other) if known is not None else (other, one)
            bits = range(width_of(mask))
            made += [cut(mask if _bit(mask, k) == deciding else free, k, 1) for k in bits]
    return joined(made)


def _inverted(piece: WordPiece) -> Word:
    if piece.node is None:
        return number(~piece.low & (1 << piece.width) - 1, piece.width)
    if piece.node.operation == "bvnot":
        return cut(piece.node.args[0], piece.low, piece.width)
    return _node("bvnot", ((piece,),), piece.width)


def _bit(word: Word, place: int) -> int:
    return word[0].low >> place & 1


def _aligned(a: Word, b: Word) -> Iterable[tuple[Word, Word]]:
    """Both words cut where either has the end of a piece."""
    ends = sorted({*_ends(a), *_ends(b)})
    for low, high in zip([0, *ends], ends, strict=False):
        yield cut(a, low, high - low), cut(b, low, high - low)


def _ends(word: Word) -> list[int]:
    sizes = [piece.width for piece in word]
    return [sum(sizes[: k + 1]) for k in range(len(sizes))]


def _compared(operation: str, a: Word, b: Word) -> Word:
    if a == b:
        return number(int(operation == "="), 1)
    parts = [(value_of(one), value_of(other)) for one, other in _aligned(a, b)]
    if any(one is not None and other is not None and one != other for one, other in parts):
        return number(int(operation != "="), 1)
    return _node(operation, (a, b), 1)


def names_in(word: Word) -> set[Name]:
    """Of all symbols in it."""
    names, known = set[Name](), set[WordNode]()
    waiting = [piece.node for piece in word]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in known:
            known.add(node)
            names |= {node.name} if node.name else set()
            waiting += [piece.node for arg in node.args for piece in arg]
    return names


@cache
def renamed(node: WordNode, rename: Callable[[Name], Name]) -> Word:
    """The same with other names for its symbols; `rename` is one function, that it is known by."""
    if node.name is not None:
        return symbol(rename(node.name), node.width)
    return _node(node.operation, tuple(renamed_word(word, rename) for word in node.args), node.width)


def renamed_word(word: Word, rename: Callable[[Name], Name]) -> Word:
    """The same for a word."""
    return joined(
        (piece,) if piece.node is None else cut(renamed(piece.node, rename), piece.low, piece.width) for piece in word
    )
