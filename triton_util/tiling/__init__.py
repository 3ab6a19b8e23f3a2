"""Shared by figures and explorers: orders of tiles, and kinds of tiles under a causal mask."""
