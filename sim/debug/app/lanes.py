"""Lanes as they are painted: of the instruction before, of all registers, and of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from rich.text import Text

from isa.evaluate.exact import QC
from isa.lane import Place
from sim.check.compare import as_value
from sim.debug.app.code import CHANGED, FAULT, WIDE, plain
from sim.debug.app.looking import ALL, Looking
from sim.debug.snapshot import GoldenLane, ShownOperand
from sim.debug.spots import SpotError
from sim.machine.errors import MemoryFault

_MOST: Final = 16
"""Rows of an array, before the one that is asked for has more."""
_HEX_ROWS: Final = 16


def flags_text(nzcv: int, fpsr: int) -> Text:
    """NZCV with capitals where a flag is set, and QC."""
    letters = "".join(name if nzcv >> bit & 1 else name.lower() for name, bit in zip("NZCV", (3, 2, 1, 0), strict=True))
    return Text.assemble((letters, "bold"), "  ", ("QC set", CHANGED) if fpsr & QC else ("qc clear", "dim"))


def instruction_text(looking: Looking, width: int) -> Text:
    """What the instruction before read and wrote: model, emulator and golden reference below each other."""
    shown = looking.shown
    if shown is None:
        return Text("nothing is executed yet: s or → executes one instruction", "dim")
    place = f"{plain(shown.source)}  " if width >= WIDE else ""
    text = Text.assemble((f"#{shown.number} {place}", "dim"), (shown.instruction.text, "bold"))
    if shown.written and all(each.emulator == each.data for each in shown.written):
        text.append("  = emulator", "green")
    elif any(each.emulator is None for each in shown.written):
        text.append("  not emulated", "dim")
    for operand in shown.written:
        for event, numbers in operand.events.items():
            text.append(f"  {event} [{' '.join(map(str, numbers))}]", "yellow")
    text.append("\n")
    rows = list[tuple[str, str, list[str], list[str]]]()
    for role, operands in (("read", shown.read), ("model", shown.written)):
        for operand in operands:
            rows += _operand_rows(looking, role if operand is operands[0] else "", operand)
    rows += [_golden_row(looking, shown.written, lane) for lane in shown.golden]
    widest = max((len(lane) for _, _, lanes, _ in rows for lane in lanes), default=1)
    for role, name, lanes, styles in rows:
        text.append_text(lane_row(f"{role:<7}{name:<7}", lanes, styles, widest, width))
    if any(lane.parts for lane in shown.golden):
        text.right_crop(1)
        text.append("  parts here", FAULT)
    text.rstrip()
    return text


def _golden_row(
    looking: Looking, written: Sequence[ShownOperand], golden: GoldenLane
) -> tuple[str, str, list[str], list[str]]:
    """What the golden reference has, below the lane that it belongs to."""
    spot, style = looking.session.spot(golden.lane), FAULT if golden.value != golden.expected else "green"
    for operand in written:
        first = spot.first if isinstance(operand.where, Place) else spot.first - operand.where
        is_here = operand.where == spot.where or (not isinstance(operand.where, Place) and spot.register is None)
        if is_here and 0 <= first < len(operand.data):
            count = len(_operand_lanes(looking, operand, operand.data))
            at = first * count // len(operand.data)
            lanes, styles = ["·"] * count, ["dim"] * count
            lanes[at], styles[at] = str(golden.expected), style
            return "golden", plain(golden.step)[:7], lanes, styles
    return "golden", plain(golden.step)[:7], [str(golden.expected)], [style]


def _operand_rows(
    looking: Looking, role: str, operand: ShownOperand
) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """The row of an operand, and that of the emulator where it has something else."""
    lanes = _operand_lanes(looking, operand, operand.data)
    styles = _changed(operand.data, operand.before, len(lanes)) if operand.before is not None else [""] * len(lanes)
    yield role, plain(operand.name), lanes, styles
    if operand.emulator is not None and operand.emulator != operand.data:
        theirs = _operand_lanes(looking, operand, operand.emulator)
        yield "emul.", plain(operand.name), theirs, _changed(operand.emulator, operand.data, len(theirs), FAULT)


def _operand_lanes(looking: Looking, operand: ShownOperand, data: bytes) -> list[str]:
    place = operand.where
    if isinstance(place, Place) and place.file != "v":
        return [general(looking, place, int.from_bytes(data, "little"))]
    return looking.lanes.texts(data, operand.kind)


def general(looking: Looking, place: Place, value: int) -> str:
    """What a register for numbers and addresses holds: the element that it points at, else a number."""
    if place.file == "nzcv":
        return flags_text(value, 0).plain.split()[0]
    if place.file in ("fpsr", "fpcr"):
        return f"{value:#010x}{' QC' if place.file == 'fpsr' and value & QC else ''}"
    if place.file in ("sp", "pc"):
        return f"{value:#x}"
    if looking.session.array_at(value) is not None:
        return f"{value:#x} {plain(looking.session.name_of(value))}"
    signed = value - (1 << 64) if value >> 63 else value
    return f"{signed}" if abs(signed) < 1 << 20 else f"{value:#x}"


def _changed(data: bytes, before: bytes, count: int, style: str = CHANGED) -> list[str]:
    size = max(1, len(data) // max(1, count))
    return [style if data[k * size : (k + 1) * size] != before[k * size : (k + 1) * size] else "" for k in range(count)]


def lane_row(head: str, lanes: Sequence[str], styles: Sequence[str], widest: int, width: int) -> Text:
    """Lanes below each other in columns, on several lines where they do not fit; marked ones with a star before."""
    column, free = widest + 2, width - len(head)
    if len(lanes) * column > free >= len(lanes) * (widest + 1):
        column = widest + 1
    together = next((count for count in (64, 32, 16, 8, 4, 2) if count * column <= free), 1)
    text = Text(no_wrap=True)
    for first in range(0, max(1, len(lanes)), together):
        text.append(head if first == 0 else " " * len(head), "dim")
        for lane, style in zip(lanes[first : first + together], styles[first : first + together], strict=True):
            mark = "!" if style == FAULT else "*" if style == CHANGED else ""
            text.append(f"{mark + lane:>{column}}", style)
        text.append("\n")
    return text


def registers_text(looking: Looking, width: int) -> tuple[Text, int]:
    """All registers that the code around uses, or all there are; and the row of the one that was written."""
    machine, kinds, used = looking.session.machine, looking.kinds, looking.used
    vectors = [Place("v", number) for number in range(32)]
    shown = [place for place in vectors if looking.has_all_registers or place in used]
    rows = list[tuple[Place, str, list[str], list[str]]]()
    written = looking.shown.written if looking.shown is not None else ()
    for place in shown:
        data = machine.read(place).to_bytes(16, "little")
        name, own = kinds.get(place, (str(place), "s32"))
        lanes = looking.lanes.texts(data, own)
        before = next((each.before for each in written if each.where == place), None)
        old = data if before is None else before + data[len(before) :]
        rows.append((place, str(place) if looking.lanes.kind else name, lanes, _changed(data, old, len(lanes))))
    widest = dict[int, int]()  # below each other are only lanes of the same number
    for _, _, lanes, _ in rows:
        widest[len(lanes)] = max(widest.get(len(lanes), 1), *map(len, lanes))
    text, row, count = Text(no_wrap=True), 0, 0
    for _, name, lanes, styles in rows:
        row = count if CHANGED in styles else row
        line = lane_row(f"{name:<7} ", lanes, styles, widest[len(lanes)], width)
        count += line.plain.count("\n")
        text.append_text(line)
    cells = list[tuple[str, str]]()
    for place in (*(Place("x", number) for number in range(31)), Place("sp"), Place("pc")):
        if looking.has_all_registers or place in used or place.file == "sp":
            value = machine.pc if place.file == "pc" else machine.read(place)
            is_changed = any(each.where == place and each.before != each.data for each in written)
            value_text = general(looking, place, value)
            cells.append((f"{'*' if is_changed else ' '}{place!s:<4}{value_text}", CHANGED if is_changed else ""))
    across = max(1, width // 38)
    for first in range(0, len(cells), across):
        row = count if any(style for _, style in cells[first : first + across]) else row
        count += 1
        for cell, style in cells[first : first + across]:
            text.append(f"{cell:<37} ", style)
        text.append("\n")
    text.append_text(flags_text(machine.nzcv, machine.fpsr))
    text.append(f"  fpsr {machine.fpsr:#010x}  fpcr {machine.fpcr:#010x}", "dim")
    return text, row


def memory_text(looking: Looking, width: int) -> tuple[Text, int]:
    """The arrays of the call, or what was asked for: one of them whole, or bytes from an address on."""
    session, text = looking.session, Text(no_wrap=True)
    if looking.memory not in (ALL, *session.arrays):
        return _bytes_text(looking, width), 0
    row = 0
    for name, placed in session.arrays.items():
        if looking.memory not in (ALL, name):
            continue
        kind = f"{placed.pointer.type.name}{list(placed.extents)}"
        text.append(f"{plain(name)}", "bold").append(f"  {kind} at {placed.address:#x}\n", "dim")
        if not placed.size or placed.pointer.type.kind not in "iuf":
            continue
        values = session.array(name).reshape(-1)
        golden = looking.expected[name].reshape(-1) if session.is_at_end and name in looking.expected else None
        before = _before(looking, placed.address, placed.size)
        old = values if before is None else placed.view(bytearray(before)).reshape(-1)
        texts = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values.tolist()]
        widest = max(map(len, texts))
        together = next(count for count in (32, 16, 8, 4, 2, 1) if count * (widest + 2) + 9 <= width or count == 1)
        changed = np.flatnonzero(values.view(f"V{values.itemsize}") != old.view(f"V{values.itemsize}"))
        first = 0
        most = _MOST * together if looking.memory == ALL else len(texts)
        if len(changed) and changed[0] >= most:
            first = int(changed[0]) // together * together
        for start in range(first, min(first + most, len(texts)), together):
            span = range(start, min(start + together, len(texts)))
            wrong = [k for k in span if golden is not None and golden[k] != values[k]]
            styles = [CHANGED if k in changed else FAULT if k in wrong else "" for k in span]
            row = text.plain.count("\n") if CHANGED in styles else row
            text.append_text(lane_row(f"{start:>7}  ", texts[start : span.stop], styles, widest, width))
            if wrong and golden is not None:
                told = [str(as_value(golden[k])) if k in wrong else "·" for k in span]
                text.append_text(lane_row(" golden  ", told, ["green"] * len(span), widest, width))
        if first + most < len(texts):
            text.append(f"         and {len(texts) - first - most:,} more: m {plain(name)}\n", "dim")
    if not session.arrays:
        text.append("no array is known of this call: m asks for an address, such as sp", "dim")
    return text, row


def _before(looking: Looking, address: int, size: int) -> bytes | None:
    """What was in memory before the last instruction; None where that wrote nothing there."""
    written = [each for each in looking.shown.written if isinstance(each.where, int)] if looking.shown else []
    if not any(address <= each.where < address + size for each in written if isinstance(each.where, int)):
        return None
    data = bytearray(looking.session.machine.memory.read(address, size))
    for each in written:
        if isinstance(each.where, int) and each.before is not None:
            at = each.where - address
            for offset, byte in enumerate(each.before):
                if 0 <= at + offset < size:
                    data[at + offset] = byte
    return bytes(data)


def _bytes_text(looking: Looking, width: int) -> Text:
    """Bytes from an address on, as lanes and as they are."""
    session, text = looking.session, Text(no_wrap=True)
    address = address_of(looking, looking.memory)
    text.append(f"{plain(looking.memory)} = {address:#x}\n", "bold")
    for at in range(address, address + 16 * _HEX_ROWS, 16):
        try:
            data = session.machine.memory.read(at, 16)
        except MemoryFault:
            text.append(f"{at:#x}  nothing is mapped here\n", FAULT)
            break
        text.append(f"{at:#x}  ", "dim").append(data.hex(" ", 4))
        if width >= 100:
            text.append("  " + " ".join(looking.lanes.texts(data, "s32")), "dim")
        text.append("\n")
    return text


def address_of(looking: Looking, text: str) -> int:
    """The address that is meant: a number, or what a register holds.  Raises SpotError."""
    spot = looking.session.spot(f"*{text}" if text[:1].isdecimal() else text)
    if spot.register is None:
        return spot.first
    if spot.register.file not in ("x", "sp"):
        raise SpotError(f"{text} holds no address: x0 to x30 and sp do, or an array is named")
    return looking.session.machine.read(spot.register)
