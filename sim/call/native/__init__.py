"""Lockstep in native code: instructions as C of the lane expressions, compared by a hook of the emulator in C."""
