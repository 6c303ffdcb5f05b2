"""The tensors that LiteRT computes, with its default kernels, without delegates, or with those of its reference."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Final

import numpy as np

from isa.errors import pip_install
from sim.models.network import AnyArray, ModelError, Network, PackageMissing

RESOLVERS: Final = {
    "litert": "BUILTIN",
    "litert-no-delegate": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
    "litert-reference": "BUILTIN_REF",
}
"""What `--against` calls them, and what LiteRT does."""


def litert_tensors(path: Path, network: Network, inputs: Mapping[int, AnyArray], runtime: str) -> dict[int, AnyArray]:
    """Every tensor that LiteRT computes of these inputs, by number; raises ModelError.

    LiteRT runs the file as native code of its own: give it files that you trust.
    """
    try:
        from ai_edge_litert import interpreter
    except ImportError:
        raise PackageMissing(f"LiteRT is not there: {pip_install('lanewise[outside]')}") from None
    try:
        with warnings.catch_warnings(action="ignore"):  # that keeping all tensors takes memory
            engine = interpreter.Interpreter(
                model_path=str(path),
                experimental_op_resolver_type=getattr(interpreter.OpResolverType, RESOLVERS[runtime]),
                experimental_preserve_all_tensors=True,
            )
        engine.allocate_tensors()
        for number, array in inputs.items():
            engine.set_tensor(number, array)
        engine.invoke()
        return {**inputs, **{number: np.array(engine.get_tensor(number)) for number in network.made}}
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"LiteRT refuses {path}: {shorten(str(error), 300)}") from None
