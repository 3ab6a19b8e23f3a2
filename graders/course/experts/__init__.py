"""All that counts in the lesson experts: contract, references, mistakes, hidden cases."""
