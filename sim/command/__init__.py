"""The `lanewise` command, a file for each subcommand."""

from sim.terminal.start import refuse_module_start

refuse_module_start("sim.command.main")
