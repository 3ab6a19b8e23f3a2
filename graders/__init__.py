"""What counts as solved: exercise records, the judge, the classroom and the command line."""
