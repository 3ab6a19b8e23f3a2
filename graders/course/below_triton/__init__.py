"""All that counts in the lesson below_triton: contract, references, mistakes, hidden cases."""
