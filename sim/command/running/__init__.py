"""Commands that run something: kernels, captured calls, the solver."""
