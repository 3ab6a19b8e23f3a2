"""Where submissions come from, whose they are, and which file counts."""
