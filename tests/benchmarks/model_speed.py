"""How long a network of 4.2 million parameters takes, run and compared, and a convolution in strict lockstep.

make bench

Of each command the processor's time, the time until it ended, and the most memory that it had at once.  Compared are
tensors of the golden reference with one zero point off, so that a layer is explained; then, where they are installed
(make test-outside does it), LiteRT and ONNX Runtime.  Ends with 1 where a bar is missed by the processor's time of one
core, or a result is not what it must be.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from long.long_conv2d import convolution_in_lockstep
from sim.models.forward import drawn_inputs, forward
from sim.models.network import Network
from sim.models.onnx_file import read_onnx
from sim.models.tflite_file import read_tflite
from sim.terminal.script import parser_of, run_by_hand
from support.large_models import large_onnx_net, large_tflite_net

GOLDEN_SECONDS, COMPARISON_SECONDS, COMPARISON_BYTES, LOCKSTEP_SECONDS = 5, 30, 1_500_000_000, 60
CONVENTION, SEED, WRONG = "double_rounding", 1, 12
"""WRONG is the layer that the device has a zero point off in: the sixth of 1 x 1."""


@dataclass(frozen=True)
class Run:
    """A command that ended: its exit code, what it wrote, seconds of processor and of the clock, bytes of memory."""

    exit_code: int
    output: str
    busy: float
    clock: float
    memory: int


def run(*arguments: object) -> Run:
    """`lanewise model` with its processes; the memory is that of the largest of them."""
    command: list[str | Path] = [Path(sys.executable).with_name("lanewise"), "model", *map(str, arguments)]
    with TemporaryDirectory() as folder, Path(folder, "output").open("w+") as output:
        begun = perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        clock = perf_counter() - begun
        output.seek(0)
        words = " ".join(output.read().split())
    return Run(process.returncode, words, used.ru_utime + used.ru_stime, clock, used.ru_maxrss * 1024)


def parameters(network: Network) -> int:
    return sum(array.size for array in network.constants.values() if array.dtype == np.int8)


def golden_seconds(network: Network) -> float:
    begun = process_time()
    tensors = forward(network, drawn_inputs(network, SEED), CONVENTION)
    assert network.outputs[0] in tensors
    return process_time() - begun


def device_with_a_fault(network: Network, file: Path) -> None:
    """The golden reference's tensors, recorded, with the zero point of a layer's input one more."""
    tensors = forward(network, drawn_inputs(network, SEED), CONVENTION)
    of_input = network.tensors[network.layers[WRONG].inputs[0]]
    assert of_input.scale is not None
    moved = replace(of_input, scale=replace(of_input.scale, zero_points=of_input.scale.zero_points + 1))
    wrong = replace(network, tensors=[moved if one is of_input else one for one in network.tensors])
    tensors = forward(wrong, tensors, CONVENTION, WRONG)
    tensors = forward(network, tensors, CONVENTION, WRONG + 1)
    np.savez(file, allow_pickle=False, **{one.name: tensors[one.number] for one in network.tensors if one.data is None})


def main() -> int:
    parser_of(__doc__).parse_args()
    missed = []

    def line(name: str, busy: float, bar: float, is_right: bool, more: str = "") -> None:
        print(f"{name:56}{busy:8.1f} s of processor (bar: {bar:.0f} s){more}", flush=True)
        if busy >= bar or not is_right:
            missed.append(name)

    with TemporaryDirectory() as folder:
        nets = []
        for name, content, read, runtime, package in (
            ("net.tflite", large_tflite_net, read_tflite, "litert", "ai_edge_litert"),
            ("net.onnx", large_onnx_net, read_onnx, "onnxruntime", "onnxruntime"),
        ):
            path = Path(folder, name)
            path.write_bytes(content(SEED))
            network = read(path)
            nets.append((path, network, runtime, package))
            line(
                f"{name}, {parameters(network):,} parameters, golden run", golden_seconds(network), GOLDEN_SECONDS, True
            )
        path, network, *_ = nets[0]
        device_with_a_fault(network, Path(folder, "device.npz"))
        there = [(path, runtime) for path, _, runtime, package in nets if find_spec(package) is not None]
        for file, against in ((path, Path(folder, "device.npz")), *there):
            done = run(file, "--against", against)
            if isinstance(against, Path):
                is_right = f"layer {WRONG}, zero point" in done.output and done.exit_code == 1
            else:
                is_right = "all 30 layers that were compared are reproduced bit for bit" in done.output
            more = f", {done.clock:.1f} s by the clock, {done.memory / 1e6:,.0f} MB"
            what = against.name if isinstance(against, Path) else against
            line(f"{file.name} --against {what}", done.busy, COMPARISON_SECONDS, is_right, more)
            if done.memory >= COMPARISON_BYTES:
                missed.append(f"the memory of {what}")
        for _, _, runtime, package in nets:
            if find_spec(package) is None:
                print(f"{runtime} is not installed: not compared")
    begun = process_time()
    call, apart, clock = convolution_in_lockstep()
    is_right = not any(apart.values()) and call.divergence is None
    more = f", {clock:.1f} s by the clock, {call.instructions:,} instructions"
    line(
        "conv2d 3 x 3, 32 to 64 channels, 56 x 56, in lockstep",
        process_time() - begun,
        LOCKSTEP_SECONDS,
        is_right,
        more,
    )
    print(f"missed: {', '.join(missed)}" if missed else "all bars are met")
    return 1 if missed else 0


if __name__ == "__main__":
    run_by_hand(main)
