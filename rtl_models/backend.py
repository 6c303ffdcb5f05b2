"""The hardware as an external backend of a kernel: what `lanewise check --rtl` compares with the others.

`build_hardware` is registered as the entry point `rtl` of the group `lanewise.backends`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_run import NAME as GEMM_CORE
from rtl_models.cores.layers import LAYER_STEPS, LAYERS, LayerOnCore, layer_on_core
from rtl_models.cores.layers import MODES as LAYER_MODES
from rtl_models.cores.layers_run import LayersRun
from rtl_models.frames_run import FramesRun
from rtl_models.host import HOSTS, Host, host_of, hosted_modes
from rtl_models.latencies import PROFILES, depths, in_words, profile_named
from rtl_models.register_map import outside
from rtl_models.session import WentWrong
from rtl_models.tools.build_cache import BuildError
from rtl_models.tools.environment import SimulationUnavailable, tool_versions
from rtl_models.tools.own_modules import NothingReplaced, own_modules
from rtl_models.tools.scratch import named_by_content
from rtl_models.unit_run import Built
from rtl_models.units import LANE_COUNTS, UNITS
from sim.check.external import BackendFault, BackendMissing, NotMadeFor, Outside
from sim.kernels.kernel import Inputs, Kernel, Outputs, built_in_kernel, kernel_modes
from sim.kernels.names import kernel_names


def build_hardware(kernel: Kernel, options: Mapping[str, str] | None = None) -> Hardware | LayerHardware:
    """The unit of a built-in kernel, `gemm_core` for a layer, in a simulator that is built unless it is kept.

    It is one more implementation of the kernel: `sim.check.check_kernel(kernel, external=[hardware(kernel)])`.
    Options: lanes ("4", "8", "16"; of `gemm_core` the columns), profile ("shallow", "deep", of units also the register
    stages, such as "7"), modules (a folder whose modules go before those of the package).  Raises NotMadeFor for a
    kernel, a mode, an option, and for a design that the simulator refuses; BackendMissing where the environment lacks
    something.
    """
    _require_made_for(kernel)
    options = options or {}
    lanes = int(_chosen("lanes", options, [str(count) for count in LANE_COUNTS]))
    unit = None if kernel.name in LAYERS else host_of(kernel.name, kernel.mode).unit
    numbers = map(str, depths(unit)) if unit else ()
    profile = _chosen("profile", options, [*PROFILES, *numbers])
    try:
        before = [own_modules(Path(options["modules"]))] if "modules" in options else []
        if kernel.name in LAYERS:
            core = GemmCore(columns=lanes, deep=profile == "deep", steps=LAYER_STEPS)
            return LayerHardware(kernel, core, LayersRun(core, before))
        host = host_of(kernel.name, kernel.mode)
        built = Built(UNITS[host.unit], lanes, profile_named(host.unit, profile), strict=not before)
        return Hardware(kernel, host, built, FramesRun(built, before))
    except (BuildError, NothingReplaced) as error:
        raise NotMadeFor(str(error)) from error
    except SimulationUnavailable as missing:
        raise BackendMissing(str(missing)) from missing


class Hardware:
    """A unit, its simulator, and the host around it."""

    name = "rtl"

    def __init__(self, kernel: Kernel, host: Host, unit: Built, simulator: FramesRun) -> None:
        self._kernel, self._host, self._unit, self._simulator = kernel, host, unit, simulator

    @property
    def made_as(self) -> str:
        """Such as "quantize_down Lanes=4 shallow, verilator 5.48", or "7 stages" in the place of shallow."""
        (simulator,) = tool_versions("verilator")
        return f"{self._unit.unit.name} Lanes={self._unit.lanes} {in_words(self._unit.profile)}, {simulator}"

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        """All of them in one run of the simulator.  Raises BackendFault."""
        frames = [self._host.frames(self._kernel, each, self._unit.lanes) for each in inputs]
        reasons = [next(filter(None, (outside(frame.settings) for frame in some)), "") for some in frames]
        sent = [frame for some, reason in zip(frames, reasons, strict=True) for frame in some if not reason]
        try:
            results = iter(self._simulator.results(sent) if sent else [])
            return [
                Outside(reason)
                if reason
                else self._host.outputs(self._kernel.arguments(each), [next(results) for _ in some])
                for each, some, reason in zip(inputs, frames, reasons, strict=True)
            ]
        except (WentWrong, SimulationUnavailable) as fault:
            raise BackendFault(str(fault)) from fault

    def show(self, inputs: Inputs) -> str:
        """Write the waveform of an input set; "" where its run does not come to its end."""
        frames = self._host.frames(self._kernel, inputs, self._unit.lanes)
        return _waveform(self._unit.unit.name, partial(self._simulator.waves, frames))


class LayerHardware:
    """`gemm_core`, its simulator, and the host around it."""

    name = "rtl"

    def __init__(self, kernel: Kernel, core: GemmCore, simulator: LayersRun) -> None:
        self._kernel, self._core, self._simulator = kernel, core, simulator
        self._cycles = 0

    @property
    def cycles(self) -> int:
        """Of all layers so far, one by one."""
        return self._cycles

    @property
    def made_as(self) -> str:
        """The sizes, the simulator, and the cycles so far, if any, each beat in the one that is predicted."""
        (simulator,) = tool_versions("verilator")
        sizes = f"{GEMM_CORE} Rows={self._core.rows} Columns={self._core.columns} {self._core.profile}"
        done = f", {self._cycles:,} cycles, every beat in the one predicted" if self._cycles else ""
        return f"{sizes}, {simulator}{done}"

    def run(self, inputs: Sequence[Inputs]) -> list[Outputs | Outside]:
        """All of them in one run of the simulator.  Raises BackendFault."""
        layers = [self._on_core(each) for each in inputs]
        sent = [product for layer in layers for product in layer.products if not layer.reason]
        try:
            results = iter(self._simulator.results(sent) if sent else [])
        except (WentWrong, SimulationUnavailable) as fault:
            raise BackendFault(str(fault)) from fault
        self._cycles += self._simulator.cycles(sent)
        return [
            Outside(layer.reason) if layer.reason else {"output": layer.output([next(results) for _ in layer.products])}
            for layer in layers
        ]

    def show(self, inputs: Inputs) -> str:
        """Write the waveform of an input set; "" where its run does not come to its end."""
        return _waveform(GEMM_CORE, partial(self._simulator.waves, self._on_core(inputs).products))

    def _on_core(self, inputs: Inputs) -> LayerOnCore:
        return layer_on_core(self._kernel, inputs, self._core)


def _waveform(name: str, write: Callable[[Path], None]) -> str:
    """Where the waveform is that is written; "" where the run does not come to its end."""
    file = Path(mkdtemp(prefix=f"lanewise-{name}-")) / "waves.vcd"
    try:
        write(file)
    except (WentWrong, SimulationUnavailable):
        shutil.rmtree(file.parent)
        return ""
    return f"waveform: {named_by_content(file)}"


def _require_made_for(kernel: Kernel) -> None:
    """Raises NotMadeFor, also for a user's kernel: its inputs may have any form."""
    modes = {name: hosted_modes(name) for name in HOSTS} | dict.fromkeys(LAYERS, LAYER_MODES)
    own = modes.get(kernel.name, ()) if _is_built_in(kernel) else ()
    if kernel.mode not in own:
        known = "; ".join(f"{name} ({', '.join(found)})" for name, found in modes.items())
        instead = f"; try --mode {own[0]}" if own else ""
        raise NotMadeFor(f"there is no hardware for {kernel.title}: there is for the built-in {known}{instead}")


def _is_built_in(kernel: Kernel) -> bool:
    known = kernel.name in kernel_names() and kernel.mode in kernel_modes(kernel.name)
    return known and kernel.arguments is built_in_kernel(kernel.name, kernel.mode).arguments


def _chosen(name: str, options: Mapping[str, str], allowed: Sequence[str]) -> str:
    value = options.get(name, allowed[0])
    if value not in allowed:
        raise NotMadeFor(f"--{name} takes {', '.join(allowed)}, not {value!r}")
    return value
