"""Theorems about a streaming unit: its stages from any state, its results, and that everything waits together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.lane import U1, constant
from rtl_models.formal.claims import Signals, Specification, Statement, claim
from rtl_models.formal.theorem import Fault, Lemma, Theorem
from rtl_models.formal.units.composition import Composed
from rtl_models.formal.units.handshake import handshake_theorems
from rtl_models.formal.units.pipelines import OutputBits, Pipeline
from rtl_models.formal.units.registers import RegisterUpdate, becomes
from sim.prove.claim import Claim

_WITHOUT_ENABLE = Fault("valid_pipeline.sv", "assign enable_o = ready_i | ~valid_o;", "assign enable_o = 1'b1;")


def pipeline_theorems(pipeline: Pipeline) -> Iterator[Theorem]:
    """Of its stages, of results that wait, and of the handshake."""
    yield from _stage_theorems(pipeline)
    yield _waiting_theorem(pipeline)
    yield from handshake_theorems(pipeline.subject, pipeline.handshake, pipeline.latency)


def _stage_theorems(pipeline: Pipeline) -> Iterator[Theorem]:
    """For each stage: from any state and for any inputs its registers become what they should, or wait."""
    each = stages(pipeline)
    for stage, registers in enumerate(each, 1):
        name = f"{pipeline.subject}: stage {stage} becomes what it should, or waits"
        ends = pipeline.results if registers is each[-1] else ()
        yield Theorem(claim(name, _stage(registers, ends)), pipeline.subject, registers[-1].fault)


def _stage(registers: Iterable[RegisterUpdate], results: Iterable[OutputBits]) -> Specification:
    """What the registers become, and that these results are on their ports."""

    def specification(read: Signals) -> Statement:
        outputs = {
            f"{result.port} from bit {result.lsb}": (read(result.port, result.kind, result.lsb), result.value(read))
            for result in results
        }
        return {**becomes(registers)(read), **outputs}

    return specification


def stages(pipeline: Pipeline) -> list[list[RegisterUpdate]]:
    """The registers by their distance from the ports; those of a constant stand with their neighbours' last."""
    composed = Composed(pipeline.registers, Signals())
    ages = [composed.of(register.value)[1] or pipeline.latency for register in pipeline.registers]
    numbered = list(zip(ages, pipeline.registers, strict=True))
    return [[register for age, register in numbered if age == stage] for stage in range(1, max(ages) + 1)]


def _waiting_theorem(pipeline: Pipeline) -> Theorem:
    """A result that is not taken stays.  That registers wait too is in the theorems about the stages."""

    def specification(read: Signals) -> Statement:
        later, ports = read.after(1), [(r.port, r.kind, r.lsb) for r in pipeline.results]
        outputs = {
            f"{port} from bit {lsb}": (later(port, kind, lsb), read(port, kind, lsb)) for port, kind, lsb in ports
        }
        return {**outputs, "valid_o": (later("valid_o", U1), constant(1))}

    name = f"{pipeline.subject}: a result that is not taken stays"
    stalls = claim(
        name,
        specification,
        lambda read: (
            read("valid_o", U1) & read("ready_i", U1).equals(0) & read("rst_ni", U1) & read.after(1)("rst_ni", U1)
        ),
    )
    return Theorem(stalls, pipeline.subject, _WITHOUT_ENABLE)


def composition_lemma(pipeline: Pipeline) -> Lemma:
    """The stages put together are the whole specification."""
    name = f"{pipeline.subject}: its {pipeline.latency} stages together are the unit"
    return Lemma(_composition(pipeline, name, 0), _composition(pipeline, f"{name}, one too high", 1))


def _composition(pipeline: Pipeline, name: str, error: int) -> Claim:
    def specification(read: Signals) -> Statement:
        composed = Composed(pipeline.registers, read)
        return {
            f"{result.port} from bit {result.lsb}": (composed.of(result.value)[0], result.meaning(read) + error)
            for result in pipeline.results
        }

    return claim(name, specification, lambda read: pipeline.results[0].given(read))
