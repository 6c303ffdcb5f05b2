"""The `lanewise` command, a file for each subcommand."""
