"""How many branches of a call are predicted wrong: by a predictor that saw it before, and by one that did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.timing.native.scheduling import mispredictions


class Branches(NamedTuple):
    """The branches that a call executes, those predicted wrong, and those that are without any training."""

    executed: int
    mispredicted: int
    mispredicted_untrained: int

    @property
    def untrained(self) -> Branches:
        """The same where nothing was seen before."""
        return self._replace(mispredicted=self.mispredicted_untrained)


def branches_of(stream: Sequence[Executed]) -> Branches:
    """Of a call, the predictor trained on it."""
    arrays = array_stream(stream)
    branches = [instruction.is_branch for _, instruction in arrays.sites]
    executed = int(arrays.executions[branches].sum())
    return Branches(executed, *(len(mispredictions(stream, warm)) for warm in (True, False)))


def branches_in_words(branches: Branches, warm: bool) -> str:
    """One sentence, without a full stop; `warm` says how the call was timed."""
    wrong = f"{branches.mispredicted:,} of {branches.executed:,} branches mispredicted"
    if not warm:
        return f"{wrong}, the predictor untrained (--cold)"
    untrained = f"{branches.mispredicted_untrained:,} when untrained (--cold)"
    return f"{wrong}, the predictor trained on this very call; {untrained}"
