"""Hidden cases and performance bars, one module per lesson slug. They never ship to learners."""
