"""Misconceptions about backward kernels."""
