"""Random instructions of every class, and random cores: every rule of both pipelines comes into play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, Literal

from isa.instruction import Instruction
from isa.lane import Load, Memory, walk
from isa.table import UnknownInstruction
from sim.timing.classes.all_classes import CLASSES, timing_class
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed
from support.small_cores import PIPES, small_core
from support.streams_vocabulary import decoded, may_stand, varied, vocabulary

LONGEST = 25
ADDRESSES = (0x1000, 0x1004, 0x1008, 0x1010, 0x1020, 0x2001)
ADDING = ("ASIMD m", "ASIMD s", "ASIMD FP", "FP fma", "scalar m")
USES = ("A", "A|B", "M*2", "A + M", "", "M + A|B*2", "A*3 + B", "L + S", "A|B|M*2", "M*2 + L|S")
REGISTER_FIELDS = (0, 5, 10, 16)


@cache
def forms_by_class() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, words in sorted(vocabulary().of.items()):
        found.setdefault(timing_class(decoded(words[0]).pattern), []).append(name)
    return found


def random_core(random: Random, order: Literal["in", "out"]) -> Core:
    fewest: dict[str, list[Any]] = {"queues": [{}, {"A": 2, "M": 1}, dict.fromkeys(PIPES, 3)], "mispredict": [1, 5, 12]}
    forward = {"store_forward_scalar": [Fraction(6), Fraction(8)], "store_forward_vector": [Fraction(7), Fraction(9)]}
    choices: dict[str, list[Any]] = {
        **fewest, **forward, "reorder_buffer": [0, 1, 4, 16], "retire_width": [0, 1, 2], "address_delay": [0, 1, 2],
        "shifted_delay": [0, 1, 2], "store_data_late": [0, 1], "writeback": [1] if order == "in" else [1, 2],
        "structure_writeback_slots": [0, 1], "in_turn": [0, 1],
        "unaligned_bytes": [0, 8, 16], "unaligned_cycles": [1, 2], "taken_branch_interval": [Fraction(0), Fraction(3)],
    }  # fmt: skip
    classes = {name: random_class(random, name) for name in CLASSES}
    return small_core(order, random.randint(1, 4), classes, **{key: random.choice(of) for key, of in choices.items()})


def random_class(random: Random, name: str) -> Mapping[str, Any]:
    group = random.choice(["", "g", "h"]) if name.startswith(ADDING) else ""
    old = {"merge": Fraction(random.choice([0, 1, 2]))} if not group and random.random() < 0.3 else {}
    return {
        **old, "latency": random.choice([2, 3, 5]), "uses": random.choice(USES), "slots": random.choice([1, 1, 2, 3]),
        "first": random.random() < 0.15, "group": group, **({"accumulate": random.choice([1, 2, 4])} if group else {}),
        "merges": random.random() < 0.8 or not name.startswith(ADDING),
    }  # fmt: skip


def random_stream(random: Random, count: int = LONGEST) -> list[Executed]:
    """Instructions of a few classes, on few registers and addresses, so that they wait for each other."""
    names = random.sample(sorted(forms_by_class()), random.randint(1, 8))
    words = [
        random.choice(vocabulary().of[random.choice(forms_by_class()[random.choice(names)])]) for _ in range(count)
    ]
    return [random_executed(random, on_few_registers(random, word)) for word in words]


def on_few_registers(random: Random, word: int) -> int:
    for fields in (REGISTER_FIELDS,) * 5 + (REGISTER_FIELDS[:2],) * 3:
        other = word
        for field in fields:
            other = other & ~(31 << field) | random.randrange(4) << field
        if is_same_form(other, word):
            return other
    return varied(word, random)


def is_same_form(other: int, word: int) -> bool:
    try:
        return decoded(other).form is decoded(word).form and may_stand(decoded(other))
    except UnknownInstruction:
        return False


def random_executed(random: Random, word: int) -> Executed:
    instruction = decoded(word)
    loads, stores = (((random.choice(ADDRESSES), size),) if size else () for size in sizes(instruction))
    return Executed(0x1000, instruction, loads, stores, instruction.is_branch and random.random() < 0.7, 0x1004)


def sizes(instruction: Instruction) -> tuple[int, int]:
    """Bytes loaded and stored."""
    loaded = {id(node): node.size for node in walk(instruction.lanes) if isinstance(node, Load)}
    return sum(loaded.values()), sum(w.place.size for w in instruction.writes if isinstance(w.place, Memory))


def with_averages(random: Random, core: Core) -> Core:
    """The core with averages between whole cycles wherever there can be some, for some classes."""
    parts = (Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(78, 100))
    classes = {}
    for name, timing in core.classes.items():
        uses = tuple(use._replace(cycles=use.cycles + random.choice(parts)) for use in timing.uses)
        classes[name] = replace(timing, latency=timing.latency + random.choice(parts), uses=uses)
    averages = ("store_forward_scalar", "store_forward_vector", "taken_branch_interval")
    return replace(core, classes=classes, **{name: getattr(core, name) + random.choice(parts) for name in averages})
