"""Run a launcher without values, and record a launch plan of what it does."""
