"""Random streams on random small cores: every rule of both pipelines comes into play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from hypothesis import strategies as st

from sim.timing.model.core import Core
from sim.timing.model.pipeline import schedule
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed
from support.small_cores import ACCUMULATE, ADD, LOAD, MULTIPLY, SCALAR, STORE, small_core, stream_of

TEXTS = (
    "add v1.4s, v1.4s, v0.4s", "add v2.4s, v1.4s, v3.4s", "mul v3.4s, v1.4s, v2.4s", "mla v4.4s, v3.4s, v2.4s",
    "add x1, x1, #1", "add x2, x3, x1, lsl #2", "ldr q1, [x1], #16", "ldr q2, [x1]", "str q4, [x2], #16",
    "str q3, [x1]", "cbnz x1, #0x1000",
)  # fmt: skip
LONGEST = 40
Order = Literal["in", "out"]


@dataclass(frozen=True)
class Case:
    """Instructions, where those that access memory do, and what the core has that others have not."""

    texts: Sequence[str]
    addresses: Sequence[int]
    order: Order
    width: int
    classes: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, Any]

    @cached_property
    def core(self) -> Core:
        return small_core(self.order, self.width, self.classes, **self.parameters)

    @cached_property
    def stream(self) -> list[Executed]:
        """Branches are taken."""
        found = stream_of(*self.texts, loads=self._accesses("ldr"), stores=self._accesses("str"))
        return [one._replace(taken=one.instruction.is_branch) for one in found]

    def _accesses(self, mnemonic: str) -> dict[int, int]:
        numbered = enumerate(zip(self.texts, self.addresses, strict=True))
        return {number: address for number, (text, address) in numbered if text.startswith(mnemonic)}

    @cached_property
    def schedule(self) -> Schedule:
        """Nothing is known of the branches before."""
        return schedule(self.stream, self.core, warm=False)


@st.composite
def cases(draw: st.DrawFn, order: Order | None = None, whole: bool = False, once: str | None = None) -> Case:
    """Up to 40 instructions on a core of that order or of either, with whole latencies or with averages too.

    `once` is the text of an instruction that is among them exactly once.
    """
    address = st.sampled_from([0x2000, 0x2010, 0x2020])
    accesses = st.tuples(st.sampled_from([text for text in TEXTS if text != once]), address)
    if once is None:
        drawn = draw(st.lists(accesses, min_size=1, max_size=LONGEST))
    else:
        drawn = draw(st.lists(accesses, max_size=LONGEST - 1))
        drawn.insert(draw(st.integers(0, len(drawn))), (once, draw(address)))
    texts, addresses = zip(*drawn, strict=True)
    orders: list[Order] = [order] if order else ["in", "out"]
    return Case(texts, addresses, draw(st.sampled_from(orders)), draw(st.integers(1, 4)),
                draw(_classes(whole)), draw(_parameters(whole)))  # fmt: skip


def _classes(whole: bool) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    latency = st.sampled_from(["1", "2", "5"] if whole else ["1", "2", "5", "2.5"])
    uses = st.sampled_from(["A", "A|B", "M*2" if whole else "M*1.5", "A + M", ""])
    fixed = {"latency": st.just(5), "accumulate": st.just(2), "group": st.just("multiply"), "uses": uses}
    return st.fixed_dictionaries({
        ADD: st.fixed_dictionaries({"latency": latency, "uses": uses}),
        MULTIPLY: st.fixed_dictionaries({"latency": latency, "uses": uses, "slots": st.integers(1, 2)}),
        ACCUMULATE: st.fixed_dictionaries(fixed),
        LOAD: st.fixed_dictionaries({"latency": latency, "uses": st.just("L"), "first": st.booleans()}),
        STORE: st.fixed_dictionaries({"uses": st.sampled_from(["L", "L + S"])}),
        SCALAR: st.fixed_dictionaries({"uses": uses}),
    })  # fmt: skip


def _parameters(whole: bool) -> st.SearchStrategy[dict[str, Any]]:
    forward = [Fraction(0), Fraction(6), *([] if whole else [Fraction(13, 2)])]
    return st.fixed_dictionaries({
        "address_delay": st.integers(0, 1),
        "shifted_delay": st.integers(0, 1),
        "store_forward_vector": st.sampled_from(forward),
        "reorder_buffer": st.sampled_from([0, 4, 16]),
        "retire_width": st.sampled_from([0, 1, 3]),
        "queues": st.sampled_from([{}, {"A": 2, "M": 1}]),
        "mispredict": st.integers(0, 5),
        "in_turn": st.integers(0, 1),
        "taken_branch_interval": st.sampled_from([Fraction(0), Fraction(1), Fraction(3)]),
    })  # fmt: skip
