"""What the pages show and takes long is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import PAGES, SHOWN_REPORT, printed_by_check
from test_pictures import IN_LONG_RUNS, as_compared, committed, drawn
from test_quickstarts import IN_LONG_RUNS as LONG_WALKS
from test_quickstarts import PAGES as QUICKSTARTS
from test_quickstarts import walk

from sim.check.check import Job, check_job
from sim.check.repair.place import with_faults
from sim.check.vectors import make_vectors
from sim.kernels.quantize_down import KERNEL
from support.command import lanewise
from support.page_examples import block_after


def test_the_check_prints_the_report_of_the_page() -> None:
    assert printed_by_check() == SHOWN_REPORT


def test_the_wrong_kernel_is_explained_as_the_page_says(tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    text = KERNEL.sources[0].read_text()
    source.write_text(text.replace("vrshlq_s32(vqaddq_s32(value, fix), minus_shift)", "vrshlq_s32(value, minus_shift)"))
    job, vectors = Job(source, ("-O0",)), make_vectors(KERNEL, 2000, 1)
    (outcome,) = with_faults(KERNEL, [job], vectors, [check_job(KERNEL, job, vectors, lambda _: None)])
    assert str(outcome.mismatch) == block_after(PAGES["checking.md"], "## A wrong kernel").strip()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.rtl) if name == "rtl" else name for name in IN_LONG_RUNS]
)
def test_a_picture_is_what_its_command_prints(name: str, tmp_path: Path) -> None:
    assert as_compared(name, drawn(name, tmp_path)) == as_compared(name, committed(name))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.rtl) if name == "hardware" else name for name in LONG_WALKS]
)
def test_a_quickstart_goes_as_it_says(name: str, tmp_path: Path) -> None:
    assert walk(QUICKSTARTS[name], tmp_path) == []


@pytest.mark.rtl
def test_the_proofs_that_the_page_asks_for_are_found() -> None:
    printed = lanewise("rtl", "prove", "rescale")
    assert (printed.exit_code, "2 of 2 theorems" in printed.stdout) == (0, True)
