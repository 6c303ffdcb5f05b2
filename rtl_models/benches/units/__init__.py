"""The benches of the streaming units, one module each."""
