"""A core and its pipelines: when each instruction of a stream issues and completes."""
