"""What stands in a learner's notebook where an answer is asked for."""

STUB = ("# YOUR CODE HERE", "pass")  # lines of code
ANSWER_STUB = "YOUR ANSWER HERE"  # text
