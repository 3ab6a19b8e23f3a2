"""Misconceptions about softmax."""
