"""What the benches put a mutant through."""
