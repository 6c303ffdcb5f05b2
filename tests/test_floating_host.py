"""Floating point by the host's floats against the exact evaluator, at the edges of its proof.

`isa.evaluate.python` puts two ways into a function: the host's, behind guards, and the arbiter's calls.  Here those
calls are replaced by one that only says that the host declined, so what is compared is the host's work alone.  Each
guard is then weakened in turn, and the comparison has to notice.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, islice
from random import Random
from typing import Any, NoReturn

import pytest

from isa.decode import decode
from isa.encodings import words_of
from isa.evaluate import exact, host_floating, python
from isa.evaluate.host_floating import APPLIES
from isa.floating import BF16, F16, F32, F64, Float, FloatOperation
from isa.instruction import Instruction
from isa.lane import S32, U16, U32, Lane, Place, Write, constant, read
from isa.rows import TABLE
from sim import Machine
from sim.machine.registers import RegisterStorage
from sim.verify.words import words_to_run
from support.floating_reference import FZ, FZ16, IXC, MODES
from support.floating_states import FloatingStates
from support.floating_values import decoded
from support.sampled import sampled

SEED = 4
STATES = 60
Mutation = Callable[[str], str]


class Declined(Exception):
    """The host's text did not apply."""


def decline(*_: object) -> NoReturn:
    raise Declined


def generated(instruction: Instruction) -> tuple[str, dict[str, object]]:
    pattern = instruction.pattern
    return python.generate(pattern.open_writes(), pattern.register_count, pattern.text)


def has_host_text(form: str) -> bool:
    words = words_of(form)
    return bool(words) and APPLIES in generated(decode(words[0].to_bytes(4, "little")))[0]


@cache
def host_forms() -> tuple[str, ...]:
    return tuple(form.name for form in TABLE.forms.values() if has_host_text(form.name))


class HostOnly:
    """One instruction, by the host or not at all."""

    def __init__(self, word: int, mutation: Mutation = lambda text: text) -> None:
        self.instruction = decode(word.to_bytes(4, "little"))
        text, constants = generated(self.instruction)
        scope: dict[str, Any] = {
            name: decline if name.startswith("operation") else constant for name, constant in constants.items()
        }
        exec(mutation(text), scope)
        self._registers, self._plain = RegisterStorage(), Machine()
        r = self._registers
        self._run = scope["bind"](r.vectors, r.general, r.flags, decline, decline, 0, *self.instruction.registers)

    def difference(self, before: RegisterStorage) -> str | None:
        """What the host does otherwise than the exact evaluator, "" for nothing; None where it declines."""
        self._registers.copy(before)
        try:
            self._run()
        except Declined:
            return None if vars(self._registers) == vars(before) else f"declined after a change: {self._shown(before)}"
        except (ArithmeticError, NameError, ValueError) as error:
            return f"{error!r}: {self._shown(before)}"
        self._plain.registers.copy(before)
        exact.execute(self.instruction, self._plain)
        return "" if vars(self._plain.registers) == vars(self._registers) else self._shown(before)

    def _shown(self, before: RegisterStorage) -> str:
        inputs = ", ".join(f"{place}={before.read(place):#x}" for place in self.instruction.places_read)
        return f"{self.instruction.text} with {inputs}; seed {SEED}"


def outcomes(
    form: str, states: int, mutation: Mutation = lambda text: text, /, fpcr: int = 0, fpsr: int = IXC
) -> Iterator[str | None]:
    """What `HostOnly.difference` says of a form over so many hard states, of its words in turn."""
    words = words_to_run(form, Random(SEED), 10_000) if "#" in form else words_of(form)
    hosts = [HostOnly(word, mutation) for word in words]
    hard = [FloatingStates(host.instruction, SEED) for host in hosts]
    turns = cycle(zip(hosts, hard, strict=True))
    return (host.difference(its.hard(fpcr, fpsr)) for host, its in islice(turns, max(states, 3 * len(hosts))))


def faults(form: str) -> list[str]:
    """Where the host differs; or that it never computes, though there is text for it."""
    found = list(outcomes(form, STATES))
    return [line for line in found if line] or [f"{form}: the host always declines"] * (set(found) == {None})


@pytest.mark.slow
@pytest.mark.parametrize("chunk", sampled(range(8), 2))
def test_the_host_computes_values_and_flags_of_the_exact_evaluator(chunk: int) -> None:
    assert [line for form in host_forms()[chunk::8] for line in faults(form)] == []


def test_more_than_five_hundred_forms_have_host_text() -> None:
    assert len(host_forms()) > 500


@pytest.mark.parametrize("form", ["fadd .4s,.4s,.4s", "fmul .2d,.2d,.2d", "fmla .4s,.4s,.4s", "fcvtns .4s,.4s"])
@pytest.mark.parametrize("flags", [{"fpsr": 0}, *({"fpcr": bits} for bits in (FZ, FZ16, *MODES.values()) if bits)])
def test_the_host_declines_what_the_registers_do_not_allow(form: str, flags: dict[str, int]) -> None:
    assert set(outcomes(form, 50, **flags)) == {None}


def replaced(pattern: str, by: str) -> Mutation:
    """Weakens what a pattern finds."""
    return lambda text: re.sub(pattern, by, text)


def edges(format: Float) -> tuple[str, str]:
    """The smallest normal and the largest number as the guards show them, for a regular expression."""
    low, high = decoded(1 << format.fraction_bits, format), decoded(format.infinity - 1, format)
    return re.escape(repr(low)), re.escape(repr(high))


def no_low(format: Float, strictly: bool = False) -> Mutation:
    """Lets tiny results pass, or only the smallest normal number."""
    low, _ = edges(format)
    limit = low.replace("\\", "") if strictly else "0.0"
    return lambda text: replaced(rf"{low} < (\w+)", rf"{limit} <= \1")(re.sub(rf"< -{low}", rf"<= -{limit}", text))


def no_high(format: Float) -> Mutation:
    _, high = edges(format)
    return replaced(high, "1e999")


WEAKENED: dict[str, tuple[str, Mutation, dict[str, int]]] = {
    "IXC is not asked for": ("fadd s,s,s", replaced(r"F\[1\] & 16 and", ""), {"fpsr": 0}),
    "FZ is not asked for": ("fadd s,s,s", replaced(r"F\[2\] & \d+", f"F[2] & {FZ16 | 3 << 22}"), {"fpcr": FZ}),
    "FZ16 is not asked for": ("fadd h,h,h", replaced(r"F\[2\] & \d+", f"F[2] & {FZ | 3 << 22}"), {"fpcr": FZ16}),
    "the higher mode bit is not asked for": (
        "fadd s,s,s", replaced(r"F\[2\] & \d+", f"F[2] & {FZ | FZ16 | 1 << 22}"), {"fpcr": 2 << 22}),
    "the lower mode bit is not asked for": (
        "fadd s,s,s", replaced(r"F\[2\] & \d+", f"F[2] & {FZ | FZ16 | 2 << 22}"), {"fpcr": 1 << 22}),
    "exceptions are not caught": ("fdiv s,s,s", replaced("except .*: pass", "finally: pass"), {}),
    "tiny halves pass": ("fmul h,h,h", no_low(F16), {}),
    "tiny singles pass": ("fmul s,s,s", no_low(F32), {}),
    "tiny doubles pass": ("fmul d,d,d", no_low(F64), {}),
    "tiny converted singles pass": ("fcvt s,d", no_low(F32), {}),
    "tiny sums of a fused single pass": ("fmadd s,s,s,s", no_low(F32), {}),
    "tiny numbers from integers pass": ("scvtf h,w,#", no_low(F16), {}),
    "the smallest normal double passes": ("fmul d,d,d", no_low(F64, strictly=True), {}),
    "the smallest normal single passes a fused sum": ("fmadd s,s,s,s", no_low(F32, strictly=True), {}),
    "overflowing halves pass": ("fadd .8h,.8h,.8h", no_high(F16), {}),
    "overflowing singles pass": ("fadd .4s,.4s,.4s", no_high(F32), {}),
    "overflowing doubles pass": ("fadd d,d,d", no_high(F64), {}),
    "overflowing integers pass": ("ucvtf .8h,.8h", no_high(F16), {}),
    "an underflow to zero passes": (
        "fmul d,d,d", replaced(r"(\w+) <= (\S+) or (.*)\):", r"\1 <= \2 or \3 or \1 == 0.0):"), {}),
    "neighbours are not compared": ("fmadd s,s,s,s", replaced(r" and \(t\d+ == 0.0 or .*\):", ":"), {}),
    "zeros of both signs are chosen from": ("fmax s,s,s", replaced("!= 0.0", ""), {}),
    "NaNs are chosen from": ("fmin s,s,s", replaced(r"if \(.* or .*\):", "if True:"), {}),
    "NaNs are compared": ("fcmgt s,s,s", replaced(r"if \(.* or .*\):", "if True:"), {}),
    "NaNs are compared for flags": ("fcmp s,s", replaced(r"if \(.* or .*\):", "if True:"), {}),
    "integers are not bounded below": ("fcvtzu w,s", replaced(r"if 0 <= ", "if -1e30 <= "), {}),
    "integers are not bounded above": ("fcvtzs w,s", replaced("<= 2147483647", "<= 1e30"), {}),
    "long integers are rounded twice to single": ("scvtf s,x", replaced(r"-\d+ <= \w+ <= 90071\d+", "True"), {}),
    "long integers are rounded twice to half": ("scvtf h,x,#", replaced(r"-\d+ <= \w+ <= 90071\d+", "True"), {}),
}  # fmt: skip
"""By what a weakened text would allow: a form, the text's change, and the registers where they are not the usual."""


@pytest.mark.parametrize("name", WEAKENED)
def test_a_weakened_guard_is_noticed(name: str) -> None:
    form, mutation, flags = WEAKENED[name]
    assert any(outcomes(form, 4000, mutation, **flags))


LEFT_OUT: dict[str, tuple[str, str, str]] = {
    "doubles are fused": ("fmadd d,d,d,d", '"multiply_add" and format.bits < 64', '"multiply_add"'),
    "doubles are rounded to integers away from zero": ("fcvtas x,d", "and format.bits == 64", "and False"),
    "doubles are rounded away from zero": ("frinta d,d", "and format.bits == 64", "and False"),
}
"""By what the host would do though it must not: a form, and what to replace in the source of `host_floating`."""


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_the_host_must_leave_out_it_would_do_wrong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form, old, new = LEFT_OUT[name]
    scope: dict[str, Any] = {"__name__": "weakened"}
    exec(inspect.getsource(host_floating).replace(old, new), scope)
    monkeypatch.setattr(python, "HostSource", scope["HostSource"])
    assert any(outcomes(form, 4000))


A, B = (U32.field(read(Place("v", number)), 0) for number in (1, 2))
H = U16.field(read(Place("v", 1)), 0)
ADD = FloatOperation("add", F32, F32)


@pytest.mark.parametrize(
    ("lane", "bits", "on_host"),
    [
        (ADD(A, B), 32, True),
        (ADD(ADD(A, B), B), 32, False),
        (ADD(A, B, fpcr=constant(1 << 22)), 32, False),
        (FloatOperation("add", F32, F32, "odd")(A, B), 32, False),
        (FloatOperation("add", F32, F32, "zero")(A, B), 32, False),
        (FloatOperation("from_integer", S32, F32, "up")(S32.wrap(A)), 32, False),
        (FloatOperation("convert", F32, BF16)(A), 16, False),
        (FloatOperation("multiply", F16, F32)(H, H), 32, False),
    ],
    ids=["a sum", "a sum of a sum", "FPCR given", "odd", "toward zero", "integer up", "bfloat16", "two formats"],
)
def test_only_what_is_rounded_once_to_nearest_in_one_format_has_host_text(lane: Lane, bits: int, on_host: bool) -> None:
    text, _ = python.generate((Write(Place("v", 0), bits, [lane]),), 0, "")
    assert (APPLIES in text) == on_host
