"""All that counts in the lesson persistent: contract, references, mistakes, hidden cases."""
