"""Pictures of cycles, as matplotlib figures: comparisons, pipes, stalls, rooflines.

Needs the extra `plots` (matplotlib).
"""

from importlib.util import find_spec

from isa.errors import pip_install

if find_spec("matplotlib") is None:
    raise ModuleNotFoundError(f"sim.plots draws with matplotlib: {pip_install('lanewise[plots]')}", name="matplotlib")

from sim.plots.comparison import plot_comparison
from sim.plots.lengths import plot_cycles_by_length, plot_unroll_sweep
from sim.plots.pipes import plot_occupancy
from sim.plots.roofline import Attained, Roof, bytes_moved, plot_roofline, roof_of
from sim.plots.stalls import plot_stalls

__all__ = [
    "Attained",
    "Roof",
    "bytes_moved",
    "plot_comparison",
    "plot_cycles_by_length",
    "plot_occupancy",
    "plot_roofline",
    "plot_stalls",
    "plot_unroll_sweep",
    "roof_of",
]
