"""How many functions of each package are private and used once: a report, no gate.

    .venv/bin/python tests/benchmarks/private_helpers.py [--list PACKAGE]

A helper earns its name by a second caller, a test, or a concept of the field.  Counted are functions and methods; a
private one is used once where its name stands once in its module beside its definition.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from sim.terminal.script import parser_of, run_by_hand

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("isa", "sim", "rtl_models")


class Helper(NamedTuple):
    """A private function that is used once: where it is, and the lines of its body without the docstring."""

    path: Path
    line: int
    name: str
    lines: int


def functions_in(path: Path) -> tuple[int, list[Helper]]:
    """How many functions a module has, and which of them are private and used once."""
    text = path.read_text(encoding="utf-8")
    defined = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = []
    for node in defined:
        private = node.name.startswith("_") and not node.name.startswith("__") and node.name != "_"
        if private and len(re.findall(rf"\b{node.name}\b", text)) == 2:
            body = [
                part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            found.append(Helper(path.relative_to(ROOT), node.lineno, node.name, lines))
    return len(defined), found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--list", choices=PACKAGES, help="name those of a package, the shortest first")
    listed = parser.parse_args().list
    print(f"{'package':12}{'functions':>10}{'used once':>10}{'share':>8}{'below 6 lines':>15}")
    for package in PACKAGES:
        counted = [functions_in(path) for path in sorted((ROOT / package).rglob("*.py"))]
        helpers = [helper for _, some in counted for helper in some]
        total = sum(number for number, _ in counted)
        short = sum(helper.lines < 6 for helper in helpers)
        print(f"{package:12}{total:10}{len(helpers):10}{len(helpers) / total:8.1%}{short:15}")
        if listed == package:
            for helper in sorted(helpers, key=lambda one: one.lines):
                print(f"  {helper.path}:{helper.line} {helper.name} ({helper.lines})")


if __name__ == "__main__":
    run_by_hand(main)
