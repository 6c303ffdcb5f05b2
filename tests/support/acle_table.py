"""ACLE's own table of intrinsics, as facts: the names of each prototype, with the ranges of immediates in their places.

`acle_intrinsics.txt` is derived from the file tools/intrinsic_db/advsimd.csv of https://github.com/ARM-software/acle;
`PYTHONPATH=tests python -m support.acle_table advsimd.csv` writes it anew.
"""

from __future__ import annotations

import re
import textwrap
from functools import partial
from pathlib import Path

from sim.terminal.script import parser_of, run_by_hand

TABLE = Path(__file__).with_name("acle_intrinsics.txt")
_PROTOTYPE = re.compile(r"(.*?)\s*(\w+)\s*\((.*)\)")
_RANGE = re.compile(r"(\d+)\s*<=\s*(\w+)\s*<=\s*(\d+)|(\w+)\s*==\s*(\d+)")


def signatures() -> dict[str, str]:
    """By name: the type of the result, then of each argument, apart by spaces; `0..7` is an immediate."""
    paragraphs = re.findall(r"^(\S.*)\n((?:  .*\n)+)", TABLE.read_text(), re.M)
    return {name: signature for signature, names in paragraphs for name in names.split()}


def derived(csv: str) -> dict[str, str]:
    """The same from Arm's file.  A name that it has twice is one whose immediate has two ranges that meet."""
    found: dict[str, list[str]] = {}
    for line in csv.splitlines():
        match = _PROTOTYPE.match(line.split("\t")[0])
        if match is None or line.startswith("<"):
            continue
        result, name, arguments = match.groups()
        ranges = {v or w: (low or n, high or n) for low, v, high, w, n in _RANGE.findall(line.split("\t")[1])}
        words = [_type(result), *(_argument(text.strip(), ranges) for text in arguments.split(",") if text)]
        found[name] = [_both(*pair) for pair in zip(found.get(name, words), words, strict=True)]
    return {name: " ".join(words) for name, words in found.items()}


def _argument(text: str, ranges: dict[str, tuple[str, str]]) -> str:
    constant = re.fullmatch(r"(?:const int (\w+)|__builtin_constant_p ?\((\w+)\))", text)
    return "..".join(ranges[constant[1] or constant[2]]) if constant else _type(re.sub(r"(?<=[ *])\w+$", "", text))


def _type(text: str) -> str:
    return re.sub(r"\bconst\b|\s", "", text)


def _both(one: str, other: str) -> str:
    if ".." not in one:
        return one
    bounds = [int(bound) for word in (one, other) for bound in word.split("..")]
    return f"{min(bounds)}..{max(bounds)}"


def main() -> None:
    """Write the table from the file that is named."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, help="advsimd.csv")
    names: dict[str, list[str]] = {}
    for name, signature in derived(parser.parse_args().file.read_text()).items():
        names.setdefault(signature, []).append(name)
    fill = partial(textwrap.fill, width=120, initial_indent="  ", subsequent_indent="  ")
    TABLE.write_text("".join(f"{words}\n{fill(' '.join(found))}\n" for words, found in sorted(names.items())))


if __name__ == "__main__":
    run_by_hand(main)
