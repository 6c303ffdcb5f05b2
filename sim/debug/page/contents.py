"""What a page or a widget is given: some executed instructions of a session, packed.

The bytes are zlib's: the length of a text, the text, which is JSON, and arrays that it names, each from a multiple of
eight bytes on.  `source/src/data.ts` reads them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from isa.evaluate.exact import QC
from isa.lane import Place, Write
from sim.call.native.recorder import Array
from sim.debug.difference import outputs_of
from sim.debug.events import EVENTS
from sim.debug.page.lane_events import lane_events
from sim.debug.page.lane_sources import lane_sources
from sim.debug.page.window import PLACES, Window, place_number
from sim.debug.session import Session
from sim.debug.trace.selection import makes_floats
from sim.kernels.domain import number_types
from sim.kernels.kernel import KernelError
from sim.kernels.signature import RETURNED
from sim.kernels.tolerance import agreement

MOST: Final = 100_000
"""Executed instructions of a page; of a longer call those around where the session stands."""
_LARGEST: Final = 1 << 20
"""Bytes of an array that are shown."""
_MOST_SOURCE: Final = 1 << 19
"""Bytes of a source file."""
_AROUND: Final = 40
"""Lines of a file before the first and behind the last that code was compiled from."""
_LONGEST_STEP: Final = 1 << 16
"""Output lanes of which the golden reference's steps are given."""


def page_contents(session: Session, most: int = MOST) -> bytes:
    """What is shown of a session: at most so many instructions.  It stands where it stood."""
    here, trouble = session.position, session.trouble
    number = session.trouble_number
    session.goto_end()
    total, returned, fault = session.position, session.timeline.returned, session.timeline.fault
    instruction = session.instruction
    stopped = None if returned or fault is None else {
        "text": instruction.text if instruction else "no instruction", "source": session.source,
        "pc": f"{session.machine.pc:#x}",
    }  # fmt: skip
    wrong = dict(_golden_outputs(session))
    end = min(total, max(here + most // 2, most))
    window = Window.of(session, max(0, end - most), end)
    arrays = list(_arrays(session))
    events, sources = lane_events(window), lane_sources(window)
    steps = _golden_steps(session)
    mismatch = trouble.mismatch if trouble is not None else None
    spot = session.spot_of(mismatch.output, mismatch.lane) if mismatch is not None else None
    lines, result, kernel = _Lines(session), session.call.result, session.call.kernel
    returns = np.dtype(kernel.signature.returns).str[1:] if result is not None and kernel is not None else ""
    head = {
        "title": session.call.title, "position": here, "first": window.first, "end": end, "total": total,
        "ends": "the call has returned" if returned else str(fault or "the call goes on"),
        "stopped": stopped,
        "saturated": bool(int(window.initial[place_number(Place("fpsr"))].view("<u8")[0]) & QC),
        "trouble": None if trouble is None else {
            "says": trouble.says, "number": number,
            "parts": session.wrong_way is not None and any(step.parts for step in session.wrong_way.steps),
            "spot": None if spot is None else [_place_of(spot.where), spot.first, spot.size, spot.name],
        },
        "events": EVENTS, "places": [str(place) for place in PLACES],
        "code": [
            {"pc": f"{pc:#x}", "text": instruction.text, "source": session.source_of(pc), "line": lines.of(pc),
             **_calls_of(session, pc),
             "written": written, "writes": [_write(write) for write in instruction.writes],
             "read": sorted(map(place_number, instruction.places_read)), "losing": losing}
            for (pc, instruction), written, losing in zip(window.code, window.written, events.writes, strict=True)
        ],
        "patterns": sources.patterns, "files": lines.files(), "arrays": [each.head for each in arrays],
        "golden": {name: list(expected.shape) for name, (expected, _) in wrong.items()},
        "steps": [{"name": name, "shape": list(values.shape), "given": given, "bits": bits}
                  for name, (values, given, bits) in steps.items()],
        "result": None if result is None else [place_number(result), session.call.result_size, returns],
    }  # fmt: skip
    rows = window.accesses
    data = rows["bytes"]
    columns: dict[str, Array] = {
        "addresses": rows["address"], "accesses": rows["instruction"].astype(np.uint32),
        "sizes": rows["size"].astype(np.uint8), "writes": rows["writes"].astype(np.uint8),
        "bytes": data[np.arange(data.shape[1]) < rows["size"][:, None]],
        "path": window.path, "status": window.status, "pattern": sources.numbers, "values": window.values,
        "initial": window.initial, "lost": events.bits,
        **{f"array {number}": each.data for number, each in enumerate(arrays)},
        **{f"golden {name}": expected for name, (expected, _) in wrong.items()},
        **{f"wrong {name}": differs for name, (_, differs) in wrong.items()},
        **{f"step {name}": values for name, (values, _, _) in steps.items()},
    }  # fmt: skip
    session.goto(here)
    return _packed(head, columns)


def _packed(head: Mapping[str, Any], columns: Mapping[str, Array]) -> bytes:
    places, parts, at = {}, [], 0
    for name, column in columns.items():
        data = column.tobytes()
        places[name] = [at, len(data)]
        parts.append(data + bytes(-len(data) % 8))
        at += len(parts[-1])
    text = json.dumps({**head, "columns": places}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 8)
    return zlib.compress(b"".join([len(text).to_bytes(8, "little"), text, *parts]), 9)


def _write(write: Write) -> dict[str, int]:
    """How what an instruction writes is shown: lanes of so many bits, of floating point or not."""
    floats = int(makes_floats(write))
    return {"place": _place_of(write.place), "bits": write.bits, "lanes": len(write.lanes), "floats": floats}


def _place_of(where: object) -> int:
    """The number of a register; -1 for memory."""
    return next((number for number, place in enumerate(PLACES) if place == where), -1)


def _calls_of(session: Session, pc: int) -> dict[str, Any]:
    """The function that an instruction is in, and those by whose inlined calls it came there, the innermost first, each
    with the line of its call.
    """
    image = session.call.image
    if image is None:
        return {"function": "", "inlined": []}
    inlined = [[call.function, str(call.line)] for call in image.inlined_calls(pc)]
    return {"function": image.function_at(pc), "inlined": inlined}


class _Array(NamedTuple):
    """An array of the call as the window begins, where the session stands; an argument on the stack has no extents."""

    head: dict[str, Any]
    data: Array


def _arrays(session: Session) -> Iterator[_Array]:
    for placed in session.arrays.values():
        extents = {"extents": list(placed.extents), "strides": list(placed.strides)}
        place = range(placed.address, placed.address + placed.size)
        yield _array(session, placed.pointer.name, place, placed.pointer.type, extents)
    kernel = session.call.kernel
    types = dict(number_types(kernel.signature)) if kernel is not None else {}
    for name, place in session.stack_arguments.items():
        whole = np.dtype((np.void, len(place)))
        kind = types.get(name, whole)
        yield _array(
            session, name, place, kind if kind.itemsize == len(place) else whole, {"extents": [], "strides": []}
        )


def _array(session: Session, name: str, place: range, kind: np.dtype[Any], extents: Mapping[str, list[int]]) -> _Array:
    shown = min(len(place), _LARGEST)
    letter = kind.kind if kind.itemsize in (1, 2, 4, 8) else "V"
    head = {
        "name": name, "address": f"{place.start:#x}", "size": len(place), "shown": shown,
        "kind": letter if letter in "iufb" else "V", "item": kind.itemsize, **extents,
    }  # fmt: skip
    return _Array(head, np.frombuffer(session.machine.memory.read(place.start, shown), np.uint8) if shown else _NOTHING)


_NOTHING: Final = np.zeros(0, np.uint8)


def _golden_outputs(session: Session) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """What the golden reference has for each output that is in memory, or is the result, and which lanes are wrong now;
    at the end.
    """
    call = session.call
    if call.kernel is None or not call.has_golden:
        return
    try:
        expected = call.kernel.expected(call.inputs)
    except KernelError:
        return
    outputs = dict(outputs_of(session))
    for name, values in expected.items():
        got = outputs.get(name)
        if got is None or got.shape != values.shape:
            continue
        differs = ~agreement(got, values, call.kernel.tolerance)
        yield "result" if name == RETURNED else name, (values, np.asarray(differs, np.uint8))


def _golden_steps(session: Session) -> dict[str, tuple[Array, bool, int]]:
    """The steps of the golden reference, for each output lane: 64-bit numbers, or the bits of floating point, of which
    each has so many; and whether it is an input.
    """
    kernel, found = session.call.kernel, dict[str, tuple[Array, bool, int]]()
    if kernel is None or not session.call.has_golden:
        return found
    given = {pointer.name for pointer in kernel.signature.pointers}
    for name, values in kernel.golden_steps(session.call.inputs).items():
        if values.size > _LONGEST_STEP:
            continue
        if values.dtype.kind == "f":
            one = np.where(np.isnan(values), np.abs(np.array(np.nan, values.dtype)), values).astype(values.dtype)
            found[name] = one.view(f"u{values.itemsize}").astype(np.uint64), name in given, 8 * values.itemsize
        elif values.dtype.kind in "iub" and values.dtype != np.uint64:
            found[name] = values.astype(np.int64), name in given, 0
    return found


class _Lines:
    """The source lines of code, and the texts of their files, as far as they can be read."""

    def __init__(self, session: Session) -> None:
        self._image = session.call.image
        self._numbers: dict[str, set[int]] = {}

    def of(self, pc: int) -> list[int] | None:
        """The number of the file, and that of the line."""
        line = self._image.source_line(pc) if self._image is not None else None
        if line is None:
            return None
        self._numbers.setdefault(line.file, set()).add(line.line)
        return [list(self._numbers).index(line.file), line.line]

    def files(self) -> list[dict[str, Any]]:
        """The files that were asked for, from some lines before the first of these to some behind the last."""
        found = []
        for file, lines in self._numbers.items():
            text, first = list[str](), max(1, min(lines) - _AROUND)
            path = Path(file)
            try:
                if path.stat().st_size <= _MOST_SOURCE:
                    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
            except (OSError, ValueError):
                pass
            found.append({"name": path.name, "first": first, "lines": text[first - 1 : max(lines) + _AROUND]})
        return found
