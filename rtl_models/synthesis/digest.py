"""What a design's figures follow from, the tools apart, as a digest.

Not in it are comments, white space, and constants of the package that the design does not name: the latencies of other
units.  So it tells whether a figure in a document is of the sources that there are.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rtl_models.synthesis.designs import Design

MAKERS: Final = ("multipliers.py", "netlist.py", "nextpnr.py", "wrapper.py")
"""The files of this folder that decide about a figure."""
_DIGITS: Final = 8
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONSTANT: Final = re.compile(r"localparam [^=;]*?(\w+) *= *([^;]*);")
_WORD: Final = re.compile(r"\w+")


def digest_of(design: Design) -> str:
    """Eight hexadecimal digits."""
    makers = [ast.unparse(ast.parse(Path(__file__).with_name(name).read_text())) for name in MAKERS]
    content = [plain_sources(design.sources), design.parameters, design.copies, makers]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:_DIGITS]


def plain_sources(sources: Mapping[str, str]) -> dict[str, str]:
    """By file name the texts without what does not count; of a package the constants that are needed."""
    texts = {name: " ".join(_COMMENT.sub(" ", text).split()) for name, text in sources.items()}
    packages = {name: text for name, text in texts.items() if Path(name).stem.endswith("_pkg")}
    named = {word for name in texts.keys() - packages.keys() for word in _WORD.findall(texts[name])}
    return texts | {name: _needed(text, named) for name, text in packages.items()}


def _needed(package: str, named: set[str]) -> str:
    """The constants of these names and of those in their values."""
    values = dict(_CONSTANT.findall(package))
    waiting, found = [name for name in values if name in named], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = values[name]
            waiting += [word for word in _WORD.findall(values[name]) if word in values]
    return "; ".join(f"{name} = {value}" for name, value in sorted(found.items()))
