"""The pipelines in C: a stream and a schedule as arrays, what is worked out of them, the choice of C or Python."""
