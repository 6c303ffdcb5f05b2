"""The Kernel record: all that a check needs to know of one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError, did_you_mean, line_in
from sim.kernels.domain import (
    Domain,
    Domains,
    check_domains,
    corner_sets,
    long_sample_set,
    number_types,
    own_domains,
    sample_set,
)
from sim.kernels.extent import Extent, names_in
from sim.kernels.names import kernel_names
from sim.kernels.operator import OperatorInterface
from sim.kernels.signature import RETURNED, Signature, extents, flattened
from sim.kernels.tolerance import Tolerance

Inputs = Mapping[str, Any]
"""One input set: arrays and numbers by name."""
Outputs = Mapping[str, np.ndarray]
"""The output arrays by name."""
GivenFiles = str | Path | Iterable[str | Path]
"""One file, or several."""


_WORKS: Final = ((str, str), (str, int))
"""The types of what `work` of a kernel may be."""


class KernelError(LanewiseError):
    """A kernel that cannot be used; the message is one sentence."""


def _no_steps(inputs: Inputs) -> Mapping[str, np.ndarray]:
    return {}


def _not_given(*inputs: Any) -> Any:
    """In place of what a kernel does not give and its domains do."""
    raise NotImplementedError


def _is_made(given: Callable[..., Any] | None, by: Callable[..., Any]) -> bool:
    """Whether what draws input sets is none of the author's: none is given, or it is that of the domains."""
    made: object = None if given is None else unwrap(given)
    return made is _not_given or (isinstance(made, partial) and made.func is by)


def _by_field(function: Callable[[Inputs], Outputs]) -> Callable[[Inputs], Outputs]:
    """The function with the structures that it returns as mappings taken apart, into outputs such as "y.scale"."""

    @wraps(function)
    def taken_apart(inputs: Inputs) -> Outputs:
        made = function(inputs)
        return flattened(made) if isinstance(made, Mapping) else made

    return taken_apart


class SourceFiles:
    """A field of a dataclass that takes one file or several, as texts or paths, and is a tuple of paths.

    It is a descriptor, by whose `__set__` type checkers know what the field takes.
    """

    def __init__(self, default: tuple[Path, ...] | None = None) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"_{name}"

    def __get__(self, instance: object | None, owner: type | None = None) -> tuple[Path, ...]:
        """Of the class, the default; without one the field must be given."""
        if instance is not None:
            found: tuple[Path, ...] = instance.__dict__[self._key]
            return found
        if self._default is None:
            raise AttributeError(self._key)
        return self._default

    def __set__(self, instance: object, files: GivenFiles) -> None:
        several = (files,) if isinstance(files, str | Path) else files
        instance.__dict__[self._key] = tuple(map(Path, several))


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One kernel, in all the ways it is run.

    `golden`, `steps`, `program` and `arguments` take one input set: the arguments by their names, where the kernel has
    no `corners` and `sample` of its own.  Raises ValueError for a domain that does not fit the signature.

    - `symbol` is the function's name in the object.
    - `sources` are alternatives, each the whole kernel: C, C++, assembly, an object or a shared library, as texts or
      paths; `with_sources` are what every one of them needs besides: sources, objects and libraries that are linked
      with it.  With `constructors` those of static objects run before the calls.  `flags` are those that sources need,
      such as "-march=armv8.2-a+dotprod".
    - `golden` returns the outputs; on what is no input of the kernel it raises.
    - `steps` gives the value after each step of the arithmetic, by the step's name, one number per output lane; a step
      named like a pointer argument is that input itself.
    - `arguments` gives the arguments of the signature by name: arrays, numbers, None for a null pointer; outputs are
      left out.
    - `corners` yields the input sets that everybody must try, `sample` makes a random one, `long_sample` one of some
      thousand elements, for checks of many vectors, None where there are none.  Where they are not given, all are drawn
      from the `domain` of each argument.
    - `domain` is by argument what it may be; also that of an input that `arguments` makes the arguments of, named as in
      "scale.low".  Checks change numbers of input sets within it.
    - `valid` says whether the kernel is called with an input set at all: what it refuses is none of its inputs, whoever
      made it.
    - `program` is the kernel in intrinsics and takes the arguments, with typed pointers for arrays.
    - `mode` names the arithmetic where a folder has several, each with a record of its own; `summary` says in one line
      what is modelled in it.
    - `conventions` are the other arithmetics under their names: to name the one that a wrong result agrees with, and to
      count the vectors that tell them apart; one that does not define an input set raises ValueError.
    - `tolerance` is that of floating-point outputs, None where every bit counts.
    - `typical` is the call that is timed: numbers by name, such as {"rows": 4, "kc": 256}, with which all else is
      drawn; of a kernel with a `sample` of its own a whole input set.
    - `work` is what a call does most, and how often, such as ("multiply-accumulate", "rows * columns * depth"): by it
      its cycles are told, else by the elements of its outputs.
    """

    name: str
    symbol: str
    sources: SourceFiles = SourceFiles()  # a descriptor
    signature: Signature
    golden: Callable[[Inputs], Outputs]
    steps: Callable[[Inputs], Mapping[str, np.ndarray]] = _no_steps
    arguments: Callable[[Inputs], Inputs] = dict
    corners: Callable[[], Iterator[Inputs]] = _not_given
    sample: Callable[[np.random.Generator], Inputs] = _not_given
    long_sample: Callable[[np.random.Generator], Inputs] | None = None
    program: Callable[..., None] | None = None
    conventions: Mapping[str, Callable[[Inputs], Outputs]] = field(default_factory=dict)
    mode: str = ""
    domain: Domains = field(default_factory=dict)
    valid: Callable[[Inputs], bool] | None = None
    tolerance: Tolerance | None = None
    flags: tuple[str, ...] = ()
    summary: str = ""
    with_sources: SourceFiles = SourceFiles(())  # a descriptor
    constructors: bool = False
    typical: Inputs = field(default_factory=dict)
    work: tuple[str, Extent] | None = None

    def __post_init__(self) -> None:
        self._require_kinds()
        if any("." in output.name for output in self.signature.outputs):
            object.__setattr__(self, "golden", _by_field(self.golden))
            by_field = {name: _by_field(function) for name, function in self.conventions.items()}
            object.__setattr__(self, "conventions", by_field)
        object.__setattr__(self, "domain", {**own_domains(self.signature), **self.domain})
        check_domains(dict(number_types(self.signature)), self.domain, has_others=not self.takes_inputs)
        if _is_made(self.corners, corner_sets):  # by this kernel, or by the one that this is made of by `replace`
            object.__setattr__(self, "corners", partial(corner_sets, self.signature, self.domain, self.accepts))
        if self.sample is _not_given or _is_made(self.long_sample, long_sample_set):
            object.__setattr__(self, "long_sample", partial(long_sample_set, self.signature, self.domain))
        if _is_made(self.sample, sample_set):
            object.__setattr__(self, "sample", partial(sample_set, self.signature, self.domain))

    def _require_kinds(self) -> None:
        """What a type checker says, to those who have none.  Raises ValueError."""
        texts, optional = ("name", "symbol", "mode", "summary"), {"long_sample", "program", "valid"}
        functions = ("golden", "steps", "arguments", "corners", "sample", *optional)
        is_right: dict[str, tuple[bool, str]] = {
            **{name: (isinstance(getattr(self, name), str), "give a text") for name in texts},
            "signature": (isinstance(self.signature, Signature), "parse_prototype makes one of text"),
            **{
                name: (callable(found) or (found is None and name in optional), "give a function")
                for name, found in ((name, getattr(self, name)) for name in functions)
            },
            **{
                name: (isinstance(getattr(self, name), Mapping), "give a dict")
                for name in ("conventions", "domain", "typical")
            },
            "tolerance": (self.tolerance is None or isinstance(self.tolerance, Tolerance), "give a Tolerance, or None"),
            "flags": (
                isinstance(self.flags, tuple | list)
                and all(isinstance(flag, str) and "\0" not in flag for flag in self.flags),
                'give texts in a tuple, such as ("-O2",)',
            ),
            "work": (
                self.work is None or (isinstance(self.work, tuple) and tuple(map(type, self.work)) in _WORKS),
                'give a pair, such as ("multiply-accumulate", "rows * columns * depth")',
            ),
        }
        for name, (fits, wanted) in is_right.items():
            if not fits:
                raise ValueError(f"{name} of {self.name} is {getattr(self, name)!r:.60}: {wanted}")
        for name, function in self.conventions.items():
            if not callable(function):
                raise ValueError(f"the convention {name!r} of {self.name} is {function!r:.60}: give a function")
        if self.work is not None:
            names_in(self.work[1])

    def accepts(self, inputs: Inputs) -> bool:
        """Whether `valid` does, and True where there is none; False for a shared table of other arrays than there are.

        Raises KernelError where `valid` fails or answers no bool.
        """
        for pointer in self.signature.pointers if self.takes_inputs else ():
            arrays, rows = inputs.get(pointer.name), inputs.get(pointer.rows)
            if not pointer.shared or not isinstance(arrays, np.ndarray) or not isinstance(rows, np.ndarray):
                continue
            if not ((rows >= 0) & (rows < len(arrays) + bool(pointer.may_be))).all():
                return False
        if self.valid is None:
            return True
        try:
            answer: object = self.valid(inputs)
        except KernelError:
            raise
        except (Exception, SystemExit) as error:  # the user's own code raises anything
            raise KernelError(f"valid of {self.name} fails: {_told(error, inputs, self.valid)}") from error
        if not isinstance(answer, bool | np.bool_):
            raise KernelError(f"valid of {self.name} must return True or False, not {answer!r:.60}")
        return bool(answer)

    def expected(self, inputs: Inputs) -> dict[str, np.ndarray[Any, Any]]:
        """What the golden reference makes of an input set, as the signature wants it.

        Raises KernelError where it raises, leaves an output out or gives another dtype or shape.
        """
        try:
            given = self.golden(inputs)
        except (Exception, SystemExit) as error:  # the user's own code raises anything
            told = _told(error, inputs, self.golden)
            raise KernelError(f"the golden reference of {self.name} fails: {told}") from error
        if not isinstance(given, Mapping):
            raise KernelError(f"the golden reference of {self.name} must return its outputs by name, not {given!r:.60}")
        wanted = self._output_kinds(inputs)
        if strangers := set(given) - set(wanted):
            raise KernelError(
                f"the golden reference of {self.name} returns {min(strangers, key=str)!r}, which is no output: "
                f"name what it gives {' and '.join(map(repr, wanted))}"
            )
        outputs = {}
        for name, (dtype, shape) in wanted.items():
            must = f"it must be {dtype}{list(shape)}"
            if name not in given:
                raise KernelError(f"the golden reference of {self.name} does not return {name!r}: {must}")
            array = outputs[name] = _array(given[name], f"the golden reference of {self.name}", name, must)
            if array.dtype != np.dtype(dtype) or array.shape != shape:
                raise KernelError(f"the golden reference of {self.name} returns {_kind(array)} as {name!r}: {must}")
        return outputs

    def golden_steps(self, inputs: Inputs) -> dict[str, np.ndarray[Any, Any]]:
        """The golden steps of an input set, each of the shape of an output.

        Raises KernelError where `steps` fails, or gives what is not one number for each lane of an output.
        """
        try:
            given = self.steps(inputs)
        except KernelError:
            raise
        except (Exception, SystemExit) as error:  # the user's own code raises anything
            raise KernelError(f"steps of {self.name} fails: {_told(error, inputs, self.steps)}") from error
        if not isinstance(given, Mapping):
            raise KernelError(f"steps of {self.name} must return arrays by the names of steps, not {given!r:.60}")
        of_lanes = "it must have one number for each lane of an output"
        steps = {name: _array(values, f"steps of {self.name}", name, of_lanes) for name, values in given.items()}
        shapes = {name: shape for name, (_, shape) in self._output_kinds(inputs).items()} if steps else {}
        for name, array in steps.items():
            if array.dtype.kind not in "biuf" or array.shape not in shapes.values():
                lanes = ", ".join(f"{output}{list(shape)}" for output, shape in shapes.items())
                raise KernelError(f"steps of {self.name} returns {_kind(array)} as {name!r}: {of_lanes}: {lanes}")
        return steps

    def _output_kinds(self, inputs: Inputs) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Dtype and shape of each output of a call; none for a null pointer."""
        arguments = self.arguments(inputs)
        kinds = {p.name: (p.dtype, extents(p, arguments)) for p in self.signature.outputs_of(arguments)}
        return kinds | ({RETURNED: (self.signature.returns, ())} if self.signature.returns else {})

    def by_convention(self, name: str, inputs: Inputs, golden: Outputs) -> dict[str, np.ndarray[Any, Any]] | None:
        """The outputs of one of the conventions, those that `golden` has; None for an input set that it refuses.

        Raises KernelError where it fails in another way than by ValueError, and for another dtype or shape.
        """
        try:
            given = self.conventions[name](inputs)
            outputs = {output: np.asarray(given[output]) for output in golden}
        except ValueError:
            return None
        except (Exception, SystemExit) as error:  # the user's own code raises anything
            told = _told(error, inputs, self.conventions[name])
            raise KernelError(f"the convention {name!r} of {self.name} fails: {told}") from error
        for output, array in outputs.items():
            own = golden[output]
            if (array.dtype, array.shape) != (own.dtype, own.shape):
                kinds = f"{_kind(array)} as {output!r}: the golden reference returns {_kind(own)}"
                raise KernelError(f"the convention {name!r} of {self.name} returns {kinds}")
        return outputs

    @property
    def is_drawn(self) -> bool:
        """Whether input sets are the arguments, and any numbers of their domains make one."""
        return self.takes_inputs and _is_made(self.sample, sample_set)

    def held(self, numbers: Mapping[str, int]) -> Kernel:
        """This kernel where arguments have one number each in all input sets.

        Raises KernelError where an argument is none of its numbers, or has another domain.
        """
        names = [name for name, _ in number_types(self.signature)]
        if numbers and not self.is_drawn:
            raise KernelError(
                f"{self.title} makes its input sets itself: numbers are held where arguments are drawn from domains"
            )
        for name, number in numbers.items():
            if name not in names:
                raise KernelError(f"{self.title} has no number {name!r}: there are {', '.join(names)}")
            if name in self.domain and not self.domain[name].holds(number):
                raise KernelError(f"{name} = {number} is not in the domain of {self.title}")
        return replace(self, domain={**self.domain, **{name: Domain(one, one) for name, one in numbers.items()}})

    @property
    def takes_inputs(self) -> bool:
        """Whether input sets are the arguments of the signature."""
        return unwrap(self.arguments) is dict

    @property
    def title(self) -> str:
        """Such as "quantize_down" and "quantize_down, mode page"."""
        return f"{self.name}, mode {self.mode}" if self.mode else self.name


def _array(given: object, whose: str, name: str, must: str) -> np.ndarray[Any, Any]:
    """What somebody's function returned under a name, as an array.  Raises KernelError."""
    try:
        return np.asarray(given)
    except Exception as error:  # numpy's of rows that are not alike, and whatever an object of theirs raises
        raise KernelError(f"{whose} returns {given!r:.60} as {name!r}: {must}") from error


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)}"


def steps_at(steps: Mapping[str, np.ndarray], place: tuple[int, ...]) -> dict[str, Any]:
    """The numbers of one lane in golden steps; those of an output with other axes have none there."""
    return {
        name: array[place]
        for name, array in steps.items()
        if array.ndim == len(place) and all(at < extent for at, extent in zip(place, array.shape, strict=True))
    }


def missing_input(error: BaseException, inputs: object) -> str:
    """What an input set has, where somebody's function asked it for something else; "" for other errors."""
    if not isinstance(error, KeyError) or not isinstance(inputs, Mapping) or (error.args and error.args[0] in inputs):
        return ""
    return f"; an input set has {', '.join(_names_in(inputs)) or 'nothing'}"


def _names_in(inputs: Mapping[str, Any]) -> Iterator[str]:
    """The names of an input set, those of numbers in a structure as one writes them, such as p["low"]."""
    for name, value in inputs.items():
        if isinstance(value, Mapping):
            for inner in _names_in(value):
                first, bracket, rest = inner.partition("[")
                yield f'{name}["{first}"]{bracket}{rest}'
        else:
            yield str(name)


def _told(error: BaseException, inputs: Inputs, function: Callable[..., Any]) -> str:
    """What somebody's function fails with, on one line, and at which line of its file."""
    code = getattr(unwrap(function), "__code__", None)
    line = line_in(code.co_filename, error) if code else 0
    place = f" ({Path(code.co_filename).name}:{line})" if code and line else ""
    return f"{type(error).__name__}: {error}".split("\n")[0].rstrip() + place + missing_input(error, inputs)


def kernel_modes(name: str) -> tuple[str, ...]:
    """The modes of the built-in kernel of that name, its default first.  Raises KernelError."""
    return tuple(_modes(name))


def built_in_kernel(name: str, mode: str | None = None) -> Kernel:
    """The built-in kernel of that name, in its default mode or in another.  Raises KernelError."""
    modes = _modes(name)
    if mode is None:
        return next(iter(modes.values()))
    if mode not in modes:
        raise KernelError(f"the kernel {name!r} has no mode {mode!r}: its modes are {', '.join(modes)}")
    return modes[mode]


def operator_interface(name: str) -> OperatorInterface:
    """The operator of the built-in kernel of that name, with examples.  Raises KernelError."""
    _modes(name)
    interface: OperatorInterface = import_module(f"sim.kernels.{name}.interface").INTERFACE
    return interface


def _modes(name: str) -> Mapping[str, Kernel]:
    if name not in kernel_names():
        meant = did_you_mean(name, kernel_names())
        raise KernelError(f"there is no kernel {name!r}{meant}: the kernels are {', '.join(kernel_names())}")
    modes: Mapping[str, Kernel] = import_module(f"sim.kernels.{name}").MODES
    return modes
