"""Compiling what a checked program launches, in a process beside it."""
