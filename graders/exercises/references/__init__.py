"""The trusted results of the exercises, and how large the numbers are that make them up."""
