"""Running a launcher without values, and the launch plan that is recorded of what it does."""
