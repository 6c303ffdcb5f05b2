"""What numpy makes of unknown numbers, evaluated, is what it makes of the numbers: values, dtypes, errors."""

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isa.evaluate.exact import Evaluation
from isa.lane import Place, Read
from sim.prove.claim import ClaimInputs
from sim.symbolic.numbers.arrays import SymbolicArray, array_of
from sim.symbolic.numbers.elementwise import ELEMENTWISE, FOLDS, element_type, equal, negated
from sim.symbolic.numbers.integers import SymbolicInt, is_symbolic
from sim.symbolic.numbers.known_names import lanes_passed_on
from sim.symbolic.numbers.tracing import Untraceable, every_way

DTYPES = [np.dtype(name) for name in ("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
PLAIN_INT = "int"


class Unknown:
    """Numbers taken for unknown ones, and what a result is for the numbers that they were."""

    def __init__(self) -> None:
        self._values: dict[str, int] = {}

    def array(self, values: Any) -> SymbolicArray:
        known = np.asarray(values)
        kind = element_type(known.dtype)
        elements = np.empty(known.shape, object)
        for at in np.ndindex(known.shape):
            elements[at] = self._leaf(int(known[at]), kind.low, kind.high)
        return SymbolicArray(elements, known.dtype, scalar=isinstance(values, np.generic))

    def integer(self, value: int, low: int, high: int) -> SymbolicInt:
        return SymbolicInt(self._leaf(value, low, high))

    def _leaf(self, value: int, low: int, high: int) -> Read:
        name = f"n{len(self._values)}"
        self._values[name] = value
        return Read(Place(name), low, high)

    def known(self, result: Any) -> Any:
        if not is_symbolic(result):
            return result
        evaluation = Evaluation(ClaimInputs(self._values))
        if type(result) is SymbolicInt:
            return evaluation.value(result.lane)
        numbers = np.empty(result.shape, result.dtype)
        for at in np.ndindex(result.shape):
            number = evaluation.value(result.elements[at])
            assert element_type(result.dtype).wrapped(number) == number, "a lane lies outside of its array's dtype"
            numbers[at] = number
        return numbers


def numbers(dtype: np.dtype[Any], seed: int, size: int = 14) -> Any:
    """Corners of the dtype, then random numbers."""
    kind, rng = element_type(dtype), np.random.default_rng(seed)
    corners = [kind.low, kind.high, 0, 1, *([-1, kind.low + 1] if kind.signed else [kind.high - 1])]
    drawn = [int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(0, 63)) for _ in range(size - len(corners))]
    return rng.permutation(np.array([kind.wrapped(n) for n in (*corners, *drawn)][:size], dtype))


def agrees(function: Callable[..., Any], *operands: Any) -> None:
    """Numpy's result, or its error, is that of the same function of unknown numbers."""
    unknown = Unknown()
    symbolic = [unknown.array(value) if isinstance(value, np.ndarray | np.generic) else value for value in operands]
    with np.errstate(all="ignore"):
        try:
            wanted = function(*operands)
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            with pytest.raises(type(error)):
                function(*symbolic)
            return
        kind = np.asarray(wanted).dtype.kind
        if kind == "f" and np.asarray(wanted).dtype.itemsize > 2:  # tests/test_symbolic_floats.py
            return
        if kind not in "iub":
            with pytest.raises(Untraceable):
                function(*symbolic)
            return
        made = unknown.known(function(*symbolic))
    assert np.asarray(made).dtype == np.asarray(wanted).dtype
    assert np.array_equal(made, wanted)


@pytest.mark.parametrize("ufunc", sorted(ELEMENTWISE, key=str), ids=lambda each: each.__name__)
def test_functions_of_elements_are_numpys_for_every_dtype(ufunc: np.ufunc) -> None:
    for seed, dtype in enumerate(DTYPES):
        a = numbers(dtype, seed)
        if ufunc.nin == 1:
            agrees(ufunc, a)
            continue
        for other in DTYPES:
            agrees(ufunc, a, numbers(other, seed + 100))
        for integer in (0, 3, -1, 200, 70_000):
            agrees(ufunc, a, integer)
            agrees(ufunc, integer, a)


@pytest.mark.parametrize("count", [-(2**31), -33, -1, 0, 1, 7, 8, 31, 32, 63, 64, 200])
@pytest.mark.parametrize("shift", [np.left_shift, np.right_shift], ids=["left", "right"])
def test_shifts_by_the_width_and_beyond_are_numpys(shift: np.ufunc, count: int) -> None:
    for dtype in DTYPES[1:]:
        agrees(shift, numbers(dtype, 3), np.full(14, count).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_casts_wrap_as_numpys(dtype: np.dtype[Any]) -> None:
    for to in DTYPES:
        agrees(lambda a, to=to: a.astype(to), numbers(dtype, 5))


@pytest.mark.parametrize("ufunc", sorted(FOLDS, key=str), ids=lambda each: each.__name__)
def test_reductions_are_numpys_in_dtype_and_shape(ufunc: np.ufunc) -> None:
    for dtype in DTYPES:
        a = numbers(dtype, 7, 12).reshape(2, 3, 2)
        for axis in (0, 1, -1, None, (0, 2)):
            for keepdims in (False, True):
                agrees(lambda x, axis=axis, k=keepdims: ufunc.reduce(x, axis=axis, keepdims=k), a)
        agrees(lambda x: ufunc.reduce(x), np.empty((0, 2), dtype))


IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.ilshift, operator.irshift, operator.iand]


@pytest.mark.parametrize("operation", IN_PLACE, ids=lambda each: each.__name__)
def test_operators_in_place_keep_the_dtype_or_are_refused_as_numpy_does(operation: Callable[..., Any]) -> None:
    for dtype in DTYPES[1:]:
        for other in DTYPES[1:]:
            agrees(lambda x, y: operation(x.copy(), y), numbers(dtype, 1), numbers(other, 2))


A = np.arange(-12, 12, dtype=np.int8).reshape(4, 6)
B = np.arange(24, dtype=np.int16).reshape(6, 4) * 1000

CALLS: dict[str, Callable[..., Any]] = {
    "clip": lambda a: np.clip(a, -3, 5),
    "clip by arrays": lambda a: np.clip(a, a[:1], np.int16(300)),
    "clip out of the dtype": lambda a: np.clip(a, -3, 500),
    "clip above the dtype": lambda a: np.clip(a, 70_000, 80_000),
    "clip low above high": lambda a: a.clip(4, -4),
    "where": lambda a: np.where(a > 0, a, -1),
    "where of dtypes": lambda a: np.where(a > 0, a.astype(np.uint16), a),
    "where out of the dtype": lambda a: np.where(a > 0, a, 1000),
    "sum": lambda a: np.sum(a, axis=1, dtype=np.int16),
    "sum method": lambda a: a.sum(axis=0),
    "prod": lambda a: np.prod(a),
    "min": lambda a: np.min(a, axis=0),
    "max method": lambda a: a.max(),
    "any": lambda a: np.any(a > 10, axis=1),
    "all": lambda a: (a > -13).all(),
    "cumsum": lambda a: np.cumsum(a, axis=1),
    "cumsum flat": lambda a: np.cumsum(a, dtype=np.int8),
    "matmul": lambda a: a @ a.T,
    "dot": lambda a: np.dot(a, a.T.astype(np.int32)),
    "dot of vectors": lambda a: a[0].dot(a[1]),
    "outer": lambda a: np.outer(a[0], a[1].astype(np.int64)),
    "reshape": lambda a: a.reshape(2, -1),
    "ravel": lambda a: a.ravel(),
    "transpose": lambda a: a.T + a.reshape(6, 4),
    "swapaxes": lambda a: np.swapaxes(a.reshape(2, 2, 6), 0, 2),
    "moveaxis": lambda a: np.moveaxis(a.reshape(2, 2, 6), 0, 2),
    "concatenate": lambda a: np.concatenate([a, a.astype(np.int32)], axis=1),
    "concatenate with numbers": lambda a: np.concatenate([a, np.ones((1, 6), np.uint8)]),
    "stack": lambda a: np.stack([a, a * 2]),
    "repeat": lambda a: np.repeat(a, 2, axis=0),
    "tile": lambda a: np.tile(a, (1, 2)),
    "roll": lambda a: np.roll(a, 1, axis=1),
    "flip": lambda a: np.flip(a, 1),
    "pad": lambda a: np.pad(a, ((1, 1), (0, 2)), constant_values=7),
    "pad by the edge": lambda a: np.pad(a, 1, mode="edge"),
    "broadcast_to": lambda a: np.broadcast_to(a[0], (3, 6)),
    "atleast_2d": lambda a: np.atleast_2d(a[0]),
    "expand_dims": lambda a: np.expand_dims(a, 1).squeeze(1),
    "zeros_like": lambda a: np.zeros_like(a) + a,
    "full_like": lambda a: np.full_like(a, 3),
    "split": lambda a: np.split(a, 2)[1],
    "take": lambda a: np.take(a, [1, 0, 3], axis=0),
    "take flat": lambda a: a.take([5, 7]),
    "index": lambda a: a[1, 2] + a[..., ::2] - a[2][None, :3],
    "index by a mask": lambda a: a[:, np.array([True, False] * 3)],
    "newaxis": lambda a: a[:, None, :] * a[:, :, None],
    "scalar": lambda a: a[0, 0] + np.int8(100),
    "negative of the lowest": lambda a: -(a.astype(np.int8) << 4),
    "absolute": lambda a: abs(a),
    "iteration": lambda a: list(a)[1],
    "view of bytes": lambda a: a.astype(np.int32).view(np.uint8),
    "view of words": lambda a: np.concatenate([a, a], axis=1).view(np.int32),
    "view of the sign": lambda a: a.view(np.uint8),
    "item": lambda a: a[0, 1].item() * 1000,
    "power": lambda a: a**3,
    "table": lambda a: np.take(a.ravel().astype(np.int16) ** 2, a & 15),
    "table index from the end": lambda a: (a.astype(np.int16) * 3).ravel()[(a.ravel() & 15) - 16],
    "bitwise": lambda a: (a & 0x0F) | ~(a ^ -1),
    "divmod of signs": lambda a: a // np.int8(-5) + a % np.int8(-5),
    "out": lambda a: np.add(a, a, out=np.zeros_like(a)),
    "dtype": lambda a: np.multiply(a, a, dtype=np.int32),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_arrays_are_numpys(name: str) -> None:
    agrees(CALLS[name], A)
    agrees(CALLS[name], B[:, :].reshape(4, 6))


def test_what_makes_arrays_passes_lanes_on() -> None:
    def reference(a: Any) -> Any:
        made = np.zeros(a.shape, np.int32)
        made[...] = np.asarray(a, np.int32) * np.int32(a[0, 0])
        rows = np.array([a[0], a[1]], np.int16) + np.full((2, 6), a[0, 1])
        made[:2] += rows
        for column in range(6):
            made[3, column] = int(a[3, column]) >> 1
        made[1] = np.take(np.arange(16), a[1] & 15)
        return made if isinstance(a, np.ndarray) and a.dtype == np.int8 else None

    unknown = Unknown()
    with lanes_passed_on(globals()):
        symbolic = reference(unknown.array(A))
    made = unknown.known(symbolic)
    assert np.array_equal(made, reference(A))
    assert made.dtype == np.int32


INTEGERS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor, operator.lt, operator.le,
    operator.gt, operator.ge, operator.eq, operator.ne,
    lambda a, b: a // 7 + (a % 7), lambda a, b: a // -7 + (a % -7), lambda a, b: abs(a) - ~b + -a, lambda a, b: a**2,
    lambda a, b: (a << 3) + (b >> 2), lambda a, b: 1 << (b & 31), lambda a, b: 1000 - a,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(INTEGERS)))
def test_integers_of_python_are_exact(number: int) -> None:
    for a, b in ((0, 0), (-1, 1), (2**40, -(2**40)), (-(2**40), 3), (12345, -678)):
        unknown = Unknown()
        x, y = (unknown.integer(value, -(2**40), 2**40) for value in (a, b))
        assert unknown.known(INTEGERS[number](x, y)) == INTEGERS[number](a, b)
        assert unknown.known(INTEGERS[number](x, b)) == INTEGERS[number](a, b)


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "full_like": np.full_like,
    "insert": lambda a, n: np.insert(a, 1, n),
    "append": np.append,
    "concatenate": lambda a, n: np.concatenate([a.ravel(), [n]]),
}


@pytest.mark.parametrize("name", JOINED)
def test_an_integer_of_python_among_elements_is_one_of_their_dtype_or_refused(name: str) -> None:
    unknown = Unknown()
    made = JOINED[name](unknown.array(A), unknown.integer(100, 0, 127))
    wanted = JOINED[name](A, 100)
    assert (np.array_equal(unknown.known(made), wanted), made.dtype) == (True, wanted.dtype)
    try:
        wanted = JOINED[name](A, 300)
    except OverflowError:  # numpy's, which does not wrap it
        with pytest.raises(Untraceable, match=r"may be any of 0\.\.300 meets int8"):
            JOINED[name](unknown.array(A), unknown.integer(100, 0, 300))
    else:
        assert np.array_equal(unknown.known(JOINED[name](unknown.array(A), unknown.integer(300, 0, 300))), wanted)


def test_axes_that_are_put_before_others_are_numpys_or_refused() -> None:
    with lanes_passed_on({}):
        row: Any = np.ascontiguousarray(Unknown().array(np.int8(5)))
        with pytest.raises(Untraceable, match="with ndmin is not among"):
            np.array(Unknown().array(A), ndmin=3)
    assert row.shape == np.ascontiguousarray(np.int8(5)).shape == (1,)


def test_integers_of_python_take_the_dtype_that_they_meet() -> None:
    unknown = Unknown()
    small = unknown.integer(100, 0, 100)
    assert unknown.known(unknown.array(A) + small).dtype == np.int8
    assert np.array_equal(unknown.known(unknown.array(A) + small), A + 100)
    with pytest.raises(Untraceable, match=r"may be any of 0\.\.128 meets int8"):
        unknown.array(A) + unknown.integer(5, 0, 128)


def first(a: Any) -> Any:
    return [10, 20, 30][a[0]]


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "index of a list": (first, "would have to become one"),
    "range": (lambda a: list(range(a[0])), "would have to become one"),
    "an exponential": (lambda a: np.exp(a), "np.exp in float64 is not among what can be traced"),
    "a cast to half precision": (lambda a: a.astype(np.float16), "float16 is not among what can be traced"),
    "a cast from float": (lambda a: (a / 2).astype(np.int32), "not defined for NaN and large numbers"),
    "an array that C makes": (lambda a: np.frombuffer(a), "would have to become one|bytes-like"),
    "a function": (lambda a: np.median(a), "np.median is not among what can be traced"),
    "a method": (lambda a: a.argsort(), r"no \.argsort that can be traced"),
    "a hidden number": (lambda a: np.zeros(3)[a], "would have to become one|not known"),
    "a mask": (lambda a: a[a > 0], "how many elements"),
    "elements that are found": (lambda a: np.where(a > 0), "no known number of elements"),
    "a key": (lambda a: {1: 2}[a[0]], "unhashable"),
    "a padding that computes": (lambda a: np.pad(a, 1, mode="reflect", reflect_type="odd"), "np.pad with what is no"),
    "a padding that is not defined": (lambda a: np.pad(a, 1, mode="empty"), "np.pad with what is no"),
    "two constants": (lambda a: np.pad(a, 1, constant_values=(1, 2)), "np.pad with several constants"),
    "a distance": (lambda a: np.roll(a, a[0].item()), "np.roll takes a number that is not known"),
    "into known numbers": (lambda a: np.add(a, a, out=np.ones(a.shape, a.dtype)), "holds known numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_traced_is_refused_and_never_made_a_number(name: str) -> None:
    function, says = REFUSED[name]
    with pytest.raises((Untraceable, TypeError, IndexError), match=says):
        function(Unknown().array(np.array([1, 2, 3], np.int32)))


def test_a_refusal_names_the_line_of_the_reference() -> None:
    with pytest.raises(Untraceable) as refused:
        first(Unknown().array(np.array([1, 2, 3], np.int32)))
    line = first.__code__.co_firstlineno + 1
    assert re.match(rf".*test_symbolic_arrays\.py:{line}: ", str(refused.value))


def test_a_refusal_that_a_reference_swallows_is_told_all_the_same() -> None:
    a = Unknown().array(np.array([1, 2, 3], np.int32))

    def swallows() -> int:
        try:
            return [10, 20, 30][a[0]]  # type: ignore[no-any-return]
        except Exception:
            return 7

    with pytest.raises(Untraceable, match="would have to become one"):
        every_way(swallows)


def test_conditions_are_taken_both_ways() -> None:
    unknown = Unknown()
    x, y = unknown.integer(3, 0, 9), unknown.integer(5, 0, 9)

    def larger() -> Any:
        if x > 9:
            return "never"
        return max(x, y)

    ways = every_way(larger)
    assert [
        unknown.known(way.result) for way in ways if all(unknown.known(SymbolicInt(c)) for c in way.conditions)
    ] == [5]
    assert len(ways) == 2


def test_a_condition_is_not_taken_outside_of_a_trace() -> None:
    with pytest.raises(Untraceable, match="decides what is done"):
        bool(Unknown().integer(1, 0, 1) == 1)


def test_a_range_decides_a_comparison_only_where_it_does() -> None:
    a, b = Read(Place("a"), 0, 5), Read(Place("b"), 5, 9)
    assert equal(a, b).value is None
    assert negated(equal(a, Read(Place("c"), 6, 9))).value == 1
    assert array_of(3).dtype == np.int64
