"""The launch plan: as data, read with care, and run."""
