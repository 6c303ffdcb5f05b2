"""Proofs that the lanes compute what the isa semantics say, for all inputs."""
