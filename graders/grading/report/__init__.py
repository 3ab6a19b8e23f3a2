"""The class report: what it counts, and the files that it becomes."""
