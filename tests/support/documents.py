"""What commands print for machines, compared with its schema; `tests/conftest.py` does so in every test."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry, Resource

from sim.terminal.documents import document_names, schema_text


class WrongDocument(AssertionError):
    """A document that is not what its schema says."""


def compare(name: str, document: object) -> None:
    """Raises WrongDocument where a document is not of the schema of that name."""
    worst = best_match(validator(name).iter_errors(document))
    if worst is not None:
        raise WrongDocument(f"{name}, at {worst.json_path}: {worst.message[:500]}")


@cache
def validator(name: str) -> Draft202012Validator:
    """Of a document; schemas may refer to each other."""
    schemas = {each: json.loads(schema_text(each)) for each in document_names()}
    resources: list[tuple[str, Resource[Any]]] = [
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    ]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas[name], registry=registry)
