"""The mistakes that learners make in the lesson low_precision."""
