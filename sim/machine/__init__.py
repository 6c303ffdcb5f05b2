"""The lane model: architectural state, memory with permissions, the machine, and its trace."""
