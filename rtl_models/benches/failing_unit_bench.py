"""Frames that fail, made small in the simulator and shown alone for a waveform.

Hypothesis chooses what to try, in a thread (cocotb's `bridge`) that comes back to the simulator for every trial
(`resume`).
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import cocotb
from cocotb.task import bridge, resume

from rtl_models.benches.demand import demand
from rtl_models.benches.driving.unit_case import Case, case_of_json, testbench
from rtl_models.benches.driving.unit_settings import BENCH
from rtl_models.benches.shrinking.simpler_case import failing_in_plain, plainer, simplest
from rtl_models.benches.shrinking.smaller_case import calmer, smaller
from rtl_models.benches.shrinking.told_case import told
from rtl_models.benches.shrinking.trials import Trials
from rtl_models.tools.protocol import FAILURE, SMALLEST


@cocotb.test()
async def shrink(dut: Any) -> None:
    """Write the smallest case found."""
    case, bench = case_of_json(json.loads(Path(FAILURE).read_text())), testbench(dut)
    trials = Trials(resume(partial(Case.problem, bench=bench)), lambda: bench.cycle_number)
    demand(bool(await bridge(trials.problem)(case)), "the frames do not fail by themselves")
    smallest = await bridge(_smallest)(case, trials)
    problem = await smallest.problem(bench)
    if problem is None:
        raise AssertionError("the smallest case fails only among others")
    Path(SMALLEST).write_text(
        json.dumps(smallest.as_json() | {"told": told(BENCH.unit, smallest, problem, trials.stopped)})
    )


@cocotb.test()
async def show(dut: Any) -> None:
    """The smallest case alone, after a reset."""
    problem = await case_of_json(json.loads(Path(SMALLEST).read_text())).problem(testbench(dut))
    demand(bool(problem), "it does not fail alone")


def _smallest(case: Case, trials: Trials) -> Case:
    """Runs in a thread beside the simulation."""
    small = smaller(calmer(case, trials), trials)
    plain = failing_in_plain(small, trials) or small
    return simplest(plainer(plain, trials), trials)
