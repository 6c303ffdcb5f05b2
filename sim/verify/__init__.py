"""The instruction table against the emulator and against definitions of its own."""
