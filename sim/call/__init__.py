"""One call of a kernel: arguments in memory, machine and emulator in lockstep, guards, the record of a call."""
