"""The group `lanewise rtl`."""

from sim.terminal.start import refuse_module_start

refuse_module_start()
