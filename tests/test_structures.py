"""Structures that repeat within structures, and fields of bits, lie where compiled code looks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.kernels import Kernel, KernelError
from sim.kernels.domain import own_domains
from sim.kernels.prototype import PrototypeError, parse_prototype
from sim.kernels.signature import Struct
from sim.toolchain import declared_types
from sim.toolchain.compilers import build_text
from sim.toolchain.dwarf.function_types import function_signature
from sim.toolchain.image import ImageError
from support.command import lanewise

HEAD = "#include <stdint.h>\n"
INTEGERS = ("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t")


@dataclass
class Drawn:
    """A random structure: its members in C, what C calls each of its numbers, and these numbers by name."""

    members: str = ""
    numbers: list[tuple[str, int]] = field(default_factory=list)
    value: dict[str, Any] = field(default_factory=dict)


def number(rng: Random, kind: str, bits: int) -> int:
    return rng.randrange(-(1 << bits - 1), 1 << bits - 1) if kind.startswith("int") else rng.randrange(1 << bits)


def drawn(rng: Random, numbers: Random, depth: int = 0) -> Drawn:
    """One to five members: numbers, arrays, fields of bits with and without names, structures and arrays of them."""
    made = Drawn()
    for at in range(rng.randint(1, 5)):
        name, kind = f"m{at}", rng.choice(INTEGERS)
        width = 8 * np.dtype(kind.removesuffix("_t")).itemsize
        match rng.choice(("number", "array", "bits", "bits", "padding", "repeated" if depth < 2 else "number")):
            case "number":
                made.members += f"{kind} {name}; "
                made.numbers.append((name, number(numbers, kind, width)))
                made.value[name] = made.numbers[-1][1]
            case "array":
                made.members += f"{kind} {name}[3]; "
                three = [number(numbers, kind, width) for _ in range(3)]
                made.numbers += [(f"{name}[{i}]", one) for i, one in enumerate(three)]
                made.value[name] = three
            case "bits":
                bits = rng.randint(1, width)
                made.members += f"{kind} {name} : {bits}; "
                made.numbers.append((name, number(numbers, kind, bits)))
                made.value[name] = made.numbers[-1][1]
            case "padding":
                made.members += f"{kind} : {rng.randint(0, width)}; {kind} {name}; "
                made.numbers.append((name, number(numbers, kind, width)))
                made.value[name] = made.numbers[-1][1]
            case _:
                seed = rng.random()
                each = [drawn(Random(seed), numbers, depth + 1) for _ in range(rng.randint(1, 3))]
                made.members += f"struct {{ {each[0].members}}} {name}[{len(each)}]; "
                for i, one in enumerate(each):
                    made.numbers += [(f"{name}[{i}].{inner}", value) for inner, value in one.numbers]
                made.value[name] = [one.value for one in each]
    return made


@pytest.mark.parametrize("seed", range(12))
def test_random_structures_arrive_by_pointer_and_by_value(seed: int) -> None:
    """As clang lays them out, and as its debug information says."""
    struct = drawn(Random(seed), Random(-seed))
    names = [name for name, _ in struct.numbers]
    kind = f"struct each {{ {struct.members}}};"
    text = f"{HEAD}{kind}\nvoid f(int64_t *out, const struct each *p, struct each v) {{\n"
    text += "".join(f"out[{i}] = p->{name}; out[{i + len(names)}] = v.{name};\n" for i, name in enumerate(names)) + "}"
    prototype = f"{kind} void f(int64_t out[{2 * len(names)}], const struct each *p, struct each v)"
    name, signature = parse_prototype(prototype)
    image = build_text(text, ".c", "-O1")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    result = CompiledKernel(image, kernel).call({"p": struct.value, "v": struct.value}, seed=seed)
    assert result.divergence is None
    given = [(value + (1 << 63)) % (1 << 64) - (1 << 63) for _, value in struct.numbers]
    assert result.outputs["machine"]["out"].tolist() == 2 * given
    for ours, compiled in zip(signature.by_value, function_signature(image, "f").by_value, strict=True):
        assert isinstance(ours, Struct)
        assert isinstance(compiled, Struct)
        assert (ours.fields, ours.layout, ours.type) == (compiled.fields, compiled.layout, compiled.type)


BLOCKS = "inout struct { uint8_t n; struct { int16_t scale; int8_t q[2]; } each[2]; } *b"
BLOCKS_TEXT = f"""{HEAD}struct b {{ uint8_t n; struct {{ int16_t scale; int8_t q[2]; }} each[2]; }};
void f(struct b *b) {{
    for (int i = 0; i < b->n; i++) {{ b->each[i].scale += 1; b->each[i].q[1] = b->each[i].q[0]; }}
}}"""


def test_structures_within_come_back_by_their_fields() -> None:
    name, signature = parse_prototype(f"void f({BLOCKS})")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    given = {"n": 2, "each": {"scale": [10, 20], "q": [[1, 2], [3, 4]]}}
    result = CompiledKernel(build_text(BLOCKS_TEXT, ".c", "-O1"), kernel).call({"b": given}, seed=1)
    assert {name: array.tolist() for name, array in result.outputs["machine"].items()} == {
        "b.n": 2,
        "b.each.scale": [11, 21],
        "b.each.q": [[1, 1], [3, 3]],
    }


def test_the_numbers_of_bits_are_the_domain_of_a_field() -> None:
    signature = parse_prototype("void f(struct { int8_t a : 3; uint32_t b : 31, c : 32; } s, int n)").signature
    domains = own_domains(signature)
    assert {name: (domain.low, domain.high) for name, domain in domains.items()} == {
        "s.a": (-4, 3),
        "s.b": (0, (1 << 31) - 1),
    }


@pytest.mark.parametrize("value", [4, -5])
def test_a_number_of_more_bits_is_refused(value: int) -> None:
    name, signature = parse_prototype("void f(const struct { int8_t a : 3; } *s, int32_t n)")
    kernel = Kernel(name=name, symbol=name, sources=(), signature=signature, golden=dict)
    image = build_text("void f(const void *s, int n) {}", ".c", "-O1")
    with pytest.raises(KernelError, match="the field 'a' has 3 bits: its numbers are -4 to 3"):
        CompiledKernel(image, kernel).call({"s": {"a": value}, "n": 0}, seed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f(struct { int a : 3; } *s)", "'s' is written, and its field 'a' is of bits: give the whole number"),
        ("struct { int a : 3; } f(void)", "'returned' is written, and its field 'a' is of bits"),
        ("void f(struct { int a : 33; } s)", "the field 'a' cannot have 33 bits"),
        ("void f(struct { int a : 0; } s)", "the field 'a' cannot have 0 bits"),
        ("void f(struct { bool a : 2; } s)", "the field 'a' cannot have 2 bits"),
        ("void f(struct { float a : 3; } s)", "the field 'a' is of bits, and no integer"),
        ("void f(struct { struct { int *p; } a[2]; } s)", "'a' is an array of structures with pointers"),
    ],
)
def test_what_no_structure_can_have_is_refused(text: str, message: str) -> None:
    with pytest.raises(PrototypeError, match=message):
        parse_prototype(text)


PARAMS = """#include <stddef.h>
#include <stdint.h>
typedef int16_t weight;
enum mode { off, on = 4 };
union params { struct { int32_t zero; weight low, high; enum mode mode : 8; } scalar; int64_t all[4]; };
struct pair { weight a[2]; const int8_t *none; };
void mine(const int8_t *a, int8_t *out, size_t n, const union params *p, struct pair by, enum mode m)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = a[i] + p->scalar.zero + by.a[1];
        sum = sum < p->scalar.low ? p->scalar.low : sum > p->scalar.high ? p->scalar.high : sum;
        out[i] = m == on && p->scalar.mode == on && !by.none ? sum : 0;
    }
}
"""
PARAMS_KERNEL = """
from pathlib import Path
import numpy as np
from sim.kernels import Domain, Kernel, parse_prototype
from sim.toolchain import declared_types

SOURCE = Path(__file__).parent / "mine.c"
NAME, SIGNATURE = parse_prototype(
    "void mine(const int8_t a[n], int8_t out[n], size_t n, const union params *p, struct pair by, enum mode m)",
    declared_types(SOURCE, "mine"),
)

def golden(inputs):
    p = inputs["p"]["scalar"]
    total = inputs["a"].astype(np.int64) + p["zero"] + inputs["by"]["a"][1]
    total = np.where(total < p["low"], p["low"], np.where(total > p["high"], p["high"], total))
    return {"out": (total * (inputs["m"] == 4 and p["mode"] == 4)).astype(np.int8)}

DOMAIN = {"p.scalar.zero": Domain(-20, 20), "p.scalar.low": Domain(-90, -60), "p.scalar.high": Domain(60, 90),
          "p.scalar.mode": Domain(choices=(0, 4)), "by.a": Domain(-5, 5)}
KERNEL = Kernel(name=NAME, symbol=NAME, sources=(SOURCE,), signature=SIGNATURE, golden=golden, domain=DOMAIN)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_aimed")
@pytest.mark.usefixtures("verdict_alone")
def test_a_kernel_file_takes_its_types_from_the_source(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PARAMS_KERNEL)
    codes = []
    for text in (PARAMS, PARAMS.replace("low, high;", "high, low;"), PARAMS.replace("by.a[1]", "by.a[0]")):
        (tmp_path / "mine.c").write_text(text)
        done = lanewise("check", tmp_path / "mine.py", "--opt", "O1", "--vectors", "100")
        codes.append((done.exit_code, done.stdout.count("PASSED")))
    # Where the fields lie is read anew from each source; that another one is added is a fault.
    assert codes == [(0, 1), (0, 1), (1, 0)], done.stdout + done.stderr


@pytest.mark.parametrize(
    ("prototype", "message"),
    [
        ("void mine(struct none s)", "struct none, which is not defined"),
        ("void mine(none s)", "expected a type such as int32_t"),
        ("void mine(enum none s)", "enum none is not defined"),
        ("void mine(struct wide s)", "cannot be an argument's type: 'odd' has a type that cannot be passed"),
    ],
)
def test_what_a_source_does_not_declare_is_refused(tmp_path: Path, prototype: str, message: str) -> None:
    (tmp_path / "mine.c").write_text("struct wide { __int128 odd; }; void mine(struct wide s) {}\n")
    with pytest.raises((PrototypeError, ImageError), match=message):
        parse_prototype(prototype, declared_types(tmp_path / "mine.c", "mine"))
