"""How many elements an axis has: a number, the name of an argument, or C's arithmetic of them, as in a[(k + 3) / 4].

A field of a structure is named as in p.n, an element of an array as in a[1][2].
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from isa.errors import LanewiseError

Extent = int | str
LONGEST: Final = 200
"""Characters of one."""
_OPERATORS: Final = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


class NoExtent(LanewiseError, ValueError):
    """An extent that the arguments of a call do not decide; the message is one sentence."""


@cache
def names_in(extent: Extent) -> frozenset[str]:
    """The arguments that it depends on.  Raises ValueError for a text that is none."""
    if isinstance(extent, int):
        return frozenset()
    nodes = list(ast.walk(_parsed(extent)))
    bases = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(
        ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute) and node not in bases
    )


def value_of(extent: Extent, arguments: Mapping[str, Any]) -> int:
    """The number that it is in a call.  Raises NoExtent where it is none, as an argument is missing or no number."""
    if isinstance(extent, int):
        return extent
    tree = None if extent in arguments else _parsed(extent)  # nearly all are a name
    try:
        return int(arguments[extent]) if tree is None else _value(tree, arguments)
    except ZeroDivisionError:
        raise NoExtent(f"the extent {extent} divides by zero") from None
    except KeyError as error:
        there = ", ".join(map(str, arguments)) or "nothing"
        raise NoExtent(f"the extent {extent} asks for {error.args[0]!r}, and there is {there}") from None
    except (TypeError, ValueError, OverflowError):
        given = f": {arguments[extent]!r:.60}" if tree is None else ""
        raise NoExtent(f"the extent {extent} is no number{given}") from None


def _value(node: ast.expr, arguments: Mapping[str, Any]) -> int:
    match node:
        case ast.Constant():
            assert isinstance(node.value, int)  # no pattern: where a reference is traced, another class is called int
            return node.value
        case ast.Name(name):
            return int(arguments[name])
        case ast.Attribute():  # a field: of its structure, or by itself under its whole name
            whole = ast.unparse(node)
            if whole in arguments:
                return int(arguments[whole])
            value: Any = arguments
            for part in whole.split("."):
                value = value[part]
            return int(value)
        case ast.BinOp(left, operation, right):
            return int(_OPERATORS[type(operation)](_value(left, arguments), _value(right, arguments)))
        case _:
            raise AssertionError(f"{ast.dump(node)} was let through")


@cache
def _parsed(extent: str) -> ast.expr:
    """Of C's operators on sizes, which are never negative, `/` rounds down."""
    fault = ValueError(f"{extent!r} is no extent: give numbers, names of arguments, and + - * / % of them")
    if len(extent) > LONGEST:
        raise fault
    try:
        tree = ast.parse(extent.replace("//", "?").replace("/", "//"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise fault from None
    for node in ast.walk(tree):
        known = isinstance(node, ast.Name | ast.Attribute | ast.Load | ast.operator) or (
            isinstance(node, ast.Constant) and type(node.value) is int
        )
        known = known and not (isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name | ast.Attribute))
        if not known and not (isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS):
            raise fault
    return tree


def indices_in(text: str) -> list[int]:
    """The indices of an element, as they stand in its brackets: [1][2] or [1, 2]."""
    return [int(index) for index in re.findall(r"\d+", text)]


def element_name(array: str, at: Iterable[int]) -> str:
    """An element as C has it, such as a[1][2]."""
    return f"{array}{''.join(f'[{index}]' for index in at)}"
