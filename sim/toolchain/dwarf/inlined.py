"""Which calls a compiler has put the called function in the place of, and on which lines they stand.

Source: DWARF 5, sections 2.11 (artificial entries), 2.17 (addresses), 3.3.8 (inlined subroutines); GCC's attribute
`artificial`, by which a header asks that its functions be shown as one step of their caller: gcc's intrinsics are such
functions of arm_neon.h.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

_SCOPES: Final = ("DW_TAG_namespace", "DW_TAG_subprogram", "DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")
_INLINED: Final = "DW_TAG_inlined_subroutine"
_CALLED: Final = {"DW_AT_call_file", "DW_AT_call_line", "DW_AT_abstract_origin"}
_ORIGINS: Final = ("DW_AT_abstract_origin", "DW_AT_specification")
_IN_OTHER_FILES: Final = ("DW_FORM_GNU_ref_alt", "DW_FORM_ref_sup4", "DW_FORM_ref_sup8")


class CallSite(NamedTuple):
    """Addresses from `start` to before `end` are those of `function`; `depth` such calls are around it.

    `called` are the number of the unit's file and the line of the call.  A wrapper is one that is marked as artificial.
    """

    start: int
    end: int
    depth: int
    function: str
    called: tuple[int, int]
    is_wrapper: bool


def has_inlined(unit: Any) -> bool:
    """Whether a unit (of pyelftools) may have any such call: entries of types are many, and are not read in vain."""
    declarations = unit.get_abbrev_table()._abbrev_map.values()
    return any(declaration.decl["tag"] == _INLINED for declaration in declarations)


def call_sites(unit: Any) -> list[CallSite]:
    """The calls of a unit (of pyelftools) whose function was inlined, by addresses; of wrappers the outermost ones.

    Raises ValueError for entries in a circle, and what pyelftools raises for malformed ones.
    """
    top = unit.get_top_DIE()
    base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
    found, reached, scopes = list[CallSite](), top.offset, [(top.iter_children(), 0)]
    while scopes:
        entries, depth = scopes[-1]
        die = next(entries, None)
        if die is None:
            scopes.pop()
            continue
        if die.offset <= reached:
            raise ValueError("entries of debugging information in a circle")
        reached = die.offset
        inner, is_wrapper = depth, False
        if die.attributes.keys() >= _CALLED and die.attributes["DW_AT_abstract_origin"].form not in _IN_OTHER_FILES:
            function = die.get_DIE_from_attribute("DW_AT_abstract_origin")
            file, line = (die.attributes[name].value for name in ("DW_AT_call_file", "DW_AT_call_line"))
            is_wrapper = "DW_AT_artificial" in function.attributes
            found += [
                CallSite(start, end, depth, _name(function), (file, line), is_wrapper)
                for start, end in _addresses(die, base)
                if start < end and line
            ]
            inner += 1
        if die.tag in _SCOPES and not is_wrapper:
            scopes.append((die.iter_children(), inner))
    return sorted(found)


def by_caller(start: int, end: int, sites: Sequence[CallSite]) -> Iterator[tuple[int, int, CallSite | None]]:
    """Addresses from `start` to before `end`, parted by the call sites (sorted, apart) that they are of."""
    at = max(bisect_right(sites, start, key=lambda site: site.start) - 1, 0)
    while at < len(sites) and sites[at].start < end:
        site = sites[at]
        if start < site.end:
            if start < site.start:
                yield start, site.start, None
            yield max(start, site.start), min(site.end, end), site
            start = min(site.end, end)
        at += 1
    if start < end:
        yield start, end, None


def _name(function: Any) -> str:
    """That of a function's entry, or of the entry that it is of; "" where it has none, or goes round in a circle."""
    seen = set[int]()
    while function.offset not in seen:
        seen.add(function.offset)
        if "DW_AT_name" in function.attributes:
            name: bytes = function.attributes["DW_AT_name"].value
            return name.decode(errors="replace")
        further = next((name for name in _ORIGINS if name in function.attributes), None)
        if further is None or function.attributes[further].form in _IN_OTHER_FILES:
            break
        function = function.get_DIE_from_attribute(further)
    return ""


def _addresses(die: Any, base: int) -> Iterator[tuple[int, int]]:
    """The parts of an entry's code; those of a list are counted from the unit's base on, or from one in the list."""
    said = die.attributes
    if "DW_AT_ranges" in said:
        for part in die.dwarfinfo.range_lists().get_range_list_at_offset(said["DW_AT_ranges"].value, die.cu):
            if hasattr(part, "base_address"):
                base = part.base_address
            else:
                offset = 0 if part.is_absolute else base
                yield offset + part.begin_offset, offset + part.end_offset
    elif {"DW_AT_low_pc", "DW_AT_high_pc"} <= said.keys():
        start, end = said["DW_AT_low_pc"].value, said["DW_AT_high_pc"]
        yield start, end.value if end.form == "DW_FORM_addr" else start + end.value
