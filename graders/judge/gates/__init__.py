"""The gates, one module each: `run` takes the context of a submission and returns its result."""
