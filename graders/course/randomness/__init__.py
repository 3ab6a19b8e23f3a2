"""All that counts in the lesson randomness: contract, references, mistakes, hidden cases."""
