"""An instructor's own nbgrader tests: their cells are executed in a jail, as nbgrader does."""
