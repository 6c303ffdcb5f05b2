"""Registers moved into the multipliers of an ECP5: which do, which stay, and what is then connected to what."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from rtl_models.synthesis.multipliers import move_registers

Cell = dict[str, Any]
CLOCK, ENABLE = 2, 3
BITS = 2
"""Of each operand; the others are 0."""


def register(data: int, held: int, **changed: Any) -> Cell:
    """A register of one bit that moves with the clock where it is enabled."""
    settings = {
        "parameters": {"CEMUX": "CE", "CLKMUX": "CLK"},
        "enable": [ENABLE],
        "reset": ["0"],
        "src": "unit.sv:9.1",
    }
    settings |= changed
    return {
        "type": "TRELLIS_FF",
        "parameters": settings["parameters"],
        "attributes": {"src": settings["src"]},
        "port_directions": {"CLK": "input", "CE": "input", "DI": "input", "LSR": "input", "Q": "output"},
        "connections": {
            "CLK": [CLOCK], "CE": settings["enable"], "DI": [data], "LSR": settings["reset"], "Q": [held],
        },
    }  # fmt: skip


def multiplier(a: list[int], b: list[int], product: list[int]) -> Cell:
    """Of operands whose upper bits are 0; the product's upper bits are connected to nothing."""
    operands: dict[str, list[int | str]] = {f"{side}{bit}": ["0"] for side in "AB" for bit in range(18)}
    operands |= {f"{side}{bit}": [net] for side, nets in (("A", a), ("B", b)) for bit, net in enumerate(nets)}
    results = {f"P{bit}": [net] for bit, net in enumerate(product)}
    directions = dict.fromkeys(operands, "input") | dict.fromkeys(results, "output")
    return {
        "type": "MULT18X18D", "parameters": {}, "attributes": {}, "port_directions": directions,
        "connections": operands | results,
    }  # fmt: skip


def module(**changed: Cell) -> Cell:
    """Inputs 10 to 13 in registers 20 to 23, multiplied to 30 and 31, in registers 40 and 41, which are outputs."""
    cells = {f"in{bit}": register(10 + bit, 20 + bit) for bit in range(2 * BITS)}
    cells |= {"product": multiplier([20, 21], [22, 23], [30, 31])}
    cells |= {f"out{bit}": register(30 + bit, 40 + bit) for bit in range(BITS)}
    ports = {"i": {"direction": "input", "bits": [10, 11, 12, 13]}, "o": {"direction": "output", "bits": [40, 41]}}
    return {"ports": ports, "cells": cells | deepcopy(changed)}


def moved(**changed: Cell) -> dict[str, Cell]:
    """The cells after the move."""
    found = module(**changed)
    move_registers(found, "around.sv")
    cells: dict[str, Cell] = found["cells"]
    return cells


def nets(cell: Cell, *ports: str) -> list[object]:
    return [cell["connections"][port][0] for port in ports]


def test_registers_on_both_sides_move_into_the_multiplier() -> None:
    cells = moved()
    assert list(cells) == ["product"]
    product = cells["product"]
    assert nets(product, "A0", "A1", "A2", "B0", "B1", "P0", "P1") == [10, 11, "0", 12, 13, 40, 41]
    assert nets(product, "CLK0", "CE0", "RST0") == [CLOCK, ENABLE, "0"]
    assert {port: product["port_directions"][port] for port in ("CLK0", "CE0", "RST0")} == dict.fromkeys(
        ("CLK0", "CE0", "RST0"), "input"
    )
    assert product["parameters"] == {
        f"REG_{register}_{what}": f"{what}0"
        for register in ("INPUTA", "INPUTB", "OUTPUT")
        for what in ("CLK", "CE", "RST")
    }


def test_a_register_that_something_else_reads_stays_for_it() -> None:
    cells = moved(other=register(20, 50), also=register(50, 51))
    assert "in0" not in cells, "nothing reads the registers behind it either"
    kept = module(other=register(20, 50))
    kept["ports"]["o"]["bits"].append(50)
    move_registers(kept, "around.sv")
    assert nets(kept["cells"]["in0"], "DI", "Q") == [10, 20]
    assert nets(kept["cells"]["product"], "A0") == [10]


@pytest.mark.parametrize(
    "one",
    [
        register(10, 20, enable=[4]),
        register(10, 20, reset=[5]),
        register(10, 20, parameters={"CEMUX": "CE", "CLKMUX": "INV"}),
        register(10, 20, parameters={"CEMUX": "INV", "CLKMUX": "CLK"}),
        register(10, 20, parameters={"CEMUX": "1 ", "CLKMUX": "CLK"}),
        register(10, 20, src="scratch/around.sv:3.1"),
        {**register(10, 20), "type": "LUT4"},
    ],
    ids=["another enable", "a reset", "falling edge", "inverted enable", "always enabled", "around", "no register"],
)
def test_operands_whose_bits_do_not_all_have_the_same_kind_of_register_stay(one: Cell) -> None:
    before = module(in0=one)
    assert moved(in0=one) == before["cells"]


@pytest.mark.parametrize(
    "others",
    [
        {"out0": register(30, 40, enable=[4])},
        {"out0": {**register(30, 40), "type": "LUT4"}},
        {"second": register(30, 50, src="scratch/around.sv:3.1"), "third": {**register(50, 51), "type": "LUT4"}},
    ],
    ids=["another enable", "no register", "two readers"],
)
def test_a_product_of_which_a_bit_goes_elsewhere_keeps_its_registers_outside(others: dict[str, Cell]) -> None:
    cells = moved(**others)
    assert nets(cells["product"], "A0", "P0", "P1") == [10, 30, 31]
    assert {"out0", "out1"} < cells.keys()
    assert "REG_OUTPUT_CLK" not in cells["product"]["parameters"]


def test_an_operand_bit_that_is_always_1_keeps_the_registers_outside() -> None:
    """Before the first edge a register would give something else."""
    constant = multiplier([20, 21], [22, 23], [30, 31])
    constant["connections"]["A2"] = ["1"]
    assert moved(product=constant) == module(product=constant)["cells"]
