"""What integrators take from here: lists of files for FuseSoC and Bender, assertions that are bound to units."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from isa.lane import U8, constant
from rtl_models.formal.claims import on
from rtl_models.formal.equations.support import mask, support_in
from rtl_models.formal.equations.unrolling import WireBits
from rtl_models.formal.equations.written import Subject, SubjectSources, derive_equations
from rtl_models.formal.schedules.proof import proved
from rtl_models.formal.units.pipelines import OutputBits
from rtl_models.latencies import depths
from rtl_models.tools.environment import execute, verilator_program, verilator_root
from rtl_models.tools.sources import LANES
from rtl_models.units import UNITS
from sim.toolchain.tools import cache_directory

pytestmark = pytest.mark.rtl
FOLDER: Final = LANES.parent
CHECKER: Final = FOLDER / "integration" / "stream_checker.sv"


def bind_file(unit: str) -> Path:
    """The file that binds the assertions to a unit."""
    return CHECKER.with_name(f"bind_{unit}.sv")


@pytest.mark.parametrize("manifest", ["lanewise.core", "Bender.yml"])
def test_a_manifest_has_every_file_once_and_packages_before_what_uses_them(manifest: str) -> None:
    listed = re.findall(r"^ +- ((?:lanes|integration)/\w+\.sv)$", (FOLDER / manifest).read_text(), re.MULTILINE)
    there = {str(file.relative_to(FOLDER)) for file in [*LANES.glob("*.sv"), *CHECKER.parent.glob("*.sv")]}
    assert (listed[0], sorted(listed)) == ("lanes/lanewise_pkg.sv", sorted(there))


def test_every_port_is_connected_by_its_name_and_what_it_is_connected_to() -> None:
    texts = {file: file.read_text() for file in FOLDER.rglob("*.sv")}
    short = [str(file) for file, text in texts.items() if re.search(r"^ +\.\w+,? *(//.*)?$|\.\*", text, re.MULTILINE)]
    assert (short, len(texts) > 80) == ([], True)


@pytest.mark.parametrize("unit", UNITS)
def test_the_assertions_fit_a_unit_without_a_warning(unit: str, tmp_path: Path) -> None:
    files = [LANES / "lanewise_pkg.sv", UNITS[unit].source, CHECKER, bind_file(unit)]
    options = ["--lint-only", "--quiet", "-Wall", "--assert", "--top-module", unit, "-y", str(LANES), f"-I{LANES}"]
    done = execute([verilator_program(), *options, *files], tmp_path, VERILATOR_ROOT=str(verilator_root()))
    assert (done.status, done.output) == (0, "")


SPILL: Final = FOLDER / "integration" / "spill_register.sv"
SPILL_DUE: Final = OutputBits("data_o", U8, 0, on("data_o", U8), lambda read: read("data_i", U8), lambda _: constant(1))
"""A word that goes in comes out."""


def spill_equations(right: str = "", wrong: str = "") -> str:
    """Of the register, with one text in the place of another."""
    text = SPILL.read_text()
    assert not right or text.count(right) == 1
    design = SubjectSources(Subject("spill_register", (("Bits", 8),)), {SPILL.name: text.replace(right, wrong)})
    return derive_equations(design, cache_directory())


def test_a_spill_register_gives_every_word_in_order_under_all_schedules() -> None:
    found = proved(spill_equations(), [SPILL_DUE], 20)
    assert (found.finding.outcome, found.false_claim.outcome) == ("proved", "counter-example")


def test_no_output_of_a_spill_register_depends_on_an_input_within_the_cycle() -> None:
    support = support_in(spill_equations())
    reached = support.over_time(WireBits(port) for port in ("ready_o", "valid_o", "data_o"))[0]
    inputs = {vector.wire for vector in support.vectors if mask(vector.bits) & reached}
    assert not inputs & {"valid_i", "data_i", "ready_i"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("assign ready_o = !kept_q;", "assign ready_o = 1'b1;"),
        ("kept_q <= valid_i;", "kept_q <= 1'b0;"),
        ("shown_q <= kept_q || valid_i;", "shown_q <= valid_i;"),
        ("data_q <= kept_q ? spare_q : data_i;", "data_q <= data_i;"),
        ("if (ready_o) spare_q", "spare_q"),
    ],
)
def test_a_fault_in_a_spill_register_is_refuted(right: str, wrong: str) -> None:
    assert proved(spill_equations(right, wrong), [SPILL_DUE], 20).finding.outcome == "counter-example"


@pytest.mark.parametrize("unit", UNITS)
def test_the_assertions_of_a_unit_know_its_latency(unit: str) -> None:
    name = "".join(part.capitalize() for part in unit.split("_"))
    latency = "Depth" if len(depths(unit)) > 2 else f"Deep ? lanewise_pkg::{name}Deep : lanewise_pkg::{name}Shallow"
    assert f".Latency   ({latency})," in bind_file(unit).read_text()
