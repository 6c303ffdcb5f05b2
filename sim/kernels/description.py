"""What a built-in kernel is, told by its records and by its operator: for `lanewise kernels`."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import numpy as np

from sim.kernels.domain import Domain
from sim.kernels.kernel import Kernel, built_in_kernel, kernel_modes, operator_interface
from sim.kernels.operator import AclKernel, OperatorInterface, TensorInfo
from sim.kernels.signature import Argument, FunctionArgument, Pointer, Struct

Described = dict[str, Any]
"""Texts, numbers, lists and further such dicts: what JSON holds."""
_WITHOUT_OPERATOR: Final = frozenset(("quantized_add", mode) for mode in ("tflite", "tflite_s16", "tflite_s16_pot"))
"""Kernels and modes that no operator stands for."""


def described(name: str) -> Described:
    """What a kernel models, its modes and the page of its arithmetic.  Raises KernelError."""
    interface = operator_interface(name)
    return {"kernel": name, "models": interface.models, "modes": list(kernel_modes(name)), "spec": interface.spec}


def description(kernel: Kernel) -> Described:
    """All that `lanewise kernels show` says of a built-in kernel in its mode."""
    interface, modes = operator_interface(kernel.name), kernel_modes(kernel.name)
    return {
        **described(kernel.name),
        "modes": [{"mode": mode, "summary": built_in_kernel(kernel.name, mode).summary} for mode in modes],
        "mode": kernel.mode,
        "function": kernel.symbol,
        "sources": [source.name for source in kernel.sources],
        "arguments": [_argument(argument, kernel) for argument in kernel.signature.arguments],
        "conventions": list(kernel.conventions),
        "operator": None if (kernel.name, kernel.mode) in _WITHOUT_OPERATOR else _operator(interface, kernel.mode),
    }


def _argument(argument: Argument, kernel: Kernel) -> Described:
    """Name, type, direction, and the numbers that it may be."""
    if isinstance(argument, Struct):
        return {"name": argument.name, "type": "structure", "direction": argument.direction, "domain": "any"}
    if isinstance(argument, FunctionArgument):
        return {"name": argument.name, "type": "function", "direction": "in", "domain": str(argument.functions)}
    kind, direction, numbers = argument.dtype, "in", "any"
    if isinstance(argument, Pointer):
        extents = "".join(f"[{extent}]" for extent in argument.shape)
        kind, direction = f"{kind}{extents}{' or null' if argument.nullable else ''}", argument.direction
    domain = kernel.domain.get(argument.name, Domain())
    if domain.choices:
        numbers = ", ".join(str(choice) for choice in domain.choices)
    elif domain.low is not None or domain.high is not None:
        low, high = domain.bounds(np.dtype(argument.dtype))
        numbers = f"{low}..{high}"
    return {"name": argument.name, "type": kind, "direction": direction, "domain": numbers}


def _operator(interface: OperatorInterface, mode: str) -> Described:
    """Its public methods, the constructor among them where it takes anything; what it accepts, refuses and answers."""
    operator, made, kernel = interface.operator, interface.configured(mode), None
    methods: list[tuple[str, Any]] = inspect.getmembers(operator, inspect.isfunction)
    methods = [(name, function) for name, function in methods if not name.startswith("_")]
    if inspect.signature(operator).parameters:
        methods.insert(0, (operator.__name__, operator))
    if isinstance(made, AclKernel):
        kernel = {
            "name": made.name(),
            "window": [[part.start, part.stop, part.step] for part in made.window()],
            "is_parallelisable": made.is_parallelisable(),
            "border_size": made.border_size()._asdict(),
        }
    return {
        "class": f"sim.kernels.operators.{operator.__name__}",
        "methods": [_method(name, function) for name, function in methods],
        "accepted": {name: _text(value) for name, value in interface.accepted(mode).items()},
        "errors": [
            {
                "given": {name: _text(value) for name, value in change.items()},
                "code": status.code.name,
                "description": status.description,
            }
            for change, status in interface.faults(mode)
        ],
        "kernel": kernel,
    }


def _method(name: str, function: Any) -> Described:
    """Its parameters and what it does."""
    parameters = [
        {"name": p.name, "type": _type_name(p.annotation), "default": "" if p.default is p.empty else repr(p.default)}
        for p in inspect.signature(function).parameters.values()
        if p.name != "self"
    ]
    first, *_ = (inspect.getdoc(function) or "").split("\n\n")
    return {"name": name, "parameters": parameters, "does": " ".join(first.split())}


def _type_name(annotation: Any) -> str:
    """Without modules; arrays, windows and shapes as the modules name them, not as what they stand for."""
    text = re.sub(r"(?:\w+\.)+(\w+)", r"\1", inspect.formatannotation(annotation))
    for pattern, name in (
        (r"ndarray\[\w+(?:\[[^\]]*\])?, dtype\[(\w+)(?:\[\w+\])?\]\]", r"ndarray[\1]"),
        (r"tuple\[slice, \.\.\.\]", "Window"),
        (r"tuple\[int, \.\.\.\]", "Shape"),
    ):
        text = re.sub(pattern, name, text)
    return text


def _text(value: object) -> str:
    """A value in few words; of a description only what differs from the defaults."""
    if isinstance(value, TensorInfo):
        usual = TensorInfo(value.shape, value.data_type)
        names = ("channels", "quantization", "right_padding", "bottom_padding", "resizable")
        further = [f", {n} {getattr(value, n)}" for n in names if getattr(value, n) != getattr(usual, n)]
        return "empty" if value.shape is None else f"{value.data_type} {value.shape}{''.join(further)}"
    return "null" if value is None else str(value)
