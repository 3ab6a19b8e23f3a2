"""Misconceptions about decoding: one query, and keys that lie in pages."""
