"""Faults planted in the machine code of kernels, and what a proof says of them against what inputs show."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Final, Literal, NamedTuple

import numpy as np

from isa.decode.decoding import decode
from isa.errors import LanewiseError
from isa.evaluate.exact import Evaluation
from isa.lane import Place
from sim.call.call import CompiledKernel, Engine
from sim.call.kernel_image import open_kernel
from sim.kernels.kernel import Inputs, Kernel, built_in_kernel
from sim.symbolic.kernel_proof import Shape
from sim.symbolic.proof import Prover
from sim.symbolic.proving.rehearsal import WronglyTraced
from sim.symbolic.reference import TracedReference, traced_reference
from sim.symbolic.shapes import shapes_of
from sim.toolchain.image import Image

NOP: Final = 0xD503201F
MOST_EXECUTED: Final = 20_000
"""Instructions after which a call with a fault in it is given up."""
Verdict = Literal[
    "refuted", "stopped", "equivalent", "undecided", "WRONGLY PROVED", "WRONGLY REFUTED", "WRONGLY TRACED"
]
"""`stopped`: not followed, or it does what no caller may find; `equivalent`: proved, and no input tells."""


class Subject(NamedTuple):
    """A build of a kernel and what is asked of it."""

    kernel: str
    mode: str
    source: str
    level: str
    lengths: tuple[int, ...]
    each: str = ""
    values: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kernel} {self.mode} {self.source} -{self.level}"


class Planted(NamedTuple):
    """A fault: where, the text of the instructions before and after, what was said of it and why."""

    subject: str
    where: str
    verdict: Verdict
    said: str


def _quantize(source: str, level: str, shift: int, *lengths: int) -> Subject:
    return Subject("quantize_down", "acl_19_08", source, level, lengths, "parameters.shift", (shift,))


SUBJECTS: Final = (
    _quantize("kernel.c", "O2", 5, 17), _quantize("kernel.c", "O0", 1, 1), _quantize("kernel.c", "O3", 0, 16),
    _quantize("kernel_plain.c", "O2", 9, 5), _quantize("kernel_plain.c", "O0", 31, 1),
    Subject("offset_contribution", "acl_19_08_cl", "kernel_plain.c", "O2", (4,)),
    Subject("offset_contribution", "acl_19_08_neon", "kernel.c", "O2", (16,)),
    Subject("transpose1xw", "acl_19_08", "kernel.c", "O2", (16,)),
    Subject("transpose1xw", "acl_19_08", "kernel_plain.c", "O1", (16,)),
    Subject("quantized_multiplier", "armnn_24_08", "kernel.c", "O2", (5,)),
    Subject("quantized_multiplier", "armnn_24_08", "kernel_plain.c", "O1", (3,)),
    Subject("quantized_add", "neon_ties_even", "kernel.c", "O2", (17,)),
)  # fmt: skip


class _Prepared(NamedTuple):
    kernel: Kernel
    image: Image
    shapes: Sequence[Shape]
    references: Sequence[TracedReference]
    executed: Sequence[int]


@cache
def prepared(subject: Subject) -> _Prepared:
    """The build, its shapes, at most three, and the addresses that are executed on their examples."""
    kernel = built_in_kernel(subject.kernel, subject.mode)
    source = next(source for source in kernel.sources if source.name == subject.source)
    image = open_kernel(kernel, source, f"-{subject.level}", *kernel.flags)
    shapes = shapes_of(kernel, subject.lengths)[:3]
    called = CompiledKernel(image, kernel, engine="machine")
    executed = set[int]()
    for shape in shapes:
        _, recorded = called.record(kernel.arguments(shape.example), 1)
        executed |= {one.pc for one in recorded if one.pc is not None}
    references = [traced_reference(kernel, shape.example) for shape in shapes]
    return _Prepared(kernel, image, shapes, references, sorted(executed))


def word_at(image: Image, address: int) -> int:
    segment = next(s for s in image.segments if s.address <= address < s.address + len(s.data))
    (word,) = struct.unpack_from("<I", segment.data, address - segment.address)
    return int(word)


def with_word(image: Image, address: int, word: int) -> Image:
    """The image with another instruction at an address."""
    segments = []
    for segment in image.segments:
        at = address - segment.address
        data = segment.data
        if 0 <= at < len(data):
            data = data[:at] + struct.pack("<I", word) + data[at + 4 :]
        segments.append(replace(segment, data=data))
    return replace(image, segments=tuple(segments))


def text_of(word: int, address: int) -> str | None:
    """An instruction's text; None for what is none of the table."""
    try:
        instruction = decode(struct.pack("<I", word), address)
    except LanewiseError:
        return None
    return None if instruction.traps else instruction.text


def faulty(image: Image, executed: Sequence[int], rng: Random) -> tuple[Image, str]:
    """The image with one bit of an executed instruction turned, the instruction left out, or put after the next."""
    while True:
        at, kind = rng.choice(executed), rng.randrange(8)
        word = word_at(image, at)
        if kind == 0:
            changes = {at: NOP}
        elif kind == 1 and at + 4 in executed:
            changes = {at: word_at(image, at + 4), at + 4: word}
        else:
            changes = {at: word ^ 1 << rng.randrange(32)}
        texts = [text_of(new, address) for address, new in changes.items()]
        if None in texts or all(word_at(image, address) == new for address, new in changes.items()):
            continue
        for address, new in changes.items():
            image = with_word(image, address, new)
        return image, f"{at:#x} {text_of(word, at)} -> {texts[0]}"


def input_sets(subject: Subject, reference: TracedReference, rng: Random, count: int) -> Iterator[Inputs]:
    """Inputs of a shape that the reference takes: corners, small and any numbers."""
    fixed = f"in.{subject.each}"
    for _ in range(count):
        values = {}
        for lane in reference.inputs.values():
            corners = [
                n for n in (lane.low, lane.high, lane.low + 1, lane.high - 1, 0, 1, -1) if lane.low <= n <= lane.high
            ]
            near = min(max(rng.randrange(-300, 301), lane.low), lane.high)
            values[lane.place] = rng.choice((rng.choice(corners), near, rng.randint(lane.low, lane.high)))
            if lane.place.file == fixed:
                values[lane.place] = rng.choice(subject.values)
        evaluation = Evaluation(_Inputs(values))
        if any(evaluation.value(case.given) for case in reference.cases):
            yield reference.input_set(values)


@dataclass(frozen=True)
class _Inputs:
    values: Mapping[Place, int]

    def read(self, place: Place) -> int:
        return self.values[place]

    def load(self, address: int, size: int) -> bytes:
        raise LookupError(address)


def shows_a_fault(kernel: Kernel, image: Image, inputs: Inputs, engine: Engine, seeds: Sequence[int] = (0, 1)) -> bool:
    """Whether a call leaves something else than the reference wants, or does not come back well.

    By the seeds arrays lie in other places, and undefined bytes are others: what is computed of these shows.
    """
    wanted = kernel.expected(inputs)
    try:
        called = CompiledKernel(image, kernel, engine=engine, max_instructions=MOST_EXECUTED)
        results = [called.call(kernel.arguments(inputs), seed) for seed in seeds]
    except LanewiseError:
        return True
    return any(not finding.harmless for result in results for finding in result.findings) or any(
        not np.array_equal(made[name], array, equal_nan=array.dtype.kind == "f")
        for result in results
        for made in result.outputs.values()
        for name, array in wanted.items()
    )


def judged(subject: Subject, seed: int, seconds: float = 10, inputs: int = 60) -> Planted:
    """Plant the fault of a seed, prove, and hold what is said against what inputs show."""
    kernel, image, shapes, references, executed = prepared(subject)
    rng = Random(f"{subject.name} {seed}")
    wrong, where = faulty(image, executed, rng)
    each = {subject.each: subject.values} if subject.each else {}
    try:
        proof = Prover(
            kernel, {"planted": wrong}, shapes, each=each, known=frozenset(), seconds=seconds, jobs=1, kept_in=None
        ).run()
    except WronglyTraced as error:
        return Planted(subject.name, where, "WRONGLY TRACED", str(error))
    (build,) = proof.builds
    refuting = [(failure.inputs, failure.call_seed) for failure in build.failures if failure.inputs is not None]
    if refuting:
        shown, call_seed = refuting[0]
        confirmed = shows_a_fault(kernel, wrong, shown, "lockstep", (0, 1) if call_seed is None else (call_seed,))
        return Planted(subject.name, where, "refuted" if confirmed else "WRONGLY REFUTED", build.failures[0].reason)
    if proof.outcome == "unknown":
        found = [*build.faults, *build.refused]
        why = found or [failure.reason for failure in build.failures] or [proof.untraceable]
        return Planted(subject.name, where, "stopped" if found else "undecided", why[0])
    sets = (one for reference in references for one in input_sets(subject, reference, rng, inputs))
    tried = ((one, (2 * number, 2 * number + 1)) for number, one in enumerate(sets))
    if any(shows_a_fault(kernel, wrong, one, "machine", seeds) for one, seeds in tried):
        return Planted(subject.name, where, "WRONGLY PROVED", "inputs show a difference")
    return Planted(subject.name, where, "equivalent", "")
