"""Calls of a process that a debugger holds, captured: `gdb_script` is what gdb loads, the rest is asked by it."""
