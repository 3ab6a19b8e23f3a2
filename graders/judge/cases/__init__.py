"""Test cases: how records describe them, how their tensors are built, how results are compared."""
