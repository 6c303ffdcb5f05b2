"""`python -m sim`: the `lanewise` command."""

from sim.command.main import main

main()
