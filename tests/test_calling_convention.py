"""Our calls against a compiler's: a function gets from us what it gets from a caller that clang compiled.

The arguments are drawn, seeded: numbers, vectors, structures of all kinds, unions.  The function writes down every
field of them, and returns one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sim.call.call import CompiledKernel
from sim.kernels import Kernel
from sim.kernels.prototype import parse_prototype
from sim.kernels.signature import Signature, Struct, VectorArgument, flattened
from sim.toolchain.compilers import build_text
from sim.toolchain.dwarf.function_types import function_signature, require_fit

HEAD = "#include <arm_neon.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
TYPES = (
    "int8_t", "uint16_t", "int32_t", "uint64_t", "bool", "float", "double", "float16_t", "enum colour", "int8x16_t",
    "float32x2_t", "int8x16x2_t", "int16x4x3_t", "bfloat16_t", "uint8x16x4_t", "pair", "floats", "halves", "large",
    "mixed", "packed8", "outer", "number", "twelve", "vectors", "aligned", "doubles",
)  # fmt: skip
RETURNED = [kind for kind in TYPES if kind != "bfloat16_t"]
DEFINITIONS = """
enum colour { red, green = 7, blue };
typedef struct { int64_t a; int8_t b; } pair;
typedef struct { float x; float y[2]; } floats;
typedef struct { float16_t h[4]; } halves;
typedef struct { int8_t bytes[17]; } large;
typedef struct { float x; int32_t n; } mixed;
typedef struct { uint8_t a; uint16_t b; uint8_t c[3]; } packed8;
typedef struct { struct { int8_t low; int32_t high; } in; int8_t last; } outer;
typedef union { uint32_t whole; uint8_t bytes[6]; } number;
typedef struct { int32_t a[3]; } twelve;
typedef struct { int8x16_t a; int8x16_t b; } vectors;
typedef struct { int8x16_t a; int32_t b; } aligned;
typedef union { double a; double b[3]; } doubles;
"""


def prototype_of(types: list[str], size: int = 1) -> str:
    """A function of these, which writes so many bytes and returns the first."""
    arguments = ", ".join(f"{kind} a{at}" for at, kind in enumerate(types))
    return f"{DEFINITIONS}\n{types[0]} f(uint8_t out[{size}], {arguments})"


def source_of(signature: Signature, types: list[str]) -> tuple[str, int]:
    """The function, and a caller of it that gets all by pointer; how many bytes it writes."""
    writes, at = list[str](), 0
    for argument in signature.by_value:
        for field in [f".{name}" for name, _ in argument.fields] if isinstance(argument, Struct) else [""]:
            place = f"{argument.name}{field}"
            size = (
                np.dtype(dict(argument.fields)[field[1:]]).itemsize
                if isinstance(argument, Struct)
                else argument.type.itemsize
            )
            writes.append(f"__builtin_memcpy(out + {at}, &{place}, {size});")
            at += size
    arguments = ", ".join(f"{kind} a{number}" for number, kind in enumerate(types))
    pointers = ", ".join(f"const void *a{number}" for number in range(len(types)))
    values = ", ".join(f"*(const {kind} *)a{number}" for number, kind in enumerate(types))
    text = f"""{HEAD}{DEFINITIONS}
        {types[0]} f(uint8_t *out, {arguments}) {{ {" ".join(writes)} return a0; }}
        void caller(void *result, uint8_t *out, {pointers}) {{ *({types[0]} *)result = f(out, {values}); }}"""
    return text, at


def drawn(signature: Signature, rng: np.random.Generator) -> dict[str, Any]:
    """Values of all arguments: any bits, of floating-point numbers those of numbers."""

    def numbers(dtype: Any) -> Any:
        whole = np.dtype(dtype)
        raw = rng.integers(-50, 50, whole.shape) if whole.base.kind in "if" else rng.integers(0, 2, whole.shape)
        return np.asarray(raw, whole.base)

    values = dict[str, Any]()
    for argument in signature.by_value:
        if isinstance(argument, Struct):
            fields = {name: numbers(dtype) for name, dtype in argument.fields}
            values[argument.name] = tuple(fields.values())
        else:
            values[argument.name] = numbers(argument.type)
    return values


def outputs_of(text: str, level: str, symbol: str, signature: Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """What one call leaves, the same on both engines."""
    image = build_text(text, ".c", level, "-march=armv8.6-a+fp16+bf16")
    kernel = Kernel(name=symbol, symbol=symbol, sources=(), signature=signature, golden=dict)
    require_fit(image, symbol, signature)
    result = CompiledKernel(image, kernel).call(values, seed=3)
    assert result.divergence is None
    # What lies between the fields of a structure is nobody's, and the compiled caller copies it.
    assert [str(one) for one in result.findings if not one.harmless and one.output != "result"] == []
    machine, emulator = result.outputs["machine"], result.outputs["emulator"]
    assert all(machine[name].tobytes() == emulator[name].tobytes() for name in machine)
    return dict(machine)


def bytes_of(signature: Signature, values: Mapping[str, Any]) -> bytes:
    """All fields one behind the other, as the function writes them down."""
    parts = []
    for argument in signature.by_value:
        parts += list(values[argument.name]) if isinstance(argument, Struct) else [values[argument.name]]
    return b"".join(np.asarray(part).tobytes() for part in parts)


@pytest.mark.parametrize("seed", range(10))
def test_a_function_gets_what_a_compiled_caller_gives_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    types = [str(kind) for kind in rng.choice(TYPES, int(rng.integers(3, 14)))]
    types[0] = RETURNED[seed % len(RETURNED)]
    signature = parse_prototype(prototype_of(types)).signature
    text, size = source_of(signature, types)
    signature = parse_prototype(prototype_of(types, size)).signature
    values, level = drawn(signature, rng), ("-O0", "-O2")[seed % 2]
    ours = outputs_of(text, level, "f", signature, values)
    assert ours["out"].tobytes() == bytes_of(signature, values)
    by_pointer = ", ".join(
        f"const uint8_t a{at}[{a.type.itemsize}] aligned(16)" for at, a in enumerate(signature.by_value)
    )
    first = signature.by_value[0]
    through = parse_prototype(
        f"void caller(uint8_t result[{first.type.itemsize}] aligned(16), uint8_t out[{size}], {by_pointer})"
    ).signature
    blobs = {a.name: np.frombuffer(blob_of(a, values[a.name]), np.uint8) for a in signature.by_value}
    theirs = outputs_of(text, level, "caller", through, blobs)
    assert theirs["out"].tobytes() == ours["out"].tobytes()
    returned = {name: array for name, array in ours.items() if name.startswith("returned")}
    whole = theirs["result"].tobytes()
    if isinstance(first, Struct):
        assert first.type.fields is not None
        for name, array in returned.items():
            offset = first.type.fields[name.removeprefix("returned.")][1]
            assert whole[offset : offset + array.nbytes] == array.tobytes()
        assert len(returned) == len(first.fields)
    else:
        assert returned["returned"].tobytes() == whole


def blob_of(argument: Any, value: Any) -> bytes:
    """The argument as it lies in memory."""
    if not isinstance(argument, Struct):
        return np.asarray(value).tobytes()
    whole = np.zeros(1, argument.type)
    for (name, _), field in zip(argument.fields, value, strict=True):
        whole[name][0] = field
    return whole.tobytes()


def test_debug_information_says_of_every_type_what_the_prototype_says() -> None:
    types = [
        kind for kind in TYPES if kind not in ("int8x16x2_t", "int16x4x3_t", "uint8x16x4_t", "enum colour", "bool")
    ]
    signature = parse_prototype(prototype_of(types)).signature
    text, _ = source_of(signature, types)
    image = build_text(text, ".c", "-O1", "-march=armv8.6-a+fp16+bf16")
    assert function_signature(image, "f").by_value == signature.by_value


def test_vectors_of_several_registers_are_structures_in_debug_information() -> None:
    signature = parse_prototype("void f(uint8_t out[64], int8x16x2_t a)").signature
    text, _ = source_of(parse_prototype(prototype_of(["int8x16x2_t"])).signature, ["int8x16x2_t"])
    (compiled,) = function_signature(build_text(text, ".c", "-O1"), "f").by_value
    (ours,) = signature.by_value
    assert isinstance(compiled, Struct)
    assert isinstance(ours, VectorArgument)
    assert (compiled.homogeneous, compiled.type.itemsize) == ((2, 16), ours.type.itemsize)
    assert list(flattened({"a": {"val": 1}})) == ["a.val"]
