"""Misconceptions about the cross-entropy loss, forward and backward."""
