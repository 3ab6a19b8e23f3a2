"""Exercise records, one module per lesson slug. Public: they ship to learners."""
