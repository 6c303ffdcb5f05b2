"""The ways that instructions can go: what each of them means, and that a check has inputs for those that none went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from isa.evaluate.exact import Evaluation, Occurrence
from isa.lane import Place
from isa.rows import TABLE
from sim.check.aim.aiming import Aimed, aim
from sim.check.aim.demand import sought
from sim.check.aim.directions import EDGES, Direction, direction_conditions, edge_conditions
from sim.check.aim.power import OperandsMet
from sim.check.check import Job
from sim.check.report import Report
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.prove.claim import any_of
from sim.symbolic.following.lookout import Goal
from sim.toolchain.compilers import build_text
from sim.view.report import show_report

CONDITIONS: Mapping[str, Callable[[int, int, int, int], bool]] = {
    "eq": lambda n, z, c, v: z == 1,
    "ne": lambda n, z, c, v: z == 0,
    "hs": lambda n, z, c, v: c == 1,
    "mi": lambda n, z, c, v: n == 1,
    "vs": lambda n, z, c, v: v == 1,
    "hi": lambda n, z, c, v: c == 1 and z == 0,
    "ge": lambda n, z, c, v: n == v,
    "gt": lambda n, z, c, v: z == 0 and n == v,
}
"""Arm ARM C1.2.4."""


def goes(name: Direction, mnemonic: str, operands: str, **registers: int) -> bool:
    """Whether an instruction goes a way with these registers."""
    instruction = TABLE.instruction(mnemonic, operands)
    held = dict.fromkeys(instruction.places_read, 0)
    held |= {Place(n.rstrip("0123456789"), int(n.lstrip("xvnzc") or 0)): number for n, number in registers.items()}
    return bool(Evaluation(Occurrence(instruction, held, {})).value(any_of(direction_conditions(instruction)[name])))


@pytest.mark.parametrize("code", CONDITIONS)
def test_branches_and_selections_go_by_the_flags(code: str) -> None:
    for nzcv in range(16):
        holds = CONDITIONS[code](*(nzcv >> bit & 1 for bit in (3, 2, 1, 0)))
        assert goes("taken", f"b.{code}", "#8", nzcv=nzcv) == holds != goes("not taken", f"b.{code}", "#8", nzcv=nzcv)
        for mnemonic, operands in (
            ("csel", f"w0, w1, w2, {code}"),
            ("cset", f"w0, {code}"),
            ("fcsel", f"s0, s1, s2, {code}"),
        ):
            assert goes("true", mnemonic, operands, nzcv=nzcv) == holds != goes("false", mnemonic, operands, nzcv=nzcv)


def test_branches_go_by_a_register() -> None:
    for number in (0, 1, 1 << 31, 1 << 32):
        assert goes("taken", "cbz", "x0, #8", x0=number) == (number == 0)
        assert goes("not taken", "cbnz", "w0, #8", x0=number) == (number % 2**32 == 0)
        assert goes("taken", "tbnz", "w0, #31, #8", x0=number) == (number == 1 << 31)


def test_a_comparison_of_lanes_is_true_or_false_in_some_lane() -> None:
    for one, other in ((5, 5), (5, 6), (5 << 32 | 6, 6), (5 << 32 | 6, 5 << 32 | 6)):
        lanes = [(one >> at & 0xFFFFFFFF) == (other >> at & 0xFFFFFFFF) for at in (0, 32)]
        text = "v0.2s, v1.2s, v2.2s"
        assert goes("true", "cmeq", text, v1=one, v2=other) == any(lanes)
        assert goes("false", "cmeq", text, v1=one, v2=other) == (not all(lanes))


@pytest.mark.slow
def test_a_shift_by_a_register_goes_by_its_lowest_byte_alone() -> None:
    for count in range(-128, 128):
        held = {"v1": 1, "v2": count % 256 | 0x55 << 8}
        for mnemonic in ("sshl", "ushl", "srshl", "sqrshl", "uqshl"):
            assert goes("shifted right", mnemonic, "v0.2s, v1.2s, v2.2s", **held) == (count < 0)
            # of the lane above, the count is 0, which is no direction
            assert goes("shifted left", mnemonic, "v0.2s, v1.2s, v2.2s", **held) == (count > 0)


@pytest.mark.parametrize("count", [-128, -2, -1, 0, 1, 2, 127])
def test_a_shift_goes_by_the_sign_of_its_count(count: int) -> None:
    held = {"v1": 1, "v2": count % 256 | 0x55 << 8}
    assert goes("shifted right", "sshl", "v0.2s, v1.2s, v2.2s", **held) == (count < 0)
    assert goes("shifted left", "sshl", "v0.2s, v1.2s, v2.2s", **held) == (count > 0)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sqrdmulh v0.2s, v1.2s, v2.2s", {"negative first", "negative second"}),
        ("smull v0.2d, v1.2s, v2.2s", {"negative first", "negative second"}),
        ("umull v0.2d, v1.2s, v2.2s", set()),
        ("sqdmull v0.2d, v1.2s, v2.2s", {"negative first", "negative second"}),  # twice a product: 2 is no operand
        ("sqdmlal v0.2d, v1.2s, v2.2s", {"negative first", "negative second"}),
        ("mul w0, w1, w2", set()),
        ("sshl v0.2s, v1.2s, v2.2s", {"shifted left", "shifted right"}),
        ("sshr v0.2s, v1.2s, #3", set()),
        ("cset w0, eq", {"true", "false"}),
        ("cbz w0, #8", {"taken", "not taken"}),
    ],
)
def test_an_instruction_has_the_ways_that_its_operands_let_it_go_each_lane_once(text: str, names: set[str]) -> None:
    ways = direction_conditions(TABLE.instruction(*text.split(" ", 1)))
    assert set(ways) == names
    lanes = 2 if "v0" in text else 1
    assert {name: len(conditions) for name, conditions in ways.items()} == dict.fromkeys(names, lanes)


def test_factors_are_negative_one_by_one() -> None:
    for first, second in ((3, 4), (-1, 4), (3, -1), (-3, -4)):
        held = {"v1": first % 2**32, "v2": second % 2**32}
        assert goes("negative first", "sqrdmulh", "v0.2s, v1.2s, v2.2s", **held) == (first < 0)
        assert goes("negative second", "sqrdmulh", "v0.2s, v1.2s, v2.2s", **held) == (second < 0)


def test_what_decides_nothing_has_no_ways() -> None:
    for mnemonic, operands in (("add", "w0, w1, w2"), ("bl", "#8"), ("b", "#8"), ("tbl", "v0.8b, {v1.16b}, v2.8b")):
        assert not direction_conditions(TABLE.instruction(mnemonic, operands))


def edges(text: str, **registers: int) -> set[str]:
    """The edges that a comparison meets with these registers, all others 0."""
    instruction = TABLE.instruction(*text.split(" ", 1))
    held = dict.fromkeys(instruction.places_read, 0)
    held |= {Place(n[0], int(n[1:])): number for n, number in registers.items()}
    evaluation = Evaluation(Occurrence(instruction, held, {}))
    return {name for name, lanes in edge_conditions(instruction).items() if evaluation.value(any_of(lanes))}


@pytest.mark.parametrize(
    ("apart", "edge"), [(0, {"equal"}), (1, {"one more"}), (-1, {"one less"}), (2, set()), (-2, set())]
)
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("cmp w1, #5", 5),
        ("cmp x1, #5", 5),
        ("cmn w1, #5", 2**32 - 5),
        ("ccmp w1, #5, #0, ne", 5),
        ("ccmn w1, #5, #0, ne", 2**32 - 5),
        ("cmp w1, w2", 2**31),
        ("subs w0, w1, w2", 2**31),
        ("adds w0, w1, #5", 2**32 - 5),
        ("cmp w1, w2, lsr #4", 2**27),
        ("cmp x1, w3, sxtb", 2**64 - 3),
    ],
)
def test_next_to_each_other_are_the_numbers_that_a_comparison_sets_flags_by(
    text: str, number: int, apart: int, edge: set[str]
) -> None:
    bits = 64 if "x1" in text else 32
    assert edges(text, x1=(number + apart) % 2**bits, x2=2**31, x3=253) == edge


@pytest.mark.parametrize(
    ("apart", "edge"), [(0, {"equal"}), (1, {"one more"}), (-1, {"one less"}), (2, set()), (-2, set())]
)
@pytest.mark.parametrize("mnemonic", ["cmeq", "cmge", "cmgt", "cmhi", "cmhs"])
def test_lanes_that_are_compared_are_next_to_each_other_in_any_place(mnemonic: str, apart: int, edge: set[str]) -> None:
    for at in range(4):
        one, two = ([1000] * 4, [2**31] * 4)
        one[at] = two[at] + apart
        held = {
            f"v{n}": sum(lane << 32 * place for place, lane in enumerate(lanes)) for n, lanes in ((1, one), (2, two))
        }
        assert edges(f"{mnemonic} v0.4s, v1.4s, v2.4s", **held) == edge


def test_a_lane_is_compared_with_zero_and_a_register_of_one_lane_too() -> None:
    assert edges("cmlt v0.8b, v1.8b, #0", v1=0x0505050505050001) == {"equal", "one more"}
    assert edges("cmle v0.8b, v1.8b, #0", v1=0x05050505050505FF) == {"one less"}
    assert edges("cmgt d0, d1, d2", v1=7, v2=8) == {"one less"}


@pytest.mark.parametrize(
    "text", ["sub w0, w1, w2", "cset w0, eq", "cmtst v0.4s, v1.4s, v2.4s", "fcmp s0, s1", "cbz w0, #8"]
)
def test_what_compares_no_integers_has_no_edges(text: str) -> None:
    assert edge_conditions(TABLE.instruction(*text.split(" ", 1))) == {}


THRESHOLD = """
void f(const uint32_t *x, uint16_t *out)
{
    for (int i = 0; i < 4; i++)
        if ((x[i] & 0x7fffffff) > 0x7f800000 + OFF)
            out[i] = x[i] >> 16 | 0x40;
        else
            out[i] = (x[i] + 0x7fff + (x[i] >> 16 & 1)) >> 16;
}
"""
"""The bits of a float, rounded to a bfloat16; what is no number stays so.  Two numbers in 2^32 lie at the edge."""


def rounded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"].astype(np.int64)
    number = (x + 0x7FFF + (x >> 16 & 1)) >> 16
    return {"out": np.where((x & 0x7FFFFFFF) > 0x7F800000, x >> 16 | 0x40, number).astype(np.uint16)}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("off", [-1, 1])
def test_a_threshold_that_is_one_off_is_met(tmp_path: Path, off: int, level: str) -> None:
    source = tmp_path / "threshold.c"
    source.write_text("#include <stdint.h>\n" + THRESHOLD.replace("OFF", str(off)))
    name, signature = parse_prototype("void f(const uint32_t x[4], uint16_t out[4])")
    kernel = Kernel(name=name, symbol=name, sources=(source,), signature=signature, golden=rounded)
    found = aim(kernel, [Job(source, (level,))], make_vectors(kernel, 100, 1))
    wrong = 0x7F800000 if off < 0 else 0x7F800001
    assert any(((inputs["x"] & 0x7FFFFFFF) == wrong).any() for inputs in found.inputs)
    assert not {one.name for one in found.power.operands}.intersection(EDGES)  # of which nothing is told


RARE = """
void f(const int32_t *x, int32_t *out)
{
    for (int i = 0; i < 4; i++) {
        int32_t here = x[i];
        if ((uint32_t)here * 0x01000193u == 0x0badcafe)
            out[i] = 7;
        else
            out[i] = here >> 1;
    }
}
"""
"""One number of 2^32 goes another way: no drawn one, and none next to a step of the reference that is given here."""
NUMBER = int(np.uint32(0x0BADCAFE * pow(0x01000193, -1, 2**32) % 2**32).view(np.int32))


def aimed(tmp_path: Path, golden: Any, level: str, **domain: Domain) -> Aimed:
    source = tmp_path / "rare.c"
    source.write_text("#include <stdint.h>\n" + RARE)
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4])")
    kernel = Kernel(name=name, symbol=name, sources=(source,), signature=signature, golden=golden, domain=domain)
    return aim(kernel, [Job(source, (level,))], make_vectors(kernel, 100, 1))


def halved(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The reference as its author thinks of it: without the number that the code treats otherwise."""
    return {"out": inputs["x"] >> 1}


def as_it_is(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": np.where(inputs["x"] == NUMBER, 7, inputs["x"] >> 1).astype(np.int32)}


def rare_ways(found: Aimed) -> list[OperandsMet]:
    return [one for one in found.power.of_ways if not one.met]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_check_has_the_one_number_that_goes_another_way(tmp_path: Path, level: str) -> None:
    """As a branch and as a selection; and so it shows that the code is wrong there."""
    found = aimed(tmp_path, halved, level)
    assert any(NUMBER in inputs["x"] for inputs in found.inputs)
    assert not rare_ways(aimed(tmp_path, as_it_is, level))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_that_no_input_goes_the_other_way_is_proved(tmp_path: Path, level: str) -> None:
    """The twin of the one above: the same code over a domain without that number."""
    low, high = (0, 2**31 - 1) if NUMBER < 0 else (-(2**31), -1)
    found = aimed(tmp_path, halved, level, x=Domain(low, high))
    assert {one.why_not for one in rare_ways(found)} == {"none can: no input brings it about"}


@pytest.mark.slow
def test_a_way_that_only_an_input_of_another_length_goes_is_not_excluded(tmp_path: Path) -> None:
    """Of more than 5,000 elements, which no input that is followed has."""
    source = tmp_path / "long.c"
    source.write_text("#include <stdint.h>\nvoid f(const int32_t *x, int32_t *out, int n)\n{\n#pragma clang loop "
                      "unroll(disable) vectorize(disable)\n    for (int i = 0; i < n; i++)\n        out[i] = "
                      "i == 5100 ? 3 : x[i] >> 1;\n}\n")  # fmt: skip
    name, signature = parse_prototype("void f(const int32_t x[n], int32_t out[n], int n)")
    kernel = Kernel(name=name, symbol=name, sources=(source,), signature=signature, golden=halved)
    found = aim(kernel, [Job(source, ("-O0",))], make_vectors(kernel, 100, 1))
    assert [one.why_not for one in rare_ways(found)] == ["not found within the budget"]


def test_a_branch_on_where_arrays_lie_is_left_open() -> None:
    """Nobody chooses it, and what the solver says of an address is not what a call has."""
    code = "cmp x0, x1\n b.hi 1f\n mov w2, #1\n 1:\n ret\n"
    image = build_text(f".globl f\n.type f, %function\nf:\n{code}\n.size f, . - f\n", ".s")
    name, signature = parse_prototype("void f(const int32_t x[4], int32_t out[4])")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    branch = TABLE.instruction("b.hi", "#8")
    goals = [Goal(image.symbol("f").address + 4, lanes) for lanes in direction_conditions(branch).values()]
    tried = list[Any]()
    example = {"x": np.zeros(4, np.int32)}

    def confirm(_: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Goal]:
        tried.append(inputs)
        return []

    assert sought(kernel, image, [example], goals, confirm) == set()
    assert tried == []


@pytest.mark.slow
def test_the_report_says_which_ways_no_input_went(tmp_path: Path) -> None:
    power = aimed(tmp_path, halved, "-O0", x=Domain(0, 100)).power
    report = Report(kernel="f", compiler="", seed=1, outcomes=[], reproduce="", power=power)
    out = StringIO()
    show_report(report, Console(file=out, width=200))
    (told,) = [line for line in out.getvalue().splitlines() if line.startswith("ways gone")]
    assert "none can meet: the branch not taken at rare.c:" in told
