"""What is so, for each prediction that a lesson asks for by `predict(id, value)`."""
