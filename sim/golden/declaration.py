"""What a convention says of itself beside its arithmetic, declared above the function that computes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """`formula` is written with the operands' usual letters, `users` completes "used by ...".

    `rows` are those of docs/spec/known_differences.md that have the convention on one side, such as "10b".
    """

    formula: str
    users: str
    rows: tuple[str, ...] = ()


_DECLARATIONS: dict[Callable[..., Any], Declaration] = {}


def convention(*, formula: str, users: str, rows: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Declare the function below to be a convention; it stays the function that it is.  Fields as in `Declaration`."""

    def declare(function: Function) -> Function:
        _DECLARATIONS[function] = Declaration(formula=formula, users=users, rows=rows)
        return function

    return declare


def declaration_of(function: Callable[..., Any]) -> Declaration:
    """What was declared of the function.  `LookupError` where nothing was."""
    if function not in _DECLARATIONS:
        raise LookupError(f"{function.__name__} is no convention: write @convention(formula=..., users=...) above it")
    return _DECLARATIONS[function]
