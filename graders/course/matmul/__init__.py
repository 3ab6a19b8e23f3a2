"""All that counts in the lesson matmul: contract, references, mistakes, hidden cases."""
