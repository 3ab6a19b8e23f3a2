"""Misconceptions about layer normalisation."""
