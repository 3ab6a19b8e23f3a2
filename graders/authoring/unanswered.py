"""The text in a learner's notebook in place of a missing answer."""

STUB = ("# YOUR CODE HERE", "pass")  # lines of code
ANSWER_STUB = "YOUR ANSWER HERE"  # text
