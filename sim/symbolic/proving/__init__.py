"""What proofs of builds are made of, step by step."""
