"""All that counts in the lesson debugging: contract, references, mistakes, hidden cases."""
