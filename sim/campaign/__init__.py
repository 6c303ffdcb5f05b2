"""Many jobs from one file: what each of them is, who does it, and the store that keeps what came of it."""
