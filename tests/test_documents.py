"""What commands print for machines has a schema, which says all of it.

`tests/conftest.py` compares whatever a command prints with --json in any test; here is that this would notice.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from jsonschema import Draft202012Validator

from sim import __version__, explain
from sim.command.app import app
from sim.terminal import output
from sim.terminal.documents import UnknownDocument, as_document, document_names, schema_text
from support.command import lanewise
from support.documents import WrongDocument, compare, unfilled, validator

ROOT = Path(__file__).parents[1]
FILES = {"captured-call", "trace"}
"""Documents that no --json prints."""


def printed_documents() -> set[str]:
    """The names that code hands to `print_json`."""
    texts = (path.read_text() for package in ("sim", "rtl_models") for path in (ROOT / package).rglob("*.py"))
    calls = (part for text in texts for part in text.split("print_json(")[1:] if part[0] != "d")  # its definition
    return {part.split('"')[1] for part in calls}


def objects_in(schema: Any) -> Iterator[dict[str, Any]]:
    """The objects of a schema that have named fields."""
    if isinstance(schema, dict):
        if "properties" in schema and isinstance(schema["properties"], dict):
            yield schema
        for one in schema.values():
            yield from objects_in(one)
    if isinstance(schema, list):
        for one in schema:
            yield from objects_in(one)


def commands_with_json(command: Any, context: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """The commands that take --json, as `lanewise rtl test`."""
    if any("--json" in option.opts for option in command.params):
        yield " ".join(["lanewise", *words])
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        found = command.resolve_command(context, [name])[1]
        inner = type(context)(found, parent=context, info_name=name)
        yield from commands_with_json(found, inner, (*words, name))


@pytest.mark.parametrize("name", document_names())
def test_a_schema_is_one_and_says_its_name_and_version(name: str) -> None:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].rpartition(":")[0] == f"urn:lanewise:{name}"
    assert schema["title"]


@pytest.mark.parametrize("name", sorted(set(document_names()) - {"captured-call"}))
def test_a_schema_allows_no_field_that_it_does_not_name(name: str) -> None:
    """Its objects are closed, here or, where another document has them within its own, there."""
    schema = json.loads(schema_text(name))
    shared = schema.get("$defs", {}).get("report")
    schema["$defs"] = {key: one for key, one in schema.get("$defs", {}).items() if "$id" not in one}  # it has its turn
    open_ones = [each for each in objects_in(schema) if each is not shared and each.get("additionalProperties", True)]
    told = ["unevaluatedProperties" in each or name == "rtl-test" or "megahertz" in each["properties"]
            for each in open_ones if each.get("additionalProperties") is not False]  # fmt: skip
    assert all(told)


def test_what_is_printed_and_what_has_a_schema_is_the_same() -> None:
    assert printed_documents() | FILES == set(document_names())


def test_every_command_that_takes_json_has_a_schema() -> None:
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="lanewise")
    titles = [json.loads(schema_text(name))["title"] for name in document_names()]
    commands = list(commands_with_json(command, context))
    assert len(commands) > 20
    assert [one for one in commands if not any(title.startswith(f"{one} ") for title in titles)] == []


def rows_of_commands() -> dict[str, list[str]]:
    """By command the cells of its row in docs/commands.md."""
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}


def test_every_command_has_its_page_in_the_order_of_help() -> None:
    """That the links lead somewhere is tested in test_citations.py."""
    command: Any = typer.main.get_command(app)
    assert list(rows_of_commands()) == command.list_commands(typer.Context(command))
    assert all(re.fullmatch(r"\[.+\]\([\w-]+\.md(#[\w-]+)?\)", page) for _, page, _ in rows_of_commands().values())


def test_every_document_is_named_where_its_command_is() -> None:
    named = [name for *_, cell in rows_of_commands().values() for name in re.findall(r"`([\w-]+)`", cell)]
    assert sorted(named) == document_names()


@cache
def check_as_printed() -> str:
    return lanewise("check", "transpose1xw", "--opt", "O1", "--vectors", "20", "--json", "--jobs", "1").stdout


def report_of_a_check() -> dict[str, Any]:
    """One that a test may change."""
    found: dict[str, Any] = json.loads(check_as_printed())
    return found


@pytest.mark.slow
def test_a_field_more_or_less_is_noticed_wherever_it_is() -> None:
    report = report_of_a_check()
    compare("check", report)
    build = report["implementations"][0]
    for place in (report, build, build["native"]):
        place["more"] = 1
        with pytest.raises(WrongDocument, match="more"):
            compare("check", report)
        del place["more"]
    for place, field in ((report, "seed"), (build, "code"), (build["native"], "without")):
        kept = place.pop(field)
        with pytest.raises(WrongDocument, match=field):
            compare("check", report)
        place[field] = kept
    compare("check", report)


@pytest.mark.slow
def test_a_field_of_another_type_is_noticed() -> None:
    report = report_of_a_check()
    with pytest.raises(WrongDocument, match="seed"):
        compare("check", report | {"seed": "1"})


def documents_of_explanations() -> list[dict[str, Any]]:
    """One equal to others, one that matches several, one that a derivation refuses, one that nothing explains."""
    questions = (
        explain(np.array([0], np.int8), accumulators=np.array([-2]), multiplier=2**30, shift=1),
        explain(np.array([11, -11, 6, 127, 1], np.int8), accumulators=np.array([7984, -7984, 4513, 88526, 348]),
                multiplier=1583594044, shift=9),
        explain(np.array([2, 2], np.int8), accumulators=np.array([1, 3]), scale=1.5),
        explain(np.array([-5, 9, -4], np.int8), accumulators=np.array([-10, 18, -8]), multiplier=2**30, shift=-1),
    )  # fmt: skip
    return [as_document("explain", each.as_json()) for each in questions]


def test_an_explanation_is_of_its_schema_with_every_part_that_it_may_have() -> None:
    documents = documents_of_explanations()
    for document in documents:
        compare("explain", document)
    assert unfilled("explain", documents) == []


def test_a_part_that_no_document_has_is_named() -> None:
    documents = documents_of_explanations()
    for document in documents:
        for match in document["matches"]:
            match["alike"] = []
    assert unfilled("explain", documents) == ["explain.matches[].alike[]"]


@pytest.mark.parametrize(
    ("name", "document", "missing"),
    [("model", {"layers": [{"trace": {}}]}, "element"), ("prove-kernel", {"check": {}}, "implementations")],
)
def test_a_schema_that_refers_to_another_stands_by_itself(name: str, document: dict[str, Any], missing: str) -> None:
    """What it refers to is in it, and is looked at: nothing else is handed to the validator."""
    alone = Draft202012Validator(json.loads(schema_text(name)))
    said = [inner.message for problem in alone.iter_errors(document) for inner in problem.context]
    assert f"'{missing}' is a required property" in said


def test_whatever_commands_print_in_tests_is_compared() -> None:
    with pytest.raises(WrongDocument, match="doctor"):
        output.print_json("doctor", [{"name": "numpy"}])


def test_an_object_says_of_which_schema_it_is_and_a_list_does_not() -> None:
    assert json.loads(lanewise("isa", "verify", "nop", "--vectors", "1", "--json").stdout)["schema"] == (
        "urn:lanewise:isa-verify:1"
    )
    assert json.loads(lanewise("kernels", "--json").stdout)[0]["kernel"]


def test_what_json_has_no_number_for_is_text() -> None:
    made = as_document("run", {"outputs": {"y": [1.5, math.nan, -math.inf]}, "instructions": 1, "qc_events": 0})
    assert made["outputs"] == {"y": [1.5, "NaN", "-Infinity"]}


def test_the_command_prints_and_lists_schemas() -> None:
    listed = lanewise("schema").stdout.splitlines()
    assert [line.split()[0] for line in listed] == document_names()
    assert json.loads(lanewise("schema", "rtl-test").stdout) == validator("rtl-test").schema


@pytest.mark.parametrize("name", ["nothing", "../schemas/check", ""])
def test_an_unknown_document_is_refused_in_a_sentence(name: str) -> None:
    result = lanewise("schema", name)
    assert (result.exit_code, result.stderr) == (
        2,
        f"lanewise: no document is called {name!r}: lanewise schema names them\n",
    )
    with pytest.raises(UnknownDocument):
        schema_text(name)


def test_a_package_of_commands_that_is_not_there_has_no_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    known, gone = document_names(), EntryPoint("extra", "elsewhere.commands.extra:app", "lanewise.commands")
    monkeypatch.setattr("sim.terminal.documents.entry_points", lambda group: [*entry_points(group=group), gone])
    assert document_names() == known


def test_lines_of_a_trace_are_of_their_schema() -> None:
    lines = lanewise("trace", "quantize_down", "--length", "16", "--format", "json").stdout.splitlines()
    for line in lines:
        compare("trace", json.loads(line))
    assert any("memory" in json.loads(line) for line in lines)


@pytest.mark.slow
def test_captured_calls_are_of_their_schema(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    lanewise("capture", "transpose1xw", calls, "--vectors", "20")
    lines = calls.read_text().splitlines()
    assert lines
    for line in lines:
        compare("captured-call", json.loads(line))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entry", "here"), ("maps", [[0, 4096, "rz"]]), ("mem", [[0]]), ("regs", {"x31": 1}),
        ("vregs", {"v0": "00"}), ("final", {"x": [1]}), ("outputs", [[0, "key"]]),
    ],
)  # fmt: skip
def test_what_replay_refuses_the_schema_refuses(field: str, value: Any, tmp_path: Path) -> None:
    call = {"id": "f", "entry": 4096, "ret": "0x2000", "maps": [[4096, 4096, "rx"]], "mem": [[4096, "hex:c0035fd6"]]}
    compare("captured-call", call)
    with pytest.raises(WrongDocument):
        compare("captured-call", call | {field: value})
    (tmp_path / "calls.jsonl").write_text(json.dumps(call | {field: value}) + "\n")
    refused = lanewise("replay", tmp_path / "calls.jsonl", "--jobs", "1")
    assert (refused.exit_code, "unreadable" in refused.stdout) == (1, True)


def test_the_change_log_is_in_its_form() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    kinds = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    assert kinds == [kind for kind in order if kind in kinds]
    assert [line for line in lines if line.startswith("## ")] == [f"## {__version__}"]
