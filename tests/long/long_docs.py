"""What the pages show and takes long is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import SHOWN_REPORT, printed_by_check

from support.command import lanewise


def test_the_check_prints_the_report_of_the_page(tmp_path: Path) -> None:
    assert printed_by_check(tmp_path) == SHOWN_REPORT


@pytest.mark.rtl
def test_the_proofs_that_the_page_asks_for_are_found() -> None:
    printed = lanewise("rtl", "prove", "rescale")
    assert (printed.exit_code, "2 of 2 theorems" in printed.stdout) == (0, True)
