"""An instructor's own nbgrader tests: cells that are executed, in a jail, as nbgrader does it."""
