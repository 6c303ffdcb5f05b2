"""Blocks of a module: runs of statements of which, once the first is begun, the others are reached unless one raises.

Each is named by the line that it begins at.  `with_probes` has every block tell that it is reached, without a line of
the source moving, so that what tests read of lines stays true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
PROBE = "_reached_by_a_test"
"""What a block calls: a name that no module has."""
IMPORT = f"; from long.mutation.recorder import probe as {PROBE}; {PROBE} = {PROBE}(__name__)"
"""What stands behind the first statement of a module with probes."""


@dataclass(frozen=True)
class Source:
    """The text of a module, with the places of its nodes; these are counted in bytes, as `ast` does."""

    text: bytes
    starts: tuple[int, ...]
    tree: ast.Module

    @classmethod
    def of(cls, text: bytes) -> Source:
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return cls(text, tuple(starts), ast.parse(text))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def written(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end].decode()


def block_of(source: Source) -> dict[ast.stmt, int | None]:
    """For every statement the line of its block; None at the top of the module and of classes, which imports run."""
    found: dict[ast.stmt, int | None] = {}

    def descend(statements: list[ast.stmt], outer: int | None, inside: bool) -> None:
        block, begins = outer, inside
        for statement in statements:
            if begins and _can_tell(statement):
                block, begins = statement.lineno, False
            found[statement] = block
            for inner in bodies(statement):
                descend(inner, block, isinstance(statement, Function) or (inside and not _is_class(statement)))
            begins = inside and (begins or bool(list(bodies(statement))))

    descend(source.tree.body, None, False)
    return found


def with_probes(source: Source) -> bytes:
    """The module in which every block tells its line to `long.mutation.recorder`, as it is begun."""
    inserted = []
    for statement, line in block_of(source).items():
        if line != statement.lineno:
            continue
        told = f"{PROBE}({line})"
        head = _head(statement)
        if head is None:
            inserted.append((source.span(statement)[0], f"{told}; "))
        else:
            start, end = source.span(head)
            inserted += [(start, f"({told} or ("), (end, "))")]
    first = source.tree.body[0]
    for statement in source.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            first = statement
    inserted.append((source.span(first)[1], IMPORT))
    text = source.text
    for at, piece in sorted(inserted, reverse=True):
        text = text[:at] + piece.encode() + text[at:]
    return text


def _is_class(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef)


def bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements inside of a statement."""
    for name in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, name, None):
            yield inner
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _head(statement: ast.stmt) -> ast.expr | None:
    """What a compound statement evaluates first, or always; None for a simple one."""
    match statement:
        case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head) | ast.Match(subject=head):
            return head
        case ast.With(items=[first, *_]):
            return first.context_expr
    return None


def _can_tell(statement: ast.stmt) -> bool:
    """Whether a probe fits in: neither a definition, nor `try`, nor a docstring."""
    if isinstance(statement, Function | ast.ClassDef | ast.Try | ast.TryStar):
        return False
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
