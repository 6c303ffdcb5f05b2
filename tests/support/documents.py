"""What commands print for machines, compared with its schema; `tests/conftest.py` does so in every test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from sim.terminal.documents import schema_text


class WrongDocument(AssertionError):
    """A document that is not what its schema says."""


def compare(name: str, document: object) -> None:
    """Raises WrongDocument where a document is not of the schema of that name."""
    worst = best_match(validator(name).iter_errors(document))
    if worst is not None:
        raise WrongDocument(f"{name}, at {worst.json_path}: {worst.message[:500]}")


@cache
def validator(name: str) -> Draft202012Validator:
    """Of a document: its schema stands by itself."""
    return Draft202012Validator(json.loads(schema_text(name)))


def unfilled(name: str, documents: Sequence[object]) -> list[str]:
    """The parts of a schema that none of these documents has: fields, elements of lists, alternatives.

    Those of another schema that it refers to are that one's.
    """
    return list(_unfilled(validator(name), documents, name))


def _unfilled(part: Draft202012Validator, values: Sequence[Any], place: str) -> Iterator[str]:
    """The parts without a value within a part, by the values that the documents have there."""
    if not values:
        yield place
        return
    schema: Any = part.schema
    if "$ref" in schema and not schema["$ref"].startswith("urn:"):
        found = part._resolver.lookup(schema["$ref"])
        yield from _unfilled(part.evolve(schema=found.contents, _resolver=found.resolver), values, place)
    for at, choice in enumerate(schema.get("anyOf", ())):
        chosen = part.evolve(schema=choice)
        yield from _unfilled(chosen, [value for value in values if chosen.is_valid(value)], f"{place}|{at}")
    fields = schema.get("properties", {})
    objects = [value for value in values if isinstance(value, dict)]  # the others are null, where that is allowed
    for field, inner in fields.items():
        yield from _unfilled(
            part.evolve(schema=inner), [one[field] for one in objects if field in one], f"{place}.{field}"
        )
    if isinstance(others := schema.get("additionalProperties"), dict):
        named = [one for value in objects for field, one in value.items() if field not in fields]
        yield from _unfilled(part.evolve(schema=others), named, f"{place}.*")
    if "items" in schema:
        elements = [one for value in values if isinstance(value, list) for one in value]
        yield from _unfilled(part.evolve(schema=schema["items"]), elements, f"{place}[]")
