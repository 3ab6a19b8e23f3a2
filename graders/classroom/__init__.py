"""The classroom: notebooks from lessons, nbgrader, grading a class, and reports on it."""
