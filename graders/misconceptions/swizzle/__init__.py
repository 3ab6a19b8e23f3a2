"""Misconceptions about an order of launch in groups of rows."""
