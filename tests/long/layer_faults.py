"""Whether `lanewise model` names what is wrong in one of fifty layers: its number, the kind of fault, an element.

    PYTHONPATH=tests .venv/bin/python -m long.layer_faults [--count N] [--seed FIRST]

A fault is a multiplier or float32 scale one unit in the last place off, a layer that rounds otherwise, a zero point or
a bound one off; the device is the golden reference with it, recorded as .npz.  A fault that changes no number of the
recording is drawn again, and counted: nobody could tell it.  Ends with 1 where fewer than 98 % of a kind are named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from sim.explanation.tensor_file import read_arrays
from sim.models.compare import compared, tensors_by_name
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from support.planted_layers import CONVENTIONS, KINDS, Fault, FaultKind, clean, drawn_fault, fifty_layers, recorded

ENOUGH = 0.98


@dataclass(frozen=True)
class Told:
    """What was said of one fault: `missed` has what was not named; `kinds` are all kinds that were."""

    fault: Fault
    convention: str
    missed: tuple[str, ...]
    kinds: frozenset[str]
    unseen: int
    seconds: float


def told_of(seed: int) -> Told:
    """A net, a convention and a fault of the seed."""
    kind: FaultKind = KINDS[seed % len(KINDS)]
    convention, rng, unseen = CONVENTIONS[seed // len(KINDS) % len(CONVENTIONS)], np.random.default_rng(seed), 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "net.tflite")
        path.write_bytes(fifty_layers(seed))
        network = read_tflite(path)
        right = clean(network, seed, convention)
        while True:
            fault = drawn_fault(network, kind, convention, rng)
            made = recorded(network, right, convention, fault)
            output = network.layers[fault.layer].outputs[0]
            if (made[output] != right[output]).any():
                break
            unseen += 1
        arrays = {one.name: made[one.number] for one in network.tensors if one.data is None}
        np.savez(Path(folder, "device.npz"), allow_pickle=False, **arrays)
        begun = process_time()
        tensors = tensors_by_name(network, read_arrays(Path(folder, "device.npz")))
        report = ModelReport(network=network, against="device.npz", seed=None, layers=compared(network, tensors))
    first = tuple(int(place) for place in np.argwhere(made[output] != right[output])[0])
    apart = report.apart
    kinds = frozenset(cause.kind for one in apart for cause in one.causes)
    channel = fault.kind == "multiplier" and network.layers[fault.layer].operator in ("CONV_2D", "DEPTHWISE_CONV_2D")
    missed = [
        name
        for name, is_named in (
            ("layer", [one.layer.number for one in apart] == [fault.layer]),
            ("kind", fault.kind in kinds),
            ("element", bool(apart) and apart[0].first == first),
            ("channel", not channel or any(f"channel {fault.where} " in c.told for one in apart for c in one.causes)),
        )
        if not is_named
    ]
    return Told(fault, convention, tuple(missed), kinds, unseen, process_time() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description="Planted faults in layers, and whether they are named.")
    parser.add_argument("--count", type=int, default=400, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others count up")
    given = parser.parse_args()
    named, all_of, alone, unseen, seconds = Counter[str](), Counter[str](), Counter[str](), Counter[str](), 0.0
    seeds = range(given.seed, given.seed + given.count)
    with ProcessPoolExecutor(2) as workers:
        for seed, told in zip(seeds, workers.map(told_of, seeds), strict=True):
            kind = told.fault.kind
            all_of[kind] += 1
            named[kind] += not told.missed
            alone[kind] += not told.missed and len(told.kinds) == 1
            unseen[kind] += told.unseen
            seconds += told.seconds
            if told.missed:
                print(f"seed {seed}, {told.convention}: {told.fault}: not named: {', '.join(told.missed)}; "
                      f"{', '.join(sorted(told.kinds))}", file=sys.stderr)  # fmt: skip
    for kind in KINDS:
        print(f"{kind:<11} {named[kind]} of {all_of[kind]} named, {alone[kind]} as the only kind; "
              f"{unseen[kind]} changed nothing and were drawn again")  # fmt: skip
    print(f"{seconds / max(given.count, 1):.1f} s of processor for a comparison of fifty layers")
    return 1 if any(named[kind] < ENOUGH * all_of[kind] for kind in KINDS) or not given.count else 0


if __name__ == "__main__":
    sys.exit(main())
