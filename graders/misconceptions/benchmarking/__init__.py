"""Misconceptions of the lesson on benchmarking: figures of speed, and stopwatches."""
