"""False twins of proofs: faults in machine code and in an instruction's semantics are never proved to be right."""

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from isa.decode.decoding import decode
from isa.instruction import Instruction
from isa.lane import Write
from sim.symbolic.following.machine import SymbolicMachine
from sim.symbolic.following.state import SymbolicState
from sim.symbolic.kernel_proof import BuildProof
from sim.symbolic.proof import Prover
from sim.symbolic.proving.rehearsal import WronglyTraced
from sim.toolchain.image import Image
from support.planted_words import (
    Subject,
    faulty,
    judged,
    prepared,
    shows_a_fault,
    text_of,
    with_word,
    word_at,
)
from support.sampled import sampled

QUANTIZE = Subject("quantize_down", "acl_19_08", "kernel.c", "O2", (1,), "parameters.shift", (5,))
OTHERS = {
    "sqrdmulh v1.4s": (1 << 12, "sqdmulh"),
    "asr w18": (3 << 10, "lsr"),
    "bic w16": (1 << 21, "and"),
    "csel w17": (1 << 10, "csinc"),
}
"""Instructions of the build, and what turns one into another."""


def address_of(text: str) -> int:
    _, image, _, _, executed = prepared(QUANTIZE)
    return next(pc for pc in executed if (text_of(word_at(image, pc), pc) or "").startswith(text))


def proof_of(image: Image) -> BuildProof:
    given = {"each": {QUANTIZE.each: QUANTIZE.values}, "known": frozenset[str](), "kept_in": None}
    kernel, _, shapes, _, _ = prepared(QUANTIZE)
    return Prover(kernel, {"build": image}, shapes, seconds=10, jobs=1, **given).run().builds[0]  # type: ignore[arg-type]  # by name


@cache
def outcome_as_it_is() -> str:
    _, image, *_ = prepared(QUANTIZE)
    return proof_of(image).outcome


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_a_planted_fault_is_what_inputs_show(seed: int) -> None:
    planted = judged(QUANTIZE, seed, inputs=20)
    assert planted.verdict in ("refuted", "stopped", "equivalent")


@pytest.mark.slow
@pytest.mark.parametrize("text", sampled(OTHERS, 2))
def test_another_instruction_is_refuted_and_lockstep_confirms_it(text: str) -> None:
    kernel, image, *_ = prepared(QUANTIZE)
    at, (bits, other) = address_of(text), OTHERS[text]
    wrong = with_word(image, at, word_at(image, at) ^ bits)
    assert (text_of(word_at(wrong, at), at) or "").startswith(other + " ")
    inputs = [failure.inputs for failure in proof_of(wrong).failures if failure.inputs is not None]
    assert inputs
    assert all(shows_a_fault(kernel, wrong, one, "lockstep") for one in inputs)
    assert not any(shows_a_fault(kernel, image, one, "lockstep") for one in inputs)


def test_faults_are_the_same_for_a_seed_and_change_one_place() -> None:
    _, image, _, _, executed = prepared(QUANTIZE)
    one, other = (faulty(image, executed, Random(7)) for _ in range(2))
    assert one[1] == other[1]
    assert 1 <= sum(word_at(one[0], pc) != word_at(image, pc) for pc in executed) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("text", sampled(reversed(OTHERS), 2))
def test_an_instruction_with_the_semantics_of_another_is_not_proved(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, image, *_ = prepared(QUANTIZE)
    at, own, met = address_of(text), SymbolicMachine._writes, list[str]()

    def planted(self: SymbolicMachine, instruction: Instruction, state: SymbolicState) -> Sequence[Write]:
        if state.pc == at:
            met.append(instruction.text)
            instruction = decode((word_at(image, at) ^ OTHERS[text][0]).to_bytes(4, "little"), at)
        return own(self, instruction, state)

    assert outcome_as_it_is() == "proved"
    monkeypatch.setattr(SymbolicMachine, "_writes", planted)
    try:
        outcome = proof_of(image).outcome
    except WronglyTraced:
        outcome = "unknown"
    assert met
    assert outcome != "proved"
