"""Which source line each instruction was compiled from, and by which calls it came there, from line tables and entries.

Source: DWARF 5, sections 6.2 (line numbers) and 3.3.8 (inlined subroutines).
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from sim.toolchain.dwarf.inlined import by_caller, call_sites, has_inlined


@dataclass(frozen=True)
class SourceLine:
    """A line of a source file, the file as the compiler named it; str() gives "kernel.c:41"."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{posixpath.basename(self.file)}:{self.line}"


class InlinedCall(NamedTuple):
    """Addresses from `start` to before `end` are what a compiler made of the call of `function` at `line`, where it put
    the function itself; `depth` such calls are around it.  str() gives "of rounded, inlined at kernel.c:41".
    """

    start: int
    end: int
    depth: int
    function: str
    line: SourceLine

    def __str__(self) -> str:
        return f"of {self.function or 'a function'}, inlined at {self.line}"

    def moved(self, offset: int) -> InlinedCall:
        """The same that many bytes further up."""
        return self._replace(start=self.start + offset, end=self.end + offset)


class CodeLines(NamedTuple):
    """Where each line begins and ends, and where what was inlined does, both by address."""

    lines: list[tuple[int, int, SourceLine]]
    inlined: tuple[InlinedCall, ...]


def code_lines(dwarf: Any) -> CodeLines:
    """Of a program's debug information (of pyelftools); code of wrappers, as of gcc's intrinsics, is of the line that
    calls them.

    A row of a table holds until the next one; end_sequence and line 0 (the compiler's own code) end it and begin
    nothing.
    """
    lines, inlined = list[tuple[int, int, SourceLine]](), list[InlinedCall]()
    programs: dict[int, tuple[Any, list[Any]]] = {}  # several units may share one line program
    for unit in dwarf.iter_CUs():
        if program := dwarf.line_program_for_CU(unit):
            programs.setdefault(program.program_start_offset, (program, []))[1].append(unit)
    for program, units in programs.values():
        rows = [entry.state for entry in program.get_entries() if entry.state is not None]
        compiled_in = units[-1].get_top_DIE().attributes.get("DW_AT_comp_dir")
        root = compiled_in.value if compiled_in else b""
        first = 0 if program.header["version"] >= 5 else 1  # in DWARF 4 directory 0 is the unit's own
        directories = [root] * first + list(program.header["include_directory"])
        paths = ((root, directories[file["dir_index"]], file["name"]) for file in program.header["file_entry"])
        files = {index: posixpath.join(*parts).decode(errors="replace") for index, parts in enumerate(paths, first)}
        sites = sorted(
            site for unit in units if has_inlined(unit) for site in call_sites(unit) if site.called[0] in files
        )
        wrappers = [site for site in sites if site.is_wrapper]
        for site in sites:
            if not site.is_wrapper:
                file, line = site.called
                call = SourceLine(files[file], line)
                inlined.append(InlinedCall(site.start, site.end, site.depth, site.function, call))
        for row, following in pairwise(rows):
            if not row.end_sequence and row.line > 0:
                for start, end, wrapper in by_caller(row.address, following.address, wrappers):
                    file, line = (row.file, row.line) if wrapper is None else wrapper.called
                    lines.append((start, end, SourceLine(files[file], line)))
    return CodeLines(lines, tuple(sorted(inlined, key=lambda call: call[:3])))
