"""All that counts in the lesson low_precision: contract, references, mistakes, hidden cases."""
