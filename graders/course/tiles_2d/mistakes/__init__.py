"""The mistakes that learners make in the lesson tiles_2d."""
