"""Mutants as jobs of a campaign: what the entry point `rtl` of the group `lanewise.mutants` names."""

from __future__ import annotations

from collections.abc import Sequence

from rtl_models.mutation.judgement import WrongModule
from rtl_models.mutation.kept import keep_or_judge
from rtl_models.mutation.targets import targets
from rtl_models.mutation.verdict import FATES
from sim.campaign.result import JobResult
from sim.toolchain.tools import cache_directory


def modules() -> Sequence[str]:
    """All modules that are mutated, each at its parameters, such as "sqadd at Width 16"."""
    return [str(target.subject) for target in targets()]


def judged(module: str, count: int, seed: int, seconds: float) -> JobResult:
    """What became of so many mutants of a module: it differs where one is neither killed nor proved to be equivalent.

    Its `lanes` are the mutants, `wrong` those that live.  Raises what `judge` raises, but WrongModule.
    """
    (target,) = (one for one in targets() if str(one.subject) == module)
    try:
        judgement = keep_or_judge(target, count, seed, seconds, cache_directory())
    except WrongModule as error:
        return JobResult(verdict="differs", failure=str(error))
    if not judgement.verdicts:
        return JobResult(verdict="stopped", failure=f"{module} has no mutant")
    living = judgement.having("undecided")
    told = ", ".join(f"{len(judgement.having(fate))} {fate}" for fate in FATES)
    said = [f"mutant {one.mutant.number} lives: {one.mutant.words}: {one.by}" for one in living]
    return JobResult(
        verdict="differs" if living else "agrees", lanes=len(judgement.verdicts), wrong=len(living),
        place=living[0].mutant.places[0] if living and living[0].mutant.places else "",
        failure="\n".join([*said, told]) if living else "",
    )  # fmt: skip
