"""Misconceptions about attention."""
