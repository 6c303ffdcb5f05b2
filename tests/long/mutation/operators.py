"""Small mistakes that can be planted in a module, one at a time, each a piece of its text and another in its place.

Left as they are: annotations, decorators, docstrings and every other text with what is formatted into it, the words of
errors, what only type checkers see, calls that only show how far a run is, and tables outside of functions, which are
data with tests of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from long.mutation.blocks import Function, Source, block_of, bodies

COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
SHIFTS: Final = (ast.LShift, ast.RShift)
OPPOSITES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_NEGATIONS: Final = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
"""Comparisons of which the change is the same as to negate them."""
_SHOWING: Final = ("print", "print_progress", "cast", "ljust", "rjust", "center", "super", "TypeVar")
"""Calls in which nothing is changed, and which are not left out."""
_OF_FORM: Final = ("strict", "repr", "init", "kw_only", "flush")
"""Arguments by keyword that change nothing but how a mistake of ours shows."""
_AS_TEXT: Final = ("__str__", "__repr__", "__format__")
_MADE_IN: Final = ("__init__", "__post_init__")
"""Where an assignment left out is only a missing attribute."""


@dataclass(frozen=True)
class Change:
    """A piece of a module's text, from byte to byte, and what is put in its place.

    `function` is the qualified name of the function around it, empty at the top of the module; `block` the line of its
    block, None in what an import runs.
    """

    operator: str
    start: int
    end: int
    text: str
    line: int
    function: str
    block: int | None

    def planted(self, source: Source) -> bytes:
        """The module's text with the mistake."""
        return source.text[: self.start] + self.text.encode() + source.text[self.end :]


def changes(source: Source) -> list[Change]:
    """All mistakes of a module, in the order of its text; none of them twice."""
    found = dict.fromkeys(_Finder(source).within(source.tree.body, (), None))
    same = {(one.start, one.end, one.text): one for one in reversed(found)}
    return sorted(same.values(), key=lambda one: (one.start, one.end, one.text))


@dataclass(frozen=True)
class _Piece:
    """A change, but for where it is."""

    operator: str
    node: ast.expr | ast.stmt
    text: str


class _Finder:
    def __init__(self, source: Source) -> None:
        self._source, self._block = source, block_of(source)

    def within(self, statements: list[ast.stmt], names: tuple[str, ...], function: Function | None) -> Iterator[Change]:
        """The changes of statements in so named classes and functions."""
        for statement in statements:
            if _only_for_types(statement) or (isinstance(statement, Function) and statement.name in _AS_TEXT):
                continue
            for piece in (*self._of_statement(statement, function), *self._of_expressions(statement, function)):
                start, end = self._source.span(piece.node)
                name, block = ".".join(names), self._block[statement]
                yield Change(piece.operator, start, end, piece.text, piece.node.lineno, name, block)
            named = isinstance(statement, Function | ast.ClassDef)
            inner = (*names, statement.name) if isinstance(statement, Function | ast.ClassDef) else names
            around = statement if isinstance(statement, Function) else None if named else function
            for body in bodies(statement):
                yield from self.within(body, inner, around)

    def _of_statement(self, statement: ast.stmt, function: Function | None) -> Iterator[_Piece]:
        written = self._source.written
        match statement:
            case ast.AugAssign() | ast.Raise():
                yield _Piece("statement left out", statement, "pass")
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) if function and function.name not in _MADE_IN:
                yield _Piece("statement left out", statement, "pass")
            case ast.Expr(value=ast.Call() as call) if _name(call.func) not in _SHOWING and function:
                if not _called_on_super(call):
                    yield _Piece("statement left out", statement, "pass")
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                if function and isinstance(function.returns, ast.Name) and function.returns.id == "bool":
                    yield from self._negated(value)
                else:
                    yield _Piece("nothing returned", statement, "return None")
            case ast.If(test=test) | ast.While(test=test):
                yield from self._negated(test)
            case ast.Match(cases=cases):
                for case in cases:
                    if case.guard is not None:
                        yield from self._negated(case.guard)
        if isinstance(statement, ast.AugAssign) and type(statement.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(statement.op)]
            text = f"{written(statement.target)} {new}= {written(statement.value)}"
            yield _Piece(f"{old} to {new}", statement, text)

    def _negated(self, test: ast.expr) -> Iterator[_Piece]:
        written = self._source.written
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield _Piece("condition negated", test, f"({written(operand)})")
            case ast.Compare(ops=[operator]) if isinstance(operator, _NEGATIONS):
                pass
            case _:
                yield _Piece("condition negated", test, f"(not ({written(test)}))")

    def _of_expressions(self, statement: ast.stmt, function: Function | None) -> Iterator[_Piece]:
        for expression in _expressions(statement):
            if function is None and _is_type(expression):
                continue
            for node in _nodes(expression) if function else _nodes_at_the_top(expression):
                yield from self._of_node(node)

    def _of_node(self, node: ast.expr) -> Iterator[_Piece]:
        written = self._source.written
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                operands = [left, *others]
                for at, operator in enumerate(operators):
                    old, new = COMPARISONS[type(operator)]
                    if changed := self._operator_changed(node, operands[at], operands[at + 1], old, new):
                        yield _Piece(f"{old} to {new}", node, changed)
            case ast.BoolOp(op=operator, values=values):
                old, new = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                text = f" {new} ".join(f"({written(value)})" for value in values)
                yield _Piece(f"{old} to {new}", node, f"({text})")
            case ast.BinOp(op=operator, left=left, right=right):
                if isinstance(operator, SHIFTS):
                    sign = "<<" if isinstance(operator, ast.LShift) else ">>"
                    for more in ("+ 1", "- 1"):
                        yield _Piece(f"{sign} by one", node, f"(({written(left)}) {sign} ({written(right)}) {more})")
                elif type(operator) in ARITHMETIC and not (_is_text(left) or _is_text(right)):
                    old, new = ARITHMETIC[type(operator)]
                    if changed := self._operator_changed(node, left, right, old, new):
                        yield _Piece(f"{old} to {new}", node, f"({changed})")
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
                yield _Piece("- left out", node, f"({written(operand)})")
            case ast.Constant(value=bool() as value):
                yield _Piece("other constant", node, str(not value))
            case ast.Constant(value=int() as value):
                yield _Piece("constant one more", node, f"({value + 1})")
                yield _Piece("constant one less", node, f"({value - 1})")
            case ast.IfExp(test=test):
                yield from self._negated(test)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for test in (test for generator in node.generators for test in generator.ifs):
                    yield from self._negated(test)
            case ast.Call(func=ast.Name(id=name) as called) if name in OPPOSITES:
                yield _Piece(f"{name} to {OPPOSITES[name]}", called, OPPOSITES[name])
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                yield from self._bounds_moved("range", bounds[:2])
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper)):
                yield from self._bounds_moved("slice", [bound for bound in (lower, upper) if bound is not None])

    def _operator_changed(self, node: ast.expr, left: ast.expr, right: ast.expr, old: str, new: str) -> str | None:
        """The text of a node with the operator between two operands changed; None where it is not to be found."""
        (start, end), (_, before), (after, _) = map(self._source.span, (node, left, right))
        text = self._source.text
        word = r"\s+".join(rf"\b{part}\b" if part.isalpha() else re.escape(part) for part in old.split())
        between, count = re.subn(word, new, text[before:after].decode())
        return text[start:before].decode() + between + text[after:end].decode() if count == 1 else None

    def _bounds_moved(self, of: str, bounds: list[ast.expr]) -> Iterator[_Piece]:
        """By one; a bound that is a number is a constant anyway."""
        for bound in bounds:
            if not isinstance(bound, ast.Constant | ast.UnaryOp | ast.Starred):
                for more in ("+ 1", "- 1"):
                    yield _Piece(f"{of} bound by one", bound, f"({self._source.written(bound)}) {more}")


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Those of a statement itself, not of the statements inside of it."""
    match statement:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            yield from (one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None)
        case ast.ClassDef() | ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom():
            pass
        case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("__"):
            pass
        case ast.AnnAssign(value=value):
            if value is not None:
                yield value
        case ast.With(items=items):
            yield from (item.context_expr for item in items)
        case ast.Match(subject=subject, cases=cases):
            yield subject
            yield from (case.guard for case in cases if case.guard is not None)
        case _:
            yield from (child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr))


def _nodes(expression: ast.AST) -> Iterator[ast.expr]:
    """The expressions in an expression, without those that are left as they are."""
    if isinstance(expression, ast.JoinedStr):
        return
    if isinstance(expression, ast.Call) and _name(expression.func) in _SHOWING:
        return
    if isinstance(expression, ast.keyword) and expression.arg in _OF_FORM:
        return
    if isinstance(expression, ast.expr):
        yield expression
    children = list(ast.iter_child_nodes(expression))
    if isinstance(expression, ast.Call) and _name(expression.func) in ("isinstance", "issubclass"):
        children = [*expression.args[:1]]
    for child in children:
        yield from _nodes(child)


def _nodes_at_the_top(expression: ast.AST) -> Iterator[ast.expr]:
    """Of what stands outside of functions: those of a constant and of a lambda; tables and what is called are data."""
    if isinstance(expression, ast.Lambda):
        yield from _nodes(expression.body)
    elif isinstance(expression, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Call | ast.JoinedStr):
        for one in ast.walk(expression):
            if isinstance(one, ast.Lambda):
                yield from _nodes(one.body)
    elif isinstance(expression, ast.expr):
        yield expression
        for child in ast.iter_child_nodes(expression):
            yield from _nodes_at_the_top(child)


def _only_for_types(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return ast.unparse(statement.test) == "TYPE_CHECKING"
    return isinstance(statement, Function) and any(_name(one) == "overload" for one in statement.decorator_list)


def _name(called: ast.expr) -> str:
    """The last word of what is called."""
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


def _called_on_super(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "super()"


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))


def _is_type(value: ast.expr) -> bool:
    """At the top of a module: a name given to a type."""
    union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
    return isinstance(value, ast.Subscript) or (union and not any(isinstance(n, ast.Constant) for n in ast.walk(value)))
