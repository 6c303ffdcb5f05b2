"""The C of this folder as a library for this computer, and the structures that it shares with Python."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from ctypes import CDLL, Structure, addressof, c_int64, c_void_p, sizeof
from enum import IntEnum, auto
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError
from sim.machine.host_compiler import compile_for_host
from sim.timing.model.operation import WIDEST_SCALAR
from sim.timing.model.predictor import HISTORIES
from sim.timing.model.schedule import Stage
from sim.timing.native.arrays import KINDS

Array = np.ndarray[Any, Any]
_FILES: Final = ("stream.c", "memory.c", "predictor.c", "in_order.c", "out_of_order.c", "analysis.c")
SLICE: Final = 65_536
"""Instructions, or as much of anything, some hundredths of a second, after which Python sees Ctrl-C."""

OPERATION: Final = np.dtype(
    [
        (name, np.int32)
        for name in (
            "first_source", "sources", "first_result", "results", "first_use", "uses", "slots", "first", "latency",
            "done_after", "entries", "is_store", "is_vector", "key", "last_result",
        )
    ]
    + [("fraction", np.int64)],
    align=True,
)  # fmt: skip
SOURCE: Final = np.dtype([(name, np.int32) for name in ("name", "kind", "row")])
RESULT: Final = np.dtype([(name, np.int32) for name in ("name", "column", "moves_base")])
USE: Final = np.dtype(
    [
        (name, np.int32)
        for name in ("first_pipe", "pipes", "cycles", "start", "key", "longer", "longer_key")
    ]
    + [("fraction", np.int64)],
    align=True,
)  # fmt: skip
STEP: Final = np.dtype(
    [("start", np.int64), ("end", np.int64), ("source", np.int32), ("target", np.int32), ("what", np.int16),
     ("stage", np.uint8), ("kind", np.uint8)],
    align=True,
)  # fmt: skip


class BranchWay(IntEnum):
    """What the predictor does for a branch."""

    NO_WAY = 0
    CALL = auto()
    INDIRECT_CALL = auto()
    INDIRECT = auto()
    RETURN = auto()
    CONDITION = auto()


class Arrays(Structure):
    """A structure of numbers and of pointers into arrays, which it keeps as long as it lives."""

    def point(self, **arrays: Array) -> None:
        """Let fields point to arrays."""
        kept = self.__dict__.setdefault("kept", {})
        for name, array in arrays.items():
            kept[name] = array
            setattr(self, name, array.ctypes.data)

    def point_at(self, **structures: Structure) -> None:
        """Let fields point to structures."""
        kept = self.__dict__.setdefault("kept", {})
        for name, structure in structures.items():
            kept[name] = structure
            setattr(self, name, addressof(structure))

    def array(self, name: str) -> Array:
        """The array that a field points to."""
        found: Array = self.__dict__["kept"][name]
        return found


def _words(*names: str) -> list[tuple[str, type]]:
    """Fields of eight bytes: numbers, and pointers."""
    return [(name, c_int64) for text in names for name in text.split()]


class ScheduleC(Arrays):
    """`Schedule` of stream.c, field for field."""

    _fields_ = _words(
        "count unit operation taken mispredicted first_load first_store load store load_size store_size",
        "first_writer writer delay first_use operations source result use pipe distance columns pipes names queue",
        "turn in_turn in_order width reorder_buffer retire_width mispredict unaligned interval forward_scalar",
        "forward_vector",
        "entered available issued ready retired entry_kind operand_kind issue_kind entry_cause operand_cause",
        "issue_cause entry_what operand_what issue_what busy_pipe busy_from busy_to owed free holder made_at made_by",
        "made_as next now used_slots redirect redirected_by last_taken taken_next taken_exact pair_count pair_room",
        "pair more",
    )


class StoresC(Arrays):
    """`Stores` of memory.c."""

    _fields_ = _words(
        "count next first_load first_store load store load_size store_size first_writer writer writers writer_room",
        "stored blocks block_room table tables table_room",
    )


class PredictorC(Arrays):
    """`Predictor` of predictor.c."""

    _fields_ = _words(
        "branches next pc next_pc way taken backward wrong counter counters counter_room target targets target_room",
        "call calls call_room history",
    )


class ChainC(Arrays):
    """`Chain` of analysis.c."""

    _fields_ = _words("schedule next main_at base_at chain first_need producer cycles")


class PathC(Arrays):
    """`Path` of analysis.c."""

    _fields_ = _words("schedule done number stage room steps step")


class SlackC(Arrays):
    """`Slack` of analysis.c."""

    _fields_ = _words(
        "schedule done needs filling crowding at event holder idle left next dispatch_to_issue",
    )


_SHARED: Final = {
    "Schedule": sizeof(ScheduleC), "Stores": sizeof(StoresC), "Predictor": sizeof(PredictorC), "Chain": sizeof(ChainC),
    "Path": sizeof(PathC), "Slack": sizeof(SlackC), "Operation": OPERATION.itemsize, "Source": SOURCE.itemsize,
    "Result": RESULT.itemsize, "Use": USE.itemsize, "Step": STEP.itemsize,
}  # fmt: skip


def text() -> str:
    """All of it, below what C has from Python: numbers of kinds and stages, constants, the sizes of structures."""
    kinds = ", ".join(kind.name for kind in KINDS)
    stages, ways = (", ".join(f"{one.name} = {one.value}" for one in of) for of in (Stage, BranchWay))
    histories = ", ".join(map(str, HISTORIES))
    head = [
        f"enum {{ {kinds} }};",
        f"enum {{ {stages} }};",
        f"enum {{ {ways} }};",
        f"enum {{ WIDEST_SCALAR = {WIDEST_SCALAR}, HISTORY_COUNT = {len(HISTORIES)} }};",
        f"static const unsigned HISTORIES[] = {{{histories}}};",
    ]
    sizes = ", ".join(f"sizeof({name})" for name in _SHARED)
    tail = f"const int64_t sizes[] = {{{sizes}}};"
    folder = Path(__file__).parent
    return "\n".join([*head, *((folder / name).read_text(encoding="utf-8") for name in _FILES), tail, ""])


@cache
def library() -> CDLL:
    """The library, compiled or kept.  Raises LanewiseError where there is no compiler for this computer."""
    return loaded(text())


def loaded(made: str) -> CDLL:
    """The library of a text.  Raises what the compiler does."""
    found = CDLL(str(compile_for_host(hashlib.sha256(made.encode()).hexdigest(), lambda: made)))
    theirs, mine = list((c_int64 * len(_SHARED)).in_dll(found, "sizes")), list(_SHARED.values())
    if theirs != mine:
        raise AssertionError(f"the structures of C have {theirs} bytes, those of Python {mine}")
    return found


@cache
def why_not() -> str:
    """Why there is no native code, in a sentence; "" where there is."""
    try:
        library()
    except LanewiseError as error:
        return str(error).splitlines()[0]
    return ""


def call(name: str, *arguments: Structure | Array | int) -> int:
    """A function of the library; structures and arrays are handed over by their address."""
    function: Callable[..., int] = getattr(library(), name)
    given = [
        c_void_p(each.ctypes.data) if isinstance(each, np.ndarray)
        else c_void_p(addressof(each)) if isinstance(each, Structure)
        else c_int64(each)
        for each in arguments
    ]  # fmt: skip
    return function(*given)


def slices(count: int) -> Iterator[tuple[int, int]]:
    """From where to where each slice of so many goes, the end excluded."""
    for start in range(0, count, SLICE):
        yield start, min(start + SLICE, count)


def in_slices(name: str, structure: Structure, count: int) -> None:
    """A function that goes on up to a number, a slice at a time.  Raises MemoryError."""
    for _, until in slices(count):
        if call(name, structure, until):
            raise MemoryError(f"no memory for {name}")
