"""Damaged networks: each is read and run by the golden reference, or refused in one sentence, in bounded memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from sim.models.compare import compared
from sim.models.forward import drawn_inputs, forward
from sim.models.network import ModelError
from sim.models.onnx_file import read_onnx
from sim.models.tflite_file import read_tflite
from support.elf_mutations import SECONDS, Overtime, cut, drop, flip, limited, move, stretch
from support.onnx_layers import elements_onnx_net, mobile_onnx_net, own_onnx_net
from support.onnx_models import functional_net, gated_onnx_net, paired_net, reference_net, small_onnx_net
from support.planted_layers import fifty_layers
from support.tflite_elements import bounded_net, elements_net
from support.tflite_models import (
    activating_net,
    cutting_net,
    gathering_net,
    moving_net,
    quantizing_net,
    small_net,
    splitting_net,
)
from support.tflite_products import stacked_net, transposed_net

READERS = {"tflite": read_tflite, "onnx": read_onnx}
LONGEST = 2000
"""Characters of a refusal: a sentence, even with the path of a file and a name out of it."""


@cache
def originals(suffix: str) -> tuple[bytes, ...]:
    if suffix == "onnx":
        pairs = paired_net(3, 4), functional_net(5), elements_onnx_net(6), mobile_onnx_net(8)
        own = small_onnx_net(1, 6), small_onnx_net(2, 5), gated_onnx_net(3, 5), own_onnx_net(7)
        return *own, *pairs, reference_net(4, 4)
    sums = small_net(1, 4), small_net(2, 6), transposed_net(2), stacked_net(4), stacked_net(2, "int16")
    moved = moving_net(6), cutting_net(8), splitting_net(9), gathering_net(10)
    made = (
        *sums,
        *moved,
        quantizing_net(5),
        activating_net(7),
        elements_net(1),
        elements_net(2, "int16"),
        bounded_net(3),
    )
    return fifty_layers(3), *(one.content() for one in made)


def damaged_network(suffix: str, seed: int) -> bytes:
    """A byte, one to three damages, or the head of one file with the tail of another, damaged too."""
    rng = Random(seed)
    data = bytearray(rng.choice(originals(suffix)))
    if rng.random() < 0.5:
        data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)
    if rng.random() < 0.2:
        other = rng.choice(originals(suffix))
        data[rng.randint(0, len(data)) :] = other[rng.randint(0, len(other)) :]
    for _ in range(rng.randint(1, 3)):
        rng.choice((flip, flip, cut, move, drop, stretch, stretch))(rng, data)
    return bytes(data)


def damaged_network_outcome(folder: Path, suffix: str, seed: int) -> str:
    """ "run", "refused", or else what went wrong, for the file of a seed."""
    path = folder / f"{seed}.{suffix}"
    path.write_bytes(damaged_network(suffix, seed))
    try:
        with limited(SECONDS):
            network = READERS[suffix](path)
            network.as_json()
            tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
            if seed % 10 == 0:
                compared(network, tensors)
    except ModelError as error:
        said = str(error)
        return "refused" if said and "\n" not in said and len(said) < LONGEST else f"wrong: {said[:200]}"
    except Overtime:
        return f"wrong: more than {SECONDS} s"
    except BaseException as error:
        return f"wrong: {type(error).__name__}: {error}"
    finally:
        path.unlink()
    return "run"
