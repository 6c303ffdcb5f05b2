"""Pictures of cycles, as matplotlib figures: comparisons, pipes, stalls, rooflines.

Needs the extra `plots` (matplotlib).
"""

import sim.plots.installed  # noqa: F401  before what imports matplotlib
from sim.plots.comparison import plot_comparison
from sim.plots.lengths import plot_cycles_by_length, plot_unroll_sweep
from sim.plots.pipes import plot_occupancy
from sim.plots.roofline import Attained, Roof, bytes_moved, plot_roofline, roof_of, roofline_of
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
    "roofline_of",
]
