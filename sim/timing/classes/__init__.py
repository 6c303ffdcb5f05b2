"""The class of each instruction form for timing."""
