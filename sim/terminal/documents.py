"""What commands print for machines: each kind of document has a name, and a JSON Schema of that name.

The schemas lie in `schemas` beside this module, those of another package's command in `schemas` beside that command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, Final

from isa.errors import LanewiseError

_FOLDER: Final = "schemas"
_REFERENCE: Final = re.compile(r'"\$ref": "urn:lanewise:(?P<name>[^:]+):\d+#')
"""From one schema to a part of another."""


class UnknownDocument(LanewiseError, LookupError):
    """No document has that name; the message is one sentence."""


def document_names() -> list[str]:
    """The documents that have a schema, sorted."""
    return sorted(file.stem for folder in _folders() for file in folder.glob("*.json"))


def schema_text(name: str) -> str:
    """The JSON Schema (draft 2020-12) of a document, as text.  Raises UnknownDocument.

    It stands by itself: schemas that it refers to are among its `$defs`, each under its own `$id`.
    """
    text = _own_text(name)
    others = sorted({match["name"] for match in _REFERENCE.finditer(text)})
    if not others:
        return text
    schema = json.loads(text)
    within = (json.loads(schema_text(other)) for other in others)
    schema["$defs"] = schema.get("$defs", {}) | {other["$id"]: other for other in within}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _own_text(name: str) -> str:
    for folder in _folders():
        file = folder / f"{name}.json"
        if file.is_file() and file.parent == folder:
            return file.read_text(encoding="utf-8")
    raise UnknownDocument(f"no document is called {name!r}: lanewise schema names them")


def schema_title(name: str) -> str:
    """What a document is, in a line.  Raises UnknownDocument."""
    return str(json.loads(schema_text(name))["title"])


def as_document(name: str, value: Any) -> Any:
    """A value as a document of that name: an object says first of which schema it is, where its schema has that.

    What JSON has no number for is text: "NaN", "Infinity", "-Infinity".  Raises UnknownDocument.
    """
    schema = json.loads(schema_text(name))
    marked = {"schema": schema["$id"], **value} if "schema" in schema.get("properties", ()) else value
    return _finite(marked)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def _folders() -> Iterator[Path]:
    yield Path(__file__).parent / _FOLDER
    for entry in entry_points(group="lanewise.commands"):
        with suppress(ImportError):  # of a package that is not there: its command says so
            found = find_spec(entry.module.rpartition(".")[0] or entry.module)
            yield from (Path(place) / _FOLDER for place in (found and found.submodule_search_locations) or ())
