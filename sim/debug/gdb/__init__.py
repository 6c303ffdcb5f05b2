"""A session for gdb: its remote serial protocol, on this computer only.

Source: GDB manual, appendix E (remote protocol) and appendix G.5.1 (features of an AArch64 target description).
"""
