"""Misconceptions about products of numbers with few bits."""
