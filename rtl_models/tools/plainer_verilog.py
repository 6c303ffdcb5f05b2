"""What yosys does not take of SystemVerilog and Verilator does, in words: the construct, and how else it is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_REFUSED: Final = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+): ERROR: ?(?P<said>.+)")
_OF_THE_LANGUAGE: Final = (
    "syntax error", "Assignment pattern", "Static cast", "Failed to resolve identifier", "Can't resolve",
)  # fmt: skip
"""How its message begins where it is about how something is written, not about what is meant by it."""
_REWRITTEN: Final = (
    (r"'\{", "an assignment pattern '{...}", "a concatenation {...}, or each field by itself"),
    (r"-\s*\w+\s*'\s*\(", "a sign before the size of a cast, -33'(x)", "-(33'(x))"),
    (r"\binside\b", "inside", "==, >= and <="),
    (r"\breturn\b", "return", "an assignment to the name of the function"),
    (r"\bforeach\b", "foreach", "for with an index"),
    (r"\b(break|continue)\b", "break and continue", "a condition around what they leave out"),
    (r"\{\s*(<<|>>)", "a streaming concatenation", "a loop over the bits"),
    (r"\bimport\b", "import", "the name with its package, package::name"),
    (r"[=!]=\?", "==?", "casez, or a mask before =="),
    (r"\biff\b", "iff", "an if inside"),
    (r"\b(do|while)\b", "do and while", "for with a number of rounds that is known"),
    (r"\bproperty\b", "a concurrent assertion", "it between `ifndef YOSYS and `endif"),
)
"""What stands in the line that is refused, what that is, and what to write in its place."""


def in_words(error: str, folder: Path) -> str:
    """An error of yosys about a file of the folder as one sentence that says what to do; any other as it is."""
    found = _REFUSED.fullmatch(error.strip())
    if found is None or not found["said"].startswith(_OF_THE_LANGUAGE) or not (folder / found["file"]).is_file():
        return error
    lines = (folder / found["file"]).read_text(errors="replace").splitlines()
    # an error of syntax may be told of the line behind it
    near = reversed(lines[max(0, int(found["line"]) - 2) : int(found["line"])])
    known = [(what, instead) for line in near for shape, what, instead in _REWRITTEN if re.search(shape, line)]
    at, says = f"{found['file']}:{found['line']}", found["said"].rstrip(".")
    reader = "yosys, which reads modules for proofs, mutants and synthesis, takes less of SystemVerilog than Verilator"
    if not known:
        return f"{at}: {says} ({reader}: what that takes is to be written in plainer words)"
    what, instead = known[0]
    return f"{at}: {reader}, and not {what}: write {instead} (it says: {says})"
