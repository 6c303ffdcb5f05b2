"""Builds that are not followed, or do what no caller may find, are run: inputs that show it refute them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.call.call import CompiledKernel
from sim.check import call_kernel
from sim.check.check import Job
from sim.kernels import Domain, Kernel, parse_prototype
from sim.symbolic.kernel_proof import BuildProof, Unproved
from sim.symbolic.proof import Prover
from sim.symbolic.shapes import shapes_of
from sim.toolchain.objects import open_image

SYMBOL, SIGNATURE = parse_prototype("void f(const int32_t a[n], int32_t out[n], size_t n)")
KERNEL = Kernel(
    name="f", symbol=SYMBOL, sources=(), signature=SIGNATURE, golden=lambda inputs: {"out": inputs["a"] & 3},
    domain={"a": Domain(-(10**9), 10**9)},
)  # fmt: skip
OUTSIDE = "if (x == 70001) out[n + 4096] = 7; out[i] = x & 3;"
UNDEFINED = "int32_t t; if (x != 4001) t = x & 3; out[i] = t;"
SMALL = 'uint64_t r; __asm__ volatile("mov %0, x17" : "=r"(r)); if (r < 5) x++; out[i] = x & 3;'
TABLE = "int32_t table[4] = {0}; table[x & 3] = x & 3; out[i] = table[x & 3];"


def source_of(statement: str, folder: Path) -> Path:
    source = folder / "f.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdint.h>\nvoid f(const int32_t *a, int32_t *out, size_t n)\n{\n"
        f"    for (size_t i = 0; i < n; i++) {{ int32_t x = a[i]; {statement} }}\n}}\n"
    )
    return source


def proved(source: Path) -> BuildProof:
    given: dict[str, Any] = {"each": {}, "known": frozenset(), "seconds": 20, "jobs": 1, "kept_in": None}
    builds = {"f.c": open_image(source, SYMBOL, "-O0")}
    return Prover(KERNEL, builds, shapes_of(KERNEL, (3,)), **given).run().builds[0]


def refuting(build: BuildProof) -> Unproved:
    assert build.outcome == "counter-example"
    (failure,) = (one for one in build.failures if one.outcome == "counter-example")
    assert failure.inputs is not None
    return failure


def test_one_number_that_leads_outside_is_found_and_the_check_stops_there(tmp_path: Path) -> None:
    failure = refuting(proved(source := source_of(OUTSIDE, tmp_path)))
    assert failure.inputs is not None
    assert 70001 in failure.inputs["a"]
    assert failure.element.output == ""
    assert f"a[{failure.inputs['a'].tolist().index(70001)}] = 70001" in failure.reason.partition(": over-write: ")[0]
    with pytest.raises(Exception, match="over-write"):
        call_kernel(KERNEL, Job(source, ("-O0",)), failure.inputs)


def test_one_number_for_which_an_output_is_undefined_is_found(tmp_path: Path) -> None:
    failure = refuting(proved(source_of(UNDEFINED, tmp_path)))
    assert failure.inputs is not None
    assert 4001 in failure.inputs["a"]


def test_a_register_that_nobody_defines_is_tried_until_it_is_small_and_its_seed_is_told(tmp_path: Path) -> None:
    failure = refuting(proved(source := source_of(SMALL, tmp_path)))
    assert failure.inputs is not None
    assert failure.call_seed is not None
    called = CompiledKernel(open_image(source, SYMBOL, "-O0"), KERNEL)
    results = {
        seed: called.call(KERNEL.arguments(failure.inputs), seed).outputs["machine"]["out"].tolist()
        for seed in (0, 1, failure.call_seed)
    }
    wanted = (failure.inputs["a"] & 3).tolist()
    assert (results[0], results[1]) == (wanted, wanted)
    assert results[failure.call_seed] != wanted


LOOKED_UP = "static const int32_t table[4] = {0, 1, 2, 3}; out[i] = table[x & 3];"


@pytest.mark.slow
def test_a_table_by_an_index_that_is_data_is_proved_and_the_input_named(tmp_path: Path) -> None:
    build = proved(source_of(LOOKED_UP, tmp_path))
    assert (build.outcome, build.depends_on) == ("proved", ["a"])


@pytest.mark.slow
def test_a_wrong_entry_of_a_table_is_refuted_by_an_index_of_it(tmp_path: Path) -> None:
    failure = refuting(proved(source_of(LOOKED_UP.replace("2, 3}", "3, 3}"), tmp_path)))
    assert failure.inputs is not None
    assert failure.inputs["a"][failure.element.number] & 3 == 2


def test_what_is_right_and_cannot_be_followed_stays_unknown(tmp_path: Path) -> None:
    build = proved(source_of(TABLE, tmp_path))
    assert (build.outcome, build.failures) == ("unknown", [])
    assert "depends on data" in build.refused[0]


def test_what_is_wrong_and_cannot_be_followed_is_refuted_by_an_element(tmp_path: Path) -> None:
    failure = refuting(proved(source_of(TABLE.replace("= x & 3;", "= (x & 3) == 2 ? 3 : x & 3;"), tmp_path)))
    assert failure.inputs is not None
    number = failure.element.number
    assert (failure.element.output, failure.inputs["a"][number] & 3) == ("out", 2)
    assert failure.reason.endswith(": it is 3, of the reference 2")


def test_a_program_that_refuses_what_the_reference_takes_is_refuted_by_its_words() -> None:
    def program(a: object, out: object, n: int) -> None:
        raise ValueError(f"not {n}")

    kernel = replace(KERNEL, program=program)
    given: dict[str, Any] = {"each": {}, "known": frozenset(), "seconds": 20, "jobs": 1, "kept_in": None}
    failure = refuting(Prover(kernel, {"program": None}, shapes_of(kernel, (3,)), **given).run().builds[0])
    assert (failure.element.output, failure.reason) == ("", "the example: not 3")
