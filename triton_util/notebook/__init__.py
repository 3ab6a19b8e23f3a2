"""The notebook or script around a learner: its names, its cells, the source of a submission."""
