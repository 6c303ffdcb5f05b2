"""A schedule as a native Perfetto trace, for ui.perfetto.dev.  The only file that imports the wheel `perfetto`.

The format: https://perfetto.dev/docs/reference/synthetic-track-event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.errors import MISSING, LanewiseError, pip_install
from sim.timing.model.schedule import Schedule
from sim.view.cycles.tracks import tracks

NANOSECONDS = 1000
"""A cycle is shown as a microsecond; time stamps are nanoseconds."""
_SEQUENCE = 1
_CORE = 1


class PerfettoMissing(LanewiseError):
    """The wheel `perfetto` is not installed; the message is one sentence."""

    exit_code = MISSING


def render_perfetto(schedule: Schedule, told: Callable[[str], str] = str) -> bytes:
    """The trace: `sim.view.cycles.tracks` below one track named after the core; `told` makes the texts of instructions
    ready to be read.  Raises PerfettoMissing.
    """
    try:
        from perfetto.trace_builder.proto_builder import TraceProtoBuilder
    except ImportError:
        install = pip_install("lanewise[perfetto]")
        raise PerfettoMissing(f"a Perfetto trace needs the package perfetto: {install}") from None
    builder = TraceProtoBuilder()
    _describe(builder, _CORE, schedule.core.title)
    for uuid, (name, slices) in enumerate(tracks(schedule, told).items(), _CORE + 1):
        _describe(builder, uuid, name, _CORE)
        for piece in slices:
            begin = _event(builder, uuid, piece.start)
            begin.type, begin.name = begin.TYPE_SLICE_BEGIN, piece.name
            begin.flow_ids.extend(piece.arrows)
            for key, value in (("instruction", f"[{piece.number}]"), ("waited", piece.note)):
                if value:
                    begin.debug_annotations.add(name=key, string_value=value)
            end = _event(builder, uuid, piece.end)
            end.type = end.TYPE_SLICE_END
    return bytes(builder.serialize())


def _describe(builder: Any, uuid: int, name: str, parent: int = 0) -> None:
    """Children are shown in the order of their numbers, not of their names."""
    packet = builder.add_packet()
    packet.trusted_packet_sequence_id = _SEQUENCE
    descriptor = packet.track_descriptor
    descriptor.uuid, descriptor.name, descriptor.sibling_order_rank = uuid, name, uuid
    descriptor.child_ordering = descriptor.EXPLICIT
    if parent:
        descriptor.parent_uuid = parent


def _event(builder: Any, uuid: int, cycle: int) -> Any:
    packet = builder.add_packet()
    packet.timestamp, packet.trusted_packet_sequence_id = cycle * NANOSECONDS, _SEQUENCE
    packet.track_event.track_uuid = uuid
    return packet.track_event
