"""Guards: what a kernel does wrong besides its arithmetic, found by watching and by repeating its calls."""
