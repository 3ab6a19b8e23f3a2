"""The mistakes that learners make in the lesson experts."""
