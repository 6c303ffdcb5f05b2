"""The lanes as hardware: streaming units and cores in a simulator, their registers, cycles and waveforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from rtl_models.backend import Hardware, LayerHardware, build_hardware
    from rtl_models.benches.driving.frame import UnitFrame
    from rtl_models.cores.core128.backend import CompiledOnCore128, build_core128
    from rtl_models.cores.gemm import GemmCore, GemmShape
    from rtl_models.cores.gemm_cycles import layer_cycles
    from rtl_models.frames_run import FramesRun
    from rtl_models.outcome import BenchOutcome
    from rtl_models.register_map import register_writes
    from rtl_models.session import WentWrong
    from rtl_models.tools.build_cache import BuildError
    from rtl_models.tools.environment import SimulationUnavailable
    from rtl_models.tools.sources import UnreadableModule, module_names, sources_of
    from rtl_models.tools.waveform import Signal, UnreadableWaveform, Waves, read_waves
    from rtl_models.unit_run import Built, run_unit
    from rtl_models.units import UNITS, Unit, UnitPort
    from rtl_models.view.waves import StageTrace, plot_waveform

__all__ = [
    "UNITS",
    "BenchOutcome",
    "BuildError",
    "Built",
    "CompiledOnCore128",
    "FramesRun",
    "GemmCore",
    "GemmShape",
    "Hardware",
    "LayerHardware",
    "Signal",
    "SimulationUnavailable",
    "StageTrace",
    "Unit",
    "UnitFrame",
    "UnitPort",
    "UnreadableModule",
    "UnreadableWaveform",
    "Waves",
    "WentWrong",
    "build_core128",
    "build_hardware",
    "layer_cycles",
    "module_names",
    "plot_waveform",
    "read_waves",
    "register_writes",
    "run_unit",
    "sources_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "UNITS": "rtl_models.units",
            "BenchOutcome": "rtl_models.outcome",
            "BuildError": "rtl_models.tools.build_cache",
            "Built": "rtl_models.unit_run",
            "CompiledOnCore128": "rtl_models.cores.core128.backend",
            "FramesRun": "rtl_models.frames_run",
            "GemmCore": "rtl_models.cores.gemm",
            "GemmShape": "rtl_models.cores.gemm",
            "Hardware": "rtl_models.backend",
            "LayerHardware": "rtl_models.backend",
            "Signal": "rtl_models.tools.waveform",
            "SimulationUnavailable": "rtl_models.tools.environment",
            "StageTrace": "rtl_models.view.waves",
            "Unit": "rtl_models.units",
            "UnitFrame": "rtl_models.benches.driving.frame",
            "UnitPort": "rtl_models.units",
            "UnreadableModule": "rtl_models.tools.sources",
            "UnreadableWaveform": "rtl_models.tools.waveform",
            "Waves": "rtl_models.tools.waveform",
            "WentWrong": "rtl_models.session",
            "build_core128": "rtl_models.cores.core128.backend",
            "build_hardware": "rtl_models.backend",
            "layer_cycles": "rtl_models.cores.gemm_cycles",
            "module_names": "rtl_models.tools.sources",
            "plot_waveform": "rtl_models.view.waves",
            "read_waves": "rtl_models.tools.waveform",
            "register_writes": "rtl_models.register_map",
            "run_unit": "rtl_models.unit_run",
            "sources_of": "rtl_models.tools.sources",
        },
    )
