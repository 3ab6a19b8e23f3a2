"""All that counts in the lesson benchmarking: contract, references, mistakes, hidden cases."""
