"""Compile the launches of a checked program, in a separate process."""
