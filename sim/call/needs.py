"""Which extensions executed code needs, and which processors lack them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from isa.errors import LanewiseError
from isa.instruction import Instruction
from isa.processors import features_of
from sim.toolchain.image import Image


class Need(NamedTuple):
    """An extension that is needed, and one instruction that needs it, with its source line or address."""

    feature: str
    instruction: str
    place: str


class Lacking(NamedTuple):
    """What a processor has not and the code needs."""

    processor: str
    need: Need

    def __str__(self) -> str:
        feature, instruction, place = self.need
        return f"needs {feature} at {place} ({instruction}); {self.processor} has none"


def needs_of(code: Iterable[tuple[int | None, Instruction]], image: Image | None = None) -> tuple[Need, ...]:
    """Every extension that instructions need, at the lowest address that needs it, in the order of the addresses.

    `code` are the instructions with their addresses (None: a program of intrinsics), `image` has their lines.
    """
    needs: dict[str, Need] = {}
    for pc, instruction in sorted(code, key=lambda one: -1 if one[0] is None else one[0]):
        for feature in instruction.form.features:
            if feature not in needs:
                line = image.place_of(pc) if image is not None and pc is not None else ""
                place = line or ("the program" if pc is None else f"{pc:#x}")
                needs[feature] = Need(feature, instruction.text, place)
    return tuple(needs.values())


def processors_named(text: str | None) -> tuple[str, ...]:
    """The processors of a list with commas, each once; none for None.  Raises UnknownFeature, LanewiseError."""
    if text is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise LanewiseError("name a processor, such as cortex-a53, or several with commas between them")
    for name in names:
        features_of(name)
    return names


def lacking(needs: Iterable[Need], processors: Sequence[str]) -> list[Lacking]:
    """What each of the processors lacks, each extension once, at the first of the needs."""
    first: dict[str, Need] = {}
    for need in needs:
        first.setdefault(need.feature, need)
    return [
        Lacking(name, need) for name in processors for need in first.values() if need.feature not in features_of(name)
    ]
