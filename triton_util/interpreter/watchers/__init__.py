"""What is observed while a kernel runs: stores, races, coverage, traffic and caches."""
