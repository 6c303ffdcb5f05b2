"""One implementation on input sets, call by call: what stops a run, what is counted, which wrong lane is told."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import sim.check.check
from sim.call.call import CallError, CallResult, Recorded
from sim.call.coverage import Coverage
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.native.share import NativeShare
from sim.check.blame import Parting
from sim.check.check import Job, JobRun, begin_job, check_job, finish_job, jobs_of
from sim.check.compare import WrongLane
from sim.check.report import Outcome
from sim.check.tracing import TracedLane
from sim.check.vectors import MAX_SETS, Vectors
from sim.kernels import Inputs, Kernel, KernelError, parse_prototype
from sim.kernels.kernel import Outputs
from sim.machine.errors import ExecutionError
from sim.toolchain.image import ImageError
from sim.toolchain.tools import ToolchainError, ToolchainUnavailable

SEED = 7


def golden(inputs: Inputs) -> Outputs:
    return {"out": inputs["x"] + 1}


NAME, SIGNATURE = parse_prototype("void f(const int32_t x[3], int32_t out[3])")
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(), signature=SIGNATURE, golden=golden)


def vectors_of(count: int) -> Vectors:
    """In set number s the golden numbers are 10 s, 10 s + 1, 10 s + 2."""
    inputs = [{"x": np.arange(10 * number - 1, 10 * number + 2, dtype=np.int32)} for number in range(count)]
    return Vectors(inputs, [golden(one) for one in inputs], SEED)


class Written:
    """An implementation that adds to the golden numbers of each set, or raises, as it is written down."""

    forms = frozenset({"add", "sub"})

    def __init__(self, **given: Any) -> None:
        self.given, self.calls = given, list[tuple[int, int]]()

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        number = (int(arguments["x"][0]) + 1) // 10
        self.calls.append((number, seed))
        what: Any = self.given.get(f"at{number}", {})
        if isinstance(what, BaseException):
            raise what
        output = golden(arguments)["out"] + np.array(what.pop("add", [0, 0, 0]), np.int32)
        more: dict[str, Any] = {"instructions": 10, "qc_events": 2, "unverified": {"smmla": 3}} | what
        return CallResult({"program": {"out": output}}, **more)

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        return {"x": 0x1000, "out": 0x2000}, []


def run(count: int, image: Any = None, **given: Any) -> tuple[Outcome, list[int], Written]:
    """The outcome, what was told of each call, and the implementation with the calls that were made."""
    implementation, told, vectors = Written(**given), list[int](), vectors_of(count)
    made = JobRun(KERNEL, Job(None, ()), vectors, implementation, image, "")
    made.go_on(vectors, told.append)
    return made.outcome(), told, implementation


def test_where_every_lane_agrees_all_calls_are_made_and_counted() -> None:
    found, told, implementation = run(3, at1={"unverified": {"smmla": 1, "usdot": 4}})
    assert (found.verdict, found.failure, found.failed_set, found.mismatch) == ("agrees", "", None, None)
    assert implementation.calls == [(number, SEED * MAX_SETS + number) for number in range(3)]
    assert told == [1, 1, 1]
    assert (found.vectors, found.lanes_compared, found.instructions, found.qc_events) == (9, 9, 30, 6)
    assert (found.forms, found.unverified) == (Written.forms, {"smmla": 7, "usdot": 4})
    assert (found.coverage, found.needs, found.left_out, found.interrupted) == (None, (), (), False)


@pytest.mark.parametrize(
    "error", [CallError("no"), KernelError("no"), TypeError("no"), ValueError("no"), ExecutionError(0, 4, "no")]
)
def test_an_error_stops_the_run_at_its_input_set(error: Exception) -> None:
    found, told, implementation = run(4, at2=error)
    assert (found.failure, found.failed_set, found.verdict) == ("input set 2: no", 2, "differs")
    assert ([number for number, _ in implementation.calls], told, found.lanes_compared) == ([0, 1, 2], [1, 1], 6)


def test_another_exception_is_none_of_a_verdict() -> None:
    with pytest.raises(ZeroDivisionError):
        run(1, at0=ZeroDivisionError())


def test_an_interrupt_is_no_failure() -> None:
    found, told, _ = run(3, at1=KeyboardInterrupt())
    assert (found.verdict, found.failure, found.failed_set, found.interrupted) == ("stopped", "", None, True)
    assert (told, found.lanes_compared) == ([1], 3)


def test_a_divergence_is_the_failure_of_its_input_set_and_its_lanes_are_not_compared() -> None:
    found, told, implementation = run(4, at2={"divergence": "diverges", "add": [1, 1, 1]})
    assert (found.failure, found.divergence) == ("input set 2: diverges", "input set 2: diverges")
    assert (found.failed_set, found.mismatch, found.lanes_compared, told) == (2, None, 6, [1, 1])
    assert len(implementation.calls) == 3


def test_a_wrong_lane_does_not_stop_the_run_and_the_first_one_is_the_failing_set() -> None:
    found, told, _ = run(4, at1={"add": [0, 0, 5]}, at3={"add": [1, 0, 0]})
    assert (told, found.failed_set, found.lanes_compared) == ([1] * 4, 1, 12)
    assert found.mismatch is not None
    assert found.mismatch.lanes_different == 2
    assert found.failure == str(found.mismatch)
    stopped, _, _ = run(4, at1={"add": [0, 0, 5]}, at3=CallError("no"))
    assert (stopped.failure, stopped.failed_set) == (f"input set 3: no\n{stopped.mismatch}", 1)


def test_a_lane_of_an_input_set_that_stands_twice_is_one() -> None:
    vectors = vectors_of(2)
    twice = Vectors([*vectors.inputs, vectors.inputs[1]], [*vectors.golden, vectors.golden[1]], SEED)

    class Alike(Written):
        def call(self, arguments: Inputs, seed: int) -> CallResult:
            return CallResult({"program": {"out": golden(arguments)["out"] + np.int32(1)}}, 1, 0)

    made = JobRun(KERNEL, Job(None, ()), twice, Alike(), None, "")
    made.go_on(twice, lambda _: None)
    mismatch = made.outcome().mismatch
    assert mismatch is not None
    assert mismatch.lanes_different == 6


def finding(kind: Any, where: str, says: str, harmless: bool = False) -> GuardFinding:
    return GuardFinding(kind=kind, says=says, where=where, harmless=harmless)


def test_of_harmless_findings_the_first_of_each_kind_and_place_is_kept() -> None:
    first = finding("platform register", "x18", "writes x18", harmless=True)
    again = finding("platform register", "x18", "writes x18 too", harmless=True)
    other = finding("platform register", "x19", "writes x18", harmless=True)
    found, told, _ = run(3, at0={"findings": (first,)}, at1={"findings": (again, other)}, at2={"findings": (first,)})
    assert (found.findings, found.failure, told) == ((first, other), "", [1, 1, 1])


def test_a_harmful_finding_stops_the_run_behind_its_call() -> None:
    note = finding("platform register", "x18", "writes x18", harmless=True)
    one, other = finding("over-read", "x", "reads byte 12"), finding("over-read", "x", "reads byte 16")
    found, told, _ = run(3, at1={"findings": (note, one, other)})
    assert found.failure == "input set 1: over-read: reads byte 12\nover-read: reads byte 16"
    assert (found.findings, found.failed_set, told, found.lanes_compared) == ((note, one, other), 1, [1, 1], 6)
    stopped, told, _ = run(3, at1=GuardError(one))
    assert (stopped.failure, stopped.findings, told) == ("input set 1: over-read: reads byte 12", (one,), [1])


def test_a_run_goes_on_with_what_is_added_and_only_with_that() -> None:
    implementation = Written(at2={"add": [1, 0, 0]})
    made = JobRun(KERNEL, Job(None, ("-O1", "-g")), vectors_of(2), implementation, None, "aa")
    made.go_on(vectors_of(2), lambda _: None)
    assert made.outcome().lanes_compared == 6
    found = finish_job(made, vectors_of(3))
    assert ([number for number, _ in implementation.calls], found.failed_set) == ([0, 1, 2], 2)
    assert (found.implementation, found.flags, found.code) == ("program", "-O1 -g", "aa")
    assert finish_job(found, vectors_of(4)) is found


@pytest.mark.parametrize(
    "given", [{"at1": CallError("no")}, {"at1": {"divergence": "diverges"}}, {"at1": KeyboardInterrupt()}]
)
def test_a_run_that_ended_makes_no_more_calls(given: dict[str, Any]) -> None:
    implementation = Written(**given)
    made = JobRun(KERNEL, Job(None, ()), vectors_of(3), implementation, None, "")
    made.go_on(vectors_of(3), lambda _: None)
    before = made.outcome()
    made.go_on(vectors_of(5), lambda _: None)
    assert (len(implementation.calls), made.outcome()) == (2, before)


class Tracer:
    """In the place of what traces lanes: what it finds of each is written down, by its number, which its set tells."""

    clearness: dict[int, int]
    found: dict[int, TracedLane]

    def __init__(self, *_: object) -> None:
        self.weighed.clear()
        self.traced.clear()

    weighed: ClassVar[list[WrongLane]] = []
    traced: ClassVar[list[tuple[WrongLane, Sequence[Any], Sequence[int]]]] = []

    def distinct_steps(self, number: int, place: tuple[int, ...]) -> int:
        self.weighed.append(WrongLane(number, "", "", place))
        return self.clearness.get(number, 0)

    def trace(self, lane: WrongLane, right: Sequence[Any], right_sets: Sequence[int]) -> TracedLane:
        self.traced.append((lane, right, right_sets))
        return self.found.get(lane.number, traced(is_bound=True))


def traced(*elements: str, is_bound: bool = False, written: bool = True, **given: Any) -> TracedLane:
    made: dict[str, Any] = {"parting": None, "golden_step": None, "writer": None}
    return TracedLane(elements=elements, written=written, is_bound=is_bound, **(made | given))


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> type[Tracer]:
    monkeypatch.setattr(sim.check.check, "LaneTracer", Tracer)
    monkeypatch.setattr(Tracer, "clearness", {}, raising=False)
    monkeypatch.setattr(Tracer, "found", {}, raising=False)
    return Tracer


def lane_told(count: int, **given: Any) -> tuple[int, list[int]]:
    """In which set the first lane is wrong that is told, and those of the lanes that were traced, in order."""
    wrong = {f"at{number}": {"add": [1, 0, 0]} for number in range(count)} | given
    found, _, _ = run(count, **wrong)
    assert found.mismatch is not None
    return (int(found.mismatch.expected) // 10, [lane.number for lane, *_ in Tracer.traced])


def test_the_lane_whose_steps_are_told_apart_best_is_traced_first_and_told(tracer: type[Tracer]) -> None:
    tracer.clearness |= {0: 2, 1: 5, 2: 5, 3: 3}
    tracer.found |= dict.fromkeys(range(4), traced("x[0]"))
    assert lane_told(4) == (1, [1])
    lane, right, right_sets = tracer.traced[0]
    assert (lane, right, right_sets) == (WrongLane(1, "program", "out", (0,)), [(1,), (2,)], [])


def test_a_lane_that_only_bounds_decided_is_told_where_no_other_is(tracer: type[Tracer]) -> None:
    tracer.clearness |= {0: 4, 1: 3, 2: 2, 3: 1}
    bound = traced("x[0]", is_bound=True)
    tracer.found |= {0: traced(), 1: bound, 2: traced("x[0]"), 3: traced("x[0]")}
    assert lane_told(4) == (2, [0, 1, 2])
    tracer.found |= {2: traced(), 3: bound}
    assert lane_told(4) == (1, [0, 1, 2, 3])
    tracer.found |= {1: traced(), 3: traced()}
    assert lane_told(4) == (0, [0, 1, 2, 3])
    tracer.found |= {1: traced(written=False)}
    assert lane_told(4) == (1, [0, 1])


def test_of_lanes_that_became_one_number_the_clearest_is_traced_and_eight_numbers_at_most(tracer: type[Tracer]) -> None:
    tracer.clearness |= {number: 20 - number for number in range(12)}
    assert lane_told(12) == (0, list(range(8)))
    alike = {f"at{number}": {"add": [99 - 10 * number, 0, 0]} for number in range(1, 4)}
    assert lane_told(5, **alike) == (0, [0, 1, 4])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
def test_so_many_lanes_are_weighed_from_all_sets(
    count: int, tracer: type[Tracer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim.check.check, "CANDIDATES", 4)
    lane_told(count)
    weighed = [lane.number for lane in tracer.weighed]
    if count < 4:
        assert weighed == list(range(count))
    gaps = {after - before for before, after in pairwise(weighed)}
    assert (weighed[0], len(weighed) <= 4, len(gaps) <= 1) == (0, True, True)
    assert not gaps or count - weighed[-1] <= max(gaps)


def node(pc: int | None) -> Any:
    """A lane that an instruction at an address wrote."""
    instruction = SimpleNamespace(text="b.lo #0x100")
    return SimpleNamespace(recorded=SimpleNamespace(pc=pc, occurrence=SimpleNamespace(instruction=instruction)))


class Program:
    """An image that knows its places."""

    def place_of(self, pc: int) -> str:
        return f"f.c:{pc}"

    def full_place_of(self, pc: int) -> str:
        return f"folder/f.c:{pc}"

    def inlined_at(self, pc: int) -> str:
        return f"by g at {pc}"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(sim.check.check, "with_targets", lambda text, image: text.replace("#0x100", "f.c:9"))
    monkeypatch.setattr(sim.check.check, "left_out", lambda image, reached: [f"left out but {sorted(reached)}"])
    monkeypatch.setattr(sim.check.check, "without_lines", lambda image, symbol: [f"no lines of {symbol}"])
    monkeypatch.setattr(sim.check.check, "with_targets", lambda text, image: text.replace("#0x100", "f.c:9"))
    return Program()


def told_by(image: Any, found: TracedLane) -> tuple[Any, ...]:
    Tracer.found[0] = found
    mismatch = run(1, image, at0={"add": [1, 0, 0]})[0].mismatch
    assert mismatch is not None
    return (
        mismatch.instruction,
        mismatch.source,
        mismatch.inlined,
        mismatch.parted_at,
        mismatch.golden_step,
        mismatch.agreed,
    )


def test_the_instruction_that_is_told_is_where_the_lane_parts_or_else_what_wrote_it_last(
    tracer: type[Tracer], program: Program
) -> None:
    last = traced("x[0]", writer=node(8))
    parted = traced("x[0]", writer=node(8), parting=Parting("shift", 3, ("sum",), node(4)), golden_step=3)
    unknown = traced("x[0]", writer=node(8), parting=Parting("shift", 3, (), None), golden_step=3)
    assert told_by(program, last) == ("b.lo f.c:9", "f.c:8", "by g at 8", None, None, ())
    assert told_by(program, parted) == ("b.lo f.c:9", "f.c:4", "by g at 4", "shift", 3, ("sum",))
    assert told_by(program, unknown) == ("", "", "", "shift", 3, ())
    assert told_by(None, last)[:3] == ("b.lo #0x100", "intrinsics", "")
    assert told_by(program, traced("x[0]", writer=node(None)))[:3] == ("b.lo #0x100", "intrinsics", "")


def test_an_error_of_compiled_code_is_told_with_its_line_and_what_was_not_reached(program: Program) -> None:
    error = ExecutionError(0, 4, "no", pc=8, disassembly="udf #0")
    assert run(2, program, at1=error)[0].failure == "input set 1: at 0x8, udf #0: no (folder/f.c:8)"
    assert run(2, program, at1=CallError("no"))[0].failure == "input set 1: no"
    missing = finding("missing symbol", "memcpy", "calls 'memcpy'")
    found = run(2, program, at1=GuardError(missing))[0]
    assert found.left_out == ("left out but ['memcpy']", "no lines of f")
    over = finding("over-read", "x", "reads byte 12")
    assert run(1, program, at0=GuardError(over))[0].left_out == ("left out but []", "no lines of f")


class Image:
    """A program that is the same as another of its kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def runs_as(self, other: Image) -> bool:
        return self.kind == other.kind


def test_what_is_assembled_to_one_program_is_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"-O0": "a", "-O1": "b", "-O2": "a", "-O3": "b", "-Os": "a"}
    asked = list[str]()

    def opened(kernel: Kernel, source: Path, *flags: str) -> Image:
        asked.append(" ".join((source.name, *flags)))
        return Image(made[flags[0]])

    monkeypatch.setattr(sim.check.check, "open_kernel", opened)
    kernel = Kernel(
        name="f", symbol="f", sources=(Path("f.c"), Path("f.s"), Path("f.o")), signature=SIGNATURE, golden=golden,
        flags=("-own",), program=lambda **_: None,
    )  # fmt: skip
    jobs = jobs_of(kernel, ("O0", "O1", "O2", "O3", "Os"), ("-given",))
    assert [(job.source and job.source.name, job.flags, job.same_code_at) for job in jobs] == [
        *(("f.c", (level, "-own", "-given"), ()) for level in made),
        ("f.s", ("-O0", "-own", "-given"), ("-O2", "-Os")), ("f.s", ("-O1", "-own", "-given"), ("-O3",)),
        ("f.o", (), ()), (None, (), ()),
    ]  # fmt: skip
    assert asked == [f"f.s {level} -own -given" for level in made]
    asked.clear()
    assert [job.flags for job in jobs_of(kernel, ("O1",))][1] == ("-O1", "-own")
    assert asked == []  # one alone is built where it is run
    assert [job.same_code_at for job in jobs_of(kernel, ("O0", "O2"))][2] == ("-O2",)


def test_a_job_has_the_name_of_its_file_and_of_a_function_that_is_another() -> None:
    assert [job.name for job in (Job(None, ()), Job(Path("a/f.c"), ()), Job(Path("f.c"), (), "g"))] == [
        "program", "f.c", "f.c:g"
    ]  # fmt: skip
    assert (Job(Path("f.c"), (), "g").of(KERNEL).symbol, Job(Path("f.c"), ()).of(KERNEL)) == ("g", KERNEL)


class Opened:
    """A program with a function of four bytes; what of it does not fit raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def code_of(self, name: str) -> bytes:
        return name.encode()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, program: Program) -> list[Any]:
    """With what a compiled function is made, which is one that is written down."""
    asked = list[Any]()

    class Compiled(Written):
        needs, native = (), NativeShare()

        def __init__(self, *given: Any) -> None:
            asked.append(given)
            super().__init__(at1={"add": [1, 0, 0]})

        def coverage(self) -> Coverage:
            return Coverage({}, {})

    def fits(image: Opened, symbol: str, signature: Any) -> None:
        if image.error is not None:
            raise image.error

    monkeypatch.setattr(sim.check.check, "open_kernel", lambda *_: Opened())
    monkeypatch.setattr(sim.check.check, "require_fit", fits)
    monkeypatch.setattr(sim.check.check, "CompiledKernel", Compiled)
    return asked


@pytest.mark.parametrize(("count", "patience"), [(4, 15), (5, 0), (6, 0)])
def test_native_code_runs_from_the_beginning_where_there_are_lanes_enough(
    count: int, patience: int, compiled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as the instructions that are waited for otherwise; an input set has three."""
    monkeypatch.setattr(sim.check.check, "PATIENCE", 15)
    begin_job(KERNEL, Job(Path("f.c"), ()), vectors_of(count), engine="machine", max_instructions=77)
    ((_, kernel, _, *others),) = compiled
    assert (kernel, others) == (KERNEL, ["machine", 77, patience])


def test_a_build_is_checked_on_all_input_sets_and_has_a_digest_of_its_code(compiled: list[Any]) -> None:
    told = list[int]()
    found = check_job(KERNEL, Job(Path("f.c"), ("-O1", "-g"), "g"), vectors_of(3), told.append)
    assert (found.implementation, found.flags, told) == ("f.c:g", "-O1 -g", [1, 1, 1])
    assert (found.code, found.failed_set) == (sha256(b"g").hexdigest(), 1)
    begun = begin_job(KERNEL, Job(Path("f.c"), ()), vectors_of(3))
    assert isinstance(begun, JobRun)
    assert begun.outcome().lanes_compared == 9


@pytest.mark.parametrize("error", [ToolchainError("it does not build"), ImageError("it does not build")])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_build_that_fails_has_compared_nothing(
    error: Exception, is_late: bool, compiled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: Any) -> Opened:
        if not is_late:
            raise error
        return Opened(error)

    monkeypatch.setattr(sim.check.check, "open_kernel", opened)
    assert check_job(KERNEL, Job(Path("f.c"), ("-O1", "-g")), vectors_of(3)) == Outcome(
        implementation="f.c", flags="-O1 -g", vectors=0, lanes_compared=0, instructions=0, forms=frozenset(),
        qc_events=0, code="", failure="it does not build",
    )  # fmt: skip


def test_a_compiler_that_is_missing_is_no_outcome(compiled: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: Any) -> Opened:
        raise ToolchainUnavailable("there is none")

    monkeypatch.setattr(sim.check.check, "open_kernel", opened)
    with pytest.raises(ToolchainUnavailable, match="there is none"):
        check_job(KERNEL, Job(Path("f.c"), ()), vectors_of(3))
