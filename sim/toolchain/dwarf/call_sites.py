"""Which line calls a wrapper that was inlined: gcc's intrinsics are functions of arm_neon.h with lines of their own.

Source: DWARF 5, sections 2.11 (artificial entries), 2.17 (addresses), 3.3.8 (inlined subroutines); GCC's attribute
`artificial`, by which a header asks that its functions be shown as one step of their caller.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

_SCOPES: Final = ("DW_TAG_namespace", "DW_TAG_subprogram", "DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")
_CALLED: Final = {"DW_AT_call_file", "DW_AT_call_line", "DW_AT_abstract_origin"}
_IN_OTHER_FILES: Final = ("DW_FORM_GNU_ref_alt", "DW_FORM_ref_sup4", "DW_FORM_ref_sup8")


class CallSite(NamedTuple):
    """Addresses from `start` to before `end` are a wrapper's, called in `line` of the unit's file number `file`."""

    start: int
    end: int
    file: int
    line: int


def call_sites(unit: Any) -> list[CallSite]:
    """Of all outermost artificial functions that were inlined in a unit (of pyelftools), by their addresses.

    Raises ValueError for entries in a circle, and what pyelftools raises for malformed ones.
    """
    top = unit.get_top_DIE()
    base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
    found, reached, scopes = list[CallSite](), top.offset, [top.iter_children()]
    while scopes:
        die = next(scopes[-1], None)
        if die is None:
            scopes.pop()
            continue
        if die.offset <= reached:
            raise ValueError("entries of debugging information in a circle")
        reached = die.offset
        if _is_wrapper(die):
            file, line = (die.attributes[name].value for name in ("DW_AT_call_file", "DW_AT_call_line"))
            found += [CallSite(start, end, file, line) for start, end in _addresses(die, base) if start < end and line]
        elif die.tag in _SCOPES:
            scopes.append(die.iter_children())
    return sorted(found)


def by_caller(start: int, end: int, sites: Sequence[CallSite]) -> Iterator[tuple[int, int, CallSite | None]]:
    """Addresses from `start` to before `end`, parted by the call sites, which are sorted, that they are of."""
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


def _is_wrapper(die: Any) -> bool:
    """Whether it is an inlined function that is marked as artificial; no one asks a file that is not there."""
    if not die.attributes.keys() >= _CALLED or die.attributes["DW_AT_abstract_origin"].form in _IN_OTHER_FILES:
        return False
    return "DW_AT_artificial" in die.get_DIE_from_attribute("DW_AT_abstract_origin").attributes


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
