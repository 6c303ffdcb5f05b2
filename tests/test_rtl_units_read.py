"""Every module of the hardware as the tools read it: without a warning, and not at all with an illegal parameter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from rtl_models.latencies import depths
from rtl_models.tools.environment import Finished, execute, icarus_program, verilator_program, verilator_root
from rtl_models.tools.sources import LANES, module_names, sources_of
from rtl_models.tools.yosys import run_script
from rtl_models.units import LANE_COUNTS, UNITS
from support.rtl_support import needs_icarus

pytestmark = pytest.mark.rtl
DEPTHS = [
    (module, depth)
    for module in ("rescale", "scale_rounded", *UNITS)
    if len(depths(module)) > 2
    for depth in depths(module)
]
ILLEGAL = [
    ("sqadd", "Width", 1, "sqadd: Width is the bits of a signed number and must be 2 or more"),
    ("srshl", "Width", 65, "srshl: Width is the bits of a lane and must be 2 to 64"),
    (
        "rounding_divide_by_pot", "Width", 12,
        "rounding_divide_by_pot: Width is the bits of a lane and must be a power of two, 2 to 64",
    ),
    ("udot4", "Width", 10, "udot4: Width is the bits of four bytes and must be a multiple of 4 from 8 on"),
    ("valid_pipeline", "Depth", 0, "valid_pipeline: Depth is the number of stages and must be 1 or more"),
    ("delay_line", "Depth", 0, "delay_line: Depth is the number of stages and must be 1 or more"),
    ("multiply_tiles", "Width", 9, "multiply_tiles: Width is two halves and must be even"),
    ("quantize_down", "Lanes", 6, "quantize_down: Lanes is the numbers of a beat and must be 4, 8 or 16"),
    (
        "quantize_down_channels", "Channels", 6,
        "quantize_down_channels: Channels must be a multiple of Lanes, at least 2 * Lanes and at most 3840",
    ),
    ("quantized_add", "Lanes", 32, "quantized_add: Lanes is the numbers of a beat and must be 4, 8 or 16"),
    ("quantized_add_float", "Lanes", 5, "quantized_add_float: Lanes is the numbers of a beat and must be 4, 8 or 16"),
]  # fmt: skip


def _files(module: str) -> list[str]:
    return [name for name in sources_of(module) if name.endswith(".sv")]


def _linted(module: str, parameters: Mapping[str, int]) -> Finished:
    """With -Wall a warning is an error; but a top that is given its Depth need not use Deep."""
    given = [f"-G{name}={value}" for name, value in parameters.items()]
    allowed = ["-Wno-UNUSEDPARAM"] if "Depth" in parameters else []
    options = ["--lint-only", "-Wall", *allowed, "--top-module", module]
    return execute(
        [verilator_program(), *options, *given, *_files(module)], LANES, VERILATOR_ROOT=str(verilator_root())
    )


def _elaborated(module: str, parameters: Mapping[str, int], program: Path) -> Finished:
    given = [f"-P{module}.{name}={value}" for name, value in parameters.items()]
    options = ["-g2012", "-s", module, "-o", str(program)]
    return execute([icarus_program("iverilog"), *options, *given, *_files(module)], LANES)


@pytest.mark.parametrize("module", module_names())
def test_verilator_has_no_warning_for_a_module(module: str) -> None:
    done = _linted(module, {})
    assert done.status == 0, done.output


@pytest.mark.parametrize(("unit", "lanes", "deep"), [*product(UNITS, LANE_COUNTS, (0, 1))])
def test_verilator_has_no_warning_for_a_unit(unit: str, lanes: int, deep: int) -> None:
    done = _linted(unit, {"Lanes": lanes, "Deep": deep})
    assert done.status == 0, done.output


@pytest.mark.parametrize(("module", "depth"), DEPTHS)
def test_verilator_has_no_warning_for_a_module_at_a_depth(module: str, depth: int) -> None:
    done = _linted(module, {"Depth": depth})
    assert done.status == 0, done.output


@pytest.mark.parametrize("module", dict.fromkeys(module for module, _ in DEPTHS))
def test_a_depth_that_a_module_has_not_stops_elaboration_and_its_sentence_names_those_that_it_has(module: str) -> None:
    possible = depths(module)
    *others, last = map(str, possible)
    done = _linted(module, {"Depth": next(depth for depth in range(1, 99) if depth not in possible)})
    sentence = f"Depth is the register stages and must be {', '.join(others)} or {last}"
    assert (done.status != 0, sentence in done.output) == (True, True)


@needs_icarus
@pytest.mark.parametrize("module", module_names())
def test_icarus_reads_a_module(module: str, tmp_path: Path) -> None:
    done = _elaborated(module, {}, tmp_path / "program")
    assert done.status == 0, done.output


@pytest.mark.slow
def test_yosys_reads_every_module(tmp_path: Path) -> None:
    files = sorted(LANES.glob("*.sv*"), key=lambda file: not file.stem.endswith("_pkg"))
    for file in files:
        (tmp_path / file.name).write_text(file.read_text())
    names = " ".join(file.name for file in files if file.suffix == ".sv")
    log = run_script(f"read_verilog -sv {names}; hierarchy -check; proc; check -assert", tmp_path)
    assert "Warning" not in log


@pytest.mark.parametrize(("module", "parameter", "value", "sentence"), ILLEGAL)
def test_an_illegal_parameter_stops_elaboration_with_a_sentence(
    module: str, parameter: str, value: int, sentence: str
) -> None:
    done = _linted(module, {parameter: value})
    assert (done.status != 0, sentence in done.output) == (True, True)


@needs_icarus
def test_in_icarus_an_illegal_parameter_stops_the_simulation_at_once(tmp_path: Path) -> None:
    program = tmp_path / "program"
    _elaborated("quantize_down", {"Lanes": 6}, program)
    done = execute([icarus_program("vvp"), program], tmp_path)
    assert (done.status, "quantize_down: Lanes is the numbers of a beat" in done.output) == (1, True)
