"""What pictures and explorers share: orders of tiles, and kinds of tiles under a causal mask."""
