"""`lanewise prove`: claims about lane arithmetic, and compiled kernels, decided for all inputs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import typer

from isa.errors import INTERRUPTED, MISMATCH, MISSING, USAGE
from isa.evaluate.smt import solver_version
from sim.call.call import CompiledKernel
from sim.call.kernel_image import files_named, open_kernel
from sim.check.aim.find import AtLine, FindError, FoundInput, InputSearch, Unlike, wanted_of
from sim.check.check import Job, check_job, jobs_of
from sim.check.report import PROGRAM, Outcome, Report
from sim.check.vectors import Vectors
from sim.command.again import GivenKernel, debug_again, function_again, option_words
from sim.command.options import as_compiled, chosen_kernel, compile_flags, optimisation_levels
from sim.kernels.kernel import Inputs, Kernel, Outputs
from sim.kernels.names import kernel_names
from sim.kernels.prototype import parse_prototype
from sim.kernels.signature import RETURNED, Signature, extents
from sim.prove.claim import Claim, Finding
from sim.prove.file import claims_in
from sim.prove.report import ProofReport, built_in_claims, named
from sim.prove.run import prove_all
from sim.symbolic.kernel_proof import KernelProof, Shape
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of, unknown_inputs
from sim.terminal.output import fail, print_json, print_progress, print_shown, progress_bar
from sim.toolchain.compilers import fixed_flags, is_source
from sim.toolchain.dwarf.function_types import require_fit
from sim.toolchain.levels import LEVELS
from sim.toolchain.objects import compilers_of
from sim.toolchain.shell import typed
from sim.toolchain.tools import CacheUnusable, cache_directory
from sim.view.find import show_found
from sim.view.prove import show_claims, show_kernel_proof, show_proofs
from sim.view.report import show_report

_SEED = 1
_MOST_NUMBERS = 4096
_Again = Callable[[Kernel, Job, Inputs, int], str]
"""The command that opens a call of a build, with the seed of what its caller does not define."""
_CLAIMS_A_LINE = 25
"""So many claims give one line of progress where stderr is no terminal."""


def prove(
    what: str,
    list_only: bool,
    as_json: bool,
    timeout: float,
    jobs: int,
    no_cache: bool,
    mode: str | None,
    opt: str | None,
    lengths: str,
    rows: str | None,
    all_lengths: bool,
    program: bool,
    each: list[str] | None,
    known: list[str] | None,
    source: list[Path] | None,
    symbol: str | None,
    compile_with: str | None,
    march: str | None,
    cflags: str,
    include: list[Path] | None,
    same: tuple[str, str] | None,
    find: str | None,
) -> None:
    """Do what `lanewise prove` says: its options are those of `sim.command.signatures.prove`."""
    is_prototype = "(" in what and (same is not None or find is not None)
    if is_prototype or what in kernel_names() or _is_kernel_file(what):
        kernel = _without_reference(what) if is_prototype else chosen_kernel(what, mode)
        if symbol is not None:
            kernel = replace(kernel, symbol=symbol)
        wanted = None if find is None else wanted_of(find)
        if wanted is not None and (same or program or all_lengths or each or known):
            fail("--find looks for one input: it goes without --same, --program, --all-lengths, --each, --known", USAGE)
        if same and all_lengths:
            fail("--all-lengths compares with the golden reference, --same two builds: give one of them", USAGE)
        if compile_with is not None and not kernel.sources:
            fail("--compile says how a kernel's source is compiled, and a prototype has none: name its objects", USAGE)
        if source and compile_with is not None:
            fail("--source names what is compiled, --compile how to do it: give one of them", USAGE)
        given = GivenKernel(what, kernel.sources, compile_with)
        if compile_with is not None:
            kernel = replace(kernel, sources=(as_compiled(kernel.sources[0], compile_with),), program=None)
        if source:
            kernel = replace(kernel, sources=files_named(kernel, source), program=None)
        flags = compile_flags(march, cflags, include)
        if program and same:
            fail("--same compares two builds, of which one may be program: give it without --program", USAGE)
        if program and kernel.program is None:
            fail(f"--program proves a program of intrinsics, and {kernel.name} has none to be proved", USAGE)
        if opt is not None and (program or same):
            fail(
                "--opt is for builds at levels: a program has none, and --same names them, such as O2 or FILE@O2", USAGE
            )
        opt = opt or "O2"
        levels = optimisation_levels(opt)
        chosen = [_build(kernel, name, flags) for name in same] if same else jobs_of(kernel, levels, flags)
        builds = chosen if same else [job for job in chosen if (job.source is None) == program]
        shapes = shapes_of(kernel, _numbers("--lengths", lengths), _numbers("--rows", rows) if rows else None)
        asked = (shapes, _each(each), frozenset(known or ()))
        _require_inputs(kernel, shapes, {"--each": asked[1], "--known": asked[2]})
        code = {"mode": mode, "symbol": symbol, "march": march, "cflags": cflags or None, "include": include}
        if wanted is not None:
            search = InputSearch(
                kernel=kernel, shapes=shapes, seconds=timeout, jobs=jobs, kept_in=_cache(no_cache),
                has_reference=not is_prototype,
            )  # fmt: skip
            _find(search, builds, wanted, given, as_json)
            return
        levelled = not same and any(job.flags for job in builds)
        asked_for = {
            "opt": opt if levelled else None, "all-lengths": all_lengths, "program": program, "lengths": lengths,
            "rows": rows, "each": each, "known": known, "source": source, "compile": compile_with, **code,
        }  # fmt: skip
        reproduce = typed(["lanewise", "prove", what, *(("--same", *same) if same else ()), *option_words(asked_for)])
        _prove_kernel(kernel, builds, *asked, timeout, jobs, no_cache, same is not None, is_prototype, all_lengths,
                      as_json, reproduce, given, code)  # fmt: skip
        return
    of_kernels = {
        "--mode": mode,
        "--rows": rows,
        "--each": each,
        "--known": known,
        "--source": source,
        "--symbol": symbol,
        "--compile": compile_with,
        "--same": same,
        "--find": find,
        "--all-lengths": all_lengths,
        "--program": program,
    }
    if options := [name for name, value in of_kernels.items() if value]:
        fail(
            f"{options[0]} is about kernels, and {what!r} is none: they are {', '.join(kernel_names())}, or FILE.py",
            USAGE,
        )
    claims = claims_in(Path(what)) if what.endswith(".py") else named(built_in_claims(), what)
    if not claims and "(" in what:
        fail("a prototype has no golden reference: --same A B names two builds that it is to be proved of", USAGE)
    if not claims:
        fail(
            f"no kernel and no claim is called {what!r}; `lanewise kernels` names the ones, "
            "`lanewise prove --list` the others, and a file of yours ends in .py",
            USAGE,
        )
    if list_only:
        if as_json:
            print_json("prove-list", [{"claim": c.name, "relation": c.relation, "covers": c.covers} for c in claims])
        else:
            print_shown(partial(show_claims, claims))
        return
    cache = _cache(no_cache)
    solver = solver_version()
    findings: list[tuple[Claim, Finding]] = []
    with progress_bar() as progress:
        task = progress.add_task("claims", total=len(claims))

        def found(claim: Claim, finding: Finding) -> None:
            findings.append((claim, finding))
            progress.advance(task)
            noteworthy = len(findings) % _CLAIMS_A_LINE == 0 or not finding.supports(claim)
            if progress.disable and (noteworthy or len(findings) == len(claims)):
                print_progress(f"{len(findings)}/{len(claims)} claims; {claim.name}: {finding.outcome}")

        interrupted = prove_all(claims, timeout, jobs, cache, found)
    ordered = sorted(findings, key=lambda finding: claims.index(finding[0]))
    report = ProofReport(tuple(ordered), what, len(claims), solver, timeout, interrupted)
    print_progress(report.time_taken)
    if as_json:
        print_json("prove", report.as_json())
    else:
        print_shown(partial(show_proofs, report))
    otherwise = any(finding.outcome != "unknown" for _, finding in report.refuted)
    failed = MISMATCH if otherwise else MISSING
    raise typer.Exit(INTERRUPTED if report.interrupted else 0 if report.passed else failed)


def _cache(no_cache: bool) -> Path | None:
    """Where answers are kept; None where none are."""
    if not no_cache:
        with suppress(CacheUnusable):  # nothing is kept then
            return cache_directory()
    return None


def _is_kernel_file(what: str) -> bool:
    """Whether a Python file has a kernel rather than claims."""
    if not what.endswith(".py"):
        return False
    try:
        return re.search(r"^(KERNEL|MODES)\b", Path(what).read_text(encoding="utf-8"), re.MULTILINE) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _without_reference(prototype: str) -> Kernel:
    """The kernel that a prototype declares: what it makes is left open, and is zeros where a reference is followed."""
    name, signature = parse_prototype(prototype)
    return Kernel(name=name, symbol=name, sources=(), signature=signature, golden=partial(_zeros, signature))


def _zeros(signature: Signature, inputs: Inputs) -> Outputs:
    zeros = {p.name: np.zeros(extents(p, inputs), p.dtype) for p in signature.outputs_of(inputs)}
    return zeros | ({RETURNED: np.dtype(signature.returns).type(0)} if signature.returns else {})


def _build(kernel: Kernel, name: str, flags: tuple[str, ...]) -> Job:
    """A build from its name: a level, or a file with a function, a level, or both; or the program of intrinsics."""
    if name == PROGRAM and kernel.program is not None:
        return Job(None, ())
    file, at, level = name.rpartition("@")
    if not at and not re.fullmatch(r"-?O\w", name):
        file, level = name, "O2"
    if level.removeprefix("-") not in LEVELS:
        fail(
            "--same takes builds such as O0, kernel.c, kernel.c@O0 or kernel.c:function@O0, "
            f"not {name!r}: levels are {','.join(LEVELS)}",
            USAGE,
        )
    known = {source.name: source for source in kernel.sources}
    file, _, symbol = (file, "", "") if file in known or Path(file).is_file() else file.partition(":")
    path = known.get(file, Path(file)) if file else next(iter(kernel.sources), None)
    if path is None or not path.is_file():
        own = f"; the kernel's own are {', '.join(known)}" if known else ""
        fail(f"--same: there is no file {file}{own}" if file else f"--same {name}: a prototype has no file", USAGE)
    symbol = symbol if symbol != kernel.symbol else ""
    return Job(path, (f"-{level.removeprefix('-')}", *kernel.flags, *flags) if is_source(path) else (), symbol)


def _numbers(option: str, text: str) -> list[int]:
    """Numbers such as 0..33,64 or -31..0."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(-?\d+)(?:\.\.(-?\d+))?\s*", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high or high - low > _MOST_NUMBERS:
            fail(f"{option} takes numbers such as 0..33,64, at most {_MOST_NUMBERS:,}, not {text!r}", USAGE)
        found += range(low, high + 1)
    return list(dict.fromkeys(found))


def _each(given: list[str] | None) -> dict[str, list[int]]:
    named = [one.partition("=") for one in given or ()]
    if wrong := [name for name, equals, _ in named if not name or not equals]:
        fail(f"--each takes NAME=0..31, not {wrong[0]!r}", USAGE)
    return {name: _numbers("--each", values) for name, _, values in named}


def _require_inputs(kernel: Kernel, shapes: Sequence[Shape], named: Mapping[str, Iterable[str]]) -> None:
    """End the command where an option names what is no input: an argument, a field, or a field of a field."""
    names = {name for shape in shapes for name in shape.example}
    for option, given in named.items():
        if wrong := sorted(unknown_inputs(shapes, set(given))):
            fail(f"{option}: {kernel.title} has no input {wrong[0]!r}; it has {', '.join(sorted(names))}", USAGE)
    if sizes := sorted(kernel.signature.sizes.intersection(named["--each"])):
        fail(f"--each: {sizes[0]!r} is an extent of arrays, as shapes have it: give --lengths or --rows", USAGE)


def _prove_kernel(
    kernel: Kernel, jobs: Sequence[Job], shapes: Sequence[Shape], each: Mapping[str, Sequence[int]],
    known: frozenset[str], seconds: float, processes: int, no_cache: bool, same: bool, is_prototype: bool,
    all_lengths: bool, as_json: bool, reproduce: str, given: GivenKernel, code: Mapping[str, object],
) -> None:  # fmt: skip
    if not jobs:
        fail(
            f"{kernel.title} has no sources: there is nothing to prove; --program takes its program, if it has one",
            USAGE,
        )
    names = [" ".join([job.name, *job.flags[:1]]) for job in jobs]
    builds = {
        name: None if job.source is None else open_kernel(job.of(kernel), job.source, *job.flags)
        for name, job in zip(names, jobs, strict=True)
    }
    if same and len(builds) < 2:
        fail(f"--same names the build {names[0]} twice", USAGE)
    for image, job in zip(builds.values(), jobs, strict=True):
        if image is not None:
            require_fit(image, job.of(kernel).symbol, kernel.signature)
    with progress_bar() as progress:
        task = progress.add_task("proving", total=None)
        prover = Prover(
            kernel, builds, shapes, each=each, known=known, seconds=seconds, jobs=processes, kept_in=_cache(no_cache),
            same=same, any_length=all_lengths, advance=lambda words: progress.update(task, description=words),
            symbols={name: job.symbol for name, job in zip(names, jobs, strict=True) if job.symbol},
        )  # fmt: skip
        proof = prover.run()
    seconds_of = (
        f"processor time: {proof.trace_seconds:.1f} s to follow the code, {proof.solver_seconds:.1f} s to decide"
    )
    for job in jobs:
        if job.same_code_at:
            print_progress(
                f"{' '.join([job.name, *job.flags[:1]])} is the same program at {', '.join(job.same_code_at)}"
            )
    print_progress(f"{seconds_of}; questions kept from before: {proof.kept}")
    image = builds[names[0]]
    if is_prototype and image is not None:  # what the first build gives is what the check of the second wants
        first = jobs[0]
        compared = CompiledKernel(image, first.of(kernel), engine="machine")
        kernel = replace(kernel, golden=lambda inputs: compared.call(inputs, _SEED).outputs["machine"])
    again: _Again = partial(debug_again, given, options=code)
    if is_prototype:
        again = partial(function_again, "debug", given)
    checked = _checked(kernel, dict(zip(names, jobs, strict=True)), proof, reproduce, again, is_prototype)
    if as_json:
        print_json("prove-kernel", {**proof.as_json(), "check": None if checked is None else checked.as_json()})
    else:
        print_shown(partial(show_kernel_proof, proof, kernel))
        if checked is not None:
            print_shown(partial(show_report, checked))
    if proof.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit({"proved": 0, "counter-example": MISMATCH, "unknown": MISSING}[proof.outcome])


def _find(search: InputSearch, jobs: Sequence[Job], wanted: AtLine | Unlike, given: GivenKernel, as_json: bool) -> None:
    """Look for an input, tell what came of it, and end with the exit code that says so."""
    found, nowhere = list[tuple[FoundInput, str]](), list[FindError]()
    try:
        with progress_bar() as progress:
            progress.add_task("looking for an input", total=None)
            if isinstance(wanted, Unlike):
                found.append((search.unlike(wanted), ""))
                jobs = ()
            for job in jobs:
                assert job.source is not None
                assert isinstance(wanted, AtLine)
                image = open_kernel(search.kernel, job.source, *job.flags)
                require_fit(image, search.kernel.symbol, search.kernel.signature)
                title = " ".join([job.name, *job.flags[:1]])
                try:
                    for one in search.at_line(title, image, wanted):
                        inputs, kernel = one.inputs, search.kernel
                        again = "" if inputs is None else function_again("run", given, kernel, job, inputs, None)
                        found.append((one, again))
                except FindError as error:  # another source may have the line
                    nowhere.append(error)
    except KeyboardInterrupt:
        fail("interrupted before an answer was found", INTERRUPTED)
    if not found:
        raise nowhere[0]
    if as_json:
        print_json("prove-find", [{**one.as_json(), "again": again} for one, again in found])
    else:
        print_shown(partial(show_found, found))
    verdicts = {one.verdict for one, _ in found}
    raise typer.Exit(0 if "found" in verdicts else MISMATCH if verdicts == {"none can"} else MISSING)


def _between(first: str, outcome: Outcome) -> Outcome:
    """An outcome of a function without a golden reference: another is beside it, which may be the wrong one."""
    if outcome.mismatch is None:
        return outcome
    said = replace(outcome.mismatch, between=(first, outcome.title))
    return replace(outcome, mismatch=said, failure=outcome.failure.replace(str(outcome.mismatch), str(said)))


def _diff_from(command: str, other: Job) -> str:
    """A command that opens a build's call, at the place where it parts from another build's."""
    if not command or other.source is None:
        return command
    file = f"{other.source}:{other.symbol}" if other.symbol else str(other.source)
    return f"{command} {typed(['--diff', shlex.join([file, *other.flags])])}"


def _checked(
    kernel: Kernel, jobs: Mapping[str, Job], proof: KernelProof, reproduce: str, again: _Again, is_prototype: bool
) -> Report | None:
    """The check of the builds on the inputs of the first counter-example; None where there is none."""
    refuted = [(b, f) for b in proof.compared for f in b.failures if f.inputs is not None]
    if not refuted:
        return None
    build, failure = refuted[0]
    assert failure.inputs is not None
    seed = _SEED if failure.call_seed is None else failure.call_seed
    vectors = Vectors([failure.inputs], [kernel.expected(failure.inputs)], seed, call_seeds=(seed,))
    chosen = [jobs[name] for name in dict.fromkeys([*([proof.builds[0].build] if proof.same else []), build.build])]
    outcomes = [check_job(kernel, job, vectors) for job in chosen]
    failed = [job for job, outcome in zip(chosen, outcomes, strict=True) if outcome.failure] or chosen[-1:]
    first = proof.builds[0].build
    debug = again(kernel, failed[0], failure.inputs, seed)
    beside = again(kernel, chosen[0], failure.inputs, seed) if is_prototype else ""
    if is_prototype and any(outcome.mismatch for outcome in outcomes):  # else a guard's finding says where
        debug, beside = _diff_from(debug, chosen[0]), _diff_from(beside, failed[0])
    return Report(
        kernel=kernel.name,
        compiler=compilers_of(job.source for job in chosen if job.source),
        seed=seed,
        outcomes=[_between(first, outcome) for outcome in outcomes] if is_prototype else outcomes,
        reproduce=reproduce,
        debug=debug,
        beside=first if is_prototype else "",
        debug_beside=beside,
        common_flags=fixed_flags(*(job.source for job in chosen if job.source and is_source(job.source))),
        engine="lockstep",
        tolerance=str(kernel.tolerance or ""),
        mode=kernel.mode,
    )
