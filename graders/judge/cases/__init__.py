"""Test cases: how records describe them, the tensors they stand for, how results are compared."""
