"""The GPU that a checked program finds: the CPU, which answers in its place."""
