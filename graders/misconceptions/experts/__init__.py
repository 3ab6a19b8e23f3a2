"""Mistakes of a matrix product in which each row belongs to one of several matrices."""
