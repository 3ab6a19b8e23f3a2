"""All that counts in the lesson tour: contract, references, mistakes, hidden cases."""
