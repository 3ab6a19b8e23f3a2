"""The GPU that a checked program sees: the CPU answers in its place."""
