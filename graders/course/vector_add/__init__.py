"""All that counts in the lesson vector_add: contract, references, mistakes, hidden cases."""
