"""All that counts in the lesson fusion: contract, references, mistakes, hidden cases."""
