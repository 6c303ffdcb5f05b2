"""Arguments of a call in a JSON file, as the texts that a command line would have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sim.call.single import ArgumentError
from sim.kernels.signature import Signature


def arguments_in(path: Path, signature: Signature) -> list[str]:
    """The arguments in a file, a list in order or an object by name, as `read_arguments` takes them.

    A number is a number, an array or a vector a list of numbers, or of lists, a structure an object by its fields or a
    list of all their numbers, several of them a list of objects, null a null pointer; a text is what it would be on the
    command line.  Raises ArgumentError.
    """
    try:
        given = json.loads(path.read_bytes())
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{path} is no JSON: {str(error) or 'it is nested too deeply'}") from None
    arguments = {argument.name: argument for argument in signature.arguments}
    if isinstance(given, dict):
        given = _in_order(given, list(arguments), str(path))
    if not isinstance(given, list):
        raise ArgumentError(f"{path} holds neither a list of the arguments nor an object with their names")
    if len(given) != len(arguments):
        raise ArgumentError(f"{path} has {len(given)} arguments, and the function {len(arguments)}")
    texts = []
    for value, name in zip(given, arguments, strict=True):
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, list | dict) for part in parts):
            texts.append(json.dumps(value))
            continue
        numbers = all(isinstance(part, int | float) for part in parts)  # a truth is 1 or 0
        if value is not None and not numbers and not isinstance(value, str):
            raise ArgumentError(f"{path}: {name!r} is no number, text or null, and no lists or object of numbers")
        is_text = value is None or isinstance(value, str)
        texts.append((value or "null") if is_text else ",".join(repr(part + 0) for part in parts))
    return texts


def _in_order(given: dict[str, Any], names: list[str], what: str) -> list[Any]:
    """The values of an object that has these names and no others."""
    for name in (*names, *given):
        if name not in given or name not in names:
            raise ArgumentError(
                f"{what} {'lacks' if name in names else 'has no'} {name!r}: {', '.join(names) or 'none'}"
            )
    return [given[name] for name in names]
