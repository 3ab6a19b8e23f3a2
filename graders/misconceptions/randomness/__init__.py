"""Misconceptions about random numbers that are counted, not drawn."""
