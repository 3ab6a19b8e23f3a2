"""The learner's notebook or script: its names, its cells, the source of a submission."""
