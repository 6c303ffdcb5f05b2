"""What commands share of the terminal: output, errors, loading on demand, Ctrl-C at the start."""
