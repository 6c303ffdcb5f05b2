"""The pipelines against a second, simple description of them, on random instructions of every class."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, Literal

import pytest

from isa.instruction import Instruction
from isa.lane import Load, Memory, walk
from isa.table import UnknownInstruction
from sim.timing.classes.all_classes import CLASSES, timing_class
from sim.timing.model.core import ClassTiming, Core
from sim.timing.model.core_file import core_names, load_core
from sim.timing.model.pipeline import pipeline
from sim.timing.model.stream import Executed
from support.reference_pipelines import Numbered, Times, reference
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


@cache
def whole_core(name: str) -> Core:
    """A real core; its averages of parameters rounded."""
    core = load_core(name)
    return replace(
        core,
        store_forward_scalar=Fraction(round(core.store_forward_scalar)),
        store_forward_vector=Fraction(round(core.store_forward_vector)),
        taken_branch_interval=Fraction(round(core.taken_branch_interval)),
    )


def random_core(random: Random, order: Literal["in", "out"]) -> Core:
    fewest: dict[str, list[Any]] = {"queues": [{}, {"A": 2, "M": 1}, dict.fromkeys(PIPES, 3)], "mispredict": [1, 5, 12]}
    forward = {"store_forward_scalar": [Fraction(6), Fraction(8)], "store_forward_vector": [Fraction(7), Fraction(9)]}
    choices: dict[str, list[Any]] = {
        **fewest, **forward, "reorder_buffer": [0, 1, 4, 16], "retire_width": [0, 1, 2], "address_delay": [0, 1, 2],
        "shifted_delay": [0, 1, 2], "store_data_late": [0, 1], "writeback": [1] if order == "in" else [1, 2],
        "structure_writeback_slots": [0, 1],
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


def random_stream(random: Random, core: Core) -> list[Executed]:
    """Instructions of a few classes, on few registers and addresses, so that they wait for each other."""
    names = random.sample(sorted(forms_by_class()), random.randint(1, 8))
    words = [
        random.choice(vocabulary().of[random.choice(forms_by_class()[random.choice(names)])]) for _ in range(LONGEST)
    ]
    stream = [random_executed(random, on_few_registers(random, word)) for word in words]
    return [one for one in stream if is_comparable(Numbered(core, [one], 0))]


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


def is_comparable(one: Numbered) -> bool:
    """Whether its figures are whole numbers of cycles."""
    return is_whole(one.timing)


def is_whole(timing: ClassTiming) -> bool:
    figures = (
        timing.latency,
        *(f for f in (timing.accumulate, timing.merge) if f is not None),
        *(use.cycles for use in timing.uses),
    )
    return all(figure.denominator == 1 for figure in figures)


def timed(stream: Sequence[Executed], core: Core, mispredicted: Collection[int]) -> Times:
    engine = pipeline(core)
    engine.feed(stream, mispredicted)
    found = engine.schedule()
    return Times(list(found.entered), list(found.issued), list(found.ready), list(found.retired))


def assert_same(random: Random, core: Core) -> None:
    stream = random_stream(random, core)
    wrong = {number for number, one in enumerate(stream) if one.instruction.is_branch and random.random() < 0.3}
    assert timed(stream, core, wrong) == reference(stream, core, wrong), [one.instruction.text for one in stream]


@pytest.mark.parametrize("name", core_names())
@pytest.mark.parametrize("seed", range(25))
def test_a_random_stream_takes_the_reference_times_on_a_real_core(name: str, seed: int) -> None:
    assert_same(Random(seed), whole_core(name))


@pytest.mark.parametrize("order", ["in", "out"])
@pytest.mark.parametrize("seed", range(40))
def test_a_random_stream_takes_the_reference_times_on_a_random_core(order: Literal["in", "out"], seed: int) -> None:
    random = Random(seed)
    assert_same(random, random_core(random, order))
