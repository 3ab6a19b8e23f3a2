"""Mistakes of a kernel that scales the rows of a matrix, in its result and in its PTX."""
