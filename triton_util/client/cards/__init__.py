"""The parts of a card: its style and its pictures."""
