"""Every pair of operands of a lane against the semantics."""
