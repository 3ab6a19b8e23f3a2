"""The mistakes that learners make in the lesson below_triton."""
