"""The functions that compilers call on their own, run as emulated code, against Python's bytes and integers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from sim.machine.errors import Trap
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from support.runtime_calls import ATOMICS, MEMORY, NAMES, STOPS, WIDE, Runtime, whole_runtime

LENGTHS = range(41)
ALIGNMENTS = range(8)
DATA = {"__stack_chk_guard", "__dso_handle"}
WORD, WIDE_WORD = (1 << 64) - 1, (1 << 128) - 1
CORNERS = (
    0,
    1,
    2,
    3,
    7,
    WORD,
    WORD + 1,
    WORD << 1,
    1 << 127,
    (1 << 127) - 1,
    WIDE_WORD,
    WIDE_WORD - 1,
    WIDE_WORD ^ WORD,
)
RANDOM = tuple(value for bits in (20, 63, 64, 65, 100, 128) for value in (Random(bits).getrandbits(bits),))


@pytest.fixture(scope="module")
def image() -> Image:
    return whole_runtime()


@pytest.fixture(scope="module")
def runtime(image: Image) -> Runtime:
    return Runtime(image)


def signed(value: int) -> int:
    return value - (value >> 127 << 128)


def halves(value: int) -> tuple[int, int]:
    return value & WORD, value >> 64


def test_every_function_has_a_source_line(image: Image) -> None:
    places = {image.place_of(image.symbol(name).address).split(":")[0] for name in set(NAMES) - DATA}
    assert places == {"memory.c", "int128.c", "rounding.S", "atomics.S", "stops.c", "cplusplus.c"}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["memcpy", "memmove"])
def test_copies_at_every_alignment(runtime: Runtime, name: str, length: int) -> None:
    content = Random(length).randbytes(128)
    for to, source in product(ALIGNMENTS, ALIGNMENTS):
        source += 64
        result = runtime.call(name, MEMORY + to, MEMORY + source, length, memory=content)
        expected = content[:to] + content[source : source + length] + content[to + length :]
        assert (result.x0, result.memory) == (MEMORY + to, expected)


@pytest.mark.parametrize("length", LENGTHS)
def test_moves_where_source_and_destination_overlap(runtime: Runtime, length: int) -> None:
    content, source = Random(length).randbytes(128), 44
    for to in range(source - length, source + length + 1):
        result = runtime.call("memmove", MEMORY + to, MEMORY + source, length, memory=content)
        assert result.memory == content[:to] + content[source : source + length] + content[to + length :]


@pytest.mark.parametrize("length", LENGTHS)
def test_fills_with_the_low_byte(runtime: Runtime, length: int) -> None:
    content = Random(length).randbytes(64)
    for to in ALIGNMENTS:
        result = runtime.call("memset", MEMORY + to, 0xFFFF_FF00 | length + 200, length, memory=content)
        filled = content[:to] + bytes([length + 200]) * length + content[to + length :]
        assert (result.x0, result.memory) == (MEMORY + to, filled)


@pytest.mark.parametrize("length", LENGTHS)
def test_compares_as_bytes_without_sign(runtime: Runtime, length: int) -> None:
    rng = Random(length)
    for place in range(length + 1):
        first = rng.randbytes(length)
        second = bytes(byte ^ (rng.randrange(1, 256) if at >= place else 0) for at, byte in enumerate(first))
        memory = (first + bytes(3)).ljust(64) + second
        result = runtime.call("memcmp", MEMORY, MEMORY + 64, length, memory=memory)
        sign = (result.x0 & 0xFFFF_FFFF ^ 1 << 31) - (1 << 31)
        assert ((sign > 0) - (sign < 0)) == (first > second) - (first < second)


def divided(a: int, b: int) -> tuple[int, int]:
    """Rounded towards zero as C does; by zero the quotient is 0, as UDIV and SDIV have it (Arm ARM C6.2)."""
    quotient = abs(a) // abs(b) if b else 0
    quotient = -quotient if (a < 0) != (b < 0) else quotient
    return quotient, a - b * quotient


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "multi3": lambda a, b: a * b,
    "divti3": lambda a, b: divided(signed(a), signed(b))[0],
    "modti3": lambda a, b: divided(signed(a), signed(b))[1],
    "udivti3": lambda a, b: divided(a, b)[0],
    "umodti3": lambda a, b: divided(a, b)[1],
}
SHIFTS: dict[str, Callable[[int, int], int]] = {
    "ashlti3": lambda a, count: a << count,
    "lshrti3": lambda a, count: a >> count,
    "ashrti3": lambda a, count: signed(a) >> count,
}
BOTH: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "udivmodti4": divided,
    "divmodti4": lambda a, b: divided(signed(a), signed(b)),
}


def test_every_operation_of_wide_integers_has_a_reference() -> None:
    assert {*ARITHMETIC, *SHIFTS, *BOTH} == set(WIDE)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_wide_arithmetic(runtime: Runtime, name: str) -> None:
    for a, b in product(CORNERS + RANDOM, repeat=2):
        result = runtime.call(f"__{name}", *halves(a), *halves(b))
        assert (a, b, result.wide) == (a, b, ARITHMETIC[name](a, b) & WIDE_WORD)


@pytest.mark.parametrize("name", SHIFTS)
def test_wide_shifts_by_every_count(runtime: Runtime, name: str) -> None:
    for value, count in product(CORNERS + RANDOM, range(128)):
        result = runtime.call(f"__{name}", *halves(value), count)
        assert (value, count, result.wide) == (value, count, SHIFTS[name](value, count) & WIDE_WORD)


@pytest.mark.parametrize("name", BOTH)
def test_wide_division_gives_quotient_and_remainder(runtime: Runtime, name: str) -> None:
    for a, b in product(CORNERS + RANDOM, repeat=2):
        result = runtime.call(f"__{name}", *halves(a), *halves(b), MEMORY, memory=bytes(16))
        remainder = int.from_bytes(result.memory, "little")
        expected = tuple(part & WIDE_WORD for part in BOTH[name](a, b))
        assert (a, b, result.wide, remainder) == (a, b, *expected)


def test_a_remainder_that_nobody_wants_is_not_stored(runtime: Runtime) -> None:
    assert runtime.call("__udivmodti4", 100, 0, 7, 0, 0).wide == 14


FETCHED: dict[str, Callable[[int, int], int]] = {
    "swp": lambda old, operand: operand,
    "ldadd": lambda old, operand: old + operand,
    "ldclr": lambda old, operand: old & ~operand,
    "ldset": lambda old, operand: old | operand,
    "ldeor": lambda old, operand: old ^ operand,
}


@pytest.mark.parametrize("name", [name for name in ATOMICS if "cas" not in name])
def test_an_outlined_atomic_returns_what_it_changes(runtime: Runtime, name: str) -> None:
    rng, operation = Random(name), name.removeprefix("__aarch64_").split("_")[0]
    size = int(operation[-1])
    memory, operand = rng.randbytes(16), rng.getrandbits(64)
    old = int.from_bytes(memory[:size], "little")
    new = FETCHED[operation[:-1]](old, operand) & (1 << 8 * size) - 1
    result = runtime.call(name, operand, MEMORY, memory=memory)
    assert (result.x0, result.memory) == (old, new.to_bytes(size, "little") + memory[size:])


@pytest.mark.parametrize("name", [name for name in ATOMICS if "cas" in name])
@pytest.mark.parametrize("equal", [True, False])
def test_an_outlined_compare_and_swap_stores_where_equal(runtime: Runtime, name: str, equal: bool) -> None:
    rng, size = Random(name), int(name.removeprefix("__aarch64_cas")[0])
    memory, desired = rng.randbytes(16), rng.getrandbits(8 * size)
    old = int.from_bytes(memory[:size], "little")
    result = runtime.call(name, old if equal else old ^ 1, desired, MEMORY, memory=memory)
    stored = (desired if equal else old).to_bytes(size, "little")
    assert (result.x0, result.memory) == (old, stored + memory[size:])


@pytest.mark.parametrize("name", STOPS)
def test_what_must_not_return_stops_at_its_own_line(runtime: Runtime, name: str) -> None:
    with pytest.raises(Trap, match="brk") as stopped:
        runtime.call(name)
    assert stopped.value.pc == runtime.image.symbol(name).address


def test_a_guard_is_acquired_once(runtime: Runtime) -> None:
    memory = bytes(8)
    assert runtime.call("__cxa_guard_acquire", MEMORY, memory=memory).x0 == 1
    memory = runtime.call("__cxa_guard_release", MEMORY, memory=memory).memory
    assert runtime.call("__cxa_guard_acquire", MEMORY, memory=memory).x0 == 0


def called(text: str, suffix: str, *general: int, flags: tuple[str, ...] = ("-O0",), memory: bytes = b"") -> int:
    return Runtime(build_text(text, suffix, *flags)).call("kernel", *general, memory=memory).x0 & 0xFFFF_FFFF


def test_a_kernel_that_copies_structs() -> None:
    text = """
        struct row { int values[40]; };
        int kernel(const struct row *given) {
            struct row zeros = {0}, copy = *given;
            zeros.values[3] = copy.values[39];
            copy = zeros;
            return copy.values[3] + copy.values[4];
        }
    """
    assert called(text, ".c", MEMORY, memory=bytes(156) + (77).to_bytes(4, "little")) == 77


CPLUSPLUS = """
    struct Shape { virtual int area() const = 0; virtual ~Shape() {} };
    struct Square : Shape { int side; Square(int s) : side(s) {} int area() const override { return side * side; } };
    int measured(const Shape &shape) { return shape.area(); }
    int made;
    struct Counted { int number; Counted() : number(++made) {} ~Counted() {} };
    int count() { static Counted counted; return counted.number; }
    extern "C" int kernel(int side) { Square square(side); return measured(square) * 100 + count() * 10 + count(); }
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_kernel_with_a_virtual_call_and_a_static_variable(level: str) -> None:
    assert called(CPLUSPLUS, ".cpp", 9, flags=(level,)) == 8111


def test_a_pure_virtual_call_stops() -> None:
    text = """
        struct Base { Base() { call(); } void call() { pure(); } virtual void pure() = 0; };
        struct Derived : Base { void pure() override {} };
        extern "C" int kernel() { Derived derived; return 0; }
    """
    with pytest.raises(Trap, match="brk"):
        called(text, ".cpp")


def test_outlined_atomics_and_the_stack_protector_link() -> None:
    text = "int kernel(int *p) { char b[64]; *(volatile char *)b = 1; return __atomic_fetch_add(p, b[0], 5); }"
    flags = ("-O1", "-moutline-atomics", "-fstack-protector-all")
    assert called(text, ".c", MEMORY, flags=flags, memory=bytes([41, 0, 0, 0])) == 41


def test_a_kernels_own_function_wins() -> None:
    text = (
        "int roundf(float x) { return 5; }\nfloat floorf(float); int kernel(void) { return roundf(1) + floorf(2.5f); }"
    )
    assert called(text, ".c", flags=("-O0", "-fno-builtin")) == 7


def test_a_program_that_needs_no_runtime_has_none() -> None:
    image = build_text("int kernel(int a) { return a; }\n", ".c")
    assert set(image.symbols) == {"kernel"}


def test_a_program_takes_only_the_part_that_it_needs() -> None:
    image = build_text("float roundf(float); float kernel(float a) { return roundf(a); }\n", ".c", "-fno-builtin")
    assert "memcpy" not in image.symbols
    assert "roundf" in image.symbols


@pytest.mark.usefixtures("cache")
def test_the_runtime_is_compiled_once(runs: list[str]) -> None:
    for name in ("floorf", "ceilf"):
        build_text(f"float {name}(float); float kernel(float a) {{ return {name}(a); }}\n", ".c", "-fno-builtin")
    assert runs == ["clang", "ld.lld", "clang", "ar", "ld.lld", "clang", "ld.lld", "ld.lld"]
