"""The wrappers of the units for AXI4-Lite and AXI4-Stream: simulated, lint-free, their registers proved."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from isa.lane import U1, U16, U32, Int, Lane, select
from rtl_models.formal.claims import Signals, Statement, claim
from rtl_models.formal.equations.written import Subject, SubjectSources, derive_equations
from rtl_models.formal.theorem import Fault, Theorem, decided
from rtl_models.integration.axi_wrappers import FOLDER, axi_wrapper
from rtl_models.tools.environment import execute, verilator_program, verilator_root
from rtl_models.tools.sources import LANES
from rtl_models.units import UNITS
from sim.toolchain.tools import cache_directory
from support.axi_wrappers import REGISTERS, simulated

pytestmark = pytest.mark.rtl
_U2, _U4 = Int(2, signed=False), Int(4, signed=False)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["quantize_down_channels", "quantized_multiplier", "transpose1xw"])
def test_a_unit_over_axi_gives_what_is_due_with_the_last_beat_marked(unit: str) -> None:
    """One with tables, one with numbers of five bits, one whose settings belong to a frame."""
    said = simulated(unit)
    assert (len(said), {name: text for name, text in said.items() if text}) == (4, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        (".enable_i(s_axis_tready),", ".enable_i(1'b1),", "m_axis was valid and not taken, and has changed"),
        (".Depth(Depth)\n  ) u_last (", ".Depth(Depth - 1)\n  ) u_last (", "marks of the last beat"),
        ("8*k +: 5", "8*k + 1 +: 5", "frame"),
    ],
)
def test_a_fault_in_a_wrapper_is_told(right: str, wrong: str, told: str) -> None:
    said = simulated("quantized_multiplier", right, wrong)
    assert any(told in text for text in said.values()), said


@pytest.mark.parametrize("unit", UNITS)
def test_the_file_of_a_wrapper_is_what_is_written_of_its_unit(unit: str) -> None:
    """`python -m rtl_models.integration.axi_wrappers` writes them."""
    assert (FOLDER / f"axi_{unit}.sv").read_text() == axi_wrapper(UNITS[unit])


@pytest.mark.parametrize("unit", UNITS)
def test_a_wrapper_has_no_warning(unit: str, tmp_path: Path) -> None:
    files = [LANES / "lanewise_pkg.sv", FOLDER / f"axi_{unit}.sv"]
    options = ["--lint-only", "--quiet", "-Wall", "--top-module", f"axi_{unit}", f"-I{LANES}"]
    found = ["-y", str(LANES), "-y", str(FOLDER)]
    done = execute([verilator_program(), *options, *found, *files], tmp_path, VERILATOR_ROOT=str(verilator_root()))
    assert (done.status, done.output) == (0, "")


def moves(read: Signals) -> tuple[Lane, Lane]:
    """Whether a write is taken in a cycle, and a read."""

    def one(name: str) -> Lane:
        return read(f"s_axil_{name}", U1)

    free = one("bready") | one("bvalid").equals(0)
    taken = read("rst_ni", U1) & one("awvalid") & one("wvalid") & free
    asked = read("rst_ni", U1) & one("arvalid") & taken.equals(0) & (one("rready") | one("rvalid").equals(0))
    return taken, asked


def transactions(read: Signals) -> Statement:
    """From any state: what moves, what the bus sees, what the responses become, and that these wait."""
    later, (taken, asked) = read.after(1), moves(read)
    whole = read("s_axil_wstrb", _U4).equals(15)
    awake = read("rst_ni", U1) & later("rst_ni", U1)

    def after(name: str, moved: Lane) -> Lane:
        waits = read(f"s_axil_{name}valid", U1) & read(f"s_axil_{name}ready", U1).equals(0)
        return awake & (moved | waits)

    address = select(taken, read("s_axil_awaddr", U16), read("s_axil_araddr", U16))
    response = select(taken, select(whole, 0, 2), read("s_axil_bresp", _U2))
    data = select(asked, read("read_data_i", U32), read("s_axil_rdata", U32))
    return {
        "awready": (read("s_axil_awready", U1), taken),
        "wready": (read("s_axil_wready", U1), taken),
        "arready": (read("s_axil_arready", U1), asked),
        "write_o": (read("write_o", U1), taken & whole),
        "address_o": (read("address_o", U16), address),
        "data_o": (read("data_o", U32), read("s_axil_wdata", U32)),
        "bvalid": (later("s_axil_bvalid", U1), after("b", taken)),
        "rvalid": (later("s_axil_rvalid", U1), after("r", asked)),
        "bresp": (later("s_axil_bresp", _U2), response),
        "rdata": (later("s_axil_rdata", U32), data),
        "rresp": (read("s_axil_rresp", _U2), read("s_axil_rresp", _U2) * 0),
    }


SUBJECT: Final = Subject("axi_lite_registers", ())
DESIGN: Final = SubjectSources(SUBJECT, {REGISTERS: (FOLDER / REGISTERS).read_text()})


def proved(design: SubjectSources) -> str:
    """The outcome for a text of the module."""
    statement = claim("AXI4-Lite", transactions, lambda read: read("s_axil_bresp", _U2).equals(1).equals(0))
    theorem = Theorem(statement, SUBJECT, Fault(REGISTERS, "", ""))
    return decided(theorem, derive_equations(design, cache_directory()), 60).outcome


def test_the_transactions_of_axi_lite_are_proved_from_any_state() -> None:
    assert proved(DESIGN) == "proved"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(s_axil_bready | ~written_q);", "1'b1;"),
        ("& ~taken & (s_axil_rready", "& (s_axil_rready"),
        ("taken & (&s_axil_wstrb);", "taken;"),
        ("partial_q <= ~(&s_axil_wstrb);", "partial_q <= 1'b0;"),
        ("taken | (written_q & ~s_axil_bready);", "taken;"),
        ("if (asked) read_data_q", "read_data_q"),
        ("taken ? s_axil_awaddr : s_axil_araddr", "asked ? s_axil_araddr : s_axil_awaddr"),
    ],
)
def test_a_fault_in_the_transactions_is_refuted(right: str, wrong: str) -> None:
    assert proved(Fault(REGISTERS, right, wrong).planted(DESIGN)) == "counter-example"
