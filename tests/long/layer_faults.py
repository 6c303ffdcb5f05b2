"""Whether `lanewise model` names what is wrong in one of fifty layers: its number, the kind of fault, an element.

    PYTHONPATH=tests .venv/bin/python -m long.layer_faults [--count N] [--seed FIRST] [--nets NAME ...] [--workers N]

There are three nets: of windows, products, sums and averages; of layers with arithmetics of their own; of functions,
means and softmaxes.
A fault is a multiplier or float32 scale one unit in the last place off, a layer that rounds otherwise, a zero point or
a bound one off; the device is the golden reference with it, recorded as .npz.  A fault that changes no number of the
recording is drawn again, and counted: nobody could tell it.  Named is a fault whose layer, kind, first element and
channel are told, be it as one of several choices each of which gives every element; those that are the only one are
counted beside.  Where one convention gives the faulty recording as a whole, no fault is told: these count as not named.
Ends with 1 where fewer than 98 % of a kind are named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from sim.explanation.tensor_file import read_arrays
from sim.models.compare import compared, tensors_by_name
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.terminal.script import at_least_one, run_by_hand
from support.planted_layers import CONVENTIONS, KINDS, NETS, Fault, FaultKind, clean, drawn_fault, recorded

ENOUGH = 0.98


@dataclass(frozen=True, kw_only=True)
class Told:
    """What was said of one fault: `missed` has what was not named; `choices` counts what it is one of.

    `whole` has, of a fault in a recording that is said to be right, the conventions that give all its layers.
    """

    fault: Fault
    convention: str
    missed: tuple[str, ...]
    choices: int
    whole: tuple[str, ...]
    unseen: int
    seconds: float


WITH_CHANNELS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")


def told_of(net: str, seed: int) -> Told:
    """A net of that name, a convention and a fault of the seed."""
    kind: FaultKind = KINDS[seed % len(KINDS)]
    convention, rng, unseen = CONVENTIONS[seed // len(KINDS) % len(CONVENTIONS)], np.random.default_rng(seed), 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "net.tflite")
        path.write_bytes(NETS[net](seed))
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
    apart = {one.layer.number: one for one in report.apart}
    of_layer = apart.get(fault.layer)
    causes = of_layer.causes if of_layer is not None else ()
    channel = fault.kind == "multiplier" and network.layers[fault.layer].operator in WITH_CHANNELS
    missed = [
        name
        for name, is_named in (
            ("layer", of_layer is not None and apart.keys() == {fault.layer, *of_layer.instead}),
            ("kind", fault.kind in {cause.kind for cause in causes}),
            ("element", of_layer is not None and of_layer.first == first),
            ("channel", not channel or any(f"channel {fault.where} " in cause.told for cause in causes)),
        )
        if not is_named
    ]
    return Told(
        fault=fault, convention=convention, missed=tuple(missed),
        choices=len({(number, cause.kind) for number, one in apart.items() for cause in one.causes}),
        whole=tuple(names[0] for names in report.common.values() if names and not apart),
        unseen=unseen, seconds=process_time() - begun,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Planted faults in layers, and whether they are named.")
    parser.add_argument("--count", type=at_least_one, default=400, help="how many faults in each net")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others count up")
    parser.add_argument("--nets", nargs="+", choices=NETS, default=list(NETS), help="which")
    parser.add_argument("--workers", type=at_least_one, default=2, help="processes at once")
    given = parser.parse_args()
    seeds, enough = range(given.seed, given.seed + given.count), bool(given.count)
    with ProcessPoolExecutor(given.workers) as workers:
        for net in given.nets:
            told = workers.map(partial(told_of, net), seeds)
            enough &= are_named(net, zip(seeds, told, strict=True))
    return 0 if enough else 1


def are_named(net: str, faults: Iterable[tuple[int, Told]]) -> bool:
    """Whether enough of each kind are; every one that is not is printed, and the counts are."""
    named, all_of, alone, whole = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    unseen, seconds = Counter[str](), 0.0
    for seed, told in faults:
        kind = told.fault.kind
        all_of[kind] += 1
        named[kind] += not told.missed
        alone[kind] += not told.missed and told.choices == 1
        whole[kind] += bool(told.missed and told.whole)
        unseen[kind] += told.unseen
        seconds += told.seconds
        if told.missed:
            right = f"; all layers are {', '.join(told.whole)}" if told.whole else ""
            print(f"{net}, seed {seed}, {told.convention}: {told.fault}: not named: {', '.join(told.missed)}{right}",
                  file=sys.stderr, flush=True)  # fmt: skip
    for kind in KINDS:
        print(f"{net:<8} {kind:<11} {named[kind]} of {all_of[kind]} named, {alone[kind]} as the only choice; "
              f"not named are {all_of[kind] - named[kind]}, "
              f"of which {whole[kind]} in recordings that a convention gives as a whole; "
              f"{unseen[kind]} changed nothing and were drawn again", flush=True)  # fmt: skip
    print(f"{seconds / max(all_of.total(), 1):.1f} s of processor for a comparison of fifty layers", flush=True)
    return all(named[kind] >= ENOUGH * all_of[kind] for kind in KINDS)


if __name__ == "__main__":
    run_by_hand(main)
