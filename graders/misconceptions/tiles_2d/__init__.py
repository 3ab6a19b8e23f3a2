"""Misconceptions of the lesson on 2D tiles."""
